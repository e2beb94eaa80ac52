"""How well a norm is kept, and the norms of finitely many vectors (Johnson-Lindenstrauss)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from slimline.bounds.bound import Bound
from slimline.bounds.documents import SHI2012, UML2014
from slimline.bounds.inverse import Values
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
