"""How much of a margin is kept, with two classes and with more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from slimline.bounds.angles import lowest_cosine, stretch
from slimline.bounds.bound import Bound
from slimline.bounds.documents import BALCAN2006, SHI2012
from slimline.bounds.inverse import Values
from slimline.bounds.norms import GAUSSIAN, log_ratio
from slimline.bounds.tails import lasting_log_below
from slimline.laws.search import smallest_dimension, whole

_ANY = np.asarray(np.inf)


def _tails(eps: Values, delta: Values, count: Values) -> Values:
    return 12.0 * log_ratio(count, delta) / (eps * eps * (3.0 - 2.0 * eps))


def _binary(eps: Values, delta: Values, points: Values) -> Values:
    return _tails(eps, delta, 6.0 * points)


def _binary_sharp(eps: Values, delta: Values, points: Values) -> Values:
    return _tails(eps, delta, 3.0 * points)


def _multiclass(eps: Values, delta: Values, points: Values, classes: Values) -> Values:
    return _tails(eps, delta, 6.0 * classes * points)


def _one_parameter(eps: Values, delta: Values, points: Values, classes: Values) -> Values:
    return _tails(eps, delta, 6.0 * points * (classes - 1.0))


def _margin(eps: Values, margin: Values) -> tuple[Values, Values]:
    return margin - 2.0 * eps / (1.0 - eps), _ANY


def _sharp_margin(eps: Values, margin: Values) -> tuple[Values, Values]:
    return lowest_cosine(eps, margin), _ANY


def _multiclass_printed(eps: Values, multiclass_margin: Values) -> tuple[Values, Values]:
    # (1+3ε)/(1-ε²) = κ + ε/(1+ε), and what is large for ε near 1 comes together
    rest = np.sqrt((1.0 - eps) / (1.0 + eps)) - eps / (1.0 + eps)
    return stretch(eps) * (multiclass_margin - 1.0) + rest, _ANY


def _multiclass_margin(eps: Values, multiclass_margin: Values) -> tuple[Values, Values]:
    return 2.0 * lowest_cosine(eps, 0.5 * multiclass_margin), _ANY


def _one_parameter_margin(eps: Values, multiclass_margin: Values, classes: Values) -> tuple[Values, Values]:
    return lowest_cosine(eps, multiclass_margin / np.sqrt(2.0 * classes)), _ANY


def _half_margin(eps: Values, margin: Values) -> tuple[Values, Values]:
    return 0.5 * margin, _ANY


def _balcan(eps: Values, delta: Values, margin: Values, constant: Values | float = 8.0) -> Values:
    return np.asarray(-constant / margin**2 * (np.log(eps) + np.log(delta)))


def _union(count: Values, before: Values, after: Values, delta: Values) -> Any:
    """Return the smallest r from which on count · P(cos' < after) ≤ delta, all points having the cosine `before`."""
    count, before, after, delta = np.broadcast_arrays(count, before, after, delta)

    def met(r: Any) -> Any:
        return np.log(count) + lasting_log_below(after, r, before) <= np.log(delta)

    return whole(smallest_dimension(met, delta.shape))


def _exact_binary(kept: Any) -> Any:
    def dimension(eps: Values, delta: Values, points: Values, margin: Values) -> Any:
        return _union(points, margin, kept(eps, margin)[0], delta)

    return dimension


def _exact_one_parameter(eps: Values, delta: Values, points: Values, classes: Values, multiclass_margin: Values) -> Any:
    before = multiclass_margin / np.sqrt(2.0 * classes)
    after = _one_parameter_margin(eps, multiclass_margin, classes)[0]
    return _union(points * (classes - 1.0), before, after, delta)


def _exact_half(eps: Values, delta: Values, margin: Values) -> Any:
    # P(share of points below half the margin > ε) ≤ E[share]/ε: a union without the number of points
    return _union(1.0 / eps, margin, 0.5 * margin, delta)


_BINARY = Bound(
    name="shi2012.6",
    source=f"{SHI2012}, Theorem 6",
    statement="m points with normalised margin γ keep a normalised margin of γ - 2ε/(1-ε), except with probability δ.",
    assumptions=(GAUSSIAN, "two classes, separable through the origin", "the data do not depend on R"),
    formula=_binary,
    kept=_margin,
    about="normalised margin",
    exact=_exact_binary(_margin),
)
_MULTICLASS = Bound(
    name="shi2012.8",
    source=f"{SHI2012}, Theorem 8",
    statement="m points of L classes with normalised multiclass margin γ (shi2012, Definition 7) keep one of "
    "κγ - 4ε/(1-ε), κ = (1+ε)/(1-ε), except with probability δ.",
    assumptions=(GAUSSIAN, "separable through the origin", "the data do not depend on R"),
    formula=_multiclass,
    kept=_multiclass_margin,
    about="normalised multiclass margin",
    erratum="Printed: κγ - (1+3ε)/(1-ε²) + √(1-ε²)/(1+ε). The last step of the proof takes the cosines of the other "
    "classes to be at least 0. κγ - 4ε/(1-ε) needs no such thing, at the same r.",
)

_ONE = Bound(
    name="shi2012.9",
    source=f"{SHI2012}, Theorem 9",
    statement="With a projection for each of L classes, one vector separates m points of normalised multiclass "
    "margin γ: the cosine of v and R_yᵀx - R_y'ᵀx is at least κγ/√(2L) - 2ε/(1-ε), except with probability δ.",
    assumptions=(GAUSSIAN, "the projections of the classes are independent", "the data do not depend on them"),
    formula=_one_parameter,
    kept=_one_parameter_margin,
    about="cos(v, R_yᵀx - R_y'ᵀx), the margin of the one-parameter method",
    exact=_exact_one_parameter,
    erratum="Eq. (6) divides by ‖v‖√(‖R_yᵀx‖² + ‖R_y'ᵀx‖²); what the proof bounds is the cosine, with "
    "‖R_yᵀx - R_y'ᵀx‖. The two differ by the inner product of R_yᵀx and R_y'ᵀx, which is 0 only on average.",
)

MARGINS = (
    _BINARY,
    replace(
        _BINARY,
        name="shi2012.6.sharp",
        source="slimline, from the proof of shi2012 Theorem 6",
        statement="m points with normalised margin γ keep a normalised margin of κγ - 2ε/(1-ε), κ = (1+ε)/(1-ε), "
        "except with probability δ: three one-sided tails a point are enough.",
        formula=_binary_sharp,
        kept=_sharp_margin,
        exact=_exact_binary(_sharp_margin),
    ),
    replace(
        _MULTICLASS,
        printed=replace(
            _MULTICLASS,
            statement="m points of L classes with normalised multiclass margin γ keep one of "
            "-(1+3ε)/(1-ε²) + √(1-ε²)/(1+ε) + κγ, except with probability δ.",
            kept=_multiclass_printed,
            as_printed=True,
        ),
    ),
    replace(
        _ONE,
        printed=replace(
            _ONE,
            statement="With a projection for each of L classes, one vector separates m points of normalised multiclass "
            "margin γ by κγ/√(2L) - 2ε/(1-ε) over ‖v‖√(‖R_yᵀx‖² + ‖R_y'ᵀx‖²), except with probability δ.",
            about="margin over ‖v‖√(‖R_yᵀx‖² + ‖R_y'ᵀx‖²)",
            exact=None,
            as_printed=True,
        ),
    ),
    Bound(
        name="balcan2006",
        source=f"{BALCAN2006}, as quoted in {SHI2012}, eq. (2)",
        statement="A margin γ becomes one of γ/2 on all but a share ε of the points, except with probability δ, if "
        "r ≥ (c/γ²) ln(1/(εδ)).",
        assumptions=(
            GAUSSIAN,
            "ε is a share of errors here, not a distortion",
            "the constant is open; 8 has been compared with the exact law on a grid",
        ),
        formula=_balcan,
        kept=_half_margin,
        about="normalised margin of all but a share ε of the points",
        exact=_exact_half,
        erratum="shi2012 says that it takes infinitely many dimensions to keep all points. For m points any share "
        "below 1/m is none: ε < 1/m is enough.",
    ),
)
