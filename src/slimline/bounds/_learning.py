"""Theorems on learning, and failure probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr

from slimline.bounds._bound import PAUL2013, VASWANI2013, Bound
from slimline.bounds._embeddings import GAUSSIAN, embedding, log_ratio, rate, spectral, within
from slimline.bounds._numerics import Flags, Values, lasting_log_below, log_below
from slimline.errors import InvalidParameterError, NoDimensionError
from slimline.laws import norm_dimension
from slimline.laws._law import LARGEST

_OF_THE_FAMILY = ("the dimension is that of the family's embedding", "X does not depend on R")
_NONE = np.asarray(-np.inf)


def _printed_margin(eps: Values) -> tuple[Values, Values]:
    return 1.0 - eps, np.asarray(np.inf)


def _printed_ball(eps: Values) -> tuple[Values, Values]:
    return _NONE, 1.0 + eps


def _objective(eps: Values) -> tuple[Values, Values]:
    return 1.0 / (1.0 + eps), 1.0 / (1.0 - eps)


def _distances(eps: Values, delta: Values, points: Values) -> Values:
    return 2.0 * log_ratio(np.maximum(points * (points - 1.0), 1.0), delta) / rate(eps)


def _exact_distances(eps: Values, delta: Values, points: Values) -> object:
    return norm_dimension(eps, delta, np.maximum(points * (points - 1.0) / 2.0, 1.0))


def _naive(eps: Values, features: Values, rank: Values, n_components: Values) -> tuple[Values, Values]:
    spread = 0.5 * np.sqrt(np.maximum(features - rank, 0.0) / n_components)
    return spread * (1.0 - eps * np.sqrt(2.0 * (1.0 + eps)) / (1.0 - eps)), np.asarray(np.inf)


def _dual(eps: Values) -> tuple[Values, Values]:
    return _NONE, eps / (1.0 - eps)


# With slacks: w* = u + v, where u is fixed by the margins of the free points, ‖u‖² = 1ᵀK⁻¹1 with their Gram matrix,
# and v = C times the sum of the points at C, less its projection on the free ones. Let E = VᵀRRᵀV - I. Along I + tE,
# 0 ≤ t ≤ 1, both squares change by a factor of at most 1 ± ε/(1-tε) dt, whichever points are free, and w* is
# continuous: ‖w̃*‖² is within 1-ε and 1/(1-ε) of ‖w*‖². An intercept is one more feature that R leaves alone.
_MARGIN = Bound(
    name="paul2013.1",
    source=f"{PAUL2013}, Theorem 1",
    statement="If ‖VᵀV - VᵀRRᵀV‖₂ ≤ ε, the margin γ of the hard-margin support vector machine becomes one with "
    "(1-ε)γ² ≤ γ̃² ≤ (1+ε)γ².",
    assumptions=("separable data, hard margin", *_OF_THE_FAMILY),
    formula=embedding,
    kept=within,
    about="γ̃²/γ²",
    erratum="The printed proof gives 1 - ε/(1-ε) only, and takes ‖w*‖² = Σα, which is true only where no point is "
    "within the margin. The stated 1-ε is right all the same: for the hard margin γ is half the distance of two convex "
    "hulls, and with slacks (1-ε)γ² ≤ γ̃² ≤ γ²/(1-ε) for every C.",
)
_BALL = Bound(
    name="paul2013.2",
    source=f"{PAUL2013}, Theorem 2",
    statement="If ‖VᵀV - VᵀRRᵀV‖₂ ≤ ε, the radius B of the smallest ball around all points becomes one with "
    "(1-ε)B² ≤ B̃² ≤ (1+ε)B².",
    assumptions=_OF_THE_FAMILY,
    formula=embedding,
    kept=within,
    about="B̃²/B²",
)

LEARNING = (
    replace(
        _MARGIN,
        printed=replace(
            _MARGIN,
            statement="If ‖VᵀV - VᵀRRᵀV‖₂ ≤ ε, the margins of the soft-margin support vector machines satisfy "
            "γ̃² ≥ (1-ε)γ².",
            assumptions=_OF_THE_FAMILY,
            kept=_printed_margin,
            as_printed=True,
        ),
    ),
    replace(
        _MARGIN,
        name="paul2013.1.soft",
        source=f"slimline, for the soft margin of {PAUL2013}, Theorem 1",
        statement="If ‖VᵀV - VᵀRRᵀV‖₂ ≤ ε, the optimal objective Z of the soft-margin support vector machine becomes "
        "one with Z/(1+ε) ≤ Z̃ ≤ Z/(1-ε), whatever C.",
        assumptions=_OF_THE_FAMILY,
        kept=_objective,
        about="Z̃/Z",
        erratum=None,
    ),
    replace(
        _BALL,
        printed=replace(
            _BALL,
            statement="If ‖VᵀV - VᵀRRᵀV‖₂ ≤ ε, the radius B of the smallest ball around all points satisfies "
            "B̃² ≤ (1+ε)B².",
            kept=_printed_ball,
        ),
    ),
    replace(
        _BALL,
        name="paul2013.2.distances",
        source=f"slimline, for {PAUL2013}, Theorem 2",
        statement="If all n(n-1)/2 distances are kept, so is the smallest ball around n points: "
        "(1-ε)B² ≤ B̃² ≤ (1+ε)B², whatever the rank.",
        assumptions=(GAUSSIAN, "the points do not depend on R"),
        formula=_distances,
        exact=_exact_distances,
    ),
    Bound(
        name="vaswani2013.1",
        source=f"{VASWANI2013}, Theorem 1 (Zhang et al., COLT 2013)",
        statement="Weights recovered naively are bad: ‖ŵ - w*‖ ≥ ½ √((d-ρ)/r) (1 - ε√(2(1+ε))/(1-ε)) ‖w*‖, except with "
        "probability δ + exp(-(d-ρ)/32) + exp(-r/32).",
        assumptions=(
            GAUSSIAN,
            "X does not depend on R",
            "`delta` is the first of the three terms: the other two come on top of it",
        ),
        formula=spectral,
        kept=_naive,
        about="‖ŵ - w*‖/‖w*‖ of naive recovery",
        eps_below=1.0 / 3.0,
    ),
    Bound(
        name="vaswani2013.2",
        source=f"{VASWANI2013}, Theorem 2 (Zhang et al., COLT 2013)",
        statement="Weights recovered through the dual are good: ‖w̃ - w*‖ ≤ ε/(1-ε) ‖w*‖, except with probability δ; "
        "for every convex loss, the hinge included.",
        assumptions=(GAUSSIAN, "X does not depend on R"),
        formula=spectral,
        kept=_dual,
        about="‖w̃ - w*‖/‖w*‖ of dual recovery",
        eps_below=0.5,
    ),
)


#: What is smaller than a part of a sum by so much, as a logarithm, does not change it.
_NOTHING = 80.0


@dataclass(frozen=True, eq=False)
class Chances:
    """Distinct points, each with events of which any makes it fall short: a projected cosine below a value."""

    #: The event cos' < value, for a cosine before the projection; of shape (n_distinct, n_events).
    values: Values
    cosines: Values
    #: How often each point is there; of shape (n_distinct,).
    counts: npt.NDArray[np.int64]
    #: So many points may fall short.
    errors: int

    def failure(self, r: int) -> float:
        """Return a bound on the probability that more than `errors` points fall short."""
        return min(1.0, float(np.exp(self._log_failure(self._tails, r))))

    def dimension(self, delta: float) -> int:
        """Return a dimension that is enough, as is every larger one."""
        lost = int(self.counts[self._hopeless.any(axis=1)].sum())
        if lost > self.errors:
            raise InvalidParameterError(
                f"{lost} of {self.counts.sum()} points have no more than the wanted margin before the projection: ask "
                f"for a smaller one, or allow errors={lost}."
            )

        def excess_of(tails: Callable[[Flags, int], Values]) -> Callable[[int], float]:
            return lambda r: self._log_failure(tails, r) - float(np.log(delta))

        without_any = float(np.log(self.counts.sum()) - np.log(delta))
        with np.errstate(divide="ignore"):
            enough = min(1 + without_any / np.float64(self._nearest_rate), LARGEST)
        guess = _first_met(excess_of(self._normal_tails), without_any, int(enough))
        return _first_met(excess_of(self._lasting_tails), without_any, guess)

    def _tails(self, near: Flags, r: int) -> Values:
        return log_below(self.values[near], r, self.cosines[near])

    def _lasting_tails(self, near: Flags, r: int) -> Values:
        return lasting_log_below(self.values[near], r, self.cosines[near])

    def _normal_tails(self, near: Flags, r: int) -> Values:
        """Return what is right to some per cent and costs next to nothing: Fisher's z is nearly normal."""
        return np.asarray(log_ndtr(-np.sqrt((2 * r - 1) * self._rates[near])))

    @cached_property
    def _hopeless(self) -> Flags:
        """Events that do not become unlikely."""
        just = (self.values == self.cosines) & (np.abs(self.cosines) < 1)
        return np.asarray((self.values > self.cosines) | just)

    @cached_property
    def _rates(self) -> Values:
        """Return ln cosh(artanh c - artanh t): an event has at most the probability exp(-(r-1) times this)."""
        impossible = (np.abs(self.cosines) == 1) | (self.values <= -1)
        spread = np.where(impossible | self._hopeless, 1.0, (1 - self.cosines**2) * (1 - self.values**2))
        rates = 0.5 * np.log1p((self.cosines - self.values) ** 2 / spread)
        return np.where(self._hopeless, 0.0, np.where(impossible, np.inf, rates))

    @cached_property
    def _nearest_rate(self) -> float:
        """The rate of the point that is the first to matter: `errors` others may be given up."""
        rates = self._rates.min(axis=1)
        order = np.argsort(rates)
        first = np.searchsorted(np.cumsum(self.counts[order]), self.errors, side="right")
        return float(rates[order[first]])

    def _log_failure(self, tails: Callable[[Flags, int], Values], r: int) -> float:
        """Return the logarithm of a bound on P(more than `errors` points fall short).

        Give up the j likeliest points, and let Markov's inequality speak of the others, of which errors - j may fall
        short: Σ of their probabilities/(errors - j + 1). Every j will do; the best is taken.
        """
        # Most points are far from the boundary: their law would cost time and add nothing.
        reach = self._nearest_rate + (_NOTHING + np.log(self.counts.sum())) / (r - 1) if r > 1 else np.inf
        near = self._rates <= reach
        logs = np.full(self.values.shape, -np.inf)
        logs[near] = tails(near, r)
        of_points = np.minimum(np.logaddexp.reduce(logs, axis=1), 0.0)
        order = np.argsort(of_points)
        each = np.repeat(of_points[order], self.counts[order])
        if each[-1] == -np.inf:
            return -np.inf
        sums = np.cumsum(np.exp(each - each[-1]))[each.size - 1 - self.errors :]  # errors, errors - 1, …, 0 given up
        with np.errstate(divide="ignore"):
            return float(np.min(np.log(sums) - np.log(np.arange(1.0, self.errors + 2.0))) + each[-1])


def _first_met(excess: Callable[[int], float], at_zero: float, guess: int) -> int:
    """Return the smallest r with excess(r) ≤ 0: it never rises and is nearly a straight line, so few r are tried."""
    low, above = 0, at_zero
    high, below = LARGEST + 1, np.nan
    r = guess
    for step in count():
        value = excess(r)
        if value > 0:
            low, above = r, value
        else:
            high, below = r, value
        if high - low == 1 and high <= LARGEST:
            return high
        if low >= LARGEST:
            break
        if high > LARGEST:
            along = 2 * low * above / (at_zero - above) if above < at_zero else low  # twice as far as the line says
            r = min(low + int(np.clip(along, 1, low)), LARGEST)
        elif step % 4 == 3 or not np.isfinite(below):
            r = (low + high) // 2
        else:
            r = min(max(low + int(np.ceil((high - low) * above / (above - below))), low + 1), high - 1)
    raise NoDimensionError("No dimension below 2⁴⁰ meets this target: allow a larger delta or a smaller margin.")
