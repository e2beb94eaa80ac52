"""Covariates that enter the model without a penalty: their basis, and dual points that are feasible beside them.

With U beside X the dual problem has a constraint, Uᵀβ = 0, and the gap of a dual point that violates it says nothing.
What a solver returns is feasible up to rounding. `Covariates.slack` then proves that an exactly feasible point is near,
and how near, entry by entry; the certificate takes the worst point of that neighbourhood. Derivations are in
docs/covariates.md, after whose sections the comments are numbered.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.optimize import linprog

from slimline._base.rounding import ROUNDOFF, sum_error
from slimline.learning.line_search import smallest_along
from slimline.learning.losses import LOSSES, Loss

Floats = NDArray[np.float64]
#: A column of which less than this part is independent of the others is left out.
_DEPENDENT = 1e-9
#: The same among rows that carry a correction: with less, the others may as well take part.
_WEAK = 1e-6
#: How far the basis may be from orthonormal: below ½ the lemma holds.
_MOST_SKEW = 0.5
#: A dual variable nearer to the end of its domain than this part of the largest stays where it is.
_AT_THE_END = 1e-7
#: Newton steps of a few variables, at most.
_MOST_STEPS = 100
#: They are no longer than so many times the full one, which is short where nothing is curved; and one effect moves no
#: further than so many typical scores.
_FAR = 1e9
#: Curvature below this part of the largest is none.
_FLAT = 1e-10
#: A sum whose terms cancel to this part of their size is 0; one that cancels to that part of it, and no further, has
#: reached its rounding.
_CANCELLED, _ROUNDING = 4e-16, 1e-12
#: A line search of a Newton step leaves this part of the slope.
_ROUGH = 0.1
#: Dual variables of the null model below this make a poor point inside: the largest smallest one is then looked for,
_SMALL = 1e-4
#: and if even that is below this, covariates separate classes.
_SEPARATED = 1e-7
#: The linear program keeps dual variables this far from 1.
_MOST_INSIDE = 0.9


class Covariates:
    """Columns U in a nearly orthonormal basis √s U T, and what rounding leaves of Uᵀβ."""

    def __init__(self, columns: Floats, weights: Floats, *, dependent: float = _DEPENDENT) -> None:
        self.weights = weights
        root = np.sqrt(weights)[:, None]
        #: Numbers of the columns that are not left out; of columns that depend on each other the first ones stay.
        self.kept = independent_columns(root * columns, dependent)
        rank = len(self.kept)
        columns = np.ascontiguousarray(columns[:, self.kept])
        #: U, without columns that depend on others.
        self.columns = columns
        #: T: effects of U are T times those of the basis.
        self.transform = np.asarray(
            scipy.linalg.solve_triangular(np.linalg.qr(root * columns, mode="r"), np.eye(rank)) if rank else np.eye(0)
        )
        #: U T as computed.
        self.basis = columns @ self.transform
        #: |U||T|: entries of the basis are within γ times these of the exact ones.
        self.sizes = np.abs(columns) @ np.abs(self.transform)
        rounding = np.linalg.norm(root * self.sizes, axis=1) * sum_error(rank + 2)
        rows = np.linalg.norm(root * self.basis, axis=1)
        #: Norms of the rows of √s U T, at most.
        self.row_norms = (rows + rounding) * (1.0 + 1e-12)
        #: √s U T as computed is within this of what it stands for, in norm.
        self.basis_error = float(np.linalg.norm(rounding))
        lost = 2.0 * np.linalg.norm(rounding) * np.linalg.norm(rows) + np.sum(rounding**2)
        lost += sum_error(len(weights)) * np.sum(rows**2)
        square = (root * self.basis).T @ (root * self.basis)
        #: ‖VᵀV - I‖ of V = √s U T, at most.
        self.skew = float(np.linalg.norm(square - np.eye(rank)) + lost)

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    @property
    def is_sound(self) -> bool:
        """Return whether the basis is near enough to orthonormal for proofs."""
        return self.skew < _MOST_SKEW

    def sums(self, beta: Floats) -> tuple[Floats, Floats]:
        """Return Uᵀβ, and how far rounding can have moved each."""
        return self.columns.T @ beta, sum_error(len(beta)) * (np.abs(self.columns).T @ np.abs(beta))

    def distance(self, sums: Floats, errors: Floats) -> float:
        """Return t such that a change |δᵢ| ≤ √sᵢ vᵢ t of β makes these sums exactly 0, v being `row_norms`."""
        errors = errors + 8 * len(self) * ROUNDOFF * np.abs(sums)
        size = np.linalg.norm(self.transform.T @ sums) + np.linalg.norm(np.abs(self.transform).T @ errors)
        return float(size) / (1.0 - self.skew) * (1.0 + 1e-9)

    def rounding(self, effects: Floats) -> Floats:
        """Return how far the basis times effects, as computed, may be from U times what they stand for."""
        return np.asarray(2.0 * sum_error(2 * len(self) + 4) * (self.sizes @ np.abs(effects)))


def independent_columns(columns: Floats, dependent: float = _DEPENDENT) -> NDArray[np.intp]:
    """Return which columns have more than this part of their norm outside of the span of those before them."""
    norms = np.linalg.norm(columns, axis=0)
    basis = np.zeros((len(columns), 0))
    kept = []
    for k, norm in enumerate(norms):
        if norm == 0.0 or basis.shape[1] == len(columns):
            continue
        rest = columns[:, k] / norm
        for _ in range(2):  # once more, for what rounding left
            rest = rest - basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > dependent:
            kept.append(k)
            basis = np.column_stack([basis, rest / size])
    return np.array(kept, dtype=np.intp)


def slack_of(
    covariates: Covariates, loss: Loss, labels: Floats, a: Floats, inside: Callable[[], Floats | None]
) -> Floats:
    """Return τ such that a feasible point within τᵢ of each aᵢ exists in the domain; infinite if none is proved."""
    s = covariates.weights
    used = s > 0.0
    sums, errors = covariates.sums(labels * s * a)
    slack = np.zeros_like(a)
    ends = np.minimum(a - loss.lower, loss.upper - a)
    # (a) Rows inside the domain carry the correction alone: one at an end would cost the gap a multiple of τ, not τ².
    room = np.minimum(ends, np.abs(a)) if loss.corner_at_zero else ends
    largest = float(np.abs(a[used]).max(initial=0.0))
    free = used & (room > _AT_THE_END * min(1.0, largest + 1e-300))
    if free.sum() >= len(covariates):
        every = bool(free[used].all())
        part = covariates if every else Covariates(covariates.columns[free], s[free], dependent=_WEAK)
        if len(part) == len(covariates) and part.is_sound:
            norms = part.row_norms[free] if every else part.row_norms
            slack[free] = part.distance(sums, errors) * norms / np.sqrt(s[free])
            if (slack[free] <= room[free]).all():
                return slack
    # (b) All rows move, towards a point inside.
    centre = inside()
    if centre is None or not covariates.is_sound:
        return np.full_like(a, np.inf)
    own = covariates.distance(sums, errors)
    other = covariates.distance(*covariates.sums(labels * s * centre))
    slack = np.zeros_like(a)
    slack[used] = max(own, other) * covariates.row_norms[used] / np.sqrt(s[used])
    depth = np.minimum(centre - loss.lower, loss.upper - centre)
    outside = used & (ends < slack)
    share = float(np.max(slack[outside] / depth[outside], initial=0.0)) * (1.0 + 1e-9)
    if not share <= 0.5 or (slack[used] > depth[used]).any():
        return np.full_like(a, np.inf)
    return np.where(used, slack + share * np.abs(centre - a) * (1.0 + 1e-9), 0.0)


def point_inside(covariates: Covariates, loss: Loss, labels: Floats) -> Floats | None:
    """Return a feasible dual point well inside the domain, or None where covariates separate classes."""
    if loss.lower < 0.0 < loss.upper:
        return np.zeros_like(labels)
    logistic = LOSSES["logistic"]
    nothing = np.zeros_like(labels)
    effects = refit(covariates, logistic, labels, nothing)
    a = logistic.dual(labels * (covariates.basis @ effects))
    used = covariates.weights > 0.0
    if a[used].min() >= _SMALL:
        return a
    # One sample far out, or separation: the largest smallest dual variable tells.
    rows = covariates.basis[used] * (labels * covariates.weights)[used][:, None]
    scale = np.abs(rows).max(axis=0)
    n = len(rows)
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_eq=np.hstack([(rows / np.where(scale > 0.0, scale, 1.0)).T, np.zeros((len(covariates), 1))]),
        b_eq=np.zeros(len(covariates)),
        A_ub=np.hstack([-np.eye(n), np.ones((n, 1))]),
        b_ub=np.zeros(n),
        bounds=[(0.0, _MOST_INSIDE)] * (n + 1),
        method="highs",
    )
    if found.x is None or found.x[-1] < _SEPARATED:
        return None
    a = np.zeros_like(labels)
    a[used] = found.x[:-1]
    return nearest_feasible(covariates, logistic, labels, a)


def separated_rows(covariates: Covariates, labels: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return the rows that some direction of U separates, and its effects: there a = 0 in every feasible point."""
    used = np.flatnonzero(covariates.weights > 0.0)
    q, n = len(covariates), len(used)
    rows = covariates.basis[used] * labels[used][:, None]
    rows /= max(float(np.abs(rows).max(initial=0.0)), 1e-300)
    found = linprog(
        np.append(np.zeros(q), -np.ones(n)),
        A_ub=np.hstack([-rows, np.eye(n)]),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * q + [(0.0, 1.0)] * n,
        method="highs",
    )
    if found.x is None:
        return used[:0], np.zeros(q)
    return used[found.x[q:] > 0.5], covariates.transform @ found.x[:q]


