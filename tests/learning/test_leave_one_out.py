"""Leave-one-out residuals against refits, one for each sample."""

import tracemalloc

import numpy as np
import pytest

from slimline.learning.leave_one_out import LeaveOneOut
from tests.learning.real_sets import as_dense, filled, standardised

PARTS = np.array([1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4])


def refitted(X, s, U, Y, penalty):
    """Return the residual of each sample in the fit to all others: least squares, with a row for each penalised weight.

    The reference loses less to rounding than the normal equations would.
    """
    found = np.empty_like(Y)
    columns = np.hstack([X, U])
    beside = np.sqrt(penalty) * np.eye(X.shape[1], columns.shape[1])
    for i in range(len(X)):
        kept = np.arange(len(X)) != i
        root = np.sqrt(s[kept, None])
        system = np.vstack([root * columns[kept], beside])
        sides = np.vstack([root * Y[kept], np.zeros((X.shape[1], Y.shape[1]))])
        found[i] = Y[i] - columns[i] @ np.linalg.lstsq(system, sides, rcond=None)[0]
    return found


def drawn(seed, n, d, q):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-2, 3)
    U = np.column_stack([np.ones(n), rng.integers(0, 2, n), rng.standard_normal(n)])[:, :q]
    U[:4, 1:2] = [[0.0], [1.0], [0.0], [1.0]]  # no sample has an effect of its own
    return X, 10.0 ** rng.uniform(-1, 1, n), U, X[:, :1] + rng.standard_normal((n, 3)) + [[0.0, 10.0, 100.0]]


def both_ways(X, s, U, Y):
    """Return the residuals by the Gram matrix, and by the rows where that is allowed."""
    found = [LeaveOneOut.of_gram(X @ X.T, s, U, Y)]
    if X.shape[1] < len(X) - U.shape[1]:
        found.append(LeaveOneOut.of_rows(X.copy(), s, U, Y))
    return found


@pytest.mark.parametrize("q", [0, 1, 2, 3])
@pytest.mark.parametrize("n, d", [(8, 30), (25, 24), (30, 4), (30, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_are_those_of_refits(n, d, q, weighted):
    for seed in range(5):
        X, s, U, Y = drawn(seed, n, d, q)
        s = s if weighted else np.ones(n)
        penalties = PARTS[1:] * np.mean(X**2) * d
        expected = np.array([refitted(X, s, U, Y, penalty) for penalty in penalties])
        for left_out in both_ways(X, s, U, Y):
            assert left_out.defined.all()
            found = np.array(list(left_out.residuals(penalties)))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_rows_and_gram_matrix_agree_where_nothing_is_left_to_refit():
    # So small a penalty that λ is lost beside the eigenvalues, fewer features than samples: least squares.
    X, s, U, Y = drawn(0, 20, 3, 2)
    columns = np.hstack([X, U])
    for left_out in both_ways(X, s, U, Y):
        found = next(left_out.residuals(np.array([1e-90])))
        for i in range(20):
            kept = np.arange(20) != i
            root = np.sqrt(s[kept, None])
            solved = np.linalg.lstsq(root * columns[kept], root * Y[kept], rcond=None)[0]
            np.testing.assert_allclose(found[i], Y[i] - columns[i] @ solved, rtol=1e-9, atol=1e-9 * np.abs(Y).max())


@pytest.mark.parametrize("d", [12, 40])
def test_duplicated_samples_and_empty_features(d):
    X, s, U, Y = drawn(1, 15, d, 2)
    X[5:10], U[5:10] = X[:5], U[:5]
    X[:, -2:] = 0.0
    X[:, 1] = X[:, 0]
    for penalty in (1e-3, 1.0, 1e3):
        expected = refitted(X, s, U, Y, penalty)
        for left_out in both_ways(X, s, U, Y):
            found = next(left_out.residuals(np.array([penalty])))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_data_without_a_signal_leave_the_null_model():
    _, s, U, Y = drawn(2, 10, 3, 2)
    expected = refitted(np.zeros((10, 3)), s, U, Y, 1.0)
    for left_out in both_ways(np.zeros((10, 3)), s, U, Y):
        for found in left_out.residuals(np.array([1e-50, 1.0, 1e50])):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_two_samples_predict_each_other(offset):
    X, y = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 5.0]]), np.array([[offset + 3.0], [offset - 1.0]])
    ones = np.ones((2, 1))
    found = next(LeaveOneOut.of_gram(X @ X.T, np.ones(2), ones, y).residuals(np.ones(1)))
    np.testing.assert_allclose(found, [[4.0], [-4.0]], rtol=1e-9)  # with one sample left, w = 0 and b is its target


