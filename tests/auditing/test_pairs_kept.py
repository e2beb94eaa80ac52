"""Distances, angles and inner products beside what is said of them."""

import numpy as np
import pytest
from scipy import stats

from slimline import audit
from slimline.projections import HashEmbedding


def test_equal_rows_and_zero_rows_have_no_number_to_change():
    X = np.random.default_rng(0).standard_normal((10, 50))
    X[3], X[7] = X[2], 0.0
    distances, angles, products = audit(X, n_components=9, repeats=2).pairs
    assert distances.n_pairs == 44  # less the equal rows; a row of zeros has distances
    assert angles.n_pairs == products.n_pairs == 36
    assert [one.name for one in (distances, angles, products)] == ["distances", "angles", "inner products"]
    assert "‖Rᵀ(x - x')‖²" in distances.about


def test_no_pair_at_all():
    for X in (np.ones((1, 20)), np.zeros((3, 20))):
        for pairs in audit(X, n_components=4, repeats=2).pairs:
            assert (pairs.n_pairs, pairs.largest, pairs.share_within) == (0, (0.0, 0.0), (1.0, 1.0))
            assert pairs.predicted is None and pairs.promises == ()
            assert pairs.sample_before.size == pairs.sample_after.size == 0


def test_a_sketch_without_a_direction_has_no_angle():
    projection = HashEmbedding(40, 2, 0, hash="independent")
    places = projection.rows().toarray()
    first, second = np.flatnonzero(places[:, 0] != 0)[:2]
    X = np.random.default_rng(1).standard_normal((6, 40))
    X[0] = 0.0
    X[0, first], X[0, second] = places[first, 0], -places[second, 0]  # the two cancel
    y = np.arange(6) % 2
    found = audit(X, y, projection=projection, repeats=1, errors=0.34)
    distances, angles, products = found.pairs
    assert (distances.n_pairs, angles.n_pairs, products.n_pairs) == (15, 10, 15)
    margins = {kept.name: kept for kept in found.margins}
    assert margins["normalised margin"].after == (0.0,)
    assert margins["normalised margin, same separator"].after[0] <= 0.0
    assert found.cosines_after[0] == 0.0
    assert margins["error-allowed margin"].after[0] == np.sort(found.cosines_after)[2]  # 2 of 6 are left out
    assert found.outcome != "kept"


@pytest.mark.parametrize("r", [1, 3, 50])
def test_the_share_of_distances_is_that_of_a_chi_square(r):
    X = np.random.default_rng(2).standard_normal((8, 60))
    chi = stats.chi2(r)
    expected = chi.cdf(1.4 * r) - chi.cdf(0.6 * r)
    found = audit(X, n_components=r, repeats=1, eps=0.4)
    assert found.pairs[0].predicted == pytest.approx(expected, rel=1e-9)
    assert all(0.0 <= pairs.predicted <= 1.0 for pairs in found.pairs)


def test_predictions_of_many_pairs_are_means_over_some_at_random():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 80)) + np.repeat([0.0, 2.0], 75)[:, None]  # cosines near 0 and near 0.8
    found = audit(X, n_components=20, repeats=1, eps=0.15)
    few = audit(X[::10], n_components=20, repeats=1, eps=0.15)
    for many, some in zip(found.pairs, few.pairs, strict=True):
        assert many.sample_before.size == 10_000 < many.n_pairs
        assert some.sample_before.size == some.n_pairs == 105
        # 2,000 of 11,175 pairs against 105 others of the same kinds: off by some hundredths
        assert many.predicted == pytest.approx(some.predicted, abs=0.1)
    assert found.pairs[0].predicted == few.pairs[0].predicted


def test_quantiles_are_of_the_first_draw():
    X = np.random.default_rng(4).standard_normal((10, 50))
    one, two = (audit(X, n_components=9, repeats=repeats) for repeats in (1, 4))
    for first, second in zip(one.pairs, two.pairs, strict=True):
        assert first.quantiles == second.quantiles
        assert len(first.quantiles) == len(first.quantile_levels)
        assert max(abs(first.quantiles[0]), abs(first.quantiles[-1])) == first.largest[0] == second.largest[0]
