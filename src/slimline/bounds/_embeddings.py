"""Theorems on norms and embeddings."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log
from typing import Any, NamedTuple

import numpy as np

from slimline._base.checks import chance, one_of, whole
from slimline.bounds._bound import PAUL2013, SHI2012, UML2014, VASWANI2013, Bound
from slimline.bounds._numerics import Values
from slimline.errors import InvalidParameterError
from slimline.laws import norm_dimension

#: Where (ε - ln(1+ε))/2, the exact rate of the upper tail of χ²_r/r, falls below ε²/6.
LARGEST_EPS = 0.787064437613861

GAUSSIAN = "R has independent N(0, 1/r) entries"


def rate(eps: Values) -> Values:
    """Return ε²/2 - ε³/3: a one-sided tail of a squared norm is at most exp(-(r/2) times this), ε ≤ 1."""
    return eps * eps * (0.5 - eps / 3.0)


def log_ratio(count: Values | float, delta: Values) -> Values:
    """Return ln(count/δ), also where that quotient is beyond float64."""
    return np.asarray(np.log(count) - np.log(delta))


def within(eps: Values) -> tuple[Values, Values]:
    """Return 1 ± ε."""
    return 1.0 - eps, 1.0 + eps


def _chi(eps: Values, delta: Values) -> Values:
    return 6.0 * log_ratio(2.0, delta) / eps**2


def _chi_of_set(eps: Values, delta: Values, vectors: Values) -> Values:
    return 6.0 * log_ratio(2.0 * vectors, delta) / eps**2


def _cubic(eps: Values, delta: Values) -> Values:
    return 2.0 * log_ratio(2.0, delta) / rate(eps)


def _exact(eps: Values, delta: Values) -> Any:
    return norm_dimension(eps, delta)


def _exact_of_set(eps: Values, delta: Values, vectors: Values) -> Any:
    return norm_dimension(eps, delta, vectors)


_TAIL = (
    "Printed for eps in (0, 3), it fails beyond 0.7870: there the exact rate of the upper tail, (r/2)(ε - ln(1+ε)), "
    "is smaller than ε²r/6. At ε = 2, r = 16 the probability is 4.75e-5 and the printed bound 4.66e-5."
)

_LEMMA = Bound(
    name="uml2014.23.3",
    source=f"{UML2014}, Lemma 23.3",
    statement="The squared norm of one fixed vector changes by at most the factor 1 ± ε, except with probability "
    "2 exp(-ε²r/6).",
    assumptions=(GAUSSIAN, "the vector does not depend on R"),
    formula=_chi,
    kept=within,
    about="‖Rᵀx‖²/‖x‖²",
    eps_below=3.0,
    as_printed=True,
    erratum=_TAIL,
)
_SET = replace(
    _LEMMA,
    name="uml2014.23.4",
    source=f"{UML2014}, Lemma 23.4 (Johnson-Lindenstrauss)",
    statement="The squared norms of all vectors of a finite set change by at most the factor 1 ± ε, except with "
    "probability 2|Q| exp(-ε²r/6). For the distances of n points, |Q| = n(n-1)/2.",
    assumptions=(GAUSSIAN, "the vectors do not depend on R"),
    formula=_chi_of_set,
    eps_closed=True,
)
_TAIL_LEMMA = Bound(
    name="shi2012.10",
    source=f"{SHI2012}, Lemma 10",
    statement="The squared norm of one fixed vector changes by at most the factor 1 ± ε, except with probability "
    "2 exp(-(r/2)(ε²/2 - ε³/3)).",
    assumptions=(GAUSSIAN, "the vector does not depend on R"),
    formula=_cubic,
    kept=within,
    about="‖Rᵀx‖²/‖x‖²",
    exact=_exact,
)

NORMS = (
    replace(_LEMMA, eps_below=LARGEST_EPS, eps_closed=True, as_printed=False, exact=_exact, printed=_LEMMA),
    replace(_SET, eps_below=LARGEST_EPS, eps_closed=True, as_printed=False, exact=_exact_of_set, printed=_SET),
    replace(
        _TAIL_LEMMA,
        erratum="Its proof prints the second tail as P(‖Rᵀx‖² ≤ (1+ε)‖x‖²): read ≥. As printed, an event of "
        "probability above ½ would be rare.",
        printed=replace(
            _TAIL_LEMMA,
            statement="(second tail of the proof) ‖Rᵀx‖² ≤ (1+ε)‖x‖² has probability at most exp(-(r/2)(ε²/2 - ε³/3)).",
            kept=None,
            about="",
            exact=None,
            as_printed=True,
        ),
    ),
)


#: Families as `make_projection` names them.
FAMILIES = (
    "gaussian", "sign", "achlioptas", "very_sparse", "srht", "srht_replaced", "cw", "generalised_cw", "osnap",
)  # fmt: skip

CHERNOFF = 2.0 - float(np.sqrt(3.0))  # the constant of vaswani2013, Corollary 1


def spectral(eps: Values, delta: Values, rank: Values) -> Values:
    """Return (ρ+1) ln(2ρ/δ)/(ε²/4)."""
    return np.asarray(4.0 * (rank + 1.0) * log_ratio(2.0 * rank, delta) / eps**2)


def _corollary(eps: Values, delta: Values, rank: Values) -> Values:
    return np.asarray((rank + 1.0) * log_ratio(2.0 * rank, delta) / (CHERNOFF * eps**2))


def _davidson_szarek(eps: Values, delta: Values, rank: Values) -> Values:
    return ((np.sqrt(rank) + np.sqrt(2.0 * log_ratio(2.0, delta))) / _root_of(eps)) ** 2


def _limit(eps: Values, rank: Values) -> Values:
    return rank / _root_of(eps) ** 2


def _root_of(eps: Values) -> Values:
    """Return √(1+ε) - 1 without cancellation."""
    return eps / (np.sqrt(1.0 + eps) + 1.0)


def _linear(eps: Values, rank: Values) -> Values:
    return 3.0 * rank / eps


def _nine(eps: Values, rank: Values) -> Values:
    return 9.0 * rank / eps**2


def _srht(eps: Values, delta: Values, rank: Values, features: Values) -> Values:
    fraction, exponent = np.frexp(features)
    padded = np.where(fraction == 0.5, features, np.ldexp(1.0, exponent))
    rows = (np.sqrt(rank) + np.sqrt(8.0 * log_ratio(3.0 * padded, delta))) ** 2
    return rows * log_ratio(3.0 * rank, delta) / _chernoff(eps)


def _chernoff(eps: Values) -> Values:
    """Return (1+ε) ln(1+ε) - ε, by its series where that cancels."""
    near = eps**2 * (1 / 2 - eps * (1 / 6 - eps * (1 / 12 - eps * (1 / 20 - eps * (1 / 30 - eps / 42)))))
    return np.where(eps < 2e-3, near, (1.0 + eps) * np.log1p(eps) - eps)


def _srht_order(eps: Values, delta: Values, rank: Values, features: Values) -> Values:
    inner = np.log(rank) + np.log(features) - np.log(delta)
    outer = np.log(rank) - 2.0 * np.log(eps) - np.log(delta) + np.log(inner)
    return np.asarray(rank / eps**2 * inner * outer)


def _net(eps: Values, delta: Values, rank: Values) -> Values:
    return np.asarray(2.0 * (rank * np.log(9.0) + np.log(2.0) - np.log(delta)) / rate(0.5 * eps))


def _sign_order(eps: Values, rank: Values, features: Values) -> Values:
    return rank * np.log(rank) * np.log(features) / eps / eps  # rank 1: 0 for every ε, also where ε² is 0 in floats


def _second_moment(eps: Values, delta: Values, rank: Values) -> Values:
    return (rank**2 + rank) / delta / eps**2


def _very_sparse(eps: Values, delta: Values, rank: Values, features: Values) -> Values:
    # Σℓ² ≤ Σℓ = ρ for leverage scores, and a row of R has the fourth moment √d
    return (rank**2 + rank + np.maximum(np.sqrt(features) - 3.0, 0.0) * rank) / delta / eps**2


def _cw_order(eps: Values, delta: Values, rank: Values) -> Values:
    inverse = -(np.log(delta) + np.log(eps))
    return np.asarray(rank / eps**4 * (np.log(rank) + inverse) * (rank + inverse))


def _edges(eps: Values) -> tuple[Values, Values]:
    # (1+√y)² - 1 = ε at the upper edge; the lower one is nearer
    return 1.0 - _root_of(eps), 1.0 + _root_of(eps)


def require_family(family: object) -> None:
    """Refuse what is no name of a family."""
    if not isinstance(family, str) or family not in FAMILIES:
        raise InvalidParameterError(f"must be one of {', '.join(FAMILIES)}; got {family!r}.", "family", family)


def embedding(eps: Values, delta: Values, family: str, rank: Values, features: Values) -> Values:
    """Return the least dimension that an explicit bound of this kind asks for, by family."""
    require_family(family)
    if family == "gaussian":
        return _davidson_szarek(eps, delta, rank)
    if family in ("sign", "achlioptas"):
        return np.minimum(_net(eps, delta, rank), _second_moment(eps, delta, rank))
    if family in ("srht", "srht_replaced"):
        return np.minimum(_srht(eps, delta, rank, features), _second_moment(eps, delta, rank))
    if family in ("cw", "generalised_cw", "osnap"):
        return _second_moment(eps, delta, rank)
    return _very_sparse(eps, delta, rank, features)


_ERROR = "‖VᵀV - VᵀRRᵀV‖₂ ≤ ε for an orthonormal V (d × ρ), except with probability δ"
_EIGENVALUES = "eigenvalues of VᵀRRᵀV"
_FIXED = "V does not depend on R"

_SRHT = Bound(
    name="paul2013.srht",
    source=f"{PAUL2013}, Lemma 1; explicit: row norms and a matrix Chernoff bound (Tropp 2011)",
    statement=f"SRHT: {_ERROR}, if r ≥ (√ρ + √(8 ln(3d'/δ)))² ln(3ρ/δ)/((1+ε) ln(1+ε) - ε), d' = 2^⌈log₂ d⌉. Often "
    "that is above d'.",
    assumptions=("R is an SRHT", _FIXED),
    formula=_srht,
    kept=within,
    about=_EIGENVALUES,
)
_SIGN = Bound(
    name="paul2013.sign",
    source=f"{PAUL2013}, remark after Lemma 1; explicit: a ¼-net",
    statement=f"Random signs, Achlioptas or Gaussian: {_ERROR}, if r ≥ 2(ρ ln 9 + ln(2/δ))/((ε/2)²/2 - (ε/2)³/3).",
    assumptions=("R has independent sign, Achlioptas or Gaussian entries", _FIXED),
    formula=_net,
    kept=within,
    about=_EIGENVALUES,
)
_CW = Bound(
    name="paul2013.cw",
    source=f"{PAUL2013}, remark after Lemma 1; explicit: the second moment of the error",
    statement=f"CW: {_ERROR}, if r ≥ (ρ²+ρ)/(δε²). So it is for every family but the very sparse one.",
    assumptions=("R is of any family but very sparse signs", _FIXED),
    formula=_second_moment,
    kept=within,
    about=_EIGENVALUES,
)
_GENERALISED = Bound(
    name="paul2013.cw.generalised",
    source=f"{PAUL2013}, remark after Lemma 1; explicit: the second moment of the error",
    statement=f"Generalised CW: {_ERROR}, if r = q·a·v ≥ (ρ²+ρ)/(δε²) with q buckets of a stacks of v components: the "
    "second moment depends on the product alone.",
    assumptions=("R is a generalised CW embedding", _FIXED),
    formula=_second_moment,
    kept=within,
    about=_EIGENVALUES,
)
_LIMIT = Bound(
    name="vaswani2013.3",
    source=f"{VASWANI2013}, Theorem 3 (Bai and Yin)",
    statement="s_max(A)/√r → 1 + √y and s_min(A)/√r → 1 - √y for a ρ × r matrix A, ρ/r → y: in the limit "
    "‖AAᵀ/r - I‖₂ ≤ ε if and only if r ≥ ρ/(√(1+ε) - 1)².",
    assumptions=("independent entries of mean 0, variance 1 and finite fourth moment",),
    formula=_limit,
    kept=_edges,
    about="singular values of A/√r",
    asymptotic=True,
)
_PRINTED_COROLLARY = Bound(
    name="vaswani2013.c2",
    source=f"{VASWANI2013}, Corollary 2",
    statement="‖AAᵀ/r - I‖₂ ≤ ε if r ≥ 3ρ/ε.",
    assumptions=("independent entries of mean 0, variance 1 and finite fourth moment",),
    formula=_linear,
    kept=within,
    about=_EIGENVALUES,
    asymptotic=True,
    as_printed=True,
    erratum="From (1+√y)² - 1 ≤ ε follows √y ≤ √(1+ε) - 1, that is y ≈ ε²/4, not y ≤ ε/3: quadratic in ε, not linear. "
    "At ρ = 100, ε = 0.1 and the printed r = 3,000 the error is 0.39.",
)

EMBEDDINGS = (
    replace(
        _SRHT,
        printed=replace(
            _SRHT,
            source=f"{PAUL2013}, Lemma 1",
            statement=f"SRHT: {_ERROR}, if r = O(ρ ε⁻² log(ρd/δ) log(ρε⁻²δ⁻¹ log(ρd/δ))), ε ≤ ½.",
            formula=_srht_order,
            eps_below=0.5,
            eps_closed=True,
            order_only=True,
        ),
    ),
    replace(
        _SIGN,
        printed=replace(
            _SIGN,
            source=f"{PAUL2013}, remark after Lemma 1",
            statement="Random signs: ‖VᵀV - VᵀRRᵀV‖₂ ≤ ε with probability at least 1 - 1/n, if "
            "r = O(ρ ε⁻² log ρ log d).",
            formula=_sign_order,
            order_only=True,
        ),
    ),
    replace(
        _CW,
        printed=replace(
            _CW,
            source=f"{PAUL2013}, remark after Lemma 1",
            statement=f"CW: {_ERROR}, if r = O(ρ ε⁻⁴ log(ρ/(δε)) (ρ + log(1/(δε)))).",
            assumptions=("R is a CW embedding", _FIXED),
            formula=_cw_order,
            order_only=True,
        ),
    ),
    replace(
        _GENERALISED,
        printed=replace(
            _GENERALISED,
            source=f"{PAUL2013}, remark after Lemma 1; factors after Clarkson and Woodruff (STOC 2013)",
            statement=f"Generalised CW: {_ERROR}, if r = q·a·v with q = O(ρ ε⁻² (ρ + log(1/(δε)))) buckets, "
            "a = O(ε⁻¹ log(ρ/(δε))) stacks and v = O(ε⁻¹) components of a stack.",
            formula=_cw_order,
            order_only=True,
        ),
    ),
    Bound(
        name="embedding.very_sparse",
        source="slimline, from the second moment of the error",
        statement=f"Very sparse signs (Li): {_ERROR}, if r ≥ (ρ² + ρ + max(0, √d - 3) ρ)/(δε²).",
        assumptions=("R has very sparse sign entries, one in √d", _FIXED),
        formula=_very_sparse,
        kept=within,
        about=_EIGENVALUES,
    ),
    Bound(
        name="vaswani2013.c1",
        source=f"{VASWANI2013}, Corollary 1 (Zhang et al., COLT 2013)",
        statement="‖AAᵀ/r - I‖₂ ≤ ε for a Gaussian ρ × r matrix A, except with probability δ, if "
        "r ≥ (ρ+1) ln(2ρ/δ)/((2-√3) ε²).",
        assumptions=("A has independent N(0, 1) entries",),
        formula=_corollary,
        kept=within,
        about=_EIGENVALUES,
        eps_below=0.5,
        eps_closed=True,
    ),
    _LIMIT,
    replace(
        _PRINTED_COROLLARY,
        source=f"{VASWANI2013}, Corollary 2, repaired by Davidson and Szarek (2001)",
        statement="‖AAᵀ/r - I‖₂ ≤ ε for a Gaussian ρ × r matrix A, except with probability δ, if "
        "r ≥ ((√ρ + √(2 ln(2/δ)))/(√(1+ε) - 1))².",
        assumptions=(GAUSSIAN, _FIXED),
        formula=_davidson_szarek,
        asymptotic=False,
        as_printed=False,
        printed=_PRINTED_COROLLARY,
    ),
    replace(
        _PRINTED_COROLLARY,
        name="vaswani2013.c2.algebra",
        source=f"slimline, from the proof of {VASWANI2013}, Corollary 2",
        statement="‖AAᵀ/r - I‖₂ ≤ ε in the limit if r ≥ 9ρ/ε²: the algebra of the printed proof, done right.",
        formula=_nine,
        as_printed=False,
        erratum=None,
    ),
)


class GeneralisedSizes(NamedTuple):
    """Sizes of a generalised CW embedding.

    Parameters
    ----------
    buckets : int
        Number q of buckets.
    n_stacks : int
        Number a of stacks in a bucket.
    bucket_width : int
        Number v of components of a stack.
    """

    buckets: int
    n_stacks: int
    bucket_width: int

    @property
    def n_components(self) -> int:
        """Number of components, r = q·a·v."""
        return self.buckets * self.n_stacks * self.bucket_width


def generalised_embedding(eps: float, delta: float, rank: int, version: str = "correct") -> GeneralisedSizes:
    """Return the numbers of buckets, stacks and components that keep a subspace under generalised CW.

    Parameters
    ----------
    eps, delta : float
        Distortion and failure probability, in (0, 1).
    rank : int
        Dimension ρ of the subspace.
    version : str
        "correct": with as many buckets as the second moment of the error asks for. "printed": with as many as the
        expression inside the printed O(·), which promises nothing with the constant 1.

    Returns
    -------
    sizes : GeneralisedSizes
        For `SparseEmbedding(sizes.n_components, n_stacks=sizes.n_stacks, bucket_width=sizes.bucket_width)`.

    See Also
    --------
    get : `paul2013.cw.generalised` is the theorem.
    slimline.SparseEmbedding : The projection.

    Notes
    -----
    a = ⌈ε⁻¹ ln(ρ/(δε))⌉ and v = ⌈ε⁻¹⌉ as in [1]_ with the constant 1. Printed: q = ⌈ρε⁻²(ρ + ln(1/(δε)))⌉, whose
    product with ε⁻¹ ln(ρ/(δε)) and ε⁻¹ is the r of [2]_. Correct: q = ⌈(ρ² + ρ)/(δε²av)⌉, so that q·a·v is at least the
    dimension of `paul2013.cw.generalised`; the failure probability is then at most `delta`, whatever a and v are.

    References
    ----------
    .. [1] Clarkson, K. L.; Woodruff, D. P. (2013). "Low rank approximation and regression in input sparsity time."
       STOC, 81-90.
    .. [2] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506. Remark after Lemma 1.

    Examples
    --------
    >>> from slimline.bounds import generalised_embedding
    >>> sizes = generalised_embedding(0.5, delta=0.1, rank=10)
    >>> sizes, sizes.n_components
    (GeneralisedSizes(buckets=200, n_stacks=11, bucket_width=2), 4400)
    >>> generalised_embedding(0.5, delta=0.1, rank=10, version="printed")
    GeneralisedSizes(buckets=520, n_stacks=11, bucket_width=2)
    """
    eps, delta, rho = chance("eps", eps), chance("delta", delta), whole("rank", rank)
    one_of("version", version, ("correct", "printed"))
    stacks, width = ceil((log(rho) - log(delta) - log(eps)) / eps), ceil(1.0 / eps)
    if max(stacks, width) > 65535:
        raise InvalidParameterError(f"takes more than 65,535 stacks or components of a stack; got {eps:g}.", "eps", eps)
    if version == "printed":
        buckets = rho / eps**2 * (rho - log(delta) - log(eps))
    else:
        buckets = (rho**2 + rho) / (delta * eps**2 * stacks * width)
    return GeneralisedSizes(ceil(buckets), stacks, width)
