"""Points that several measures share, a direction that none of them sees, and pairs of a point and a rival class."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline import open_matrix
from slimline.errors import DataError
from slimline.geometry import (
    Points,
    enclosing_ball,
    error_allowed_margin,
    margin,
    multiclass_margin,
    one_parameter_margin,
)
from slimline.geometry import _points as points_module
from slimline.geometry._class_pairs import ClassPairs
from slimline.geometry._points import orthogonal_direction
from slimline.projections import Gaussian
from tests.geometry.cones import all_pairs
from tests.geometry.several_classes import clusters

seeds = st.integers(0, 2**32 - 1)


def measures(y):
    """Return every measure of points and labels that looks at a Gram matrix or at the norms."""
    two = np.asarray(y) % 2
    return {
        "margin": lambda X: margin(X, two),
        "normalised": lambda X: margin(X, two, normalised=True),
        "intercept": lambda X: margin(X, two, intercept=True),
        "ball": lambda X: enclosing_ball(X),
        "classes": lambda X: multiclass_margin(X, y),
        "crammer and singer": lambda X: multiclass_margin(X, y, normalised=False),
        "errors": lambda X: error_allowed_margin(X, two),
        "one parameter": lambda X: one_parameter_margin(X, y, [Gaussian(60, 40, k) for k in range(4)]),
    }


def same(one, other):
    """Return whether two records have the same numbers, to the last digit."""
    return all(np.array_equal(value, getattr(other, name)) for name, value in vars(one).items())


@pytest.mark.parametrize("kind", ["array", "csr", "file", "view"])
def test_shared_points_give_what_plain_data_give(kind, tmp_path):
    X, y = clusters(24, 60, 4, 0)
    np.save(tmp_path / "x.npy", X)
    given = {
        "array": lambda: X,
        "csr": lambda: sp.csr_array(X),
        "file": lambda: tmp_path / "x.npy",
        "view": lambda: open_matrix(np.repeat(X, 2, axis=0)).rows(np.arange(0, 48, 2)),
    }[kind]()
    shared = Points(given)
    for _ in range(2):  # the second time, all find the Gram matrix there
        for name, measure in measures(y).items():
            assert same(measure(shared), measure(given)), name


@pytest.mark.parametrize("kind", ["array", "file"])
def test_the_gram_matrix_is_made_once(kind, tmp_path, monkeypatch):
    X, y = clusters(24, 60, 4, 0)
    np.save(tmp_path / "x.npy", X)
    matrix = open_matrix(X if kind == "array" else tmp_path / "x.npy")
    shared = Points(matrix)
    made = []
    gram = type(matrix).gram
    monkeypatch.setattr(type(matrix), "gram", lambda self: made.append(self) or gram(self))
    K = shared.gram()
    before = matrix.passes
    assert np.abs(K - X @ X.T).max() < 1e-10
    assert shared.squares == pytest.approx(np.sum(X**2, axis=1), rel=1e-14) and shared.shape == (24, 60)
    shared.gram(np.array([3, 1]))
    assert matrix.passes == before  # norms and parts of it take no pass
    for measure in measures(y).values():
        measure(shared)
    assert len(made) == 1
    # each measure has one pass less than with data that keep nothing
    for name in ("margin", "ball", "crammer and singer"):
        measure = measures(y)[name]
        counts = []
        for data in (shared, Points(open_matrix(X if kind == "array" else tmp_path / "x.npy"), keep=False)):
            begin = data.matrix.passes
            measure(data)
            counts.append(data.matrix.passes - begin)
        assert counts[0] < counts[1], name


def test_a_caller_may_write_on_what_it_gets():
    X = np.random.default_rng(0).standard_normal((6, 9))
    for keep in (True, False):
        shared = Points(X, keep=keep)
        shared.gram()[:] = np.nan
        shared.gram(np.array([4, 2]))[:] = np.nan
        assert shared.gram() == pytest.approx(X @ X.T, abs=1e-12)
        assert shared.gram(np.array([4, 2])) == pytest.approx(X[[4, 2]] @ X[[4, 2]].T, abs=1e-12)
        assert shared.gram(np.array([4, 2])).flags.c_contiguous


def test_points_are_taken_as_they_are():
    shared = Points(np.eye(3))
    assert Points.of(shared) is shared and Points.of(np.eye(3))._keep is False
    with pytest.raises(DataError):
        Points(np.zeros((3, 0)))


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 30), st.integers(1, 40), st.integers(-150, 140))
def test_combinations_are_within_their_errors(seed, n, d, exponent):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0**exponent
    for B in (rng.standard_normal(n), rng.standard_normal((n, 3))):
        found = Points(X).combination(B)
        long = X.astype(np.longdouble)
        exact = long.T @ B.astype(np.longdouble)
        assert (np.linalg.norm((found.weights - exact).astype(float), axis=0) <= found.weights_error).all()
        values = long @ found.weights.astype(np.longdouble)
        assert (np.abs(found.values - values) <= found.values_error).all()
        assert (Points(X).sizes >= np.sqrt(np.sum(np.square(long), axis=1)).astype(float) * (1.0 - 1e-15)).all()


def test_a_mean_that_is_far_away_is_subtracted():
    X = np.random.default_rng(0).standard_normal((20, 5))
    assert Points(X).centred_if_far().middle is None
    assert Points(X + 20.0).centred_if_far().middle is None  # its square is 400 times the spread
    assert Points(X + 50.0).centred_if_far().middle is not None
    far = Points(X + 1e6).centred_if_far()
    assert far.middle == pytest.approx((X + 1e6).mean(axis=0), rel=1e-14)
    assert far.gram() == pytest.approx((X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T, abs=1e-8)


@pytest.mark.parametrize("keep", [True, False])
def test_whether_the_mean_is_far_takes_no_pass_of_its_own(keep):
    X = np.random.default_rng(0).standard_normal((20, 50))
    points = Points(open_matrix(X), keep=keep)
    assert points.centred_if_far() is points
    assert points.gram() == pytest.approx(X @ X.T, abs=1e-12)
    assert points.matrix.passes == 1


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_a_far_mean_is_looked_for_once(far):
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((12, 30)) + far, np.arange(12) % 2
    matrix = open_matrix(X)
    points = Points(matrix)
    first = margin(points, y, intercept=True), enclosing_ball(points)
    assert points.centred_if_far() is points.centred_if_far()
    again = open_matrix(X)
    alone = margin(again, y, intercept=True), enclosing_ball(again)
    for one, other in zip(first, alone, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-8)
    # a Gram matrix of the points and, where they are far away, statistics and one of what is left of them
    assert again.passes - matrix.passes == (3 if far else 1)


# A direction that no point sees -----------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 40), st.integers(2, 60), st.booleans())
def test_the_direction_is_orthogonal_to_all_points(seed, n, d, repeated):
    rng = np.random.default_rng(seed)
    rank = min(n, d - 1, 1 + seed % 20)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) if repeated else rng.standard_normal((n, d))
    X *= 10.0 ** rng.uniform(-6.0, 6.0, (n, 1))
    found = orthogonal_direction(Points(X))
    values = np.linalg.svd(X / np.linalg.norm(X, axis=1)[:, None], compute_uv=False)
    rank = int(np.count_nonzero(values > 1e-9 * values[0]))
    if values[rank - 1] < 1e-4:
        return  # almost dependent: not what is promised
    assert (found is None) == (rank == d)
    if found is not None:
        assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-14)
        assert np.abs(X @ found / np.linalg.norm(X, axis=1)).max() < 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_points_drawn_with_a_usual_seed_are_not_the_random_vector_itself(seed):
    X = np.random.default_rng(seed).standard_normal((3, 50))
    assert np.abs(X @ orthogonal_direction(Points(X))).max() < 1e-12


def test_a_full_rank_leaves_no_direction():
    rng = np.random.default_rng(0)
    assert orthogonal_direction(Points(rng.standard_normal((6, 6)))) is None
    assert orthogonal_direction(Points(rng.standard_normal((50, 6)))) is None
    assert orthogonal_direction(Points(np.eye(1))) is None
    assert orthogonal_direction(Points(np.zeros((3, 4)))) is None


def test_zero_rows_and_sparse_rows():
    X = np.zeros((5, 7))
    X[0, 2], X[3, 5] = 4.0, -1.0
    for data in (X, sp.csr_array(X), X.astype(np.int8)):
        found = orthogonal_direction(Points(data))
        assert abs(found[2]) < 1e-12 and abs(found[5]) < 1e-12 and np.linalg.norm(found) == pytest.approx(1.0)


def test_too_many_points_for_a_gram_matrix(monkeypatch):
    monkeypatch.setattr(points_module, "_FEW", 3)
    monkeypatch.setattr(points_module, "MOST_POINTS", 4)
    assert orthogonal_direction(Points(np.eye(5, 9))) is None
    assert orthogonal_direction(Points(np.eye(4, 9))) is not None
    assert orthogonal_direction(Points(np.eye(4, 1) + 1.0)) is None  # n ≤ 4, but 2d < n


# Pairs of a point and a rival class -------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 12), st.integers(2, 6))
def test_rivals_against_loops(seed, n, n_classes):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    pairs, listed = ClassPairs(codes, n_classes), all_pairs(codes, n_classes)
    assert len(pairs) == len(listed) == n * (n_classes - 1)
    every = np.arange(len(pairs))
    assert pairs.points(every).tolist() == [i for i, _, _ in listed]
    assert pairs.classes(every).tolist() == [rival for _, _, rival in listed]
    assert pairs.indicators.tolist() == [[float(own == y) for y in range(n_classes)] for own in codes]
    scores, errors = rng.standard_normal((n, n_classes)), rng.random((n, n_classes))
    assert pairs.leads(scores).tolist() == [scores[i, own] - scores[i, rival] for i, own, rival in listed]
    assert pairs.doubts(errors).tolist() == [errors[i, own] + errors[i, rival] for i, own, rival in listed]
    index = rng.permutation(len(pairs))[: rng.integers(1, len(pairs) + 1)]
    weights = rng.random(len(index))
    total, signs = np.zeros((n, n_classes)), np.zeros((len(index), n_classes))
    for place, (k, weight) in enumerate(zip(index, weights, strict=True)):
        i, own, rival = listed[k]
        total[i, own] += weight
        total[i, rival] -= weight
        signs[place, own], signs[place, rival] = 1.0, -1.0
    assert pairs.spread(index, weights) == pytest.approx(total, abs=1e-14)
    assert pairs.signs(index).tolist() == signs.tolist()


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 11])
@pytest.mark.parametrize("count", [1, 7, 50, 10_000])
def test_the_first_pairs_are_different_and_about_as_many_as_asked_for(n_classes, count):
    pairs = ClassPairs(np.arange(300) % n_classes, n_classes)
    first = pairs.start(count)
    assert len(np.unique(first)) == len(first) and first.max() < len(pairs)
    assert min(count, len(pairs)) / 2 <= len(first) <= 2 * min(count, len(pairs)) + 1
    if len(first) > 20 and n_classes > 2:  # not always the same rival
        assert len(np.unique(first % (n_classes - 1))) > 1
