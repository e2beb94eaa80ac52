"""The margin that all but a share of the points have."""

from __future__ import annotations

from typing import Any

import numpy as np

from slimline.data.arguments import real_array
from slimline.data.class_labels import class_codes
from slimline.errors import DataError, InvalidParameterError
from slimline.geometry.inputs import require_directions
from slimline.geometry.margin import margin
from slimline.geometry.points import Points
from slimline.geometry.records import ErrorAllowedMargin
from slimline.parameters import number, share
from slimline.recovery.rounding import sum_error


def error_allowed_margin(
    X: Any, y: Any, separator: Any = None, *, errors: float = 0.05, normalised: bool = True, intercept: float = 0.0
) -> ErrorAllowedMargin:
    """Return the margin that a plane leaves to all but a share of the points (shi2012, Definition 3).

    Parameters
    ----------
    X : array, sparse matrix, data frame, path, Matrix or Points
        One row a point.
    y : array-like of shape (n_samples,)
        Labels of two classes; the one that is sorted last is positive.
    separator : array of shape (n_features,), optional
        Normal of the plane, of any length. None: that of `margin`, through the origin; of the soft-margin machine where
        nothing separates the classes.
    errors : float
        ρ: the share of the points that may fall short, in [0, 1).
    normalised : bool
        Scale every point to norm 1 first.
    intercept : float
        Of the plane ⟨separator, x⟩ + intercept = 0, x being a point as it is or scaled to norm 1.

    Returns
    -------
    margin : ErrorAllowedMargin
        It may be negative: then more points than the share are on the wrong side.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.geometry import error_allowed_margin
    >>> X = np.array([[3.0, 4.0], [4.0, 3.0], [5.0, 0.0], [-1.0, 0.0]])
    >>> found = error_allowed_margin(X, [1, 1, 0, 0], [1.0, 0.0], errors=0.25)
    >>> round(found.value, 6), found.short.tolist()
    (0.6, [2])
    """
    errors = share("errors", errors, "the points")
    offset = float(number("intercept", intercept, -np.inf))
    data = Points.of(X)
    names, codes = class_codes(y, data.matrix)
    if len(names) > 2:
        raise DataError(f"y has {len(names)} classes, and a plane tells two apart.")
    how = "the given plane"
    if separator is None:
        found = margin(data, y, normalised=normalised)
        separator = found.separator
        how = f"the plane of the {'hard' if found.separable else 'soft'}-margin machine through the origin"
    u = real_array(separator, "separator").astype(np.float64)
    if u.shape != (data.shape[1],) or not np.isfinite(u).all() or not u.any():
        raise InvalidParameterError(
            f"separator must be a vector of {data.shape[1]:,} finite numbers, not all of them 0; got shape {u.shape}."
        )
    norms = np.sqrt(data.squares)
    if normalised:
        require_directions(norms, data.matrix)
    scale = 1.0 / norms if normalised else np.ones(len(norms))
    largest = float(np.abs(u).max())  # before the norm, whose squares may overflow or vanish
    u = u / largest
    length = float(np.linalg.norm(u))
    offset = offset / largest / length
    if not np.isfinite(offset):
        raise InvalidParameterError("intercept is too large beside separator: their quotient is no float64.")
    values = np.where(codes == 1, 1.0, -1.0) * (data.matrix.dot(u) * scale / length + offset)
    lost = sum_error(data.matrix.summands + 1) * data.sizes * scale
    lost += 2.0 * data.norms_error * (np.abs(values) + abs(offset))  # the sum may be small beside its terms
    order = np.argsort(values, kind="stable")
    place = min(int(np.floor(errors * len(values) * (1.0 + 1e-12))), len(values) - 1)
    value = float(values[order[place]])
    return ErrorAllowedMargin(
        value=value,
        lower=float(np.sort(values - lost)[place]),
        upper=float(np.sort(values + lost)[place]),
        reached=f"{how}; margins of all {len(values):,} points, sorted",
        errors=errors,
        short=np.sort(order[:place][values[order[:place]] < value]),
        boundary=int(order[place]),
    )
