"""What the projection does to a support vector machine and to weights that are recovered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slimline.bounds.bound import Bound
from slimline.bounds.documents import PAUL2013, VASWANI2013
from slimline.bounds.embeddings import embedding, spectral
from slimline.bounds.inverse import Values
from slimline.bounds.norms import GAUSSIAN, log_ratio, rate, within
from slimline.laws import norm_dimension

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
