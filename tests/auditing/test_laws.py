"""What laws foretell and theorems promise, against hundreds of draws.

Draws are independent, pairs and points of one draw are not: every comparison is of means over draws, each a number in
[0, 1] (or [0, n]). By Bernstein's empirical inequality (Maurer and Pontil 2009) such a mean is off by more than
√(2 v ln(4/p)/m) + 7 ln(4/p)/(3(m-1)) with a chance below p; here p = 1e-7, and each test makes ten comparisons at most.
"""

import numpy as np
import pytest
from scipy.stats import binom

from slimline import audit

CHANCE = 1e-7
DRAWS = 400


def off(values, largest=1.0):
    """Return by how much the mean of independent numbers in [0, largest] may be off."""
    m = len(values)
    log = np.log(4.0 / CHANCE)
    return np.sqrt(2.0 * np.var(values, ddof=1) * log / m) + 7.0 * largest * log / (3.0 * (m - 1))


def clouds(n, d, distance, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    towards = rng.standard_normal(d)
    return rng.standard_normal((n, d)) + distance * np.outer(2.0 * y - 1.0, towards / np.linalg.norm(towards)), y


@pytest.fixture(scope="module", params=[(30, 3.0), (6, 6.0), (2, 3.0)], ids=["r = 30", "r = 6", "r = 2"])
def many(request):
    r, distance = request.param
    X, y = clouds(14, 40, distance, seed=r)
    return audit(X, y, n_components=r, repeats=DRAWS, eps=0.3, delta=0.2, random_state=11)


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
    assert len(laws) == 2 and laws[0].predicted < laws[1].predicted or laws[1].predicted == 1.0
    for promise in laws:
        failed = DRAWS - promise.frequency.held
        # so many failures, or more, would be seen with a chance below 1e-7 if the bound held
        assert binom.sf(failed - 1, DRAWS, promise.predicted) > CHANCE


def test_theorems_keep_their_promises():
    X, y = clouds(10, 60, 6.0, seed=4)
    found = audit(X, y, n_components=400, repeats=250, eps=0.3, delta=0.2, random_state=12)
    promises = [one for kept in (*found.margins, found.ball, found.embedding) for one in kept.promises]
    promises += [one for pairs in found.pairs for one in pairs.promises]
    said = [one for one in promises if one.kind == "theorem" and one.eps is not None]
    assert {"shi2012.6", "shi2012.6.sharp", "paul2013.1", "paul2013.2", "paul2013.2.distances", "uml2014.23.4"} <= {
        one.bound for one in said
    }
    for one in said:
        failed = 250 - one.frequency.held
        assert one.delta == 0.2
        assert binom.sf(failed - 1, 250, 0.2) > CHANCE, one.bound
        if one.predicted is not None:  # the law is sharper than the theorem, and still above what happened
            assert one.predicted <= 0.2
            assert binom.sf(failed - 1, 250, one.predicted) > CHANCE, one.bound


def test_several_classes_keep_what_is_promised():
    rng = np.random.default_rng(6)
    y = np.arange(9) % 3
    X = 6.0 * rng.standard_normal((3, 30))[y] + rng.standard_normal((9, 30))
    for r in (8, 300):
        found = audit(X, y, n_components=r, repeats=150, eps=0.3, delta=0.2, random_state=13)
        same, one = kept_of(found, "normalised margin, same separator"), kept_of(found, "one-parameter margin")
        definition_7 = kept_of(found, "normalised multiclass margin")
        for promise in (*same.promises, *one.promises, *definition_7.promises):
            if promise.frequency is None:
                assert r == 8
                continue
            failed = 150 - promise.frequency.held
            if promise.predicted is not None:
                assert binom.sf(failed - 1, 150, promise.predicted) > CHANCE, promise.bound
            if promise.kind == "theorem":
                assert binom.sf(failed - 1, 150, 0.2) > CHANCE, promise.bound
        # the law speaks of one vector that is given, so it must not be far above what happens to it
        law = next(promise for promise in same.promises if promise.low == 0.0)
        assert law.predicted < 1e-6 if r == 300 else law.predicted > 0.01


def test_dimensions_that_the_law_asks_for_keep_the_margin():
    X, y = clouds(12, 50, 5.0, seed=7)
    needed = audit(X, y, n_components=5, repeats=1, delta=0.1).needed_dimension
    found = audit(X, y, n_components=needed, repeats=300, delta=0.1, random_state=14)
    same = kept_of(found, "normalised margin, same separator")
    assert found.needed_dimension == needed
    assert next(one for one in same.promises if one.low == 0.0).predicted <= 0.1
    assert binom.sf(300 - same.positive.held - 1, 300, 0.1) > CHANCE
    less = audit(X, y, n_components=needed - 1, repeats=1, delta=0.1)
    same = kept_of(less, "normalised margin, same separator")
    assert next(one for one in same.promises if one.low == 0.0).predicted > 0.1