def refit(covariates: Covariates, loss: Loss, labels: Floats, shifts: Floats, effects: Floats | None = None) -> Floats:
    """Return effects of the basis that minimise Σ sᵢ ℓ(yᵢ (shiftᵢ + uᵢᵀc)), for a smooth loss.

    Their normal equations are Uᵀβ = 0, so that the dual variables of these scores are feasible.
    """
    return minimise_effects(covariates.basis, covariates.weights, loss, labels, shifts, effects)


def minimise_effects(
    basis: Floats, weights: Floats, loss: Loss, labels: Floats, shifts: Floats, effects: Floats | None = None
) -> Floats:
    """Return the effects c of a basis that minimise Σ sᵢ ℓ(yᵢ (shiftᵢ + uᵢᵀc)), by Newton steps with a line search."""
    if loss.smoothness is None:
        raise ValueError("a loss with a corner has no normal equations")
    c = best = np.zeros(basis.shape[1]) if effects is None else effects
    least = np.inf
    for _ in range(_MOST_STEPS):
        scores = shifts + basis @ c
        slopes = labels * weights * loss.dual(labels * scores)
        gradient = -(basis.T @ slopes)
        left, size = float(np.linalg.norm(gradient)), float(np.linalg.norm(np.abs(basis).T @ np.abs(slopes)))
        settled = left <= _ROUNDING * size and left > 0.5 * least
        if left < least:
            best, least = c, left
        if settled or left <= _CANCELLED * size:
            break
        curvature = weights * loss.curvature(labels * scores)
        change = newton_step((basis * curvature[:, None]).T @ basis, gradient, float(loss.smoothness))
        along = basis @ change
        length = smallest_along(_along(loss, labels, weights, scores, along), _FAR, rough=_ROUGH)
        if (length * np.abs(along) <= 4.0 * ROUNDOFF * (np.abs(shifts) + np.abs(basis) @ np.abs(c))).all():
            break  # between neighbouring numbers steps go to and fro: at a steep corner no gradient cancels there
        c = c + length * change
    return best


