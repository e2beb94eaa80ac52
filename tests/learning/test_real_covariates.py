"""Real data beside age, sex and principal components: no claim is violated by an independent float64 solution."""

import numpy as np
import pytest

from slimline import open_matrix
from slimline.learning import LOSSES, BinaryProblem, SolverState, TrainingData, certificate_of, recover_certified
from slimline.learning.covariates import Covariates
from slimline.learning.regression_losses import Huber, SquaredEpsilonInsensitive, SquaredError
from slimline.learning.score_bounds import bound_scores
from slimline.learning.surrogate import exact_surrogate, sketch_surrogate
from slimline.projections._families import frozen_projection
from tests.learning.real_sets import as_dense, real_set, some_rows, standardised
from tests.tiers import rest_nightly

pytestmark = [pytest.mark.data, pytest.mark.slow]
LOSS = {
    "logistic": LOSSES["logistic"],
    "squared_hinge": LOSSES["squared_hinge"],
    "squared_error": SquaredError(),
    "huber": Huber(0.5),
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive(0.3),
}
SETS = ["singh", "hapmap3", "golub", "alon", "gordon", "arcene"]


def slope_and_curvature(name, f, y):
    """Return -φ' and φ'' of scores, from the definitions."""
    if name == "logistic":
        p = 1.0 / (1.0 + np.exp(y * f))
        return y * p, p * (1.0 - p)
    if name == "squared_hinge":
        return 2.0 * y * np.maximum(1.0 - y * f, 0.0), 2.0 * (y * f < 1.0)
    r = y - f
    if name == "squared_error":
        return r, np.ones_like(r)
    if name == "huber":
        return np.clip(r, -0.5, 0.5), 1.0 * (np.abs(r) < 0.5)
    return 2.0 * np.sign(r) * np.maximum(np.abs(r) - 0.3, 0.0), 2.0 * (np.abs(r) > 0.3)


def exact_beside(name, X, U, y, penalty):
    """Return w, b and the norm of the gradient in w: Newton steps on both optimality conditions."""
    n, q = U.shape
    K, (V, T) = X @ X.T / penalty, np.linalg.qr(U)
    beta, c = np.zeros(n), np.zeros(q)

    def conditions(beta, c):
        g, h = slope_and_curvature(name, K @ beta + V @ c, y)
        return np.concatenate([beta - g, V.T @ beta]), h

    best = None
    for _ in range(60):
        left, h = conditions(beta, c)
        if best is None:
            h = np.ones(n)  # ridge regression is the start
            left = np.concatenate([-y, np.zeros(q)])
        elif np.linalg.norm(left) < best[0]:
            best = np.linalg.norm(left), beta, c, left
        elif np.linalg.norm(left) < 1e-10 * np.linalg.norm(y):
            break
        system = np.block([[np.eye(n) + h[:, None] * K, h[:, None] * V], [V.T, np.zeros((q, q))]])
        change = np.linalg.lstsq(system, -left, rcond=None)[0]
        best = best or (np.inf, beta, c, left)
        beta, c = beta + change[:n], c + change[n:]
    _, beta, c, left = best
    return X.T @ beta / penalty, np.linalg.solve(T, c), float(np.linalg.norm(X.T @ left[:n])) / penalty


def example(folder, set_name, name):
    rows = some_rows(real_set(folder, set_name)[1], 90)
    X = standardised(as_dense(folder, set_name, rows))
    X /= X.shape[1] ** 0.5
    rng = np.random.default_rng(len(set_name))
    n = len(X)
    age, sex = np.round(2e4 + 5e3 * rng.standard_normal(n)), rng.integers(0, 2, n).astype(float)
    components = np.linalg.svd(X[:60], full_matrices=False)[2][:3]
    U = np.column_stack([np.ones(n), age, sex, X @ components.T])
    f = X @ rng.standard_normal(X.shape[1]) + (age - 2e4) / 1e4 + 0.5 * sex + 0.5 * rng.standard_normal(n)
    y = np.where(f > np.median(f), 1.0, -1.0) if name in LOSSES else f + 10.0
    return X, U, y


@pytest.mark.parametrize(("set_name", "name"), rest_nightly(
    [("singh", "logistic"), ("hapmap3", "squared_error"), ("golub", "huber")],
    [(set_name, name) for set_name in SETS for name in LOSS],
))  # fmt: skip
def test_no_claim_is_violated(data_dir, set_name, name):
    X, U, y = example(data_dir, set_name, name)
    train, penalty = slice(0, 60), 0.3
    w, b, lost = exact_beside(name, X[train], U[train], y[train], penalty)
    assert lost <= 1e-9 * np.linalg.norm(w)
    lost += 1e-12 * np.linalg.norm(w)
    labels, offset = (y[train], np.zeros(60)) if name in LOSSES else (np.ones(60), -y[train])
    covariates = Covariates(U[train], np.ones(60))
    problem = BinaryProblem(LOSS[name], labels, np.ones(60), penalty, offset, covariates)
    assert problem.inside is not None
    norms, exact = np.linalg.norm(X, axis=1) * (1.0 + 1e-12), X @ w + U @ b
    for route, tol in (("gram", 1e-8), ("sketch", 1e-3), ("sketch", 1e-1)):
        data = TrainingData(open_matrix(X[train]), 0.0, np.ones(60))
        if route == "gram":
            surrogate = exact_surrogate(data)
        else:
            surrogate = sketch_surrogate(data, frozen_projection("auto", X.shape[1], 240, 0))
        state = SolverState.zero(problem, data.shape)
        for _ in recover_certified(data, [state], surrogate, tol=tol, max_passes=60):
            pass
        assert state.error <= tol
        weights = state.bound.weights[:-1]
        assert np.linalg.norm(weights - w) <= state.bound.radius + lost
        certificate = certificate_of(data, [state], None)
        assert (np.abs(certificate.interval_centre[0] - w) <= certificate.interval_radius[0] + lost).all()
        for with_pass in (False, True):
            (bounds,) = bound_scores(data, [state], with_pass=with_pass)
            inner = None if bounds.explained is None else X @ bounds.explained.T
            error = bounds.error(U, norms, inner)
            assert np.isfinite(error).all() or tol == 1e-1  # where no sample is surely curved yet
            off = np.abs(X @ weights + bounds.scores(U) - exact)
            # what the reference has lost, times what its scores depend on
            room = 1e-9 * (1.0 + np.abs(exact)) + lost * norms
            assert (off <= error + room).all()
            units = np.diag(1.0 / np.abs(U).max(axis=0))
            effect = np.abs(bounds.scores(units) - units @ b)
            assert (effect <= bounds.error(units, np.zeros(len(b))) + 1e-9 * (1.0 + np.abs(units @ b))).all()
