"""How well inner products and angles are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from slimline.bounds.bound import Bound
from slimline.bounds.documents import FARD2012, SHI2012
from slimline.bounds.inverse import Values
from slimline.bounds.norms import GAUSSIAN, log_ratio, rate
from slimline.bounds.tails import lasting_log_below
from slimline.laws import inner_product, norm_failure
from slimline.laws.search import smallest_dimension, whole


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


def _four_tails(eps: Values, delta: Values) -> Values:
    return 2.0 * log_ratio(4.0, delta) / rate(eps)


def _angle(eps: Values, cosine: Values) -> tuple[Values, Values]:
    shrink = 1.0 / (1.0 + eps)
    upper = 1.0 - np.sqrt((1.0 - eps) * shrink) + eps * shrink + (1.0 - eps) * shrink * cosine
    return lowest_cosine(eps, cosine), upper


def _sharp_angle(eps: Values, cosine: Values) -> tuple[Values, Values]:
    return lowest_cosine(eps, cosine), -lowest_cosine(eps, -cosine)


def _both_upper_sides(eps: Values, cosine: Values) -> tuple[Values, Values]:
    lower, upper = _angle(eps, cosine)
    return lower, np.minimum(upper, _sharp_angle(eps, cosine)[1])


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
        formula=_four_tails,
        kept=_sharp_angle,
        exact=_exact_angle(_sharp_angle),
    ),
    replace(_FARD, eps_below=1.0, eps_closed=True, as_printed=False, exact=_worst_inner_product, printed=_FARD),
    replace(_FARD_SPARSE, eps_below=1.0, eps_closed=True, as_printed=False, printed=_FARD_SPARSE),
)
