"""Theorems with the effective dimension d_μ = tr K(K + μI)⁻¹ in place of the rank (docs/effective_dimension.md)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slimline.bounds._bound import PAUL2013, Bound
from slimline.bounds._embeddings import log_ratio, require_family, within
from slimline.bounds._numerics import Values


def _embedding(eps: Values, delta: Values, family: str, effective_dimension: Values, features: Values) -> Values:
    """Return the dimension at which ‖(K + μI)^(-½) (K̃ - K) (K + μI)^(-½)‖₂ ≤ ε."""
    require_family(family)
    # E‖ARRᵀAᵀ - AAᵀ‖² for A = (K + μI)^(-½)X, whose squared column norms are at most 1 and add up to d_μ
    extra = np.maximum(np.sqrt(features) - 3.0, 0.0) if family == "very_sparse" else 0.0
    moment = effective_dimension * (effective_dimension + 1.0 + extra) / delta / eps**2
    if family != "gaussian":
        return np.asarray(moment)
    root = eps / (np.sqrt(1.0 + eps) + 1.0)  # √(1+ε) - 1
    width = np.sqrt(effective_dimension) + 0.5 + np.sqrt(2.0 * log_ratio(2.0, delta))
    return np.minimum((width / root) ** 2, moment)


def _half(eps: Values, delta: Values, family: str, effective_dimension: Values, features: Values) -> Values:
    return _embedding(0.5 * eps, delta, family, effective_dimension, features)


def _objective(eps: Values) -> tuple[Values, Values]:
    return 1.0 / (1.0 + eps), 1.0 / (1.0 - eps)


def _hinge(eps: Values) -> tuple[Values, Values]:
    return (1.0 + eps) / (1.0 + 1.5 * eps) ** 2, (1.0 + 0.5 * eps) ** 2 / (1.0 - eps)


_EVENT = "‖(K + μI)^(-½) (K̃ - K) (K + μI)^(-½)‖₂ ≤ ε"
_UNSEEN = "X does not depend on R"

_SPAN = Bound(
    name="embedding.effective",
    source="slimline, from the second moment of the error; for Gaussian R by Gordon's inequality",
    statement=f"For K = XXᵀ, K̃ = XRRᵀXᵀ and any μ > 0, {_EVENT}, except with probability δ.",
    assumptions=("the effective dimension is tr K(K + μI)⁻¹", _UNSEEN),
    formula=_embedding,
    kept=within,
    about="(vᵀK̃v + μ‖v‖²)/(vᵀKv + μ‖v‖²)",
)

EFFECTIVE = (
    _SPAN,
    replace(
        _SPAN,
        name="paul2013.1.effective",
        source=f"slimline, for {PAUL2013}, Theorem 1 and its open problem",
        statement="The margin γ of the hard-margin support vector machine becomes one with "
        "(1-ε)γ² ≤ γ̃² ≤ (1+ε)γ², except with probability δ, with the effective dimension at γ² in place of the rank.",
        assumptions=("separable data, hard margin", "the effective dimension is tr K(K + γ²I)⁻¹", _UNSEEN),
        formula=_half,
        about="γ̃²/γ²",
    ),
    replace(
        _SPAN,
        name="paul2013.1.effective.soft",
        source=f"slimline, for smooth losses and {PAUL2013}, Theorem 1",
        statement="The optimal objective Z of ½‖w‖² + C Σ ℓ(yᵢ wᵀxᵢ) becomes one with Z/(1+ε) ≤ Z̃ ≤ Z/(1-ε), except "
        "with probability δ, for every convex ℓ ≥ 0 whose slope changes at a rate of at most L.",
        assumptions=(
            "L is 1 (squared loss), 2 (squared hinge), ¼ (logistic)",
            "the effective dimension is tr K(K + I/(LC))⁻¹",
            _UNSEEN,
        ),
        kept=_objective,
        about="Z̃/Z",
    ),
    replace(
        _SPAN,
        name="paul2013.1.effective.hinge",
        source=f"slimline, for the soft margin of {PAUL2013}, Theorem 1",
        statement="The optimal objective Z = ½‖w‖² + C Σ ξᵢ of the soft-margin support vector machine becomes one with "
        "Z(1+ε)/(1+3ε/2)² ≤ Z̃ ≤ Z(1+ε/2)²/(1-ε), except with probability δ, whatever C.",
        assumptions=("the effective dimension is tr K(K + I/C)⁻¹", _UNSEEN),
        kept=_hinge,
        about="Z̃/Z",
    ),
    replace(
        _SPAN,
        name="paul2013.2.effective",
        source=f"slimline, for {PAUL2013}, Theorem 2",
        statement="The radius B of the smallest ball around all points becomes one with (1-ε)B² ≤ B̃² ≤ (1+ε)B², "
        "except with probability δ, with the effective dimension at B² in place of the rank.",
        assumptions=("the effective dimension is tr K(K + B²I)⁻¹, of points centred anywhere", _UNSEEN),
        formula=_half,
        about="B̃²/B²",
    ),
)
