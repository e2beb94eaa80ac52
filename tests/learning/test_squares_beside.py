"""Squares of columns without the part that covariates explain, against rational numbers; and their intervals."""

from fractions import Fraction

import numpy as np
import pytest

from slimline import open_matrix
from slimline.learning import (
    BinaryProblem,
    SolverState,
    TrainingData,
    certificate_of,
    recover_certified,
)
from slimline.learning.covariates import Covariates
from slimline.learning.regression_losses import SquaredError
from slimline.learning.surrogate import GramSurrogate
from tests.learning.attack_free import COVARIATES, FEATURES, columns, features
from tests.learning.exact import rationals, solve


def unexplained(X, U, s):
    """Return min_c Σ sᵢ (xᵢⱼ - uᵢᵀc)² of each column, exactly."""
    A, V, t = rationals(X), rationals(U), rationals(s)
    n, q = U.shape
    square = [[sum(t[i] * V[i][j] * V[i][k] for i in range(n)) for k in range(q)] for j in range(q)]
    found = []
    for c in range(X.shape[1]):
        right = [sum(t[i] * V[i][j] * A[i][c] for i in range(n)) for j in range(q)]
        fitted = solve(square, right) if q else []
        explained = sum((one * other for one, other in zip(fitted, right, strict=True)), Fraction(0))
        found.append(sum(t[i] * A[i][c] ** 2 for i in range(n)) - explained)
    return found


@pytest.mark.parametrize("kind", FEATURES)
def test_squares_are_never_below_the_exact_ones(kind, global_random_seed):
    rng = np.random.default_rng([global_random_seed, FEATURES.index(kind)])
    sharper = 0
    for _ in range(30):
        n, d, q = int(rng.integers(2, 8)), int(rng.integers(1, 5)), int(rng.integers(0, 4))
        X = features(rng, kind, n, d)
        U = columns(rng, str(rng.choice(COVARIATES)), X, q)
        s = 10.0 ** rng.uniform(-12 if rng.random() < 0.2 else -1, 1, n)
        covariates, data = Covariates(U, s), TrainingData(open_matrix(X), 0.0, s)
        data.normal(rng.standard_normal((n, 1)), covariates)
        claimed, whole = data.squares_beside(covariates), data.column_squares
        for most, least in zip(claimed[:-1], unexplained(X, covariates.columns, s), strict=True):
            assert Fraction(float(most)) * Fraction("1.000001") >= least
        assert (claimed <= whole * 1.000002).all()
        sharper += (claimed[:-1] < 0.9 * whole[:-1]).any()
    assert sharper >= 3


def test_a_column_far_from_zero_is_that_of_its_deviations():
    rng = np.random.default_rng(0)
    X = 100.0 + rng.standard_normal((50, 4))
    covariates, data = Covariates(np.ones((50, 1)), np.ones(50)), TrainingData(open_matrix(X), 0.0, np.ones(50))
    data.normal(np.ones((50, 1)), covariates)
    # the bound of the rounding of squares is a part of 1e-6 of them
    np.testing.assert_allclose(data.squares_beside(covariates)[:-1], 50.0 * X.var(axis=0), rtol=0.05)
    np.testing.assert_array_equal(data.squares_beside(None), data.column_squares)


def test_results_of_the_pass_stay_as_they_are(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, B = rng.standard_normal((20, 30)), rng.standard_normal((20, 2))
    for q in (0, 2, 12):
        U = np.column_stack([np.ones(20), rng.standard_normal((20, 11))])[:, :q]
        alone, beside = (TrainingData(open_matrix(X), 2.0) for _ in range(2))
        W, F, terms = alone.normal(B)
        for _ in range(2):
            V, G, others = beside.normal(B, Covariates(U, np.ones(20)))
            np.testing.assert_allclose(V, W, rtol=1e-13, atol=1e-13)
            np.testing.assert_allclose(G, F, rtol=1e-13, atol=1e-12)
            assert others == terms


def test_intervals_are_narrower_and_hold():
    rng = np.random.default_rng(1)
    n, d = 60, 8
    X = 30.0 + rng.standard_normal((n, d))
    target = (X - 30.0) @ rng.standard_normal(d) + rng.standard_normal(n)
    covariates = Covariates(np.ones((n, 1)), np.ones(n))
    problem = BinaryProblem(SquaredError(), np.ones(n), np.ones(n), 1e3, -target, covariates)
    centred = X - X.mean(axis=0)
    exact = np.linalg.solve(centred.T @ centred + 1e3 * np.eye(d), centred.T @ (target - target.mean()))
    narrow = []
    for known in (False, True):
        data = TrainingData(open_matrix(X), 0.0, np.ones(n))
        if not known:
            data.normal(np.zeros((n, 1)))
            data._basis = lambda beside: None
        state = SolverState.zero(problem, data.shape)
        poor = GramSurrogate(centred[:, :2] @ centred[:, :2].T, 2)
        for _ in recover_certified(data, [state], poor, tol=0.0, max_passes=3):
            pass
        certificate = certificate_of(data, [state], None)
        off = np.abs(certificate.interval_centre[0] - exact)
        assert (off <= certificate.interval_radius[0] + 1e-12).all()
        narrow.append(np.median(certificate.interval_radius[0]))
    assert narrow[1] < 0.5 * narrow[0]
