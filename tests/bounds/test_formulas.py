"""Every dimension and every guarantee, worked out again in mpmath with 60 digits from the theory sheet, §2."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import log, mpf, sqrt

from tests.bounds.statements import DELTAS, STATEMENTS, combinations, distortions, names_of

RELATIVE = 1e-12

pytestmark = pytest.mark.usefixtures("_digits")


@pytest.fixture
def _digits():
    with mpmath.workdps(60):
        yield


def cubic(eps):
    return eps**2 / 2 - eps**3 / 3


def shi(count):
    return lambda eps, delta, **sizes: 12 * log(count(**sizes) / delta) / (3 * eps**2 - 2 * eps**3)


def spectral(constant):
    return lambda eps, delta, rank: (rank + 1) * log(2 * rank / delta) / (constant * eps**2)


def davidson_szarek(eps, delta, rank):
    return ((sqrt(rank) + sqrt(2 * log(2 / delta))) / (sqrt(1 + eps) - 1)) ** 2


def srht(eps, delta, rank, features):
    padded = mpf(2) ** (int(features) - 1).bit_length()
    rows = (sqrt(rank) + sqrt(8 * log(3 * padded / delta))) ** 2
    return rows * log(3 * rank / delta) / ((1 + eps) * log(1 + eps) - eps)


def srht_order(eps, delta, rank, features):
    inner = log(rank * features / delta)
    return rank * eps**-2 * inner * log(rank * eps**-2 / delta * inner)


def net(eps, delta, rank):
    return 2 * (rank * log(9) + log(2 / delta)) / cubic(eps / 2)


def second_moment(eps, delta, rank, extra=0):
    return (rank**2 + rank + extra) / (delta * eps**2)


def very_sparse(eps, delta, rank, features):
    return second_moment(eps, delta, rank, extra=max(mpf(0), sqrt(features) - 3) * rank)


def cw_order(eps, delta, rank):
    return rank * eps**-4 * log(rank / (delta * eps)) * (rank + log(1 / (delta * eps)))


def embedding(eps, delta, family, rank, features):
    moment = second_moment(eps, delta, rank)
    return {
        "gaussian": lambda: davidson_szarek(eps, delta, rank),
        "sign": lambda: min(net(eps, delta, rank), moment),
        "achlioptas": lambda: min(net(eps, delta, rank), moment),
        "srht": lambda: min(srht(eps, delta, rank, features), moment),
        "srht_replaced": lambda: min(srht(eps, delta, rank, features), moment),
        "cw": lambda: moment,
        "osnap": lambda: moment,
        "generalised_cw": lambda: moment,
        "very_sparse": lambda: very_sparse(eps, delta, rank, features),
    }[family]()


def effective(eps, delta, family, effective_dimension, features):
    moment = second_moment(eps, delta, effective_dimension)
    if family == "very_sparse":
        return very_sparse(eps, delta, effective_dimension, features)
    width = sqrt(effective_dimension) + mpf("0.5") + sqrt(2 * log(2 / delta))
    return min(moment, (width / (sqrt(1 + eps) - 1)) ** 2) if family == "gaussian" else moment


def effective_half(eps, **others):
    return effective(eps / 2, **others)


def chi(eps, delta, vectors=1):
    return 6 * log(2 * vectors / delta) / eps**2


def tails(count):
    return lambda eps, delta: 2 * log(count / delta) / cubic(eps)


def fard(eps, delta, vectors):
    return 48 * log((4 * vectors + 2) / delta) / eps**2


def fard_sparse(eps, delta, features, sparsity):
    return 48 * sparsity * log((4 * features + 2) / delta) / eps**2


def multiclass_count(points, classes):
    return 6 * classes * points


def one_sided(count):
    return lambda eps, delta, **sizes: 2 * log(count(**sizes) / delta) / cubic(eps)


def pairs(eps, delta, points):
    return 2 * log(max(points * (points - 1), 1) / delta) / cubic(eps)


REQUIRED = {
    "uml2014.23.3": chi,
    "uml2014.23.3, printed": chi,
    "uml2014.23.4": chi,
    "uml2014.23.4, printed": chi,
    "shi2012.10": tails(2),
    "shi2012.10, printed": tails(2),
    "shi2012.4": lambda: mpf(1),
    "shi2012.5": tails(6),
    "shi2012.5, printed": tails(6),
    "shi2012.5.sharp": tails(4),
    "fard2012.1": fard,
    "fard2012.1, printed": fard,
    "fard2012.2": fard_sparse,
    "fard2012.2, printed": fard_sparse,
    "shi2012.6": shi(lambda points: 6 * points),
    "shi2012.6.sharp": shi(lambda points: 3 * points),
    "shi2012.8": shi(multiclass_count),
    "shi2012.8, printed": shi(multiclass_count),
    "shi2012.9": shi(lambda points, classes: 6 * points * (classes - 1)),
    "shi2012.9, printed": shi(lambda points, classes: 6 * points * (classes - 1)),
    "shi2012.10.subgaussian": tails(2),
    "shi2012.5.subgaussian": tails(4),
    "shi2012.6.subgaussian": one_sided(lambda points: 1 + 2 * points),
    "shi2012.8.subgaussian": one_sided(lambda points, classes: classes + points + classes * points),
    "shi2012.9.subgaussian": one_sided(lambda points, classes: 1 + 2 * points * (classes - 1)),
    "shi2012.8.unnormalised": one_sided(lambda points, classes: 1 + 2 * points * (classes - 1)),
    "balcan2006": lambda eps, delta, margin, constant: constant / margin**2 * log(1 / (eps * delta)),
    "paul2013.srht": srht,
    "paul2013.srht, printed": srht_order,
    "paul2013.sign": net,
    "paul2013.sign, printed": lambda eps, rank, features: rank * eps**-2 * log(rank) * log(features),
    "paul2013.cw": second_moment,
    "paul2013.cw, printed": cw_order,
    "paul2013.cw.generalised": second_moment,
    "paul2013.cw.generalised, printed": cw_order,
    "embedding.very_sparse": very_sparse,
    "vaswani2013.c1": lambda eps, delta, rank: spectral(2 - sqrt(3))(eps, delta, rank),
    "vaswani2013.3": lambda eps, rank: rank / (sqrt(1 + eps) - 1) ** 2,
    "vaswani2013.c2": davidson_szarek,
    "vaswani2013.c2, printed": lambda eps, rank: 3 * rank / eps,
    "vaswani2013.c2.algebra": lambda eps, rank: 9 * rank / eps**2,
    "paul2013.1": embedding,
    "paul2013.1, printed": embedding,
    "paul2013.1.soft": embedding,
    "paul2013.2": embedding,
    "paul2013.2, printed": embedding,
    "paul2013.2.distances": pairs,
    "embedding.effective": effective,
    "paul2013.1.effective": effective_half,
    "paul2013.1.effective.soft": effective,
    "paul2013.1.effective.hinge": effective,
    "paul2013.2.effective": effective_half,
    "vaswani2013.1": spectral(mpf("0.25")),
    "vaswani2013.2": spectral(mpf("0.25")),
}

INFINITE = mpmath.inf


def kappa(eps):
    return (1 + eps) / (1 - eps)


def low(eps, cosine):
    return kappa(eps) * cosine - 2 * eps / (1 - eps)


def printed_high(eps, cosine):
    return 1 - sqrt(1 - eps**2) / (1 + eps) + eps / (1 + eps) + (1 - eps) / (1 + eps) * cosine


def high(eps, cosine):
    return -1 + kappa(eps) * (1 + cosine)


def about_one(eps):
    return 1 - eps, 1 + eps


def about_cosine(eps, cosine):
    return cosine - eps, cosine + eps


def one_parameter(eps, multiclass_margin, classes):
    return -2 * eps / (1 - eps) + kappa(eps) * multiclass_margin / sqrt(2 * classes), INFINITE


def multiclass_printed(eps, multiclass_margin):
    first = -(1 + 3 * eps) / (1 - eps**2) + sqrt(1 - eps**2) / (1 + eps)
    return first + kappa(eps) * multiclass_margin, INFINITE


def unnormalised(eps, crammer_singer_margin, radius):
    return (crammer_singer_margin - sqrt(2) * eps * radius) / sqrt(1 + eps), INFINITE


def naive(eps, features, rank, n_components):
    factor = 1 - eps * sqrt(2 * (1 + eps)) / (1 - eps)
    return sqrt(max(features - rank, 0) / n_components) / 2 * factor, INFINITE


KEPT = {
    **dict.fromkeys(("uml2014.23.3", "uml2014.23.3, printed", "uml2014.23.4", "uml2014.23.4, printed"), about_one),
    **dict.fromkeys(("shi2012.10", "paul2013.srht", "paul2013.srht, printed", "paul2013.sign"), about_one),
    **dict.fromkeys(("paul2013.sign, printed", "paul2013.cw", "paul2013.cw, printed", "vaswani2013.c1"), about_one),
    **dict.fromkeys(("paul2013.cw.generalised", "paul2013.cw.generalised, printed"), about_one),
    **dict.fromkeys(("embedding.very_sparse", "vaswani2013.c2", "vaswani2013.c2, printed"), about_one),
    **dict.fromkeys(("vaswani2013.c2.algebra", "paul2013.1", "paul2013.2", "paul2013.2.distances"), about_one),
    **dict.fromkeys(("embedding.effective", "paul2013.1.effective", "paul2013.2.effective"), about_one),
    **dict.fromkeys(("fard2012.1", "fard2012.1, printed", "fard2012.2", "fard2012.2, printed"), about_cosine),
    "shi2012.9": one_parameter,
    "shi2012.9, printed": lambda eps, **sizes: one_parameter(eps, **sizes) if eps < 1 else (-INFINITE, INFINITE),
    "shi2012.10, printed": None,
    "shi2012.4": None,
    "shi2012.5": lambda eps, cosine: (low(eps, cosine), min(high(eps, cosine), printed_high(eps, cosine))),
    "shi2012.5, printed": lambda eps, cosine: (low(eps, cosine), printed_high(eps, cosine)),
    "shi2012.5.sharp": lambda eps, cosine: (low(eps, cosine), high(eps, cosine)),
    "shi2012.6": lambda eps, margin: (margin - 2 * eps / (1 - eps), INFINITE),
    "shi2012.6.sharp": lambda eps, margin: (low(eps, margin), INFINITE),
    "shi2012.8": lambda eps, multiclass_margin: (kappa(eps) * multiclass_margin - 4 * eps / (1 - eps), INFINITE),
    "shi2012.8, printed": multiclass_printed,
    "shi2012.10.subgaussian": about_one,
    "shi2012.5.subgaussian": lambda eps, cosine: (low(eps, cosine), high(eps, cosine)),
    "shi2012.6.subgaussian": lambda eps, margin: (low(eps, margin), INFINITE),
    "shi2012.8.subgaussian": lambda eps, multiclass_margin: (2 * low(eps, multiclass_margin / 2), INFINITE),
    "shi2012.9.subgaussian": one_parameter,
    "shi2012.8.unnormalised": unnormalised,
    "balcan2006": lambda eps, margin: (margin / 2, INFINITE),
    "vaswani2013.3": lambda eps: (2 - sqrt(1 + eps), sqrt(1 + eps)),
    "paul2013.1, printed": lambda eps: (1 - eps, INFINITE),
    "paul2013.1.soft": lambda eps: (1 / (1 + eps), 1 / (1 - eps)),
    "paul2013.1.effective.soft": lambda eps: (1 / (1 + eps), 1 / (1 - eps)),
    "paul2013.1.effective.hinge": lambda eps: ((1 + eps) / (1 + 3 * eps / 2) ** 2, (1 + eps / 2) ** 2 / (1 - eps)),
    "paul2013.2, printed": lambda eps: (-INFINITE, 1 + eps),
    "vaswani2013.1": naive,
    "vaswani2013.2": lambda eps: (-INFINITE, eps / (1 - eps)),
}


def test_no_statement_is_left_out():
    assert set(REQUIRED) == set(STATEMENTS)
    assert set(KEPT) == set(STATEMENTS)


def exactly(sizes):
    return {name: value if isinstance(value, str) else mpf(value) for name, value in sizes.items()}


@pytest.mark.parametrize("name", STATEMENTS)
def test_dimension(name):
    bound, formula = STATEMENTS[name], REQUIRED[name]
    settings = combinations(names_of(bound.formula))
    for turn, sizes in enumerate(settings[:: max(1, len(settings) // 12)]):
        known = exactly(sizes)
        eps = np.array(distortions(bound)[turn % 3 :: 3] if len(settings) > 3 else distortions(bound))
        deltas = (DELTAS[turn % 2 :: 2] if len(settings) > 3 else DELTAS) if bound.needs_delta else [None]
        delta = np.array(deltas) if bound.needs_delta else None
        found = bound.required(eps[:, None], delta, **sizes)
        assert found.shape == (eps.size, len(deltas)) if bound.needs_delta else (eps.size, 1)
        for i, j in np.ndindex(found.shape):
            arguments = {"eps": mpf(eps[i])} if bound.needs_eps else {}
            arguments |= {"delta": mpf(deltas[j])} if bound.needs_delta else {}
            expected = formula(**arguments, **known)
            if expected > mpf(2) ** 1024:
                assert found[i, j] == np.inf
                continue
            assert abs(mpf(found[i, j]) - expected) <= RELATIVE * abs(expected), (eps[i], deltas[j], sizes)
            if expected < 1e12 and abs(expected - mpmath.nint(expected)) > 1e-3:
                assert bound.dimension(eps[i], deltas[j], **sizes) == max(1, int(mpmath.ceil(expected)))


@pytest.mark.parametrize("name", [name for name, kept in KEPT.items() if kept is not None])
def test_guarantee(name):
    bound = STATEMENTS[name]
    for sizes in combinations(names_of(bound.kept)):
        eps = np.array(distortions(bound))
        found = bound.guarantee(eps, **sizes)
        for i in range(eps.size):
            ends = KEPT[name](mpf(eps[i]), **exactly(sizes))
            for value, expected in zip((found.lower[i], found.upper[i]), ends, strict=True):
                if mpmath.isinf(expected):
                    assert value == float(expected)
                else:
                    assert abs(mpf(value) - expected) <= RELATIVE * max(1, abs(expected)), (eps[i], sizes)


def test_whole_dimensions_are_not_raised():
    assert STATEMENTS["vaswani2013.c2, printed"].dimension(0.5, rank=100) == 600
    assert STATEMENTS["vaswani2013.c2.algebra"].dimension(0.25, rank=4) == 576


def test_what_the_documents_print():
    # shi2012, Theorem 6, and the theory sheet: γ = 0.3, m = 10,000, δ = 0.05, a margin that stays positive
    margin = STATEMENTS["shi2012.6"]
    assert margin.dimension(margin.eps_keeping(0.0, margin=0.3), 0.05, points=10_000) == 3605
    sharp = STATEMENTS["shi2012.6.sharp"]
    assert sharp.dimension(sharp.eps_keeping(0.0, margin=0.3), 0.05, points=10_000) == 1937
    assert math.isclose(STATEMENTS["vaswani2013.c2, printed"].required(0.1, rank=100), 3000)