def minimise_effect(
    column: Floats, weights: Floats, loss: Loss, labels: Floats, shifts: Floats, effect: float
) -> float:
    """Return the one effect that minimises Σ sᵢ ℓ(yᵢ (shiftᵢ + uᵢ c)), for any loss: its slope is monotone in c."""
    scores = shifts + effect * column
    size = float(np.average(np.abs(scores), weights=weights)) / float(np.average(np.abs(column), weights=weights))
    for sign in (1.0, -1.0):
        along = sign * (size or 1.0) * column
        length = smallest_along(_along(loss, labels, weights, scores, along), _FAR)
        if length > 0.0:
            return effect + sign * (size or 1.0) * length
    return effect


def _along(loss: Loss, labels: Floats, weights: Floats, scores: Floats, change: Floats) -> Callable[[float], float]:
    """Return the derivative of Σ sᵢ ℓ(yᵢ fᵢ) along a change of the scores, as a function of its length."""
    direction = labels * weights * change

    def slope(length: float) -> float:
        return -float(direction @ loss.dual(labels * (scores + length * change)))

    return slope


def newton_step(square: Floats, gradient: Floats, smoothness: float) -> Floats:
    """Return -H⁻¹ gradient, H being lifted where it is flat: far from the optimum no row may be curved."""
    q = len(gradient)
    values = np.linalg.eigvalsh(square)
    lift = 1e-14 * max(float(values[-1]), 1e-300)
    if values[0] < _FLAT * max(float(values[-1]), smoothness):
        lift = 1e-6 * smoothness
    return np.asarray(-np.linalg.solve(square + lift * np.eye(q), gradient))


def nearest_feasible(covariates: Covariates, loss: Loss, labels: Floats, a: Floats) -> Floats:
    """Return the point of {domain, Uᵀβ = 0} that is nearest to a, rows being weighted: feasible to rounding.

    It is clip(a + y V c) for the c that minimises a piecewise quadratic, the dual of the distance: a finite number of
    semismooth Newton steps of q variables.
    """
    basis = covariates.basis * labels[:, None]
    return nearest_in_box(basis, covariates.weights, loss, a)


def nearest_in_box(basis: Floats, weights: Floats, loss: Loss, a: Floats) -> Floats:
    """Return the same for a basis whose rows carry the signs of the labels."""
    q = basis.shape[1]

    def envelope(point: Floats) -> float:
        return float(weights @ (0.5 * point * point - 0.5 * np.square(point - loss.project(point))))

    point = a.copy()
    objective = envelope(point)
    for _ in range(_MOST_STEPS):
        clipped = loss.project(point)
        gradient = basis.T @ (weights * clipped)
        if np.linalg.norm(gradient) <= _CANCELLED * np.linalg.norm(np.abs(basis).T @ (weights * np.abs(clipped))):
            break
        free = (point > loss.lower) & (point < loss.upper)
        square = (basis[free] * weights[free, None]).T @ basis[free]
        if np.linalg.matrix_rank(square) == q:
            change = -np.linalg.solve(square + 1e-14 * max(1.0, float(np.trace(square))) * np.eye(q), gradient)
        else:
            change = -gradient
        along, expected, length = basis @ change, float(gradient @ change), 1.0
        while envelope(point + length * along) > objective + 1e-4 * length * expected and length > 1e-10:
            length *= 0.5
        if length <= 1e-10:
            break
        point = point + length * along
        objective = envelope(point)
    return loss.project(point)
