"""The bias of dual recovery and its removal, against simulation, explicit inverses and direct solutions."""

import numpy as np
import pytest

from slimline.data import open_matrix
from slimline.learning import (
    LOSSES,
    BinaryProblem,
    SolverState,
    TrainingData,
    recover_debiased,
    recover_dual,
    sketch_surrogate,
)
from slimline.learning.debiased import effective_dimension
from slimline.projections import Gaussian
from tests.learning.direct import direct_optimum
from tests.learning.test_certified import check_outcome, wide_data

NAMES = list(LOSSES)
#: A mean is refused beyond so many of its standard errors: probability 2e-9 each, if the means are normal.
FAR = 6.0


def recovered(X, y, r, seed, *, penalty, loss="squared", constant=0.0, s=None):
    """Return the states of dual and of debiased dual recovery from the same Gaussian sketch, and the data."""
    s = np.ones(len(y)) if s is None else s
    data = TrainingData(open_matrix(X), constant, s)
    projection = Gaussian(X.shape[1], r, seed)
    Z = data.sketch(projection)
    surrogate = sketch_surrogate(data, projection, Z, penalty)
    problem = BinaryProblem(LOSSES[loss], y, s, penalty)
    dual, debiased = (SolverState.zero(problem, data.shape) for _ in range(2))
    list(recover_dual(data, [dual], surrogate))
    list(recover_debiased(data, [debiased], surrogate, Z))
    return dual, debiased, data


def with_eigenvalues(values, d, rng):
    """Return data whose Gram matrix is diagonal, with these eigenvalues."""
    right = np.linalg.qr(rng.standard_normal((d, len(values))))[0]
    return np.sqrt(values)[:, None] * right.T


def parts(X, state):
    """Return the weights along the right singular vectors of data made by `with_eigenvalues`."""
    return (X @ state.bound.weights[:-1]) / np.linalg.norm(X, axis=1)


@pytest.mark.parametrize("n, r", [(7, 12), (12, 7)])
@pytest.mark.parametrize("constant", [0.0, 0.5, 30.0])
@pytest.mark.parametrize("free", [0, 3])
def test_the_effective_dimension_is_a_trace(n, r, constant, free):
    """Columns without a penalty have a large constant; the third depends on the others."""
    rng = np.random.default_rng(n)
    Z, curvature, penalty = rng.standard_normal((n, r)), rng.uniform(0.0, 3.0, n), 0.7
    curvature[:2] = 0.0
    root = np.diag(np.sqrt(curvature))
    B = root @ Z @ Z.T @ root
    M = penalty * np.eye(n) + constant**2 * root @ np.ones((n, n)) @ root
    columns = rng.standard_normal((n, 3))
    columns[:, 2] = columns[:, 0] - columns[:, 1]
    columns = columns[:, :free]
    M += 1e8 * root @ columns @ columns.T @ root
    expected = np.trace(B @ np.linalg.inv(B + M))
    found = effective_dimension(Z, curvature, penalty, constant, columns)
    assert found == pytest.approx(expected, rel=1e-6 if free else 1e-10)
    assert effective_dimension(Z.astype(np.float32), np.zeros(n), penalty, constant, columns) == 0.0


def test_for_a_vanishing_penalty_the_mean_is_the_optimum(global_random_seed):
    """Inverse Wishart: dual weights have the mean r/(r - ρ - 1) w*, debiased ones w*, and both the exact variance."""
    rng = np.random.default_rng(global_random_seed)
    n, r, trials = 6, 30, 400
    values, y = 10.0 ** rng.uniform(0, 4, n), rng.choice([-1.0, 1.0], n)
    X, optimum = with_eigenvalues(values, 50, rng), y / np.sqrt(values)
    along = np.empty((trials, 2))
    squares = np.empty((trials, 2))
    for k in range(trials):
        for j, state in enumerate(recovered(X, y, r, 1000 * global_random_seed + k, penalty=1e-9)[:2]):
            found = parts(X, state)
            along[k, j] = found @ optimum / (optimum @ optimum)
            squares[k, j] = found @ found / (optimum @ optimum)
    inflation = r / (r - n - 1)
    second = r**2 * (r - 1) / ((r - n) * (r - n - 1) * (r - n - 3))
    for seen, law in ((along, [inflation, 1.0]), (squares, [second, second / inflation**2])):
        off = (seen.mean(axis=0) - law) / (seen.std(axis=0) / np.sqrt(trials))
        assert np.abs(off).max() < FAR, off


def test_the_mean_is_the_optimum_of_a_larger_penalty(global_random_seed):
    """Debiased weights average to those of κ, λ = κ(1 - d_κ/r); the law is one of large sizes, so some per cent."""
    rng = np.random.default_rng(global_random_seed)
    n, r, penalty, trials = 60, 90, 1.0, 60
    values = np.geomspace(0.03, 30.0, n)
    X, y = with_eigenvalues(values, 100, rng), rng.choice([-1.0, 1.0], n)
    larger = penalty
    for _ in range(200):
        larger = penalty / (1.0 - (values / (values + larger)).sum() / r)
    found = np.empty((trials, 2, n))
    for k in range(trials):
        for j, state in enumerate(recovered(X, y, r, 1000 * global_random_seed + k, penalty=penalty)[:2]):
            found[k, j] = parts(X, state)
    law = np.sqrt(values) * y / (values + larger)
    mean = found.mean(axis=0)
    # each mean has an error of about √(γ/(1 - γ)/trials), γ = Σ (σ/(σ + κ))²/r: .1 here
    assert np.linalg.norm(mean[1] - law) < 0.2 * np.linalg.norm(law)
    assert np.linalg.norm(mean[0] - law * larger / penalty) < 0.2 * np.linalg.norm(law * larger / penalty)
    spread = ((values / (values + larger)) ** 2).sum() / r
    variance = np.mean(np.sum((found[:, 1] - law) ** 2, axis=1)) / (law @ law)
    assert variance == pytest.approx(spread / (1.0 - spread), rel=0.25)


