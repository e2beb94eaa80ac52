"""The cost model, and the route that it chooses."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from math import inf, log2
from typing import Any

import numpy as np

from slimline.data import Matrix
from slimline.data._arrays import supports_row_access
from slimline.data._standardised import Standardised
from slimline.learning import LOSSES
from slimline.learning.losses import Loss
from slimline.learning.regression_losses import REGRESSION_LOSSES
from slimline.learning.surrogate import GRAM_SAMPLES

#: Multiply-adds a second of a float32 matrix product.
FLOAT32 = 9e10
#: Multiply-adds a second of a float64 one.
FLOAT64 = 4.5e10
#: Bytes a second from memory.
READ = 3.5e10

_SIDE = 768
_NUMBERS = 1 << 23
_SINGLE: np.dtype[Any] = np.dtype(np.float32)
#: Share of the reading speed that a pass with one right-hand side reaches, by bytes of an element.
_SHARE = {8: 0.7, 4: 0.5, 2: 0.3, 1: 0.15}
#: Seconds a stored value of a sparse matrix takes in a pass.
_SPARSE_VALUE = 2e-9
#: Seconds a stored value of a sparse matrix takes in an epoch of coordinate descent,
_DESCENT_VALUE = 5e-9
#: bytes of an array a second there, and the epochs that a fit takes.
_DESCENT_READ, _EPOCHS = 1.2e10, 60.0
#: The rows of sparse data may take this much memory, at 12 bytes a value.
_DIRECT_BYTES = 4 << 30
#: With so few samples or features the Gram matrix is taken at once.
SMALL = 400
#: The Gram matrix may take this much memory.
_GRAM_BYTES = 4 << 30
#: A sketch beside reading the data: times as long, by family; the rest multiplies with every column of R.
_SKETCH_READS = {
    "cw": 1.0,
    "generalised_cw": 1.7,
    "osnap": 1.7,
    "srht": 2.7,
    "srht_replaced": 2.7,
    "very_sparse": 9.0,
}
#: Steps that a well-chosen sketch takes to a certified error of 1e-2.
_STEPS = 4
#: With about as many components as samples it takes so many times the steps.
_NEAR = 3
#: A search for C has this many factorisations a fit; and an exact Gram matrix may make it take so many times as long,
#: because fits to a sketch score held-out samples with its noise, which hides classes that differ little.
_SEARCH_FACTORISATIONS, _SEARCH_PATIENCE = 2.0, 2.0
#: A sketch may take this much memory.
_SKETCH_BYTES = 1 << 29


@cache
def slowness() -> float:
    """Return how many times slower this machine is now than the speeds above; takes a few hundredths of a second."""
    A = np.ones((_SIDE, _SIDE), dtype=np.float32)
    x = np.ones(_NUMBERS, dtype=np.float32)
    product, read = [], []
    for _ in range(4):
        begin = time.perf_counter()
        A @ A
        product.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        x @ x
        read.append(time.perf_counter() - begin)
    return float(np.sqrt(min(product) * FLOAT32 / _SIDE**3 * min(read) * READ / x.nbytes))


@dataclass(frozen=True)
class DataShape:
    """Sizes and storage of data that may not be there yet."""

    #: Samples and features.
    shape: tuple[int, int]
    #: Type of an element.
    dtype: np.dtype[Any] = _SINGLE
    #: Share of the elements that a sparse matrix stores; None: dense.
    density: float | None = None
    #: Passes that XᵀA and XXᵀA take together: 1 where whole columns can be had, else 2.
    normal_passes: int = 1
    #: Whether columns are centred and scaled.
    standardised: bool = False
    #: Whether rows can be visited one by one, as `method="direct"` does.
    stored_rows: bool = False
    #: Whether they are read from a file.
    from_file: bool = False
    #: Whether genotypes are computed on as they are packed.
    packed: bool = False

    @classmethod
    def of(cls, matrix: Matrix | DataShape) -> DataShape:
        """Return the shape of a matrix."""
        if isinstance(matrix, DataShape):
            return matrix
        return cls(
            matrix.shape,
            matrix.dtype,
            matrix.density,
            matrix.normal_passes,
            isinstance(matrix, Standardised),
            supports_row_access(matrix),
            matrix.traits.prefetch or matrix.traits.packed,
            matrix.traits.packed,
        )

    @property
    def cells(self) -> float:
        """Return how many elements are stored."""
        n, d = self.shape
        return float(n) * d * (1.0 if self.density is None else self.density)

    @property
    def nbytes(self) -> float:
        """Return how much memory or disk they take."""
        return self.cells * (self.dtype.itemsize + (4 if self.density is not None else 0))


def loss_of(name: str) -> Loss:
    """Return a loss of classification or regression by its name; what the cost model asks of them is the same."""
    return LOSSES[name] if name in LOSSES else REGRESSION_LOSSES[name]


def by_gram(n: float, n_components: int) -> bool:
    """Return whether the small problem lives in the n × n matrix of the sketch, not in its rows."""
    return n <= max(GRAM_SAMPLES, n_components)


def pass_seconds(shape: DataShape, n: float) -> float:
    """Return what a pass with one right-hand side takes."""
    cells = n * shape.shape[1]
    if shape.density is not None:
        return cells * shape.density * _SPARSE_VALUE
    size = shape.dtype.itemsize
    return float(cells * size / (READ * _SHARE.get(size, 0.5)))


def sketch_seconds(shape: DataShape, n: float, family: str, n_components: int) -> float:
    """Return what a sketch takes."""
    cells = n * shape.shape[1] * (1.0 if shape.density is None else shape.density)
    if family in _SKETCH_READS:
        if shape.density is None:
            size = shape.dtype.itemsize
            return float(cells * max(size, 2) / READ * _SKETCH_READS[family])
        if not family.startswith("srht"):
            return cells * _SPARSE_VALUE * _SKETCH_READS[family]
        d = shape.shape[1]  # rows are filled in, unless few values are stored
        return n * min(d * log2(max(d, 2)), d * shape.density * n_components) / (0.1 * FLOAT32)
    share = 1.0 if family == "gaussian" else 0.85
    return cells * n_components / (FLOAT32 * share)


def gram_seconds(shape: DataShape, n: float) -> float:
    """Return what X Xᵀ takes, or XᵀX where that is smaller."""
    d = shape.shape[1]
    if 8.0 * min(n, d) * n > _GRAM_BYTES:
        return inf
    if shape.density is not None:  # every pair of stored values of a column meets
        return n * n * d * shape.density * min(1.0, 3.0 * shape.density) * _SPARSE_VALUE
    rate = FLOAT32 if shape.dtype.itemsize == 1 else FLOAT64
    inner = min(float(d), n)  # with fewer features than samples it is XᵀX that is made
    return 0.5 * n * max(float(d), n) * inner / rate


def factor_seconds(shape: DataShape, n: float, n_tasks: int) -> float:
    """Return what one factorisation of the Gram matrix takes for every task."""
    return n_tasks * min(n, float(shape.shape[1])) * n * n / 3.0 / FLOAT64


def exact_seconds(shape: DataShape, n: float, n_tasks: int, loss: str, n_free: int = 0) -> float:
    """Return what the exact solution takes once the Gram matrix is there."""
    costs = loss_of(loss).costs
    return costs.factorisations * costs.beside(n_free).exact * factor_seconds(shape, n, n_tasks)


def small_seconds(shape: DataShape, n: float, n_tasks: int, loss: str, n_components: int, n_free: int = 0) -> float:
    """Return what the small problem of a step takes."""
    costs = loss_of(loss).costs
    if by_gram(n, n_components):
        return costs.step_factorisations * costs.beside(n_free).step * factor_seconds(shape, n, n_tasks)
    by_descent = loss_of(loss).dual_curvature is not None
    times = _EPOCHS / _DESCENT_READ if by_descent else costs.products / 2.0 / READ
    return n_tasks * n * n_components * 4.0 * times * costs.beside(n_free).rows


def model_seconds(n: float, n_components: int) -> float:
    """Return what the Gram matrix of the sketch takes."""
    return 0.5 * n * n * n_components / FLOAT32 if by_gram(n, n_components) else 0.0


def direct_seconds(shape: DataShape, n: float, n_tasks: int, loss: str, n_free: int = 0) -> float:
    """Return what going through the rows themselves takes."""
    if not shape.stored_rows or not has_row_solver(loss, n_free):
        return inf
    cells = n * shape.shape[1]
    by_descent, products = loss_of(loss).dual_curvature is not None, loss_of(loss).costs.products
    if shape.density is None:
        size = cells * shape.dtype.itemsize
        solve = _EPOCHS * size / _DESCENT_READ if by_descent else products * size / READ
    else:
        stored = cells * shape.density
        if 12.0 * stored > _DIRECT_BYTES:
            return inf
        solve = stored * (_EPOCHS * _DESCENT_VALUE if by_descent else products * _SPARSE_VALUE)
    solve *= n_tasks * loss_of(loss).costs.beside(n_free).rows
    return float(solve + 6.0 * pass_seconds(shape, n) * n_tasks**0.5)


def has_row_solver(loss: str, n_free: int = 0) -> bool:
    """Return whether rows are solved to rounding: of losses with corners only the hinge is, without covariates."""
    return loss_of(loss).smoothness is not None or (loss_of(loss).dual_curvature is not None and n_free <= 1)


def needs_interior_point(loss: str, n_free: int = 0) -> bool:
    """Return whether the Gram matrix is solved by an interior point: for corners, unless coordinate descent does."""
    return loss_of(loss).smoothness is None and (n_free > 0 or loss_of(loss).dual_curvature is None)


@dataclass(frozen=True)
class Route:
    """Method by which a problem is solved, and the reason for it.

    Parameters
    ----------
    method : str
        "sketch", "gram" or "direct".
    n_components : int
        Components of the sketch; 0 for the others.
    sketch_seconds, gram_seconds, direct_seconds : float
        Time that the cost model predicts for each; infinity if the method is not possible.
    step_seconds : float
        Time of one step with the sketch.
    reason : str
        The reason in words.
    """

    method: str
    n_components: int
    sketch_seconds: float
    gram_seconds: float
    direct_seconds: float
    step_seconds: float
    reason: str


def choose_route(
    matrix: Matrix | DataShape,
    samples: float,
    n_tasks: int,
    method: str = "auto",
    n_components: int | str = "auto",
    loss: str = "squared_hinge",
    search_tasks: int = 0,
    n_free: int = 0,
) -> Route:
    """Return the route that the cost model expects to be faster.

    `search_tasks` problems search C on its surrogate, and `n_free` columns have no penalty, the intercept included.
    """
    shape = DataShape.of(matrix)
    n, d = max(samples, 1.0), shape.shape[1]
    r = default_components(shape, n, loss) if n_components == "auto" else int(n_components)
    together = pass_seconds(shape, n) * n_tasks**0.5  # a pass with as many right-hand sides as tasks
    gram = gram_seconds(shape, n) + 2.0 * together + exact_seconds(shape, n, n_tasks, loss, n_free)
    step = shape.normal_passes * together + small_seconds(shape, n, n_tasks, loss, r, n_free)
    slower = loss_of(loss).costs.steps_by_rows if not by_gram(n, r) else 1 if r >= 2 * n else _NEAR
    sketch = 2.0 * pass_seconds(shape, n) + model_seconds(n, r) + _STEPS * slower * step
    direct = direct_seconds(shape, n, n_tasks, loss, n_free)
    search = _SEARCH_FACTORISATIONS * factor_seconds(shape, n, search_tasks)
    if method != "auto":
        chosen, reason = method, "asked for"
    elif gram < inf and min(n, d) <= SMALL:
        chosen, reason = "gram", "the problem is small"
    elif direct < min(sketch, gram):
        chosen, reason = "direct", "going through the rows themselves is expected to be cheaper than a sketch"
    elif gram == inf:
        chosen, reason = "sketch", "the Gram matrix would take too much memory"
    elif d <= r:
        chosen, reason = "gram", "the problem is small"
    elif search_tasks and by_gram(n, r) and gram + search <= _SEARCH_PATIENCE * (sketch + search):
        chosen = "gram"
        reason = (
            "the Gram matrix scores held-out samples without the noise of a sketch; the cost model expects "
            f"{gram + search:.2g} s with the search, and {sketch + search:.2g} s for the sketch"
        )
    else:
        chosen = "gram" if gram <= sketch else "sketch"
        reason = f"the cost model expects {sketch:.2g} s for the sketch and {gram:.2g} s for the Gram matrix"
    if chosen == "sketch" and r >= d:
        chosen, reason = "gram", "a sketch of as many components as there are features saves nothing"
    return Route(chosen, r if chosen == "sketch" else 0, sketch, gram, direct, step, reason)


def default_components(matrix: Matrix | DataShape, samples: float, loss: str) -> int:
    """Return the number of components that "auto" stands for.

    Four times the samples, twice that for standardised columns, whose spectrum is flat, and half of it for the logistic
    loss; up to sixteen times where samples are few, and at most a quarter of the features. Above 5,000 samples the rows
    of the sketch themselves are kept, and 4,096 components are taken.
    """
    shape = DataShape.of(matrix)
    n, d = max(samples, 1.0), shape.shape[1]
    times = (8.0 if shape.standardised else 4.0) * loss_of(loss).costs.components
    wanted = 4096.0 if n > 5000 else max(times * n, min(16.0 * n, 4096.0))
    wanted = min(wanted, d / 4.0, _SKETCH_BYTES / (4.0 * n))
    return max(64, int(wanted) // 64 * 64)
