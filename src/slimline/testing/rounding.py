"""How far two correct products may lie apart: the rounding bound that every check compares with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.projections import Projection

#: Roundings beside the additions: scale, value times scale, conversion, a few panels that are added up.
_EXTRA_OPERATIONS = 16


def dense_rows(projection: Projection, start: int = 0, stop: int | None = None) -> NDArray[np.float64]:
    """Return R[start:stop] in float64 as an array, whatever the family stores.

    Parameters
    ----------
    projection : Projection
        Where the rows come from.
    start, stop : int
        Range of features (default: all).

    Returns
    -------
    rows : array of shape (stop - start, n_components)
        Entries of R.
    """
    return as_dense(projection.rows(start, stop)).astype(np.float64, copy=False)


def as_dense(X: Any) -> NDArray[Any]:
    """Return an array or a sparse matrix as an array.

    Parameters
    ----------
    X : array or sparse matrix
        Anything of two dimensions.

    Returns
    -------
    dense : array
        Its entries.
    """
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def accumulation_error(operations: Any, dtype: Any) -> Any:
    """Return γ_k = k u / (1 - k u): what k roundings in a row can do to a sum, relative to Σ|terms|.

    Parameters
    ----------
    operations : int or array of int
        Number k of roundings (Higham, Accuracy and Stability of Numerical Algorithms, §3.1).
    dtype : data type
        float32 or float64.

    Returns
    -------
    error : float or array
        The bound; it holds for every order of summation.
    """
    lost = np.asarray(operations) * (float(np.finfo(dtype).eps) / 2)
    return lost / (1 - lost)


def rounding_bound(X: NDArray[np.float64], R: NDArray[np.float64], dtype: Any) -> NDArray[np.float64]:
    """Return, for each entry, how far X R computed in `dtype` may lie from X @ R computed in float64.

    Parameters
    ----------
    X : array of shape (n, d)
        Data, in float64.
    R : array of shape (d, r)
        Projection, in float64.
    dtype : data type
        Type in which the sum was kept.

    Returns
    -------
    bound : array of shape (n, r)
        A proved bound, not an estimate: it never has to be widened.
    """
    operations = np.count_nonzero(R, axis=0) + _EXTRA_OPERATIONS
    error = accumulation_error(operations, dtype) + accumulation_error(operations, np.float64)
    bound: NDArray[np.float64] = (np.abs(X) @ np.abs(R)) * error
    return bound


def require_close(actual: Any, expected: Any, bound: Any, what: str) -> None:
    """Raise AssertionError where two arrays differ by more than `bound`.

    Parameters
    ----------
    actual, expected : array
        What is compared.
    bound : array or float
        Largest difference allowed.
    what : str
        Said in the message.
    """
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
    """Raise AssertionError unless two arrays hold the same values, bit for bit.

    Parameters
    ----------
    actual, expected : array
        What is compared.
    what : str
        Said in the message.
    """
    actual, expected = np.ascontiguousarray(actual), np.ascontiguousarray(expected)
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        raise AssertionError(f"{what}: {actual.dtype} {actual.shape} instead of {expected.dtype} {expected.shape}.")
    if actual.tobytes() != expected.tobytes():
        count = int(np.count_nonzero(actual != expected))
        raise AssertionError(f"{what}: {count} of {actual.size} entries differ, and not a bit should.")
