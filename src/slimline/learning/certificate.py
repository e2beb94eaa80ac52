"""The certificate: from the duality gap to balls, intervals and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import ROUNDOFF, overflow_allowed
from slimline._base.rounding import bound as upper_bound
from slimline.learning.problem import BinaryProblem, DualPoint, Point, SolverState
from slimline.learning.training_data import TrainingData

Floats = NDArray[np.float64]
#: Squares of numbers below this vanish in float64, and with them a distance of no more than this.
_UNDERFLOW = 1e-150
#: Coordinates that intervals are computed of at a time.
_COLUMNS = 1 << 16


@dataclass(frozen=True)
class GapParts:
    """The two parts of a duality gap, rounding included."""

    #: Σ sᵢ [ℓ(mᵢ) + ℓ*(-aᵢ) + aᵢ mᵢ], at most.
    residuals: float
    #: ‖w - w_α‖, at most.
    distance: float
    #: The gap, an upper bound of how far the objective is from the optimum.
    gap: float

    @property
    def square(self) -> float:
        """Return the squared distance: a product, since a power of a float raises where it overflows."""
        return self.distance * self.distance


@dataclass(frozen=True)
class GapBound(GapParts):
    """The ball around the exact optimum w* that the gap of one problem proves."""

    #: The middle of w and w_α, the weight of the constant column last; of shape (n_features + 1,).
    weights: Floats
    #: ‖weights - w*‖ ≤ radius.
    radius: float
    #: An upper bound of ‖weights - w*‖/‖w*‖; infinite where the radius is not below ‖weights‖.
    relative_error: float


@overflow_allowed()
def gap_parts(problem: BinaryProblem, point: Point, dual: DualPoint, row_bounds: Floats) -> GapParts:
    """Return upper bounds of the parts of the duality gap of a point and a dual point."""
    error = point.values_error * row_bounds + problem.scores_error(point)
    each = problem.loss.largest_residual(problem.labels * problem.scores_of(point), dual.a, error, dual.slack)
    used = problem.weights > 0
    margin = 1.0 + 2.0 * (len(each) + 8) * ROUNDOFF
    residuals = upper_bound(float(problem.weights[used] @ each[used]) * margin)
    difference = point.weights - dual.weights
    slack = 1.0 + 2.0 * (len(difference) + 8) * ROUNDOFF
    distance = float(np.linalg.norm(difference)) * slack + dual.total_error + _UNDERFLOW
    distance = upper_bound(distance + 2 * ROUNDOFF * (point.norm + dual.norm))
    gap = residuals + 0.5 * problem.penalty * (distance * distance)
    return GapParts(residuals, distance, gap * (1.0 + 8 * ROUNDOFF))


@overflow_allowed()
def bound_gap(problem: BinaryProblem, point: Point, dual: DualPoint, row_bounds: Floats) -> GapBound:
    """Return the midpoint of w and w_α, and how far it can be from the optimum."""
    parts = gap_parts(problem, point, dual, row_bounds)
    weights = point.weights + dual.weights
    weights *= 0.5
    norm = float(np.linalg.norm(weights))
    radius = float(np.sqrt(parts.residuals / problem.penalty + 0.25 * parts.square))
    radius = upper_bound((radius + 0.5 * dual.total_error + 2 * ROUNDOFF * norm) * (1.0 + 16 * ROUNDOFF))
    return GapBound(parts.residuals, parts.distance, parts.gap, weights, radius, relative(radius, norm))


def relative(radius: float, norm: float) -> float:
    """Return an upper bound of the error relative to the norm of the optimum."""
    norm *= 1.0 - 1e-9  # more than rounding can have added to it
    return radius / (norm - radius) * (1.0 + 8 * ROUNDOFF) if radius < norm else float("inf")


@overflow_allowed()
def intervals(
    problem: BinaryProblem,
    point: Point,
    dual: DualPoint,
    parts: GapParts,
    column_squares: Floats,
    columns: slice = slice(None),
) -> tuple[Floats, Floats]:
    """Return an interval for each coordinate of the exact optimum, or for some of them.

    Notes
    -----
    For an L-smooth loss D is strongly concave in α too, by (1/2L)Σ(αᵢ - α*ᵢ)²/sᵢ, and a coordinate of w_α - w* is a
    linear function of α - α* whose size is bounded by the column's norm: κⱼ = 1 + λ/(L Σ sᵢ x²ᵢⱼ) is its factor. The
    centre is then not the midpoint but the mean of wⱼ and w_α,ⱼ with weights 1 and κⱼ. Beside covariates the same holds
    for the part of the column that they do not explain, since Uᵀ(β - β*) = 0.
    """
    w, v = point.weights[columns], dual.weights[columns]
    difference = np.abs(w - v)
    if problem.loss.smoothness is None:
        kappa = np.ones_like(w)
    else:
        kappa = 1.0 + problem.penalty / (problem.loss.smoothness * column_squares * (1.0 + 1e-6))
        kappa = np.minimum(kappa, 1e12)  # any smaller factor is true too, and this one loses nothing
    centre = w + (v - w) * (kappa / (1.0 + kappa))
    # 2 gap/λ - ½(‖w - w_α‖² - dⱼ²) with the gap taken apart: 2 residuals/λ + ½‖w - w_α‖² + ½ dⱼ²
    error = dual.total_error + 8 * ROUNDOFF * (np.abs(w) + np.abs(v))
    square = 2.0 * parts.residuals / problem.penalty + 0.5 * parts.square + 0.5 * np.square(difference + error)
    square *= (1.0 + 64 * ROUNDOFF) / (1.0 + kappa)
    square -= kappa * np.square(np.maximum(difference - error, 0.0) / (1.0 + kappa))
    return centre, np.sqrt(np.maximum(square, 0.0)) * (1.0 + 64 * ROUNDOFF) + error


@dataclass(frozen=True)
class Certificate:
    """Certified bounds of the distance from the exact weights w*: no probability is involved.

    One row or entry for each class (one for two classes). With standardising, weights are those of the standardised
    features; with penalty factors κ, they are √κⱼwⱼ, so the ball holds in the norm whose square is Σκⱼwⱼ². The arrays
    are read-only.

    Parameters
    ----------
    gap : array of shape (n_tasks,)
        Duality gap.
    radius : array of shape (n_tasks,)
        η: ‖weights - w*‖ is at most this.
    relative_error : array of shape (n_tasks,)
        ‖weights - w*‖/‖w*‖ is at most this; infinite if the radius is not below ‖weights‖.
    weights : array of shape (n_tasks, n_features + 1)
        The certified weights; the last column is the weight of the constant feature (0 without intercept).
    coordinate_radius : array of shape (n_tasks, n_features)
        Each entry of `coef_` is within this of the exact one.
    interval_centre, interval_radius : arrays of shape (n_tasks, n_features)
        Each exact weight lies within `interval_radius` of `interval_centre`, which is not always the weight itself.
    passes : int
        Number of passes over the data.

    See Also
    --------
    slimline.CertifiedClassifier : The problem, and the bound on ‖weights - w*‖.
    rank_bounds : From the intervals to ranks of the features.

    Notes
    -----
    With λ = 1/C, any w and any dual feasible α, `weights` is the midpoint w_m = (w + w_α)/2 and ::

        gap = Σ sᵢ [ℓ(mᵢ) + ℓ*(-aᵢ) + aᵢmᵢ] + (λ/2)‖w - w_α‖²
        η² = (1/λ) Σ sᵢ [ℓ(mᵢ) + ℓ*(-aᵢ) + aᵢmᵢ] + ¼‖w - w_α‖²
        relative_error = η/(‖w_m‖ - η).

    For an L-smooth loss the dual is strongly concave in α as well. With κⱼ = 1 + λ/(L Σ sᵢx²ᵢⱼ) and dⱼ = wⱼ - w_α,ⱼ
    this gives intervals of single weights with another centre, often far narrower than η ::

        centreⱼ = (wⱼ + κⱼ w_α,ⱼ)/(1 + κⱼ)
        radiusⱼ² = [2 gap/λ - ½(‖w - w_α‖² - dⱼ²)]/(1 + κⱼ) - κⱼ dⱼ²/(1 + κⱼ)².

    Beside few free covariates, Σ sᵢx²ᵢⱼ is that of the part of the column which they do not explain.

    The better of this interval and of the ball is kept for each weight. All bounds include the rounding errors of
    float64 ([1]_, §3.1).

    References
    ----------
    .. [1] Higham, N. J. (2002). "Accuracy and stability of numerical algorithms." 2nd edition, SIAM.
    """

    gap: Floats
    radius: Floats
    relative_error: Floats
    weights: Floats
    coordinate_radius: Floats
    interval_centre: Floats
    interval_radius: Floats
    passes: int

    def __post_init__(self) -> None:
        self.__setstate__(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # what is copied or unpickled would be writeable again
        for name, value in list(state.items()):
            if isinstance(value, np.ndarray):
                value = value.view()
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def coefficients(self, factor: Floats | None) -> Floats:
        """Return the weights of the features as they are given, in an array of their own.

        Parameters
        ----------
        factor : array of shape (n_features,), optional
            What each was multiplied by before training; nothing unless given.

        Returns
        -------
        coefficients : array of shape (n_tasks, n_features)
            Without those of the constant column.
        """
        weights = self.weights[:, :-1]
        return weights.copy() if factor is None else weights * factor

    def intercepts(self, constant: float, factor: Floats | None, centre: Floats | None) -> Floats:
        """Return what is added to the products of `coefficients` with a row as it is given.

        Parameters
        ----------
        constant : float
            Value of the constant column.
        factor, centre : arrays of shape (n_features,), optional
            What each feature was multiplied by before training, and what was subtracted from it before.

        Returns
        -------
        intercepts : array of shape (n_tasks,)
            One a problem.
        """
        intercepts = constant * self.weights[:, -1]
        if centre is None:
            return intercepts
        middle = centre if factor is None else centre * factor
        # not by BLAS, whose last bits depend on the number of threads: a saved model has the same bits
        return np.asarray(intercepts - np.einsum("ij,j->i", self.weights[:, :-1], middle))

    def __str__(self) -> str:
        lines = [f"proved after {self.passes} passes over the data: the weights are within"]
        for radius, error in zip(self.radius, self.relative_error, strict=True):
            part = f"{100.0 * error:.2g} % of the exact ones" if np.isfinite(error) else "no certified relative error"
            lines.append(f"  {radius:.3g} ({part})")
        return "\n".join(lines)


@overflow_allowed()
def certificate_of(data: TrainingData, states: Sequence[SolverState], factor: Floats | None) -> Certificate:
    """Return the certificate of problems that steps were taken for."""
    bounds = [state.bound for state in states if state.bound is not None]
    shape = len(bounds), data.shape[1]
    weights = np.empty((shape[0], shape[1] + 1))
    centres, radii, around = np.empty(shape), np.empty(shape), np.empty(shape)
    for k, (state, bound) in enumerate(zip(states, bounds, strict=True)):
        squares = data.squares_beside(state.problem.covariates)
        weights[k] = bound.weights
        for start in range(0, shape[1], _COLUMNS):  # the formula has a dozen vectors between, all of them short here
            some = slice(start, min(start + _COLUMNS, shape[1]))
            centre, radius = intervals(state.problem, state.best, state.dual, bound, squares[some], some)
            wider = ~(radius <= bound.radius)  # or NaN; the ball is an interval of every coordinate, too
            middle = bound.weights[some]
            centres[k, some] = np.where(wider, middle, centre)
            radii[k, some] = np.where(wider, bound.radius, radius)
            around[k, some] = np.fmin(bound.radius, np.abs(centre - middle) * (1.0 + 1e-15) + radius)
            if factor is not None:
                out = factor[some] == 0.0  # no part of the data, so their weights are 0
                centres[k, some][out] = radii[k, some][out] = around[k, some][out] = 0.0
                around[k, some] *= np.abs(factor[some])
                around[k, some] *= 1.0 + 1e-15
    return Certificate(
        gap=np.array([bound.gap for bound in bounds]),
        radius=np.array([bound.radius for bound in bounds]),
        relative_error=np.array([bound.relative_error for bound in bounds]),
        weights=weights,
        coordinate_radius=around,
        interval_centre=centres,
        interval_radius=radii,
        passes=data.passes,
    )


@dataclass(frozen=True)
class TopFeatures:
    """The features of the largest weights, each with the interval of its exact weight.

    Parameters
    ----------
    index : array of shape (k,)
        Number of the feature.
    name : array of shape (k,)
        Name of the feature.
    weight : array of shape (k,)
        Weight of the feature.
    lower, upper : arrays of shape (k,)
        The exact weight lies between them.
    proved : array of shape (k,), bool
        Whether the feature is certified to be among the k largest of the exact model.
    """

    index: NDArray[np.intp]
    name: NDArray[Any]
    weight: Floats
    lower: Floats
    upper: Floats
    proved: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.index)

    def __str__(self) -> str:
        width = max([7, *(len(str(name)) for name in self.name)])
        lines = [f"{'feature':<{width}}  {'weight':>12}  {'from':>12}  {'to':>12}  top {len(self)}"]
        for row in zip(self.name, self.weight, self.lower, self.upper, self.proved, strict=True):
            name, weight, lower, upper, proved = row
            lines.append(
                f"{name!s:<{width}}  {weight:>12.4g}  {lower:>12.4g}  {upper:>12.4g}  {'proved' if proved else 'open'}"
            )
        return "\n".join(lines)


def rank_bounds(
    centre: Floats, radius: Floats, features: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the best and the worst rank that each feature can have in the exact model, by absolute weight.

    Parameters
    ----------
    centre, radius : arrays of shape (n_features,), or (n_tasks, n_features)
        Intervals of the exact weights; over several tasks a feature counts by its largest absolute weight.
    features : array of int, optional
        Features whose ranks are wanted; all by default.

    Returns
    -------
    best, worst : arrays of shape (n_features,), or of the number of features that are wanted
        Ranks from 1 on. If exact weights are equal, the best rank counts none of the others before it, the worst all of
        them.

    Notes
    -----
    The absolute weight of feature j lies between two bounds ::

        lowⱼ = max(0, |centreⱼ| - radiusⱼ),      highⱼ = |centreⱼ| + radiusⱼ.

    Its best rank is 1 + the number of i with lowᵢ > highⱼ; its worst rank is the number of i with highᵢ ≥ lowⱼ, itself
    included. So it is certified to be among the k largest if its worst rank is at most k, and certified not to be if
    its best rank is above k.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.recovery import rank_bounds
    >>> rank_bounds(np.array([0.2, -3.0, 1.0, 1.1]), np.array([0.1, 0.1, 0.2, 0.2]))
    (array([4, 1, 2, 2]), array([4, 1, 3, 3]))
    """
    lower, upper = np.zeros((2, np.shape(centre)[-1]))
    for middle, around in zip(np.atleast_2d(centre), np.atleast_2d(radius), strict=True):
        size = np.abs(middle)
        np.maximum(upper, size + around, out=upper)
        np.maximum(lower, np.subtract(size, around, out=size), out=lower)
    wanted = slice(None) if features is None else features
    own_lower, own_upper = np.array(lower[wanted]), np.array(upper[wanted])
    lower.sort()
    upper.sort()
    # all whose interval reaches up to its lower end may stand before it; its own does too, and counts for itself
    worst = len(lower) - np.searchsorted(upper, own_lower, side="left")
    best = 1 + len(lower) - np.searchsorted(lower, own_upper, side="right")
    return best, worst


def membership(centre: Floats, radius: Floats, k: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which features are surely, and which surely not, among the k of largest absolute weight."""
    best, worst = rank_bounds(centre, radius)
    return worst <= k, best > k
