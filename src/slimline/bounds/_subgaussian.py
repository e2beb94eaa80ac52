"""Theorems of shi2012 for every R with strictly sub-Gaussian columns, and for the margin of Crammer and Singer.

Proofs: docs/margin_theorems.md. All of them stand on one lemma: for a matrix U of norm 1 (a vector, or several side by
side), ‖RᵀU‖² is above 1 + ε, or below 1 - ε, with a probability of at most exp(-(r/2)(ε²/2 - ε³/3)).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slimline.bounds._bound import SHI2012, Bound
from slimline.bounds._embeddings import log_ratio, rate, within
from slimline.bounds._margins import four_tails, multiclass_kept, one_parameter_kept, sharp_angle, sharp_margin
from slimline.bounds._numerics import Values

#: Families with such columns, as `make_projection` names them.
SUBGAUSSIAN_FAMILIES = ("gaussian", "sign", "achlioptas")

_SUBGAUSSIAN = (
    "the columns of √r R are independent, with independent entries a of E a = 0, E a² = 1 and "
    "E exp(ta) ≤ exp(t²/2) for all t: Gaussian, random signs, Achlioptas, sparse signs of density ⅓ or more"
)
_FIXED = "the data do not depend on R"
_ANY = np.asarray(np.inf)


def _tails(eps: Values, delta: Values, count: Values | float) -> Values:
    """Return r such that so many one-sided tails have together at most the probability delta."""
    return 2.0 * log_ratio(count, delta) / rate(eps)


def _norm(eps: Values, delta: Values) -> Values:
    return _tails(eps, delta, 2.0)


def _binary(eps: Values, delta: Values, points: Values) -> Values:
    return _tails(eps, delta, 2.0 * points + 1.0)


def _multiclass(eps: Values, delta: Values, points: Values, classes: Values) -> Values:
    return _tails(eps, delta, (points + 1.0) * (classes + 1.0) - 1.0)


def _of_pairs(eps: Values, delta: Values, points: Values, classes: Values) -> Values:
    return _tails(eps, delta, 2.0 * points * (classes - 1.0) + 1.0)


def _unnormalised_kept(eps: Values, crammer_singer_margin: Values, radius: Values) -> tuple[Values, Values]:
    # true below 0 as well: the same vector for all classes has the margin 0
    return (crammer_singer_margin - np.sqrt(2.0) * eps * radius) / np.sqrt(1.0 + eps), _ANY


_NORM = Bound(
    name="shi2012.10.subgaussian",
    source=f"slimline, for {SHI2012}, Lemma 10, after Achlioptas (2003)",
    statement="The squared norm of one fixed vector changes by at most the factor 1 ± ε, except with probability "
    "2 exp(-(r/2)(ε²/2 - ε³/3)).",
    assumptions=(_SUBGAUSSIAN, "the vector does not depend on R"),
    formula=_norm,
    kept=within,
    about="‖Rᵀx‖²/‖x‖²",
)

SUBGAUSSIAN = (
    _NORM,
    replace(
        _NORM,
        name="shi2012.5.subgaussian",
        source=f"slimline, for {SHI2012}, Theorem 5",
        statement="The cosine c of two fixed vectors becomes one between κc - 2ε/(1-ε) and κc + 2ε/(1-ε), "
        "κ = (1+ε)/(1-ε), except with probability 4 exp(-(r/2)(ε²/2 - ε³/3)).",
        assumptions=(_SUBGAUSSIAN, "the vectors do not depend on R"),
        formula=four_tails,
        kept=sharp_angle,
        about="cos(Rᵀw, Rᵀx)",
    ),
    replace(
        _NORM,
        name="shi2012.6.subgaussian",
        source=f"slimline, for {SHI2012}, Theorem 6",
        statement="m points with normalised margin γ keep a normalised margin of κγ - 2ε/(1-ε), κ = (1+ε)/(1-ε), "
        "except with probability (2m+1) exp(-(r/2)(ε²/2 - ε³/3)).",
        assumptions=(_SUBGAUSSIAN, "two classes, separable through the origin", _FIXED),
        formula=_binary,
        kept=sharp_margin,
        about="normalised margin",
    ),
    replace(
        _NORM,
        name="shi2012.8.subgaussian",
        source=f"slimline, for {SHI2012}, Theorem 8",
        statement="m points of L classes with normalised multiclass margin γ (shi2012, Definition 7) keep one of "
        "κγ - 4ε/(1-ε), κ = (1+ε)/(1-ε), except with probability ((m+1)(L+1) - 1) exp(-(r/2)(ε²/2 - ε³/3)).",
        assumptions=(_SUBGAUSSIAN, "separable through the origin", _FIXED),
        formula=_multiclass,
        kept=multiclass_kept,
        about="normalised multiclass margin",
    ),
    replace(
        _NORM,
        name="shi2012.9.subgaussian",
        source=f"slimline, for {SHI2012}, Theorem 9",
        statement="With a projection for each of L classes, one vector separates m points of normalised multiclass "
        "margin γ: the cosine of v and R_yᵀx - R_y'ᵀx is at least κγ/√(2L) - 2ε/(1-ε), except with probability "
        "(2m(L-1)+1) exp(-(r/2)(ε²/2 - ε³/3)).",
        assumptions=(_SUBGAUSSIAN, "the projections of the classes are independent", _FIXED),
        formula=_of_pairs,
        kept=one_parameter_kept,
        about="cos(v, R_yᵀx - R_y'ᵀx), the margin of the one-parameter method",
    ),
    replace(
        _NORM,
        name="shi2012.8.unnormalised",
        source=f"slimline, for the remark after {SHI2012}, Theorem 8",
        statement="m points of L classes, of norm B at most, with the margin γ of Crammer and Singer keep one of "
        "(γ - √2 εB)/√(1+ε), except with probability (2m(L-1)+1) exp(-(r/2)(ε²/2 - ε³/3)).",
        assumptions=(_SUBGAUSSIAN, "separable through the origin", _FIXED),
        formula=_of_pairs,
        kept=_unnormalised_kept,
        about="margin of Crammer and Singer",
    ),
)
