"""Checks of a projection: adjoint, isometry, second moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.projections import Projection

#: Roundings beside the additions: scale, value times scale, conversion, a few panels that are added up.
_EXTRA_OPERATIONS = 16


def dense_rows(projection: Projection, start: int = 0, stop: int | None = None) -> NDArray[np.float64]:
    """Return R[start:stop] in float64 as an array, whatever the family stores."""
    return as_dense(projection.rows(start, stop)).astype(np.float64, copy=False)


def as_dense(X: Any) -> NDArray[Any]:
    """Return an array or a sparse matrix as an array."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def accumulation_error(operations: Any, dtype: Any) -> Any:
    """Return γ_k = k u / (1 - k u): what k roundings in a row can do to a sum, relative to Σ|terms|."""
    lost = np.asarray(operations) * (float(np.finfo(dtype).eps) / 2)
    return lost / (1 - lost)


def rounding_bound(X: NDArray[np.float64], R: NDArray[np.float64], dtype: Any) -> NDArray[np.float64]:
    """Return, for each entry, how far X R computed in `dtype` may lie from X @ R computed in float64."""
    operations = np.count_nonzero(R, axis=0) + _EXTRA_OPERATIONS
    error = accumulation_error(operations, dtype) + accumulation_error(operations, np.float64)
    bound: NDArray[np.float64] = (np.abs(X) @ np.abs(R)) * error
    return bound


def require_close(actual: Any, expected: Any, bound: Any, what: str) -> None:
    """Raise AssertionError where two arrays differ by more than `bound`."""
    if np.shape(actual) != np.shape(expected):
        raise AssertionError(f"{what}: shape {np.shape(actual)} instead of {np.shape(expected)}.")
    difference = np.abs(np.asarray(actual, dtype=np.float64) - np.asarray(expected, dtype=np.float64))
    if not np.all(difference <= bound):  # a NaN fails too
        worst = np.unravel_index(
            np.argmax(np.where(np.isnan(difference), np.inf, difference - bound)), difference.shape
        )
        raise AssertionError(
            f"{what}: entry {tuple(map(int, worst))} is off by {difference[worst]:.3g}, "
            f"where rounding explains at most {np.broadcast_to(bound, difference.shape)[worst]:.3g}."
        )


def require_same_bits(actual: Any, expected: Any, what: str) -> None:
    """Raise AssertionError unless two arrays hold the same values, bit for bit."""
    actual, expected = np.ascontiguousarray(actual), np.ascontiguousarray(expected)
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        raise AssertionError(f"{what}: {actual.dtype} {actual.shape} instead of {expected.dtype} {expected.shape}.")
    if actual.tobytes() != expected.tobytes():
        count = int(np.count_nonzero(actual != expected))
        raise AssertionError(f"{what}: {count} of {actual.size} entries differ, and not a bit should.")


