"""Dual coordinate descent for hinge and squared hinge, on rows or on a Gram matrix.

With labels y of ±1, both minimise over 0 ≤ aᵢ ≤ upperᵢ

    (y∘a)ᵀ K (y∘a) / (2λ) + ½ Σ diagᵢ aᵢ² + Σ (yᵢqᵢ - 1) aᵢ,

whose gradient is yᵢfᵢ - 1 + diagᵢaᵢ with f = K(y∘a)/λ + q. Hinge with weights s has diag = 0 and upper = s; squared
hinge has diag = 1/(2s) and no upper bound.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import _native
from slimline.errors import InvalidParameterError

Floats = NDArray[np.float64]


class Descent(NamedTuple):
    """How a descent ended."""

    #: Epochs that were run, the last perhaps in part.
    epochs: int
    #: Largest projected gradient over all coordinates: at most the tolerance, or the epochs did not suffice. On rows,
    #: each as it was when the last epoch came to it; on a Gram matrix, as it is at the end.
    violation: float


def descend_rows(
    Z: Any,
    y: Floats,
    q: Floats,
    diag: Floats,
    upper: Floats,
    lam: float,
    a: Floats,
    v: Floats,
    *,
    constant: float = 0.0,
    max_epochs: int,
    tolerance: float,
    seed: int,
) -> Descent:
    """Descend on `a` with K = Z Zᵀ, which is never formed.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (n, r), float32 or float64
        Rows one after the other in memory; they may lie apart, as in a view of some columns. Float32 rows of an array
        are worked on in float32 as far as that reaches the tolerance.
    y, q, diag, upper : ndarray of shape (n,), float64
        The problem: labels of ±1, offsets, curvatures of 0 or more, upper bounds that may be infinite.
    lam : float
        λ > 0.
    a : ndarray of shape (n,), float64
        Where to start, between the bounds; where the descent ended, in place.
    v : ndarray of shape (r,), float64
        Must be Zᵀ(y∘a)/λ at the start (zeros for a = 0), and is so in float64 at the end, in place.
    constant : float
        Other than 0: the value of one column more, behind those of Z; v is then longer by one.
    max_epochs : int
        The most epochs to run, 1 or more.
    tolerance : float
        Stop when the largest projected gradient of an epoch over all coordinates is no larger.
    seed : int
        Of the order in which coordinates are visited, 0 to 2⁶⁴ - 1. Equal seeds give equal results.

    Returns
    -------
    Descent
        Epochs and largest projected gradient.
    """
    sparse = sp.issparse(Z)
    if not sparse:
        _require_rows(Z, "Z")
    elif Z.format != "csr" or Z.dtype not in (np.float32, np.float64) or 0 in Z.shape:
        raise InvalidParameterError("Z must be a CSR matrix of float32 or float64, with a row and a column at least.")
    if not np.isfinite(constant):
        raise InvalidParameterError(f"constant must be finite, not {constant}.")
    _require_problem(Z.shape[0], y, q, diag, upper, lam, a, max_epochs, tolerance, seed)
    _require_vector(v, Z.shape[1] + (constant != 0.0), "v")
    problem = (constant, y, q, diag, upper, lam, a, v, max_epochs, tolerance, seed)
    if sparse:
        return Descent(*_native.descend_sparse(Z.indptr, Z.indices, Z.data, *problem))
    return Descent(*_native.descend_rows(Z, *problem))


def descend_gram(
    K: NDArray[Any],
    y: Floats,
    q: Floats,
    diag: Floats,
    upper: Floats,
    lam: float,
    a: Floats,
    f: Floats,
    *,
    max_epochs: int,
    tolerance: float,
    seed: int,
) -> Descent:
    """Descend on `a` with K written out.

    Parameters
    ----------
    K : ndarray of shape (n, n), float32 or float64
        Symmetric and positive semidefinite up to rounding, in C order.
    y, q, diag, upper : ndarray of shape (n,), float64
        The problem: labels of ±1, offsets, curvatures of 0 or more, upper bounds that may be infinite.
    lam : float
        λ > 0.
    a : ndarray of shape (n,), float64
        Where to start, between the bounds; where the descent ended, in place.
    f : ndarray of shape (n,), float64
        Must be K(y∘a)/λ + q at the start (q for a = 0), and is so in float64 at the end, in place.
    max_epochs : int
        The most epochs to run, 1 or more: each is n steps, spent on the largest gradients.
    tolerance : float
        Stop when the largest projected gradient is no larger.
    seed : int
        Of the order in which coordinates are visited, 0 to 2⁶⁴ - 1. Equal seeds give equal results.

    Returns
    -------
    Descent
        Epochs and largest projected gradient.
    """
    _require_rows(K, "K")
    if K.shape[0] != K.shape[1]:
        raise InvalidParameterError(f"K must be square, one row and one column a sample, but has shape {K.shape}.")
    _require_problem(len(K), y, q, diag, upper, lam, a, max_epochs, tolerance, seed)
    _require_vector(f, len(K), "f")
    product = f - q
    ended = _native.descend_gram(K, y, q, diag, upper, lam, a, product, max_epochs, tolerance, seed)
    np.add(product, q, out=f)
    return Descent(*ended)


def _require_rows(X: NDArray[Any], name: str) -> None:
    if X.ndim != 2 or X.dtype not in (np.float32, np.float64):
        raise InvalidParameterError(f"{name} must be a matrix of float32 or float64: convert it first.")
    if 0 in X.shape:
        raise InvalidParameterError(f"{name} must have a row and a column at least, but has shape {X.shape}.")
    if X.shape[1] > 1 and X.strides[1] != X.itemsize:
        raise InvalidParameterError(f"{name} must be in C order: pass numpy.ascontiguousarray({name}).")


def _require_problem(
    n: int,
    y: Floats,
    q: Floats,
    diag: Floats,
    upper: Floats,
    lam: float,
    a: Floats,
    max_epochs: int,
    tolerance: float,
    seed: int,
) -> None:
    for vector, name in ((y, "y"), (q, "q"), (diag, "diag"), (upper, "upper"), (a, "a")):
        _require_vector(vector, n, name)
    if not np.all(np.abs(y) == 1):
        raise InvalidParameterError("y must hold -1 and +1 only.")
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(diag)) and np.all(diag >= 0)):
        raise InvalidParameterError("q and diag must be finite, and diag 0 or more.")
    if not (np.all(upper >= 0) and np.all(a >= 0) and np.all(a <= upper) and np.all(np.isfinite(a))):
        raise InvalidParameterError("a must be finite, with 0 <= a <= upper: clip it first.")
    if not 0 < lam < np.inf:
        raise InvalidParameterError(f"lam must be positive and finite, not {lam}.")
    if not 1 <= max_epochs < 2**32 or not tolerance >= 0 or not 0 <= seed < 2**64:
        raise InvalidParameterError(
            f"max_epochs must be 1 or more, tolerance 0 or more and seed an integer of 64 bits, not {max_epochs}, "
            f"{tolerance} and {seed}."
        )


def _require_vector(vector: Floats, length: int, name: str) -> None:
    if vector.shape != (length,) or vector.dtype != np.float64 or not vector.flags.c_contiguous:
        raise InvalidParameterError(f"{name} must be a contiguous float64 vector of length {length}.")
