"""What a fitted model can claim: the certificate of its classes, and which features are surely the largest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.recovery.certificate import gap_parts, intervals
from slimline.recovery.certified import Outcome
from slimline.recovery.rounding import overflow_allowed
from slimline.recovery.training_data import TrainingData

Floats = NDArray[np.float64]
#: Coordinates that intervals are computed of at a time.
_COLUMNS = 1 << 16


@dataclass(frozen=True)
class Certificate:
    """How far the weights can be from the exact optimum w* of the stated objective: proved, no probability attached.

    One row or entry a class (one for two classes). With standardising, weights are those of the standardised features.
    The arrays are read-only.

    Parameters
    ----------
    gap : array of shape (n_tasks,)
        Duality gap.
    radius : array of shape (n_tasks,)
        ‖weights - w*‖ is at most this.
    relative_error : array of shape (n_tasks,)
        ‖weights - w*‖/‖w*‖ is at most this; infinite where the radius is not below ‖weights‖.
    weights : array of shape (n_tasks, n_features + 1)
        The vector that is certified; its last column is the weight of the constant column (0 without intercept).
    coordinate_radius : array of shape (n_tasks, n_features)
        Each entry of `coef_` is within this of the exact one.
    interval_centre, interval_radius : arrays of shape (n_tasks, n_features)
        Each exact weight lies within `interval_radius` of `interval_centre`, which is not always the weight itself.
    passes : int
        Passes over the data that were made.
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
            One a task.
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
def certificate_of(data: TrainingData, outcome: Outcome, factor: Floats | None) -> Certificate:
    """Return the certificate of an outcome.

    Parameters
    ----------
    data : TrainingData
        What it was computed from.
    outcome : Outcome
        Points and proofs.
    factor : array of shape (n_features,), optional
        What turns a weight into a coefficient of the original feature; 1 unless given.

    Returns
    -------
    certificate : Certificate
        Of all tasks.
    """
    proofs = outcome.proofs
    shape = len(proofs), data.shape[1]
    weights = np.empty((shape[0], shape[1] + 1))
    centres, radii, around = np.empty(shape), np.empty(shape), np.empty(shape)
    squares = data.column_squares
    for k, (state, proof) in enumerate(zip(outcome.progress, proofs, strict=True)):
        parts = gap_parts(state.task, state.best, state.dual, data.row_bounds)
        weights[k] = proof.weights
        for start in range(0, shape[1], _COLUMNS):  # the formula has a dozen vectors between, all of them short here
            some = slice(start, min(start + _COLUMNS, shape[1]))
            centre, radius = intervals(state.task, state.best, state.dual, parts, squares[some], some)
            wider = ~(radius <= proof.radius)  # or NaN; the ball is an interval of every coordinate, too
            middle = proof.weights[some]
            centres[k, some] = np.where(wider, middle, centre)
            radii[k, some] = np.where(wider, proof.radius, radius)
            around[k, some] = np.fmin(proof.radius, np.abs(centre - middle) * (1.0 + 1e-15) + radius)
            if factor is not None:
                around[k, some] *= np.abs(factor[some])
                around[k, some] *= 1.0 + 1e-15
    return Certificate(
        gap=np.array([proof.gap for proof in proofs]),
        radius=np.array([proof.radius for proof in proofs]),
        relative_error=np.array([proof.relative_error for proof in proofs]),
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
        Its name.
    weight : array of shape (k,)
        Its weight.
    lower, upper : arrays of shape (k,)
        The exact weight lies between them.
    proved : array of shape (k,), bool
        Whether it is proved that the feature is among the k largest of the exact model.
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
    """Return the best and the worst place that each feature can have in the exact model, by absolute weight.

    Parameters
    ----------
    centre, radius : arrays of shape (n_features,), or (n_tasks, n_features)
        Intervals of the exact weights; over several tasks a feature counts by its largest absolute weight.
    features : array of int, optional
        Whose places are wanted; those of all unless given.

    Returns
    -------
    best, worst : arrays of shape (n_features,), or as many as are wanted
        Places from 1 on. Where weights are equal in the exact model, the best counts none of the others before it, the
        worst all of them.

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
    """Say which features are surely, and which surely not, among the k of largest absolute weight.

    Parameters
    ----------
    centre, radius : arrays of shape (n_features,), or (n_tasks, n_features)
        Intervals of the exact weights; over several tasks a feature counts by its largest absolute weight.
    k : int
        How many.

    Returns
    -------
    surely_in, surely_out : arrays of shape (n_features,), bool
        Where neither holds, the intervals leave it open.
    """
    best, worst = rank_bounds(centre, radius)
    return worst <= k, best > k
