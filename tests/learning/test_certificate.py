"""Certificates against exact optima in rational numbers: no claim is ever false, whatever the pair of points."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline import open_matrix
from slimline.learning import LOSSES, BinaryProblem, TrainingData, membership, rank_bounds
from slimline.learning.certificate import bound_gap, gap_parts, intervals, relative
from tests.learning.attack import check_claims, pairs, random_case, with_constant
from tests.learning.exact import as_floats, exact_weights

NAMES = list(LOSSES)


@pytest.mark.parametrize("cases", [40, pytest.param(400, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", NAMES)
def test_no_claim_is_false_on_random_cases(name, cases, global_random_seed):
    rng = np.random.default_rng([global_random_seed, NAMES.index(name)])
    sharp = checked = 0
    for _ in range(cases):
        data, task, whole, exact, where = random_case(rng, name)
        truth = as_floats(exact)
        for number, (point, dual) in enumerate(pairs(rng, data, task, whole, truth)):
            proof = check_claims(data, task, point, dual, exact, (*where, number))
            checked += 1
            sharp += proof.relative_error < 1e-6
    # the test could not fail if the certificates were merely huge
    assert sharp >= 0.05 * checked


NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 1e-6, 1e6, 1e-30, 1e30, 3.0]), st.floats(-10, 10, allow_subnormal=False)
).map(lambda x: 0.0 if abs(x) < 1e-35 else x)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(drawn=st.data())
def test_no_claim_is_false_on_chosen_cases(name, drawn):
    n, d = drawn.draw(st.integers(1, 3)), drawn.draw(st.integers(1, 3))
    X = np.array(drawn.draw(st.lists(NUMBERS, min_size=n * d, max_size=n * d))).reshape(n, d)
    y = np.array(drawn.draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    s = np.array(drawn.draw(st.lists(st.sampled_from([1.0, 2.0, 1e-3, 1e3]), min_size=n, max_size=n)))
    penalty = drawn.draw(st.sampled_from([1e-6, 1e-3, 1.0, 1e3, 1e6]))
    constant = drawn.draw(st.sampled_from([0.0, 1.0]))
    task, data = BinaryProblem(LOSSES[name], y, s, penalty), TrainingData(open_matrix(X), constant, s)
    exact = exact_weights(name, with_constant(X, constant), y, s, penalty)
    rng = np.random.default_rng(drawn.draw(st.integers(0, 2**32 - 1)))
    for point, dual in pairs(rng, data, task, with_constant(X, constant), as_floats(exact)):
        check_claims(data, task, point, dual, exact, "chosen")


@pytest.mark.parametrize("name", [name for name in NAMES if LOSSES[name].smoothness is not None])
def test_one_sample_and_one_feature_of_tiny_norm(name):
    """The case that a smaller radius about the midpoint would fail: κ is large, and the centre is next to w_α."""
    rng = np.random.default_rng(0)
    narrower = 0
    for size in 10.0 ** np.linspace(-6, 2, 33):
        X, y, s = np.array([[size]]), np.ones(1), np.ones(1)
        task, data = BinaryProblem(LOSSES[name], y, s, 1.0), TrainingData(open_matrix(X), 0.0, s)
        exact = exact_weights(name, with_constant(X, 0.0), y, s, 1.0)
        for point, dual in pairs(rng, data, task, with_constant(X, 0.0), as_floats(exact)):
            check_claims(data, task, point, dual, exact, size)
            narrower += interval_is_narrower(data, task, point, dual)
    assert narrower > 50  # the sharper intervals are in use


def interval_is_narrower(data, task, point, dual):
    parts = gap_parts(task, point, dual, data.row_bounds)
    _, radius = intervals(task, point, dual, parts, data.column_squares)
    return bool(radius[0] < 0.5 * bound_gap(task, point, dual, data.row_bounds).radius)


def test_relative_errors():
    assert 0.5 <= relative(1.0, 3.0) <= 0.5 * (1 + 1e-8)
    assert relative(1.0, 1.0) == np.inf
    assert relative(0.0, 1.0) == 0.0
    assert relative(0.0, 0.0) == np.inf  # w* = 0 has no relative error


def test_membership_by_brute_force(global_random_seed):
    """Every corner of the intervals is tried: what is sure holds in all of them, what is open fails in some."""
    rng = np.random.default_rng(global_random_seed)
    for _ in range(200):
        d = int(rng.integers(1, 6))
        centre, radius = rng.integers(-4, 5, d).astype(float), rng.integers(0, 3, d).astype(float)
        lower, upper = np.maximum(np.abs(centre) - radius, 0), np.abs(centre) + radius
        for k in range(1, d + 1):
            surely_in, surely_out = membership(centre, radius, k)
            for j in range(d):
                others = np.delete(np.arange(d), j)
                # j is in, if it is so with itself smallest and the others largest; ties count against it
                expected_in = np.sum(upper[others] >= lower[j]) <= k - 1
                expected_out = np.sum(lower[others] > upper[j]) >= k
                assert surely_in[j] == expected_in
                assert surely_out[j] == expected_out


def test_membership_over_several_tasks():
    centre = np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    radius = np.full((2, 3), 0.4)
    surely_in, surely_out = membership(centre, radius, 2)
    np.testing.assert_array_equal(surely_in, [True, True, False])
    np.testing.assert_array_equal(surely_out, [False, False, True])


def test_places_by_brute_force(global_random_seed):
    """Every corner of the intervals is tried: the bounds hold in all of them, and each is reached in one."""
    rng = np.random.default_rng(global_random_seed)
    for _ in range(100):
        tasks, d = int(rng.integers(1, 3)), int(rng.integers(1, 4))
        centre, radius = rng.integers(-4, 5, (tasks, d)).astype(float), rng.integers(0, 3, (tasks, d)).astype(float)
        size = np.abs(centre)
        ends = [sorted({max(c - r, 0.0), c + r}) for c, r in zip(size.ravel(), radius.ravel(), strict=True)]
        largest = np.array(list(product(*ends))).reshape(-1, tasks, d).max(axis=1)
        ahead = (largest[:, None, :] > largest[:, :, None]).sum(axis=2)  # of each feature, in each corner
        level = (largest[:, None, :] >= largest[:, :, None]).sum(axis=2)  # with those that are equal, and itself
        best, worst = rank_bounds(centre, radius)
        np.testing.assert_array_equal(best, 1 + ahead.min(axis=0))
        np.testing.assert_array_equal(worst, level.max(axis=0))
