"""Tests of predictions of laws and guarantees of theorems, against hundreds of draws.

Draws are independent, pairs and points of one draw are not: every comparison is of means over draws, each a number in
[0, 1] (or [0, n]). By Bernstein's empirical inequality (Maurer and Pontil 2009) such a mean is off by more than
√(2 v ln(4/p)/m) + 7 ln(4/p)/(3(m-1)) with a chance below p. Counts of failures are compared with a binomial law. Here
p = 1e-8, and each test makes fifty comparisons at most: it fails with a chance below 1e-6.
"""

import numpy as np
import pytest
from scipy.stats import binom

from slimline import audit
from tests.auditing.clouds import clouds

CHANCE = 1e-8
DRAWS = 400


def off(values, largest=1.0):
    """Return by how much the mean of independent numbers in [0, largest] may be off."""
    m = len(values)
    log = np.log(4.0 / CHANCE)
    return np.sqrt(2.0 * np.var(values, ddof=1) * log / m) + 7.0 * largest * log / (3.0 * (m - 1))


def believable(found, chance):
    """Return whether so many failures are seen with more than a tiny probability, if one has at most this chance."""
    return binom.sf(found.draws - found.held - 1, found.draws, chance) > CHANCE


@pytest.fixture(scope="module", params=[(30, 3.0), (6, 6.0), (2, 3.0)], ids=["r = 30", "r = 6", "r = 2"])
def many(request):
    r, distance = request.param
    X, y = clouds(14, 40, distance, seed=r)
    return audit(X, y, n_components=r, repeats=DRAWS, eps=0.3, delta=0.2, random_state=11)


@pytest.mark.slow
def test_the_law_foretells_the_points_that_a_plane_loses(many):
    wrong = np.array(many.wrong_side.after)
    assert wrong.min() >= 0 and wrong.max() <= 14
    assert abs(wrong.mean() - many.wrong_side.predicted) <= off(wrong, 14.0)
    assert off(wrong, 14.0) < 3.0


def test_the_laws_foretell_the_share_of_pairs(many):
    for pairs in many.pairs:
        assert len(pairs.share_within) == DRAWS
        assert abs(np.mean(pairs.share_within) - pairs.predicted) <= off(pairs.share_within)
        assert off(pairs.share_within) < 0.2


def kept_of(found, name):
    return next(kept for kept in found.margins if kept.name == name)


def test_a_law_is_above_what_it_bounds(many):
    laws = [one for one in kept_of(many, "normalised margin, same separator").promises if one.kind == "law"]
    assert len(laws) == 2
    assert laws[0].predicted < laws[1].predicted or laws[1].predicted == 1.0
    for promise in laws:
        assert believable(promise.frequency, promise.predicted)


def all_promises(found):
    return [one for kept in (*found.margins, found.ball, found.embedding, *found.pairs) for one in kept.promises]


def check(promises):
    """Guarantees and predictions came true as often as stated, or at least might have."""
    for one in promises:
        if one.predicted is not None:
            assert believable(one.frequency, one.predicted), one
        if one.kind == "theorem":
            assert believable(one.frequency, one.delta), one
            assert one.predicted is None or one.predicted <= one.delta  # the law is sharper than the theorem


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The number of components is higher")
def test_theorems_keep_their_promises():
    X, y = clouds(10, 60, 9.0, seed=4)
    found = audit(X, y, n_components=700, repeats=250, eps=0.1, delta=0.2, errors=0.2, random_state=12)
    promises = all_promises(found)
    assert {one.bound for one in promises} == {
        "shi2012.6", "shi2012.6.sharp", "balcan2006", "shi2012.5.sharp", "fard2012.1", "uml2014.23.4",
        "paul2013.1", "paul2013.2", "paul2013.2.distances", "vaswani2013.c2", "laws.cosine", "laws.norm",
    }  # fmt: skip
    assert all(one.frequency.draws == 250 for one in promises)  # each of them says something
    assert all(one.low > 0.0 for one in promises if one.bound.startswith("shi2012.6"))
    check(promises)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The number of components is higher")
@pytest.mark.parametrize("r", [8, 900])
def test_several_classes_keep_what_is_promised(r):
    rng = np.random.default_rng(6)
    y = np.arange(9) % 3
    X = 6.0 * rng.standard_normal((3, 30))[y] + rng.standard_normal((9, 30))
    found = audit(X, y, n_components=r, repeats=150, eps=0.3, delta=0.2, random_state=13)
    promises = all_promises(found)
    assert {"shi2012.8", "shi2012.9"} <= {one.bound for one in promises if one.frequency is not None or r == 8}
    check(one for one in promises if one.frequency is not None)
    # the law speaks of vectors that are given, so it must not be far above what happens to them
    law = next(one for one in kept_of(found, "normalised margin, same separator").promises if one.low == 0.0)
    assert law.predicted < 1e-6 if r == 900 else law.predicted > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gaussian", "sign", "achlioptas", "very_sparse", "srht", "cw", "osnap"])
def test_embedding_theorems_hold_for_their_family(family):
    rng = np.random.default_rng(8)
    coordinates = rng.standard_normal((8, 2))
    X, y = coordinates @ rng.standard_normal((2, 100)), coordinates[:, 0] > 0
    X[:, 0] *= 30.0  # one feature with most of the leverage: what sparse families find hard
    found = audit(X, y, projection=family, n_components=96, repeats=200, delta=0.4, random_state=15)
    promises = [one for one in all_promises(found) if one.note == "" or one.note.startswith("by way of")]
    by_family = [one for one in promises if one.bound.startswith(("paul2013", "vaswani2013", "embedding"))]
    assert {"paul2013.1", "paul2013.2"} < {one.bound for one in by_family}
    assert all(one.frequency is not None for one in by_family)
    check(by_family)


@pytest.mark.slow
def test_dimensions_that_the_law_asks_for_keep_the_margin():
    X, y = clouds(12, 50, 5.0, seed=7)
    needed = audit(X, y, n_components=5, repeats=1, delta=0.1).needed_dimension
    found = audit(X, y, n_components=needed, repeats=300, delta=0.1, random_state=14)
    same = kept_of(found, "normalised margin, same separator")
    assert found.needed_dimension == needed
    assert next(one for one in same.promises if one.low == 0.0).predicted <= 0.1
    assert believable(same.positive, 0.1)
    less = audit(X, y, n_components=needed - 1, repeats=1, delta=0.1)
    same = kept_of(less, "normalised margin, same separator")
    assert next(one for one in same.promises if one.low == 0.0).predicted > 0.1
