"""The elastic net on a few columns, certified against all."""

import numpy as np
import pytest

from papers.tests.replayed import replayed
from papers.tests.vaswani2013.changed import changed, verdicts
from slimline_papers.vaswani2013.sparsity import _elastic_net, certify

_NAME = "vaswani2013.sparsity"


@pytest.fixture
def problem(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.standard_normal((40, 300)) / np.sqrt(40)
    return X, np.sign(X[:, :3].sum(axis=1)), 0.8


def test_the_solver_minimises_the_stated_objective(problem):
    X, y, weight = problem
    w = _elastic_net(X, y, weight)
    slopes = X.T @ (y - X @ w) - w  # of the smooth part, λ = 1
    assert 0 < np.count_nonzero(w) < 300
    np.testing.assert_allclose(slopes[w != 0], weight * np.sign(w[w != 0]), atol=1e-6)
    assert np.abs(slopes[w == 0]).max() <= weight + 1e-6


def test_no_weights_are_further_off_than_is_proved(problem, global_random_seed):
    X, y, weight = problem
    exact = _elastic_net(X, y, weight)
    rng = np.random.default_rng([global_random_seed, 1])
    for noise in (0.0, 1e-4, 1e-2, 0.1, 1.0):
        claim = certify(X, y, exact + noise * rng.standard_normal(300), weight)
        error = np.linalg.norm(claim.weights - exact) / np.linalg.norm(exact)
        assert error <= claim.relative_error + 1e-6
        assert not np.any(claim.zero & (np.abs(exact) > 1e-9))
        assert not np.any(claim.not_zero & (exact == 0))


def test_at_the_optimum_every_weight_is_decided(problem):
    X, y, weight = problem
    exact = _elastic_net(X, y, weight)
    claim = certify(X, y, exact, weight)
    assert claim.relative_error < 1e-4
    assert np.mean(claim.zero | claim.not_zero) > 0.95


def test_the_gap_is_that_of_the_objectives(problem):
    X, y, weight = problem
    w = np.linspace(-0.1, 0.1, 300)
    a = y - X @ w
    soft = np.sign(X.T @ a) * np.maximum(np.abs(X.T @ a) - weight, 0)
    primal = 0.5 * a @ a + 0.5 * w @ w + weight * np.abs(w).sum()
    dual = a @ y - 0.5 * a @ a - 0.5 * soft @ soft
    radius = np.sqrt(primal - dual - np.sum((w - soft) ** 2) / 4)
    middle = np.linalg.norm((w + soft) / 2)
    expected = radius / (middle - radius) if radius < middle else np.inf
    assert certify(X, y, w, weight).relative_error == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_a_few_columns_are_certified_against_all():
    table, findings = replayed(_NAME)
    assert [finding.holds for finding in findings][:2] == [True, True]
    assert findings[-1].holds is None
    assert np.all(table["columns"] < 0.5 * table["features"])


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_false_proofs_and_open_models_are_seen():
    table, _ = replayed(_NAME)
    assert verdicts(_NAME, changed(table, "certified", lambda row: 0.01))[0] is False
    assert verdicts(_NAME, changed(table, "wrong", lambda row: 1))[1] is False


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("better", ["sketch", "correlation"])
def test_the_better_start_is_seen(better):
    first = replayed(_NAME)[0].where(round=1)
    table = changed(first, "error", lambda row: 0.1 if row["start"] == better else 0.5)
    assert verdicts(_NAME, table)[2] is (better == "sketch")
