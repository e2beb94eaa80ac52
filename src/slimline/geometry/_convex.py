"""Points of convex hulls that are nearest, or a ball's centre, by ever larger working sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.learning.simplex import solve_simplex, times

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

#: Looks at all points, at most.
_MOST_LOOKS = 60
#: Points this small are 0: the square of one that is not would be refused.
_NO_SIZE = 1e-150
#: Looks that bring no narrower bracket.
_MOST_IDLE = 3
#: The least number of points that join the working set at a time.
_FEWEST = 500
#: A gap by the Gram matrix is to be so much below the one that is asked for: the passes add their own rounding.
_SHARPER = 0.05
#: Sizes below this, as a part of the largest point's, are 0 as far as a Gram matrix can tell, and to passes.
_GRAM_ZERO, _ZERO = 1e-8, 1e-10


@dataclass(frozen=True)
class Look:
    """Result of a pass over all points for given weights."""

    #: Proved ends of what is measured.
    lower: float
    upper: float
    #: Of the quadratic.
    objective: float
    #: Of the quadratic, for all points; of shape (n_points,).
    gradient: Floats
    #: The vector, or the vectors, that the weights stand for.
    witness: Any


class ConvexPoints(ABC):
    """Points in groups, and the quadratic over the weights of their convex combinations."""

    def __init__(self, group: NDArray[np.uint8], most: int) -> None:
        self.group, self.most = group, most

    @abstractmethod
    def start(self) -> Index:
        """Return the first working set, with points of every group."""

    @abstractmethod
    def gram(self, index: Index) -> Floats:
        """Return Q of some points."""

    @abstractmethod
    def look(self, index: Index, weights: Floats) -> Look:
        """Return what the weights of some points stand for, by a pass over all."""

    def linear(self, index: Index) -> Floats:
        """Return c of some points."""
        return np.zeros(len(index))

    @property
    def zero(self) -> float:
        """Return the size of the largest point, if what is measured can be 0, else 0."""
        return 0.0

    def usual(self, index: Index, weights: Floats) -> float:
        """Return the size that a combination of some points must vanish beside, to be a proof: a few may be far off."""
        return self.zero


@dataclass(frozen=True)
class Nearest:
    """Solution, with its bounds."""

    #: Proved ends.
    lower: float
    upper: float
    #: What proved them.
    lowest: Look
    highest: Look
    #: The last working set.
    index: Index
    #: Of its points.
    weights: Floats
    #: Its quadratic.
    Q: Floats
    #: Times that all points were looked at.
    looks: int

    @property
    def supports(self) -> Index:
        """Return the points with a weight above 0."""
        return np.asarray(self.index[self.weights > 0.0])


def nearest(points: ConvexPoints, tol: float, start: tuple[Index, Floats] | None = None) -> Nearest:
    """Narrow the bracket of what is measured.

    With a bracket as narrow as asked for, or as narrow as rounding and the largest working set let it be.
    """
    index, weights = (points.start(), None) if start is None else start
    Q, c, offset = points.gram(index), points.linear(index), 0.0
    found: Nearest | None = None
    idle, corrected = 0, False
    for _ in range(_MOST_LOOKS):
        floor = 0.5 * ((_ZERO if corrected else _GRAM_ZERO) * points.zero) ** 2
        solution = solve_simplex(Q, c, points.group[index], weights, tol=_SHARPER * tol, floor=floor, offset=offset)
        weights = solution.weights
        look = points.look(index, weights)
        before, found = found, _narrower(found, look, index, weights, Q)
        if found.upper - found.lower <= tol * found.upper or found.upper <= _ZERO * points.zero:
            break
        wider = _violators(points, index, weights, look.gradient)
        idle = 0 if before is None or found.upper - found.lower < 0.9 * (before.upper - before.lower) else idle + 1
        if wider.size:
            kept = _kept(weights, points.most - wider.size)
            index, weights = np.append(index[kept], wider), np.append(weights[kept], np.zeros(wider.size))
            Q, c, offset, corrected = points.gram(index), points.linear(index), 0.0, False
        else:
            # Q is rounded: what the pass saw takes the place of its product with the weights
            free = np.flatnonzero(weights)
            c, corrected = times(Q, free, weights[free]) - look.gradient[index], True
            offset = look.objective - 0.5 * float(weights @ (look.gradient[index] - c))
        if idle > _MOST_IDLE:
            break
    assert found is not None
    return found


def _narrower(found: Nearest | None, look: Look, index: Index, weights: Floats, Q: Floats) -> Nearest:
    looks = 1 if found is None else found.looks + 1
    lowest = look if found is None or look.lower > found.lower else found.lowest
    if found is not None and found.upper <= look.upper:
        return Nearest(lowest.lower, found.upper, lowest, found.highest, found.index, found.weights, found.Q, looks)
    return Nearest(lowest.lower, look.upper, lowest, look, index, weights, Q, looks)


def _violators(points: ConvexPoints, index: Index, weights: Floats, gradient: Floats) -> Index:
    """Return the points outside the working set that would lower the quadratic most."""
    inside = np.zeros(len(gradient), dtype=bool)
    inside[index] = True
    room = min(max(_FEWEST, len(index) // 2), points.most - int(np.count_nonzero(weights)))
    if inside.all() or room <= 0:
        return np.zeros(0, dtype=np.intp)
    n_groups = int(points.group.max()) + 1
    level = np.array([gradient[inside & (points.group == s)].min() for s in range(n_groups)])
    short = np.where(inside, 0.0, level[points.group] - gradient)
    worst = np.argsort(-short, kind="stable")[:room]
    return np.asarray(worst[short[worst] > 0.0])


def usual_size(sizes: Floats, index: Index, weights: Floats) -> float:
    """Return the size of points that are not far off: the median, or the mean of those that a combination needs.

    Points of size 0 do not count: beside them nothing vanishes.
    """
    other = sizes[sizes > _NO_SIZE]
    median = float(np.median(other)) if other.size else 0.0
    return max(median, float(sizes[index] @ weights) / float(weights.sum()))


def _kept(weights: Floats, room: int) -> Index:
    """Return the places that stay in the working set: all, or those of the largest weights."""
    if len(weights) <= room:
        return np.arange(len(weights))
    return np.sort(np.argsort(-weights, kind="stable")[:room])
