"""Rounds of coordinate descent, each to a finer tolerance, until the duality gap is small enough."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from slimline.solvers.coordinate_descent import Descent
from slimline.solvers.face import settle_face
from slimline.solvers.losses import Hinge
from slimline.solvers.problem import SmallProblem

Floats = NDArray[np.float64]
#: Epochs of a round.
EPOCHS = 50
#: The tolerance of a round as a part of that of the round before.
_FINER = 0.1
MOST_ROUNDS = 60
#: Rounds without a smaller gap: the dual objective rises all the time, the gap now and then.
_MOST_IDLE = 8


class Space(ABC):
    """Where coordinate descent takes place: a Gram matrix, or rows of features.

    Parameters
    ----------
    problem : SmallProblem
        With the hinge or the squared hinge.
    """

    #: Gradients below this are rounding.
    finest = 1e-13
    #: f at the dual variables that were seen last.
    values: Floats

    def __init__(self, problem: SmallProblem) -> None:
        self.problem = problem
        self.curvature: Floats = np.zeros(len(problem.labels))
        self.upper = problem.weights
        if not isinstance(problem.loss, Hinge):
            self.curvature = 0.5 / problem.weights
            self.upper = np.full(len(problem.labels), np.inf)

    @abstractmethod
    def look(self, dual: Floats) -> None:
        """Compute `values` afresh."""

    @abstractmethod
    def descend(self, dual: Floats, tolerance: float, seed: int) -> Descent:
        """Move the dual variables and `values`; `look` was called before."""

    @abstractmethod
    def gram(self, part: NDArray[np.intp]) -> Floats:
        """Return the Gram matrix of some samples."""

    @abstractmethod
    def most_settled(self, tolerance: float, target_gap: float) -> int:
        """Return how many samples on the margin are worth a factorisation."""


def solve_in_rounds(
    space: Space, start: Floats | None, target_gap: float, most_rounds: int = MOST_ROUNDS
) -> tuple[Floats, float, int]:
    """Return dual variables, their duality gap, and the epochs that were run; `space` has looked at them last.

    Parameters
    ----------
    space : Space
        Rows or Gram matrix, with the problem.
    start : array of shape (n_samples,), optional
        Dual variables to start from.
    target_gap : float
        Stop when the duality gap is this small; 0: go on until rounding stops it.
    most_rounds : int
        Rounds at most.

    Returns
    -------
    dual, gap, epochs : array, float, int
        The best that was found.
    """
    problem = space.problem
    hinge = isinstance(problem.loss, Hinge)
    dual = np.zeros(len(problem.labels)) if start is None else np.ascontiguousarray(problem.projected(start))
    space.look(dual)
    best, best_gap = dual.copy(), problem.gap(space.values, dual)
    tolerance = 0.1
    epochs = idle = 0
    for _ in range(most_rounds):
        if best_gap <= target_gap:
            break
        descent = space.descend(dual, tolerance, epochs)
        epochs += descent.epochs
        gap = problem.gap(space.values, dual)
        if hinge and gap > target_gap:
            # At the optimum a margin of 1 is what tells their values: Newton finds them where descent would creep.
            free = np.flatnonzero((dual > 0.0) & (dual < space.upper))
            if 0 < free.size <= space.most_settled(tolerance, target_gap):
                at = (problem.labels[free], space.values[free], space.upper[free], dual[free])
                dual[free] = settle_face(space.gram(free), *at, problem.penalty)
                space.look(dual)
                gap = problem.gap(space.values, dual)
        idle = 0 if gap < 0.999 * best_gap else idle + 1
        if gap < best_gap:
            best, best_gap = dual.copy(), gap
        if tolerance <= space.finest and (descent.violation <= tolerance or idle > _MOST_IDLE):
            break
        tolerance = max(tolerance * _FINER, space.finest)
    if not np.array_equal(best, dual):  # what was seen last is not what is returned
        space.look(best)
    return best, best_gap, epochs