@pytest.mark.parametrize("d", [3, 40])
def test_a_sample_with_an_effect_of_its_own_cannot_be_left_out(d):
    X, s, U, Y = drawn(3, 12, d, 2)
    U = np.column_stack([U, np.arange(12) == 7])
    others = np.arange(12) != 7
    alone = both_ways(X[others], s[others], U[others, :2], Y[others])[-1]
    for left_out in both_ways(X, s, U, Y):
        assert np.flatnonzero(~left_out.defined).tolist() == [7]
        for found, expected in zip(left_out.residuals(PARTS), alone.residuals(PARTS), strict=True):
            assert np.isnan(found[7]).all()
            # It explains itself, and the other fits are as if it was not there.
            np.testing.assert_allclose(found[others], expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("d", [5, 40])
def test_a_sample_of_hardly_any_weight_is_predicted_by_the_others(d):
    X, _, U, Y = drawn(4, 20, d, 2)
    s = np.where(np.arange(20) < 3, 1e-12, 1.0)
    expected = refitted(X, s, U, Y, 1e-2 * np.mean(X**2) * d)
    for left_out in both_ways(X, s, U, Y):
        found = next(left_out.residuals(np.array([1e-2 * np.mean(X**2) * d])))
        # Rounding is relative to the samples of weight 1, and divided by the root of the weight.
        np.testing.assert_allclose(found[:3], expected[:3], rtol=0, atol=1e-7 * np.abs(expected).max())
        np.testing.assert_allclose(found[3:], expected[3:], rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_constant_target_leaves_nothing():
    X, s, U, _ = drawn(5, 20, 50, 2)
    for left_out in both_ways(X, s, U, np.full((20, 1), 1e3 / 3.0)):
        for found in left_out.residuals(PARTS):
            assert np.abs(found).max() < 1e-6


def test_residuals_do_not_change_with_the_basis_of_the_covariates():
    X, s, U, Y = drawn(6, 30, 60, 3)
    mixed = U @ np.array([[1.0, 40.0, -3.0], [0.0, 20.0, 1.0], [0.0, 0.0, 7.0]])
    for one, other in zip(both_ways(X, s, U, Y), both_ways(X, s, mixed, Y), strict=True):
        for found, expected in zip(one.residuals(PARTS), other.residuals(PARTS), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_no_matrix_is_made_for_a_penalty():
    n = 600
    X, s, U, Y = drawn(7, n, 20, 2)
    left_out = LeaveOneOut.of_gram(X @ X.T, s, U, Y)
    tracemalloc.start()
    for _ in left_out.residuals(np.logspace(-6, 6, 40)):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.75 * 8 * n * n


@pytest.mark.data
@pytest.mark.parametrize("name", ["golub", "singh"])
def test_real_expressions(name, data_dir):
    X = as_dense(data_dir, name, slice(None))
    X = standardised(filled(X))
    n = len(X)
    rng = np.random.default_rng(0)
    y = X[:, :50].sum(axis=1, keepdims=True) + 5.0 * rng.standard_normal((n, 1))
    U = np.column_stack([np.ones(n), rng.uniform(20.0, 80.0, n)])
    K, V = X @ X.T, np.linalg.qr(U)[0]
    penalty = 0.1 * np.trace(K) / n
    found = next(LeaveOneOut.of_gram(K, np.ones(n), U, y).residuals(np.array([penalty])))
    for i in range(0, n, 10):
        kept = np.arange(n) != i
        system = np.block([[K[np.ix_(kept, kept)] + penalty * np.eye(n - 1), V[kept]], [V[kept].T, np.zeros((2, 2))]])
        solved = np.linalg.solve(system, np.vstack([y[kept], np.zeros((2, 1))]))
        expected = y[i] - K[i, kept] @ solved[: n - 1] - V[i] @ solved[n - 1 :]
        np.testing.assert_allclose(found[i], expected, rtol=1e-8, atol=1e-9 * np.abs(y).max())
