"""The cost model: sketch, Gram matrix or the data themselves, and how many components.

Times are those of the parts, from the shapes and from measured speeds. All that depends on the
number of samples takes the sum of the sample weights for it, so that a weight of 2 and a repeated row lead to the
same choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from slimline.data import Matrix
from slimline.data.standardised import Standardised
from slimline.data.stored_rows import has_stored_rows
from slimline.planning.machine import FLOAT32, FLOAT64, READ

#: Steps that a well-chosen sketch takes to a certified error of 1e-2.
_STEPS = 4
#: With about as many components as samples it takes so many times the steps.
_NEAR = 3
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
#: And the sketch this much.
_SKETCH_BYTES = 1 << 29


@dataclass(frozen=True)
class Route:
    """How a problem is solved.

    Parameters
    ----------
    method : str
        "sketch", "gram" or "direct".
    n_components : int
        Components of the sketch; 0 for the others.
    sketch_seconds, gram_seconds, direct_seconds : float
        What the cost model expects of each; infinity where it cannot be used.
    step_seconds : float
        And of one step with the sketch.
    reason : str
        In words.
    """

    method: str
    n_components: int
    sketch_seconds: float
    gram_seconds: float
    direct_seconds: float
    step_seconds: float
    reason: str


def choose_route(
    matrix: Matrix,
    samples: float,
    n_tasks: int,
    method: str = "auto",
    n_components: int | str = "auto",
    loss: str = "squared_hinge",
) -> Route:
    """Return the route that the cost model expects to be faster.

    Parameters
    ----------
    matrix : Matrix
        X.
    samples : float
        Samples that count: the sum of the sample weights.
    n_tasks : int
        Problems that share the passes: classes.
    method : str
        "auto", "sketch", "gram" or "direct": one that is asked for is taken.
    n_components : int or "auto"
        Components of the sketch.
    loss : str
        The logistic loss, being flatter, needs fewer of them; the hinge takes longest to solve exactly.

    Returns
    -------
    route : Route
        With the times that decided.
    """
    n, d = max(samples, 1.0), matrix.shape[1]
    r = default_components(matrix, n, loss) if n_components == "auto" else int(n_components)
    read = _pass_seconds(matrix, n)
    solve = n_tasks * min(n, float(d)) * n * n / 3.0 / FLOAT64
    gram = _gram_seconds(matrix, n) + 2.0 * read * n_tasks**0.5 + _FACTORISATIONS.get(loss, 6.0) * solve
    rows = n > max(5000, r)
    model = 0.0 if rows else 0.5 * n * n * r / FLOAT32
    small = 2.0 * solve
    if rows:  # which are gone through again and again
        times = _PRODUCTS[loss] / 2.0 / READ if loss in _PRODUCTS else 2.0 * _EPOCHS / _DESCENT_READ
        small = n_tasks * n * r * 4.0 * times
    step = matrix.normal_passes * read * n_tasks**0.5 + small
    # With more samples than components the sketch contracts less; the logistic loss, being flat, hardly feels it.
    slower = (2 if loss != "logistic" else 1) if rows else 1 if r >= 2 * n else _NEAR
    sketch = 2.0 * read + model + _STEPS * slower * step
    direct = _direct_seconds(matrix, n, n_tasks, read, loss)
    if 8.0 * min(n, d) * n > _GRAM_BYTES:
        gram = inf
    if method != "auto":
        chosen, reason = method, "asked for"
    elif gram < inf and min(n, d) <= 400:
        chosen, reason = "gram", "the problem is small"
    elif direct < min(sketch, gram):
        chosen, reason = "direct", "going through the rows themselves is expected to be cheaper than a sketch"
    elif gram == inf:
        chosen, reason = "sketch", "the Gram matrix would take too much memory"
    elif d <= r:
        chosen, reason = "gram", "the problem is small"
    else:
        chosen = "gram" if gram <= sketch else "sketch"
        reason = f"the cost model expects {sketch:.2g} s for the sketch and {gram:.2g} s for the Gram matrix"
    if chosen == "sketch" and r >= d:
        chosen, reason = "gram", "a sketch of as many components as there are features saves nothing"
    return Route(chosen, r if chosen == "sketch" else 0, sketch, gram, direct, step, reason)


def default_components(matrix: Matrix, samples: float, loss: str) -> int:
    """Return the number of components that "auto" stands for.

    Four times the samples, twice that for standardised columns, whose spectrum is flat, and half of it for the logistic
    loss; up to sixteen times where samples are few, and at most a quarter of the features. Above 5,000 samples the rows
    of the sketch themselves are kept, and 4,096 components are taken.

    Parameters
    ----------
    matrix : Matrix
        X.
    samples : float
        Samples that count.
    loss : str
        Its name.

    Returns
    -------
    n_components : int
        A multiple of 64.
    """
    n, d = max(samples, 1.0), matrix.shape[1]
    times = (8.0 if isinstance(matrix, Standardised) else 4.0) * (0.5 if loss == "logistic" else 1.0)
    wanted = 4096.0 if n > 5000 else max(times * n, min(16.0 * n, 4096.0))
    wanted = min(wanted, d / 4.0, _SKETCH_BYTES / (4.0 * n))
    return max(64, int(wanted) // 64 * 64)


def _pass_seconds(matrix: Matrix, n: float) -> float:
    stored = matrix.density
    cells = n * matrix.shape[1]
    if stored is not None:
        return cells * stored * _SPARSE_VALUE
    size = int(matrix.dtype.itemsize)
    seconds: float = cells * size / (READ * _SHARE.get(size, 0.5))
    return seconds


def _direct_seconds(matrix: Matrix, n: float, n_tasks: int, read: float, loss: str) -> float:
    if not has_stored_rows(matrix):
        return inf
    cells = n * matrix.shape[1]
    if matrix.density is None:
        size = cells * int(matrix.dtype.itemsize)
        solve = _PRODUCTS[loss] * size / READ if loss in _PRODUCTS else _EPOCHS * size / _DESCENT_READ
    else:
        stored = cells * matrix.density
        if 12.0 * stored > _DIRECT_BYTES:
            return inf
        solve = stored * (_PRODUCTS[loss] * _SPARSE_VALUE if loss in _PRODUCTS else _EPOCHS * _DESCENT_VALUE)
    return float(n_tasks * solve + 6.0 * read * n_tasks**0.5)


def _gram_seconds(matrix: Matrix, n: float) -> float:
    d = matrix.shape[1]
    stored = matrix.density
    if stored is not None:  # every pair of stored values of a column meets
        return n * n * d * stored * min(1.0, 3.0 * stored) * _SPARSE_VALUE
    rate = FLOAT32 if matrix.dtype.itemsize == 1 else FLOAT64
    inner = min(float(d), n)  # with fewer features than samples it is XᵀX that is made
    return 0.5 * n * max(float(d), n) * inner / rate