@pytest.mark.parametrize("value, plain, debiased", [(10.0, 1.626, 0.937), (0.1, 1.004, 0.958)])
def test_it_helps_above_the_penalty_and_hurts_below(value, plain, debiased, global_random_seed):
    """All eigenvalues equal, λ = 1: the mean along w* is (κ/λ)(σ + λ)/(σ + κ), and without the bias (σ + λ)/(σ + κ)."""
    rng = np.random.default_rng(global_random_seed)
    n, r, trials = 40, 80, 40
    X, y = with_eigenvalues(np.full(n, value), 60, rng), rng.choice([-1.0, 1.0], n)
    optimum = np.sqrt(value) * y / (value + 1.0)
    along = np.empty((trials, 2))
    for k in range(trials):
        for j, state in enumerate(recovered(X, y, r, 1000 * global_random_seed + k, penalty=1.0)[:2]):
            along[k, j] = parts(X, state) @ optimum / (optimum @ optimum)
    slack = 0.02 + FAR * along.std(axis=0) / np.sqrt(trials)  # beside chance, what 1/r adds to a law of large sizes
    assert np.all(np.abs(along.mean(axis=0) - [plain, debiased]) < slack)


@pytest.mark.parametrize("constant", [0.0, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_the_weights_are_certified(name, constant, global_random_seed):
    X, y = wide_data(global_random_seed % 50)
    s = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    dual, debiased, data = recovered(X, y, 100, 0, penalty=0.3, loss=name, constant=constant, s=s)
    check_outcome(name, X, y, s, 0.3, data, debiased)
    weights, plain = debiased.bound.weights, dual.bound.weights
    factor = (weights[:-1] @ plain[:-1]) / (plain[:-1] @ plain[:-1])
    assert 0.0 < factor < 1.0
    np.testing.assert_allclose(weights[:-1], factor * plain[:-1], rtol=1e-9, atol=1e-12)
    assert weights[-1] == pytest.approx(plain[-1], rel=1e-9)  # its column is not sketched
    whole = np.column_stack([X, np.full(len(y), constant)])
    np.testing.assert_allclose(debiased.best.values, whole @ weights, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_nearer_to_the_optimum_where_the_penalty_is_small(name, global_random_seed):
    """In sum over eight sketches of 50 components for 25 samples the error is about halved: a matter of no chance."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.standard_normal((25, 300))
    y = np.where(np.arange(25) % 2, 1.0, -1.0)
    optimum, _ = direct_optimum(name, X, y, np.ones(25), 1e-2)
    errors = np.empty((8, 2))
    for k in range(8):
        for j, state in enumerate(recovered(X, y, 50, 100 * global_random_seed + k, penalty=1e-2, loss=name)[:2]):
            errors[k, j] = np.linalg.norm(state.bound.weights[:-1] - optimum)
    assert errors[:, 1].sum() < 0.85 * errors[:, 0].sum()


def test_too_few_components_leave_no_weights():
    X, y = wide_data(1)
    _, debiased, _ = recovered(1e3 * X, y, 10, 0, penalty=1e-6)
    np.testing.assert_array_equal(debiased.bound.weights, 0.0)
    assert np.isinf(debiased.error)


@pytest.mark.data
@pytest.mark.parametrize(
    "scaled, penalty, r", [(False, 1.0, 200), (False, 1.0, 1000), (True, 0.01, 200), (True, 1.0, 200)]
)
def test_the_errors_on_arcene_are_those_of_the_law(scaled, penalty, r, data_dir):
    """Root mean squares of ten sketches, within a quarter of what the mean and the variance of the law give."""
    X, y = (np.loadtxt(data_dir / "arcene" / f"arcene_train.{kind}") for kind in ("data", "labels"))
    if scaled:
        X /= np.linalg.norm(X, axis=1)[:, None]
    values, vectors = np.linalg.eigh(X @ X.T)
    optimum, larger = X.T @ np.linalg.solve(X @ X.T + penalty * np.eye(len(y)), y), penalty
    for _ in range(500):
        larger = penalty / (1.0 - (values / (values + larger)).sum() / r)
    mean = X.T @ (vectors @ (vectors.T @ y / (values + larger)))
    spread = ((values / (values + larger)) ** 2).sum() / r
    errors = np.zeros((10, 2))
    for k in range(10):
        for j, state in enumerate(recovered(X, y, r, k, penalty=penalty)[:2]):
            errors[k, j] = np.sum(np.square(state.bound.weights[:-1] - optimum))
    for j, factor in enumerate((larger / penalty, 1.0)):
        bias, variance = factor * mean - optimum, factor**2 * (mean @ mean) * spread / (1.0 - spread)
        assert np.sqrt(errors[:, j].mean()) == pytest.approx(np.sqrt(bias @ bias + variance), rel=0.25)
