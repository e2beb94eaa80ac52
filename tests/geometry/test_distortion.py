"""Distortions against loops over the pairs, with R written out."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline import open_matrix
from slimline.errors import DataError, InvalidParameterError, NonFiniteError
from slimline.geometry._distortion import LEVELS, distortions, distortions_between
from slimline.projections import Gaussian, HashEmbedding, Identity, RandomSign
from tests.families import FAMILIES
from tests.geometry.storages import cases, few_values, stored, written_out
from tests.learning.real_sets import real_set
from tests.refusals import refuses

KINDS = ["distances", "angles", "inner_products"]
seeds = st.integers(0, 2**32 - 1)


def direct(X, projection):
    """Return {kind: {(i, j): (distortion, before, after)}}, equal pairs, and the largest turn, pair by pair."""
    X = X.astype(np.float64)
    Z = X @ written_out(projection)
    found, equal, turn = {kind: {} for kind in KINDS}, 0, 0.0
    for i, j in itertools.combinations(range(len(X)), 2):
        difference = X[i] - X[j]
        if difference.any():
            before, after = np.linalg.norm(difference), np.linalg.norm(Z[i] - Z[j])
            found["distances"][i, j] = (after / before) ** 2 - 1, before, after
        else:
            equal += 1
        if not (X[i].any() and X[j].any()):
            continue
        size = np.linalg.norm(X[i]) * np.linalg.norm(X[j])
        before, after = X[i] @ X[j] / size, Z[i] @ Z[j] / size
        found["inner_products"][i, j] = after - before, before, after
        if np.linalg.norm(Z[i]) > 1e-12 * np.linalg.norm(X[i]) and np.linalg.norm(Z[j]) > 1e-12 * np.linalg.norm(X[j]):
            after = Z[i] @ Z[j] / (np.linalg.norm(Z[i]) * np.linalg.norm(Z[j]))
            found["angles"][i, j] = after - before, before, after
            turn = max(turn, abs(math.acos(max(-1, min(1, after))) - math.acos(max(-1, min(1, before)))))
    return found, equal, turn


def check(X, projection, given=None):
    """Measure, compare with the loop, and return the records."""
    result = distortions(X if given is None else given, projection)
    found, equal, turn = direct(X, projection)
    for kind in KINDS:
        record, pairs = getattr(result, kind), found[kind]
        numbers = np.array([value for value, _, _ in pairs.values()])
        assert record.n_pairs == len(pairs) == record.distortions.size
        assert record.n_equal == (equal if kind == "distances" else 0)
        if not pairs:
            assert record.value == 0.0 and record.lowest_pair is None and record.share_within(0.1) == 1.0
            continue
        near = 1e-12 + record.rounding
        assert record.rounding < 1e-9
        np.testing.assert_allclose(record.distortions, np.sort(numbers), rtol=0, atol=near)
        np.testing.assert_allclose(record.quantiles, np.quantile(numbers, LEVELS), rtol=0, atol=near)
        assert record.value == pytest.approx(np.abs(numbers).max(), abs=near)
        assert record.lowest == pytest.approx(numbers.min(), abs=near) == record.quantiles[0]
        assert record.highest == pytest.approx(numbers.max(), abs=near) == record.quantiles[-1]
        assert pairs[record.lowest_pair][0] == pytest.approx(record.lowest, abs=near)
        assert pairs[record.highest_pair][0] == pytest.approx(record.highest, abs=near)
        for epsilon in np.quantile(np.abs(numbers), [0.1, 0.5, 0.9]) + 3 * near:
            assert record.share_within(epsilon) == np.mean(np.abs(record.distortions) <= epsilon)
        assert record.share_within(record.value) == 1.0
        # all pairs are few enough to be shown, in order
        for shown, place in ((record.before, 1), (record.after, 2)):
            np.testing.assert_allclose(shown, [pair[place] for pair in pairs.values()], rtol=1e-7, atol=1e-7)
    assert result.largest_turn == pytest.approx(turn, abs=1e-6)
    return result


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_a_loop_over_the_pairs_in_every_family(family, global_random_seed):
    X = np.random.default_rng(global_random_seed).standard_normal((25, 300)) + 0.5
    check(X, FAMILIES[family](300, 64, global_random_seed))


@pytest.mark.parametrize("dtype, storage", cases())
def test_every_type_and_storage(dtype, storage, tmp_path):
    given, X = stored(few_values(dtype, (16, 200)), storage, tmp_path)
    check(X, HashEmbedding(200, 64, 3, 2), given)
    check(X, Gaussian(200, 20, 3), given)


@pytest.mark.parametrize(
    "X,equal,without",
    [
        (np.ones((1, 1)), 0, []),
        (np.array([[1.0], [2.0], [-3.0]]), 0, []),
        (np.zeros((4, 9)), 6, [0, 1, 2, 3]),
        (np.vstack([np.eye(5), np.zeros((2, 5)), np.eye(5)[:2]]), 3, [5, 6]),
        (np.ones((6, 30)), 15, []),
        (np.diag(10.0 ** np.arange(-8, 9)), 0, []),
    ],
    ids=["one row", "one column", "all zero", "zero rows and duplicates", "constant", "scales"],
)
def test_degenerate_data(X, equal, without):
    result = check(X, RandomSign(X.shape[1], 16, 2))
    assert result.distances.n_equal == equal and not result.distances.without_angle.size
    assert result.angles.without_angle.tolist() == result.inner_products.without_angle.tolist() == without


def test_a_row_whose_sketch_is_zero_has_no_angle_afterwards():
    projection = HashEmbedding(64, 4, 1, hash="independent")
    R = written_out(projection)
    a, b = next((a, b) for a, b in itertools.combinations(range(64), 2) if (R[a] == R[b]).all())
    X = np.random.default_rng(0).standard_normal((5, 64))
    X[3] = 0.0
    X[3, [a, b]] = 0.1, -0.1
    result = check(X, projection)
    assert result.angles.without_angle.tolist() == [3] and result.angles.n_pairs == 6
    assert result.inner_products.n_pairs == result.distances.n_pairs == 10


def test_nothing_changes_where_nothing_is_projected():
    X = np.random.default_rng(0).standard_normal((20, 60))
    result = distortions(X, Identity(60, 60, 0))
    assert max(getattr(result, kind).value for kind in KINDS) < 1e-13


@pytest.mark.parametrize("gap,equal", [(1e-5, 0), (1e-7, 1)])
def test_rows_that_cannot_be_told_from_equal_ones_are_counted_apart(gap, equal):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3, 200))
    X[2] = X[1] + gap * rng.standard_normal(200)
    projection = Gaussian(200, 40, 1)
    record = distortions(X, projection).distances
    assert (record.n_equal, record.n_pairs) == (equal, 3 - equal)
    difference = X[2] - X[1]
    truth = np.linalg.norm(written_out(projection).T @ difference) ** 2 / np.linalg.norm(difference) ** 2 - 1
    if not equal:
        assert np.abs(record.distortions - truth).min() < record.rounding < 0.1


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(2, 12), st.integers(2, 40), st.integers(1, 30))
def test_invariances(seed, n, d, r):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    projection = Gaussian(d, r, seed)
    one = distortions(X, projection)
    order = rng.permutation(n)
    moved = distortions(X[order], projection)
    scaled = distortions(X * 2.0 ** rng.integers(-30, 30), projection)
    shifted = distortions(X + rng.standard_normal(d), projection)
    each = distortions(X * (2.0 ** rng.integers(-8, 8, n))[:, None], projection)
    for kind in KINDS:
        near = 1e-12 + 4 * getattr(one, kind).rounding
        np.testing.assert_allclose(getattr(moved, kind).distortions, getattr(one, kind).distortions, rtol=0, atol=near)
        np.testing.assert_allclose(getattr(scaled, kind).distortions, getattr(one, kind).distortions, rtol=0, atol=near)
        if kind != "distances":
            np.testing.assert_allclose(
                getattr(each, kind).distortions, getattr(one, kind).distortions, rtol=0, atol=near
            )
    near = 1e-12 + one.distances.rounding + shifted.distances.rounding
    np.testing.assert_allclose(shifted.distances.distortions, one.distances.distortions, rtol=0, atol=near)
    if n > 2:  # of two rows a tie decides which comes first
        assert {*order[list(moved.distances.highest_pair)]} == {*one.distances.highest_pair}


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_duplicated_rows_add_equal_pairs_and_nothing_new(seed):
    X = np.random.default_rng(seed).standard_normal((7, 50))
    projection = Gaussian(50, 20, seed)
    one, twice = distortions(X, projection), distortions(np.vstack([X, X]), projection)
    assert twice.distances.n_equal == 7 and twice.distances.n_pairs == 4 * one.distances.n_pairs
    assert twice.distances.value == pytest.approx(one.distances.value, abs=1e-12)
    assert twice.distances.share_within(0.1) == pytest.approx(one.distances.share_within(0.1))


def test_of_many_rows_some_are_drawn():
    X = np.random.default_rng(0).standard_normal((2100, 12))
    projection = Gaussian(12, 8, 1)
    part = distortions(X, projection, random_state=4)
    assert part.distances.n_pairs == 2000 * 1999 // 2 and "2,000 rows of 2,100" in part.reached
    few = distortions(X, projection, rows=30, random_state=4)
    assert few.angles.n_pairs == 435 and few == distortions(X, projection, rows=30, random_state=4)
    assert few != distortions(X, projection, rows=30, random_state=5)
    i, j = few.distances.highest_pair  # of X, not of the part
    difference = written_out(projection).T @ (X[i] - X[j])
    assert few.distances.highest == pytest.approx((difference @ difference) / np.sum((X[i] - X[j]) ** 2) - 1)
    every = distortions(X, projection, rows=5000)
    assert every.distances.n_pairs == 2100 * 2099 // 2 and "all rows" in every.reached
    assert every.distances.before.size == every.distances.after.size == 10_000
    assert every.distances.share_within(0.5) == np.mean(np.abs(every.distances.distortions) <= 0.5)


def test_shown_pairs_belong_together():
    X = np.random.default_rng(0).standard_normal((300, 40))
    record = distortions(X, Gaussian(40, 30, 1), random_state=2).distances
    assert record.before.size == 10_000 < record.n_pairs
    changes = (record.after / record.before) ** 2 - 1
    places = np.clip(np.searchsorted(record.distortions, changes), 1, record.n_pairs - 1)
    nearest = np.minimum(np.abs(record.distortions[places] - changes), np.abs(record.distortions[places - 1] - changes))
    assert nearest.max() < 1e-12


def test_gram_matrices_alone_are_enough():
    X = np.random.default_rng(0).standard_normal((20, 100))
    projection = Gaussian(100, 30, 1)
    Z = X @ written_out(projection)
    result = distortions_between(X @ X.T, Z @ Z.T, row_numbers=np.arange(100, 120))
    expected = distortions(X, projection)
    for kind in KINDS:
        one, other = getattr(result, kind), getattr(expected, kind)
        np.testing.assert_allclose(one.distortions, other.distortions, rtol=0, atol=1e-12)
        assert one.highest_pair == tuple(row + 100 for row in other.highest_pair)
    with refuses("square"):
        distortions_between(np.eye(3), np.eye(4))


def test_bad_input():
    X = np.random.default_rng(0).standard_normal((5, 20))
    projection = Gaussian(20, 8, 0)
    with pytest.raises(InvalidParameterError, match="n_features=20"):
        distortions(X[:, :10], projection)
    with refuses("rows"):
        distortions(X, projection, rows=0)
    with refuses("rows"):
        distortions(np.zeros((10_001, 20)), projection, rows=20_000)
    with refuses("epsilon"):
        distortions(X, projection).angles.share_within(-0.1)
    X[2, 3] = np.inf
    with pytest.raises(NonFiniteError, match="column 3"):
        distortions(X, projection)


def test_wide_sparse_data_stay_sparse():
    n, d, each = 2000, 200_000, 5
    rng = np.random.default_rng(0)
    columns = rng.integers(0, d, n * each)
    X = sp.csr_array((np.ones(n * each, dtype=np.float32), columns, np.arange(n + 1) * each), shape=(n, d))
    matrix, projection = open_matrix(X), HashEmbedding(d, 256, 1)
    tracemalloc.start()
    result = distortions(matrix, projection)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.distances.n_pairs + result.distances.n_equal == n * (n - 1) // 2
    assert peak < 6 * 8 * n * n  # written out: 3,200 MB


@pytest.mark.data
@pytest.mark.parametrize("name", ["arcene", "dorothea", "golub", "newsgroups"])
def test_real_data(name, data_dir):
    X, _ = real_set(data_dir, name)
    X = X[:40]
    dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    check(dense, FAMILIES["osnap"](X.shape[1], 256, 0), X)


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e153])
def test_scales_that_squares_do_not_have(scale):
    X = np.random.default_rng(1).standard_normal((20, 5))
    with pytest.raises(DataError):
        distortions(scale * X, Gaussian(5, 3, 0))