def check_adjoint(projection: Projection, *, n_samples: int = 4, seed: int = 0) -> None:
    """Check that ⟨x R, v⟩ = ⟨x, v Rᵀ⟩ for random x and v, in float64 and in float32.

    Parameters
    ----------
    projection : Projection
        What is checked.
    n_samples : int
        How many pairs (x, v).
    seed : int
        Seed of x and v.

    Raises
    ------
    AssertionError
        If the two sides differ by more than rounding explains. No chance is involved in the bound.

    Examples
    --------
    >>> from slimline.projections import Gaussian
    >>> from slimline.testing import check_adjoint
    >>> check_adjoint(Gaussian(n_features=100, n_components=16, seed=0))
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, projection.n_features))
    V = rng.standard_normal((n_samples, projection.n_components))
    R = np.abs(dense_rows(projection))
    dtypes: tuple[Any, ...] = (np.float64, np.float32)
    for dtype in dtypes:
        x, v = X.astype(dtype), V.astype(dtype)
        sketched = np.sum(projection.apply(x).astype(np.float64) * v, axis=1)
        lifted = np.sum(x * projection.lift(v).astype(np.float64), axis=1)
        size = np.sum((np.abs(x).astype(np.float64) @ R) * np.abs(v), axis=1)
        # One side adds up over the features, the other over the components; both inner products are in float64.
        operations = projection.n_features + projection.n_components + 32
        bound = size * (accumulation_error(operations, dtype) + accumulation_error(operations, np.float64))
        require_close(sketched, lifted, bound, f"adjoint in {np.dtype(dtype)}: <xR, v> against <x, vR^T>")


Factory = Callable[[int, int, int], Projection]

#: Standard errors beyond which a mean is called wrong.
Z_LIMIT = 7.5

#: What float64 rounding can do to a squared norm near 1 of at most a few hundred terms.
_ROUNDING = 1e-12


def exact_variance(projection: Projection, w: NDArray[np.float64], x: NDArray[np.float64]) -> float:
    """Return Var⟨Rᵀw, Rᵀx⟩ over the seeds, by the exact formula.

    (1/r) [f Σ_{a≠b, not in one block} (w_a² x_b² + w_a x_a w_b x_b) + (k₄ - 1) Σ_a w_a² x_a²] with (block, f) =
    `collision()`. For block = 1, f = 1 this is (‖w‖²‖x‖² + ⟨w, x⟩² + (k₄ - 3) Σ w_a² x_a²)/r.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.projections import Gaussian
    >>> from slimline.testing import exact_variance
    >>> x = np.ones(4) / 2
    >>> exact_variance(Gaussian(n_features=4, n_components=8, seed=0), x, x)
    0.25
    """
    block, factor = projection.collision()
    starts = np.arange(0, projection.n_features, block)

    def meeting(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
        # Σ over all pairs, less the pairs of one block (a feature and itself among them)
        within = np.add.reduceat(a, starts) @ np.add.reduceat(b, starts)
        return float(a.sum() * b.sum() - within)

    pairs = meeting(w * w, x * x) + meeting(w * x, w * x)
    same = float(np.sum(w * w * x * x))
    return (factor * pairs + (projection.kurtosis - 1) * same) / projection.n_components


def _exact_variances(projection: Projection, X: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([[exact_variance(projection, w, x) for x in X] for w in X])


def _vectors(n_features: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return unit vectors that tell the terms of the formula apart: one feature, one block, all, decaying, random."""
    X = np.zeros((5, n_features))
    X[0, n_features // 3] = 1
    X[1, : min(16, n_features)] = 1
    X[2] = rng.choice([-1.0, 1.0], size=n_features)
    X[3] = 1 / (1 + np.arange(n_features))
    X[4] = rng.standard_normal(n_features)
    unit: NDArray[np.float64] = X / np.linalg.norm(X, axis=1)[:, None]
    return unit


@dataclass(frozen=True)
class Drawn:
    """Sketches, by many seeds, of the same few vectors X and of an orthonormal basis V of their span."""

    projection: Projection  # of the first seed: its kurtosis and collisions are those of all
    X: NDArray[np.float64]
    V: NDArray[np.float64]
    products: NDArray[np.float64]  # inner products after projection, one square matrix a seed
    basis_products: NDArray[np.float64]


def draw(make: Factory, n_features: int, n_components: int, repeats: int, seed: int) -> Drawn:
    """Return what the seeds `seed`, `seed + 1`, … make of the vectors, in one projection of both sets a seed."""
    X = _vectors(n_features, np.random.default_rng(seed))
    V: NDArray[np.float64] = np.linalg.qr(X.T)[0].T
    both, k = np.concatenate([X, V]), len(X)
    products, basis_products = np.empty((repeats, k, k)), np.empty((repeats, len(V), len(V)))
    for i in range(repeats):
        Z = make(n_features, n_components, seed + i).apply(both)
        products[i], basis_products[i] = Z[:k] @ Z[:k].T, Z[k:] @ Z[k:].T
    return Drawn(make(n_features, n_components, seed), X, V, products, basis_products)


def _require_mean(samples: NDArray[np.float64], expected: float, what: str) -> None:
    error = float(samples.std(ddof=1) / np.sqrt(len(samples)))
    off = float(samples.mean()) - expected
    if not abs(off) <= Z_LIMIT * error + _ROUNDING:
        raise AssertionError(
            f"{what} is {samples.mean():.6g} on average over {len(samples)} seeds and should be {expected:.6g}: "
            f"{abs(off) / max(error, 1e-300):.1f} standard errors off, where {Z_LIMIT} are allowed."
        )


def _require_means(samples: NDArray[np.float64], expected: NDArray[np.float64], what: str) -> None:
    for i, j in zip(*np.tril_indices(len(expected)), strict=True):
        _require_mean(samples[:, i, j], float(expected[i, j]), f"{what}<R^T x{i}, R^T x{j}>")


def require_isometry(drawn: Drawn) -> None:
    """Raise if an inner product is off on average."""
    _require_means(drawn.products, drawn.X @ drawn.X.T, "")


def require_second_moment(drawn: Drawn) -> None:
    """Raise if a variance, or the expected squared error of the basis, is off."""
    squares = (drawn.products - drawn.X @ drawn.X.T) ** 2
    _require_means(squares, _exact_variances(drawn.projection, drawn.X), "Var")
    squares = (drawn.basis_products - np.eye(len(drawn.V))) ** 2
    expected = float(_exact_variances(drawn.projection, drawn.V).sum())
    _require_mean(squares.sum(axis=(1, 2)), expected, "||V^T R R^T V - I||_F^2")


def check_isometry(
    make: Factory, *, n_features: int = 48, n_components: int = 32, repeats: int = 8000, seed: int = 0
) -> None:
    """Check that E⟨Rᵀw, Rᵀx⟩ = ⟨w, x⟩, so that E‖Rᵀx‖² = ‖x‖².

    Parameters
    ----------
    make : callable
        `make(n_features, n_components, seed)` returns a projection.
    n_features, n_components : int
        Its shape. Components must be a multiple of what the family asks for.
    repeats : int
        Number of seeds. Fewer than the default raise the probability that a correct projection fails.
    seed : int
        The first of them.

    Raises
    ------
    AssertionError
        If an inner product is off on average; a correct projection fails with probability below 1e-6.

    Examples
    --------
    >>> from slimline.projections import Gaussian
    >>> from slimline.testing import check_isometry
    >>> check_isometry(Gaussian)
    """
    require_isometry(draw(make, n_features, n_components, repeats, seed))


def check_second_moment(
    make: Factory, *, n_features: int = 48, n_components: int = 32, repeats: int = 8000, seed: int = 0
) -> None:
    """Check Var⟨Rᵀw, Rᵀx⟩ and E‖VᵀRRᵀV - I‖_F² against their exact values.

    Parameters
    ----------
    make : callable
        As in :func:`check_isometry`.
    n_features, n_components, repeats, seed : int
        As in :func:`check_isometry`.

    Raises
    ------
    AssertionError
        If a second moment is not the one that follows from `kurtosis` and `collision()`; a projection with these
        moments fails with probability below 1e-6.

    See Also
    --------
    exact_variance : The formula.

    Notes
    -----
    With independent entries of kurtosis k₄, and leverage scores ℓⱼ of an orthonormal V of rank ρ ::

        Var⟨Rᵀw, Rᵀx⟩ = (‖w‖²‖x‖² + ⟨w, x⟩² + (k₄ - 3) Σ wⱼ²xⱼ²)/r
        E‖VᵀRRᵀV - I‖_F² = (ρ² + ρ + (k₄ - 3) Σ ℓⱼ²)/r.

    Examples
    --------
    >>> from slimline.projections import RandomSign
    >>> from slimline.testing import check_second_moment
    >>> check_second_moment(RandomSign)
    """
    require_second_moment(draw(make, n_features, n_components, repeats, seed))
