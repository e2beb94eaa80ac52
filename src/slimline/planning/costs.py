"""What the parts of a fit cost: seconds, from sizes and from measured speeds.

All that depends on the number of samples takes the sum of the sample weights for it, so that a weight of 2 and a
repeated row cost the same.
"""

from __future__ import annotations

from math import inf, log2

from slimline.planning.machine import FLOAT32, FLOAT64, READ
from slimline.planning.shape import DataShape
from slimline.recovery.build import GRAM_SAMPLES

#: Factorisations of the Gram matrix that an exact solution takes: the hinge has to find its support vectors.
_FACTORISATIONS = {"hinge": 40.0, "squared": 1.0}
#: Share of the reading speed that a pass with one right-hand side reaches, by bytes of an element.
_SHARE = {8: 0.7, 4: 0.5, 2: 0.3, 1: 0.15}
#: Seconds a stored value of a sparse matrix takes in a pass.
_SPARSE_VALUE = 2e-9
#: Seconds a stored value of a sparse matrix takes in an epoch of coordinate descent,
_DESCENT_VALUE = 5e-9
#: bytes of an array a second there, and the epochs that a fit takes.
_DESCENT_READ, _EPOCHS = 1.2e10, 60.0
#: Products with the rows that conjugate gradients take, for the losses without coordinate descent.
_PRODUCTS = {"logistic": 170.0, "squared": 250.0}
#: The rows of sparse data may take this much memory, at 12 bytes a value.
_DIRECT_BYTES = 4 << 30
#: The Gram matrix may take this much memory.
_GRAM_BYTES = 4 << 30
#: A sketch beside reading the data: times as long, by family; the rest multiplies with every column of R.
_SKETCH_READS = {"cw": 1.0, "osnap": 1.7, "srht": 2.7, "very_sparse": 9.0}


def by_gram(n: float, n_components: int) -> bool:
    """Say whether the small problem lives in the n × n matrix of the sketch, not in its rows."""
    return n <= max(GRAM_SAMPLES, n_components)


def pass_seconds(shape: DataShape, n: float) -> float:
    """Return what a pass with one right-hand side takes.

    Parameters
    ----------
    shape : DataShape
        Of X.
    n : float
        Samples that count.

    Returns
    -------
    seconds : float
        From memory.
    """
    cells = n * shape.shape[1]
    if shape.density is not None:
        return cells * shape.density * _SPARSE_VALUE
    size = shape.dtype.itemsize
    return float(cells * size / (READ * _SHARE.get(size, 0.5)))


def sketch_seconds(shape: DataShape, n: float, family: str, n_components: int) -> float:
    """Return what a sketch takes.

    Parameters
    ----------
    shape : DataShape
        Of X.
    n : float
        Samples that count.
    family : str
        Name of the projection.
    n_components : int
        Columns of R.

    Returns
    -------
    seconds : float
        From memory.
    """
    cells = n * shape.shape[1] * (1.0 if shape.density is None else shape.density)
    if family in _SKETCH_READS:
        if shape.density is None:
            size = shape.dtype.itemsize
            return float(cells * max(size, 2) / READ * _SKETCH_READS[family])
        if family != "srht":
            return cells * _SPARSE_VALUE * _SKETCH_READS[family]
        d = shape.shape[1]  # rows are filled in, unless few values are stored
        return n * min(d * log2(max(d, 2)), d * shape.density * n_components) / (0.1 * FLOAT32)
    share = 1.0 if family == "gaussian" else 0.85
    return cells * n_components / (FLOAT32 * share)


def gram_seconds(shape: DataShape, n: float) -> float:
    """Return what X Xᵀ takes, or XᵀX where that is smaller.

    Parameters
    ----------
    shape : DataShape
        Of X.
    n : float
        Samples that count.

    Returns
    -------
    seconds : float
        Infinity where it takes too much memory.
    """
    d = shape.shape[1]
    if 8.0 * min(n, d) * n > _GRAM_BYTES:
        return inf
    if shape.density is not None:  # every pair of stored values of a column meets
        return n * n * d * shape.density * min(1.0, 3.0 * shape.density) * _SPARSE_VALUE
    rate = FLOAT32 if shape.dtype.itemsize == 1 else FLOAT64
    inner = min(float(d), n)  # with fewer features than samples it is XᵀX that is made
    return 0.5 * n * max(float(d), n) * inner / rate


def factor_seconds(shape: DataShape, n: float, n_tasks: int) -> float:
    """Return what one factorisation of the Gram matrix takes for every task.

    Parameters
    ----------
    shape : DataShape
        Of X.
    n : float
        Samples that count.
    n_tasks : int
        Problems that share the data.

    Returns
    -------
    seconds : float
        In float64.
    """
    return n_tasks * min(n, float(shape.shape[1])) * n * n / 3.0 / FLOAT64


def exact_seconds(shape: DataShape, n: float, n_tasks: int, loss: str) -> float:
    """Return what the exact solution takes once the Gram matrix is there.

    Parameters
    ----------
    shape : DataShape
        Of X.
    n : float
        Samples that count.
    n_tasks : int
        Problems that share the data.
    loss : str
        Its name.

    Returns
    -------
    seconds : float
        As many factorisations as the loss takes.
    """
    return _FACTORISATIONS.get(loss, 6.0) * factor_seconds(shape, n, n_tasks)


def small_seconds(shape: DataShape, n: float, n_tasks: int, loss: str, n_components: int) -> float:
    """Return what the small problem of a step takes.

    Parameters
    ----------
    shape : DataShape
        Of X.
    n : float
        Samples that count.
    n_tasks : int
        Problems that share the data.
    loss : str
        Its name.
    n_components : int
        Columns of R.

    Returns
    -------
    seconds : float
        Of two factorisations, or of going through the rows of the sketch again and again.
    """
    if by_gram(n, n_components):
        return 2.0 * factor_seconds(shape, n, n_tasks)
    times = _PRODUCTS[loss] / 2.0 / READ if loss in _PRODUCTS else _EPOCHS / _DESCENT_READ
    return n_tasks * n * n_components * 4.0 * times


def model_seconds(n: float, n_components: int) -> float:
    """Return what the Gram matrix of the sketch takes.

    Parameters
    ----------
    n : float
        Samples that count.
    n_components : int
        Columns of R.

    Returns
    -------
    seconds : float
        0 where the rows of the sketch are used as they are.
    """
    return 0.5 * n * n * n_components / FLOAT32 if by_gram(n, n_components) else 0.0


def direct_seconds(shape: DataShape, n: float, n_tasks: int, loss: str) -> float:
    """Return what going through the rows themselves takes.

    Parameters
    ----------
    shape : DataShape
        Of X.
    n : float
        Samples that count.
    n_tasks : int
        Problems that share the data.
    loss : str
        Its name.

    Returns
    -------
    seconds : float
        Infinity where the rows cannot be had, or take too much memory.
    """
    if not shape.stored_rows:
        return inf
    cells = n * shape.shape[1]
    if shape.density is None:
        size = cells * shape.dtype.itemsize
        solve = _PRODUCTS[loss] * size / READ if loss in _PRODUCTS else _EPOCHS * size / _DESCENT_READ
    else:
        stored = cells * shape.density
        if 12.0 * stored > _DIRECT_BYTES:
            return inf
        solve = stored * (_PRODUCTS[loss] * _SPARSE_VALUE if loss in _PRODUCTS else _EPOCHS * _DESCENT_VALUE)
    return float(n_tasks * solve + 6.0 * pass_seconds(shape, n) * n_tasks**0.5)
