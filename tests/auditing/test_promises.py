"""Every statement beside a measurement: the right theorem, with its numbers worked out by hand."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from slimline import audit
from slimline.bounds import get
from tests.auditing.clouds import clouds, several

N, D, DELTA = 12, 60, 0.1
EPS_TOP = 1.0 - 1e-12


def eps_of(required, r, top=EPS_TOP):
    """Return the ε for which a theorem asks for just r dimensions; None where there is none in its domain."""
    return brentq(lambda eps: required(eps) - r, 1e-9, top, xtol=1e-15) if required(top) < r else None


def cubic(count, delta=DELTA):
    return lambda eps: 12.0 * np.log(count / delta) / (3.0 * eps**2 - 2.0 * eps**3)


def by_bound(kept):
    return {promise.bound: promise for promise in kept.promises if promise.kind == "theorem"}


def all_promises(found):
    return [one for kept in (*found.margins, found.ball, found.embedding, *found.pairs) for one in kept.promises]


def kept_of(found, name):
    return next(kept for kept in found.margins if kept.name == name)


@pytest.fixture(scope="module")
def two():
    X, y = clouds(N, D, 8.0, seed=1)
    with pytest.warns(UserWarning, match="components is higher"):
        return audit(X, y, n_components=4000, repeats=2, eps=0.1, delta=DELTA, errors=0.2)


@pytest.fixture(scope="module")
def three():
    X, y = several(N, 3, D, seed=2)
    with pytest.warns(UserWarning, match="components is higher"):
        return audit(X, y, n_components=4000, repeats=2, eps=0.1, delta=DELTA)


def test_theorem_6(two):
    gamma = kept_of(two, "normalised margin").before
    assert gamma > 0.3
    eps = eps_of(cubic(6 * N), 4000)
    for name in ("normalised margin", "normalised margin, same separator"):
        promise = by_bound(kept_of(two, name))["shi2012.6"]
        assert promise.eps == pytest.approx(eps, rel=1e-9)
        assert promise.low == pytest.approx(gamma - 2.0 * eps / (1.0 - eps), rel=1e-5) and promise.high is None
        assert promise.delta == DELTA and promise.statement == get("shi2012.6").statement
    sharp = by_bound(kept_of(two, "normalised margin"))["shi2012.6.sharp"]
    eps = eps_of(cubic(3 * N), 4000)
    assert sharp.eps == pytest.approx(eps, rel=1e-9)
    assert sharp.low == pytest.approx(((1.0 + eps) * gamma - 2.0 * eps) / (1.0 - eps), rel=1e-5)


def test_theorems_8_and_9(three):
    gamma = kept_of(three, "normalised multiclass margin").before
    eps = eps_of(cubic(6 * 3 * N), 4000)
    for name in ("normalised multiclass margin", "normalised margin, same separator"):
        promise = by_bound(kept_of(three, name))["shi2012.8"]
        assert promise.eps == pytest.approx(eps, rel=1e-9)
        # as it is true: the printed one takes the cosines of the other classes to be 0 at least
        assert promise.low == pytest.approx(((1.0 + eps) * gamma - 4.0 * eps) / (1.0 - eps), rel=1e-5)
    promise = by_bound(kept_of(three, "one-parameter margin"))["shi2012.9"]
    eps = eps_of(cubic(6 * 2 * N), 4000)
    assert promise.eps == pytest.approx(eps, rel=1e-9)
    kappa = (1.0 + eps) / (1.0 - eps)
    assert promise.low == pytest.approx(kappa * gamma / np.sqrt(6.0) - 2.0 * eps / (1.0 - eps), rel=1e-5)


def test_pairs(two):
    pairs, (distances, angles, products) = N * (N - 1) // 2, two.pairs
    promise = distances.promises[0]
    assert promise.bound == "uml2014.23.4"
    assert promise.high == promise.eps == pytest.approx(np.sqrt(6.0 * np.log(2 * pairs / DELTA) / 4000), rel=1e-9)
    chi = stats.chi2(4000)
    outside = chi.cdf(4000 * (1.0 - promise.eps)) + chi.sf(4000 * (1.0 + promise.eps))
    assert promise.predicted == pytest.approx(pairs * outside, rel=1e-8)
    law = distances.promises[1]
    outside = chi.cdf(4000 * 0.9) + chi.sf(4000 * 1.1)
    assert (law.bound, law.kind, law.low, law.high) == ("laws.norm", "law", None, 0.1)
    assert law.predicted == pytest.approx(pairs * outside, rel=1e-8)
    assert law.frequency == distances.all_within
    (promise,) = angles.promises
    eps = eps_of(lambda eps: 2.0 * np.log(4 * pairs / DELTA) / (eps**2 / 2 - eps**3 / 3), 4000)
    assert promise.bound == "shi2012.5.sharp" and promise.eps == pytest.approx(eps, rel=1e-9)
    assert promise.high == pytest.approx(4.0 * eps / (1.0 - eps), rel=1e-9)
    (promise,) = products.promises
    # one of the points is w, the others are the set; a union over the points
    assert promise.bound == "fard2012.1"
    assert promise.high == pytest.approx(np.sqrt(48.0 * np.log((4 * (N - 1) + 2) * N / DELTA) / 4000), rel=1e-9)


def test_ball(two):
    first, law, last = two.ball.promises
    pairs = N * (N - 1) // 2
    eps = eps_of(lambda eps: 2.0 * np.log(2 * pairs / DELTA) / (eps**2 / 2 - eps**3 / 3), 4000)
    assert first.bound == "paul2013.2.distances" and first.eps == pytest.approx(eps, rel=1e-9)
    ends = two.ball.before * np.sqrt([1.0 - eps, 1.0 + eps])
    assert (first.low, first.high) == pytest.approx(tuple(ends), rel=1e-9)
    chi = stats.chi2(4000)
    outside = chi.cdf(4000 * (1.0 - eps)) + chi.sf(4000 * (1.0 + eps))
    assert first.predicted == pytest.approx(pairs * outside, rel=1e-8)
    assert (law.low, law.high) == pytest.approx(tuple(two.ball.before * np.sqrt([0.9, 1.1])), rel=1e-12)
    assert law.predicted == two.pairs[0].promises[1].predicted
    eps = two.embedding.promises[0].eps
    assert (last.bound, last.eps, last.note) == ("paul2013.2", eps, "by way of vaswani2013.c2")
    assert (last.low, last.high) == pytest.approx(tuple(two.ball.before * np.sqrt([1.0 - eps, 1.0 + eps])), rel=1e-12)
    assert last.predicted is None  # no exact law is known for it


def second_moment(rank, features):
    return lambda eps: (rank**2 + rank) / (DELTA * eps**2)


def net(rank, features):
    return lambda eps: 2.0 * (rank * np.log(9.0) + np.log(2.0 / DELTA)) / ((eps / 2) ** 2 / 2 - (eps / 2) ** 3 / 3)


def srht(rank, features):
    padded = 2 ** np.ceil(np.log2(features))
    rows = (np.sqrt(rank) + np.sqrt(8.0 * np.log(3.0 * padded / DELTA))) ** 2
    return lambda eps: rows * np.log(3.0 * rank / DELTA) / ((1.0 + eps) * np.log1p(eps) - eps)


def davidson_szarek(rank, features):
    return lambda eps: ((np.sqrt(rank) + np.sqrt(2.0 * np.log(2.0 / DELTA))) / (np.sqrt(1.0 + eps) - 1.0)) ** 2


def very_sparse(rank, features):
    more = max(np.sqrt(features) - 3.0, 0.0)
    return lambda eps: (rank**2 + rank + more * rank) / (DELTA * eps**2)


@pytest.mark.parametrize(
    "family, rank, bound, required",
    [
        ("gaussian", 5, "vaswani2013.c2", davidson_szarek),
        ("sign", 2, "paul2013.cw", second_moment),
        ("sign", 5, "paul2013.sign", net),
        ("achlioptas", 2, "paul2013.cw", second_moment),
        ("achlioptas", 5, "paul2013.sign", net),
        ("very_sparse", 2, "embedding.very_sparse", very_sparse),
        ("very_sparse", 9, "embedding.very_sparse", very_sparse),
        ("srht", 2, "paul2013.cw", second_moment),
        ("srht", 20, "paul2013.srht", srht),
        ("srht_replaced", 2, "paul2013.cw", second_moment),
        ("cw", 3, "paul2013.cw", second_moment),
        ("generalised_cw", 3, "paul2013.cw.generalised", second_moment),
        ("osnap", 3, "paul2013.cw", second_moment),
        ("osnap", 20, "paul2013.cw", second_moment),
    ],
)
def test_embeddings_of_every_family(family, rank, bound, required):
    rng = np.random.default_rng(3)
    d = 200
    r = 256 if family.startswith("srht") else 640  # an SRHT has no more columns
    coordinates = rng.standard_normal((40, rank))
    X, y = coordinates @ rng.standard_normal((rank, d)), coordinates[:, 0] > 0
    with pytest.warns(UserWarning, match="components is higher"):
        found = audit(X, y, projection=family, n_components=r, repeats=1, delta=DELTA, eps=0.3)
    assert found.rank == rank
    (promise,) = found.embedding.promises
    eps = eps_of(required(rank, d), r)
    assert promise.bound == bound
    about_family = [found.ball.promises[-1], *(one for kept in found.margins for one in by_bound(kept).values())]
    about_family = [one for one in about_family if one.bound in ("paul2013.1", "paul2013.2")]
    assert len(about_family) >= 2
    if eps is None:
        takes = np.ceil(required(rank, d)(0.3))
        assert promise.eps is promise.frequency is None
        assert promise.note == f"guarantees nothing with {r} components; ε = 0.3 takes {takes:,.0f}"
    else:
        assert promise.high == promise.eps == pytest.approx(eps, rel=1e-9)
    for one in about_family:
        assert one.eps == promise.eps  # by the same theorem
        assert one.note == (promise.note if eps is None else f"by way of {bound}")
    others = [one for one in all_promises(found) if one.frequency is not None and one not in [promise, *about_family]]
    assert others
    comparison = "" if family == "gaussian" else "for a Gaussian R; shown for comparison"
    subgaussian = [one for one in others if one.bound.endswith(".subgaussian")]
    assert bool(subgaussian) == (family in ("sign", "achlioptas"))
    assert all(one.note == "" and one.statement == get(one.bound).statement for one in subgaussian)
    others = [one for one in others if one not in subgaussian]
    assert all(one.note.endswith(comparison) and ("Gaussian" in one.note) == bool(comparison) for one in others)


@pytest.mark.parametrize("family", ["gaussian", "sign", "achlioptas", "srht"])
def test_the_unnormalised_margin_of_several_classes(family):
    rng = np.random.default_rng(5)
    y = np.arange(30) % 3
    X = 8.0 * np.eye(3, 512)[y] + 0.2 * rng.standard_normal((30, 512))
    found = audit(X, y, projection=family, n_components=400, repeats=2, delta=DELTA)
    kept = kept_of(found, "Crammer-Singer margin")
    if family == "srht":  # Lemma 10 does not hold for it
        assert "shi2012.8.unnormalised" not in by_bound(kept)
        return
    promise, bound = by_bound(kept)["shi2012.8.unnormalised"], get("shi2012.8.unnormalised")
    eps = bound.eps(400, DELTA, points=30, classes=3)
    radius = np.linalg.norm(X, axis=1).max()
    left = (kept.before - np.sqrt(2) * eps * radius) / np.sqrt(1 + eps)
    assert promise.eps == pytest.approx(eps) and promise.low == pytest.approx(left, rel=1e-6) and left > 0
    assert promise.note == "" and promise.frequency.held == promise.frequency.draws == 2
    few = audit(X, y, projection=family, n_components=60, repeats=1, delta=DELTA)
    silent = by_bound(kept_of(few, "Crammer-Singer margin"))["shi2012.8.unnormalised"]
    takes = bound.dimension(kept.before / (np.sqrt(2) * radius), DELTA, points=30, classes=3)
    assert silent.low is silent.frequency is None and abs(silent.needed - takes) <= 1


def test_margins_as_distances_of_hulls(two):
    eps = two.embedding.promises[0].eps
    for name in ("margin", "margin with intercept"):
        kept = kept_of(two, name)
        (promise,) = kept.promises
        assert (promise.bound, promise.eps) == ("paul2013.1", eps)
        ends = kept.before * np.sqrt([1.0 - eps, 1.0 + eps])
        assert (promise.low, promise.high) == pytest.approx(tuple(ends), rel=1e-12)


def test_balcan():
    X, y = clouds(N, D, 8.0, seed=1)
    gamma = kept_of(audit(X, y, n_components=5, repeats=1), "normalised margin").before
    r = int(8.0 * np.log(1.0 / (0.11 * DELTA)) / gamma**2)  # all but a share of a little more than 0.11
    share = np.exp(-r * gamma**2 / 8.0) / DELTA
    assert 1.0 < share * N < 2.0
    for errors, allowed in ((0.0, 0), (0.08, 0), (0.1, 1), (0.2, 2)):
        with pytest.warns(UserWarning, match="components is higher"):
            found = audit(X, y, n_components=r, repeats=2, delta=DELTA, errors=errors)
        half = by_bound(kept_of(found, "error-allowed margin"))["balcan2006"]
        assert half.eps == pytest.approx(share, rel=1e-4)
        assert (half.frequency is None) == (allowed == 0)  # one point of twelve is promised nothing
        if allowed:
            assert half.low == pytest.approx(gamma / 2.0, rel=1e-6) and "not proved" in half.note
        else:
            assert half.note == f"speaks of all but {100 * half.eps:.3g} % of the points with {r} components"


@pytest.mark.parametrize("errors, allowed", [(0.0, 0), (0.1, 1), (0.2, 2), (0.25, 3)])
def test_the_law_of_most_points(errors, allowed):
    X, y = clouds(N, D, 5.0, seed=1)
    found = audit(X, y, n_components=30, repeats=2, eps=0.1, errors=errors)
    kept = kept_of(found, "error-allowed margin")
    above, share = (one for one in kept.promises if one.kind == "law")
    assert above.low == 0.0 and share.low == pytest.approx(0.9 * kept.before, rel=1e-12)
    cosines = found.cosines_before
    tails = np.sort(stats.t.cdf(-np.sqrt(30) * cosines / np.sqrt(1.0 - cosines**2), 30))
    # Markov's inequality for the points beside j that are given up, at best
    best = min(tails[: N - j].sum() / (allowed - j + 1) for j in range(allowed + 1))
    assert 1e-9 < best < 1.0
    assert above.predicted == pytest.approx(best, rel=1e-6)
    assert above.predicted < share.predicted <= 1.0


def test_a_theorem_that_says_nothing_says_so_and_what_it_takes():
    X, y = clouds(N, D, 8.0, seed=1)
    found = audit(X, y, n_components=20, repeats=2, delta=DELTA)
    gamma = kept_of(found, "normalised margin").before
    takes = np.ceil(cubic(6 * N)(gamma / (2.0 + gamma)))  # 2ε/(1-ε) = γ
    for name in ("normalised margin", "normalised margin, same separator"):
        promise = by_bound(kept_of(found, name))["shi2012.6"]
        assert (promise.low, promise.high, promise.predicted, promise.frequency) == (None,) * 4
        assert promise.note == f"guarantees nothing with 20 components; a margin above 0 takes {takes:,.0f}"
        assert promise.needed == takes
    half = by_bound(kept_of(found, "error-allowed margin"))["balcan2006"]
    assert half.note == "guarantees nothing with 20 components" and half.frequency is None
    for pairs in found.pairs[1:]:
        assert pairs.promises[0].frequency is None and pairs.promises[0].note.startswith("guarantees nothing with 20 ")


def test_what_any_data_have_is_no_promise():
    X, y = clouds(N, D, 1.0, seed=1)  # a small margin
    with pytest.warns(UserWarning, match="components is higher"):
        found = audit(X, y, n_components=300, repeats=2, delta=DELTA)
    best, same = (
        by_bound(kept_of(found, name))["shi2012.6"]
        for name in ("normalised margin", "normalised margin, same separator")
    )
    assert best.eps == same.eps is not None
    assert -1.0 < same.low < 0.0 and same.frequency is not None  # it says something of the separator
    assert best.low is best.frequency is None  # and nothing of the best one, which has 0 at least
    gamma = kept_of(found, "normalised margin").before
    needed = np.ceil(cubic(6 * N)(gamma / (2.0 + gamma)))  # 2ε/(1-ε) = γ
    assert best.needed == pytest.approx(needed, rel=1e-5) and same.needed == pytest.approx(needed, rel=1e-5)
    assert found.ball.promises[0].needed is None  # it says something
    angles = found.pairs[1].promises[0]  # no two cosines are further apart than 2
    eps = eps_of(cubic(4 * N * (N - 1) / 2), 300)
    assert 4.0 * eps / (1.0 - eps) > 2.0
    assert angles.high is None and angles.note.startswith("guarantees nothing with 300 components; ε = 0.2 takes ")
    share = np.exp(-300 * gamma**2 / 8.0) / DELTA
    half = by_bound(kept_of(found, "error-allowed margin"))["balcan2006"]
    assert 1 / N < share < 1.0
    assert half.note == f"speaks of all but {100 * share:.3g} % of the points with 300 components"


def test_a_margin_of_1_stays_1():
    X = np.outer(np.r_[1.0:7.0, -1.0:-7.0:-1.0], np.random.default_rng(0).standard_normal(30))
    with pytest.warns(UserWarning, match="components is higher"):
        found = audit(X, (X[:, 0] > 0).astype(int), n_components=500, repeats=4)
    for name in ("normalised margin", "normalised margin, same separator"):
        assert kept_of(found, name).before == pytest.approx(1.0, rel=1e-9)
        for promise in kept_of(found, name).promises:
            assert promise.frequency.held == 4, promise


def test_a_rank_that_rounding_hides_is_not_taken_for_granted():
    rng = np.random.default_rng(0)
    X = 1.0 + 1e-9 * rng.standard_normal((12, 30))
    found = audit(X, n_components=8, repeats=1)
    assert any("not clear to rounding" in note for note in found.notes)
    assert found.rank < 12
    (promise,) = found.embedding.promises
    takes = np.ceil(((np.sqrt(12) + np.sqrt(2.0 * np.log(2.0 / 0.05))) / (np.sqrt(1.2) - 1.0)) ** 2)
    assert promise.note.endswith(f"ε = 0.2 takes {takes:,.0f}")  # 12 directions are possible
    assert "at least" in found.verdict[-1]
