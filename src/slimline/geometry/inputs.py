"""What the measurements are given, checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix, open_matrix
from slimline.errors import DataError, InvalidParameterError
from slimline.projections import Projection

#: Rows whose numbers a message names.
_NAMED = 5
#: Characters of an object that a message shows.
_SHOWN = 80
#: Norms whose squares have lost digits.
_TINY = 1e-140
#: Squared norms of the largest row between which sums of products neither lose digits nor overflow.
_LEAST_SQUARE, _MOST_SQUARE = 1e-304, 1e304
#: What tells a number that is not 0 from 0, though its square vanishes.
_LIFT = 1e140


def matrix_of(X: Any) -> Matrix:
    """Return data that have a row and a column as a `Matrix`.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path or Matrix
        One row a point.

    Returns
    -------
    matrix : Matrix
        Nothing is copied.
    """
    matrix = X if isinstance(X, Matrix) else open_matrix(Path(X) if isinstance(X, str) else X)
    if not min(matrix.shape):
        raise DataError(f"{matrix.name} has the shape {matrix.shape}: there is no point to measure.")
    return matrix


def projection_of(projection: Any, shape: tuple[int, int]) -> Projection:
    """Return the projection that a transformer, fitted or not, stands for on data of this shape.

    Parameters
    ----------
    projection : Projection or projection transformer
        One that is fitted keeps what it has drawn.
    shape : (int, int)
        Of the data.

    Returns
    -------
    projection : Projection
        For as many features as the data have.
    """
    drawn = projection if isinstance(projection, Projection) else getattr(projection, "projection_", None)
    if drawn is None and hasattr(projection, "projection_for"):
        drawn = projection.projection_for(shape)
    if not isinstance(drawn, Projection):
        shown = (
            repr(projection) if len(repr(projection)) <= _SHOWN else f"an object of type {type(projection).__name__}"
        )
        raise InvalidParameterError(
            f"projection must be one of slimline's, such as GaussianProjection(n_components=256); got {shown}."
        )
    if drawn.n_features != shape[1]:
        raise InvalidParameterError(
            f"the projection has n_features={drawn.n_features:,}, and the data have {shape[1]:,} columns."
        )
    return drawn


def require_directions(norms: NDArray[np.float64], matrix: Matrix) -> None:
    """Refuse rows of zeros, and of hardly more, and name them: they have no angle, or none that can be measured.

    Parameters
    ----------
    norms : array of shape (n_samples,)
        Of the rows.
    matrix : Matrix
        The data, for the message.
    """
    zero = np.flatnonzero(norms == 0.0)
    if zero.size and not has_entries(matrix.rows(zero)):
        raise DataError(
            f"{named_rows(zero)} of {matrix.name} {'is' if zero.size == 1 else 'are'} all zero and {_has(zero)} no "
            "angle: leave such rows out, or measure without normalising."
        )
    tiny = np.flatnonzero(norms < _TINY)
    if tiny.size:
        raise DataError(
            f"the squares of {named_rows(tiny)} of {matrix.name} are below what float64 resolves: multiply the data by "
            "a large number, which changes no angle, or measure without normalising."
        )


def require_squares(squares: NDArray[np.float64], matrix: Matrix) -> None:
    """Refuse data that are so small or so large that squares of their rows are lost to float64.

    Parameters
    ----------
    squares : array of shape (n_samples,)
        Squared norms of the rows, as computed.
    matrix : Matrix
        The data.
    """
    largest = float(squares.max())
    small = largest < _LEAST_SQUARE
    if not (small or largest > _MOST_SQUARE) or (small and not has_entries(matrix)):
        return
    raise DataError(
        f"the squares of all rows of {matrix.name} are {'below' if small else 'above'} what float64 resolves: multiply "
        f"the data by a {'large' if small else 'small'} number; margins and radii are multiplied with them."
    )


def has_entries(matrix: Matrix) -> bool:
    """Say whether any number of the data is not 0, however small.

    Parameters
    ----------
    matrix : Matrix
        Numbers that are far below 1.

    Returns
    -------
    found : bool
        In one pass.
    """
    if not min(matrix.shape):
        return False
    # weights that no row is orthogonal to by chance
    return bool(np.any(matrix.dot(np.full(matrix.shape[1], _LIFT) * (1.0 + np.arange(matrix.shape[1]) % 7))))


def named_rows(rows: NDArray[np.intp]) -> str:
    """Return "row 3", "rows 3, 7" or "rows 3, 7, 9, 10, 12 and 31 more"."""
    shown = ", ".join(str(int(row)) for row in rows[:_NAMED])
    more = f" and {rows.size - _NAMED:,} more" if rows.size > _NAMED else ""
    return f"row{'' if rows.size == 1 else 's'} {shown}{more}"


def _has(rows: NDArray[np.intp]) -> str:
    return "has" if rows.size == 1 else "have"
