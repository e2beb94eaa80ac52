"""Theorems on angles and margins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from slimline.bounds._bound import BALCAN2006, FARD2012, SHI2012, Bound
from slimline.bounds._embeddings import GAUSSIAN, log_ratio, rate
from slimline.bounds._numerics import Values, lasting_log_below
from slimline.laws import inner_product, norm_failure
from slimline.laws._law import smallest_dimension, whole


def stretch(eps: Values) -> Values:
    """Return κ = (1+ε)/(1-ε)."""
    return (1.0 + eps) / (1.0 - eps)


def lowest_cosine(eps: Values, cosine: Values) -> Values:
    """Return κc - 2ε/(1-ε) as c - (κ-1)(1-c), which leaves 1 as it is and does not cancel near 0."""
    return cosine - 2.0 * eps / (1.0 - eps) * (1.0 - cosine)


def _always() -> Values:
    return np.asarray(1.0)


def _six_tails(eps: Values, delta: Values) -> Values:
    return 2.0 * log_ratio(6.0, delta) / rate(eps)


def four_tails(eps: Values, delta: Values) -> Values:
    return 2.0 * log_ratio(4.0, delta) / rate(eps)


def _angle(eps: Values, cosine: Values) -> tuple[Values, Values]:
    shrink = 1.0 / (1.0 + eps)
    upper = 1.0 - np.sqrt((1.0 - eps) * shrink) + eps * shrink + (1.0 - eps) * shrink * cosine
    return lowest_cosine(eps, cosine), upper


def sharp_angle(eps: Values, cosine: Values) -> tuple[Values, Values]:
    return lowest_cosine(eps, cosine), -lowest_cosine(eps, -cosine)


def _both_upper_sides(eps: Values, cosine: Values) -> tuple[Values, Values]:
    lower, upper = _angle(eps, cosine)
    return lower, np.minimum(upper, sharp_angle(eps, cosine)[1])


def _exact_angle(kept: Any) -> Any:
    def dimension(eps: Values, delta: Values, cosine: Values) -> Any:
        eps, delta, cosine = np.broadcast_arrays(eps, delta, cosine)
        lower, upper = kept(eps, cosine)

        def met(r: Any) -> Any:
            tails = lasting_log_below(lower, r, cosine), lasting_log_below(-upper, r, -cosine)
            return np.logaddexp(*tails) <= np.log(delta)

        return whole(smallest_dimension(met, eps.shape))

    return dimension


def _inner_product(eps: Values, delta: Values, vectors: Values) -> Values:
    return 48.0 * log_ratio(4.0 * vectors + 2.0, delta) / eps**2


def _sparse(eps: Values, delta: Values, features: Values, sparsity: Values) -> Values:
    return sparsity * _inner_product(eps, delta, features)


def _about(eps: Values, cosine: Values) -> tuple[Values, Values]:
    return cosine - eps, cosine + eps


def _worst_inner_product(eps: Values, delta: Values, vectors: Values) -> Any:
    eps, delta, vectors = np.broadcast_arrays(eps, delta, vectors)

    def met(r: Any) -> Any:
        # The law is widest for parallel vectors, which are a norm, or (one column, ε near 1) for orthogonal ones.
        failure = np.maximum(norm_failure(r, eps), 2.0 * inner_product.sf(eps, r, 0.0))
        return vectors * failure <= delta

    return whole(smallest_dimension(met, eps.shape))


_COSINE = "cos(Rᵀw, Rᵀx)"
_INNER = "⟨Rᵀw, Rᵀx⟩/(‖w‖‖x‖)"

_ANGLE = Bound(
    name="shi2012.5",
    source=f"{SHI2012}, Theorem 5",
    statement="The cosine c of two fixed vectors becomes one between κc - 2ε/(1-ε) and "
    "1 - √(1-ε²)/(1+ε) + ε/(1+ε) + c(1-ε)/(1+ε), κ = (1+ε)/(1-ε), except with probability "
    "6 exp(-(r/2)(ε²/2 - ε³/3)).",
    assumptions=(GAUSSIAN, "the vectors do not depend on R"),
    formula=_six_tails,
    kept=_angle,
    about=_COSINE,
)
_FARD = Bound(
    name="fard2012.1",
    source=f"{FARD2012}, Theorem 1, after Davenport, Wakin and Baraniuk (2006)",
    statement="With one fixed w, |⟨Rᵀw, Rᵀs⟩ - ⟨w, s⟩| ≤ ε‖w‖‖s‖ for all s of a finite set, except with probability "
    "(4|S|+2) exp(-rε²/48).",
    assumptions=(GAUSSIAN, "w and the set do not depend on R"),
    formula=_inner_product,
    kept=_about,
    about=_INNER,
    eps_below=np.inf,
    as_printed=True,
    erratum="Printed for every ε > 0; beyond a constant the tail falls like exp(-rε/2) only, slower than the bound. "
    "It holds for ε ≤ 1.",
)
_FARD_SPARSE = replace(
    _FARD,
    name="fard2012.2",
    source=f"{FARD2012}, Theorem 2",
    statement="With one fixed w, |⟨Rᵀw, Rᵀx⟩ - ⟨w, x⟩| ≤ ε‖w‖‖x‖ for every x that is k-sparse in a fixed orthonormal "
    "basis, except with probability (4d+2) exp(-rε²/(48k)).",
    assumptions=(GAUSSIAN, "w and the basis do not depend on R"),
    formula=_sparse,
    erratum="Printed for every ε > 0, but it stands on Theorem 1, which holds for ε ≤ 1; and its proof says "
    "“with probability no less than” of the probability of failure.",
)

ANGLES = (
    Bound(
        name="shi2012.4",
        source=f"{SHI2012}, Lemma 4",
        statement="E⟨Rᵀw, Rᵀx⟩ = ⟨w, x⟩ for every r.",
        assumptions=("E[R Rᵀ] = I: every projection of slimline", "w and x do not depend on R"),
        formula=_always,
        eps_below=np.inf,
    ),
    replace(
        _ANGLE,
        statement=f"{_ANGLE.statement} With the same probability it is at most κc + 2ε/(1-ε), which may be smaller.",
        kept=_both_upper_sides,
        exact=_exact_angle(_both_upper_sides),
        erratum="Printed for acute angles, and said to fail for obtuse ones on the strength of Fig. 2. The first step "
        "of eq. (9) is false, but the combination of (8) to (10) holds for every angle; Fig. 2 compares cosines near 0 "
        "with large ones.",
        printed=replace(
            _ANGLE,
            assumptions=(*_ANGLE.assumptions, "the angle is acute"),
            as_printed=True,
        ),
    ),
    replace(
        _ANGLE,
        name="shi2012.5.sharp",
        source="slimline, from the proof of shi2012 Theorem 5",
        statement="The cosine c of two fixed vectors becomes one between κc - 2ε/(1-ε) and κc + 2ε/(1-ε), except with "
        "probability 4 exp(-(r/2)(ε²/2 - ε³/3)): four one-sided tails are enough.",
        formula=four_tails,
        kept=sharp_angle,
        exact=_exact_angle(sharp_angle),
    ),
    replace(_FARD, eps_below=1.0, eps_closed=True, as_printed=False, exact=_worst_inner_product, printed=_FARD),
    replace(_FARD_SPARSE, eps_below=1.0, eps_closed=True, as_printed=False, printed=_FARD_SPARSE),
)


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


def sharp_margin(eps: Values, margin: Values) -> tuple[Values, Values]:
    return lowest_cosine(eps, margin), _ANY


def _multiclass_printed(eps: Values, multiclass_margin: Values) -> tuple[Values, Values]:
    # (1+3ε)/(1-ε²) = κ + ε/(1+ε), and what is large for ε near 1 comes together
    rest = np.sqrt((1.0 - eps) / (1.0 + eps)) - eps / (1.0 + eps)
    return stretch(eps) * (multiclass_margin - 1.0) + rest, _ANY


def multiclass_kept(eps: Values, multiclass_margin: Values) -> tuple[Values, Values]:
    return 2.0 * lowest_cosine(eps, 0.5 * multiclass_margin), _ANY


def one_parameter_kept(eps: Values, multiclass_margin: Values, classes: Values) -> tuple[Values, Values]:
    return lowest_cosine(eps, multiclass_margin / np.sqrt(2.0 * classes)), _ANY


def _one_parameter_printed(eps: Values, multiclass_margin: Values, classes: Values) -> tuple[Values, Values]:
    # as one fraction: at the printed end ε = 1 a negative number is divided by zero
    eps, cosine = np.broadcast_arrays(eps, multiclass_margin / np.sqrt(2.0 * classes))
    inside = eps < 1.0
    least = np.full(eps.shape, -np.inf)
    least[inside] = lowest_cosine(eps[inside], cosine[inside])
    return least, _ANY


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
    after = one_parameter_kept(eps, multiclass_margin, classes)[0]
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
    kept=multiclass_kept,
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
    kept=one_parameter_kept,
    about="cos(v, R_yᵀx - R_y'ᵀx), the margin of the one-parameter method",
    exact=_exact_one_parameter,
    erratum="Eq. (6) divides by ‖v‖√(‖R_yᵀx‖² + ‖R_y'ᵀx‖²); what the proof bounds is the cosine, with "
    "‖R_yᵀx - R_y'ᵀx‖. The two differ by the inner product of R_yᵀx and R_y'ᵀx, which is 0 only on average. And ε = 1 "
    "is allowed, where the printed margin is a negative number divided by 0: -∞.",
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
        kept=sharp_margin,
        exact=_exact_binary(sharp_margin),
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
            kept=_one_parameter_printed,
            about="margin over ‖v‖√(‖R_yᵀx‖² + ‖R_y'ᵀx‖²)",
            eps_closed=True,
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
