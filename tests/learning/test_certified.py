"""Certified steps: monotone for every sketch, exact about passes, right about the optimum; published ones beside."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.learning import (
    LOSSES,
    BinaryProblem,
    SolverState,
    TrainingData,
    certificate_of,
    exact_surrogate,
    growing,
    membership,
    recover_certified,
    recover_dual,
    recover_iterative,
    recover_naive,
    sketch_surrogate,
)
from slimline.learning.certificate import gap_parts
from slimline.learning.improve import resolve_hinge_corner
from slimline.learning.surrogate import FeatureSurrogate, GramSurrogate
from slimline.projections import Gaussian
from tests.learning.attack import dual_point_at, near_dual, point_at
from tests.learning.direct import direct_optimum

NAMES = list(LOSSES)


def wide_data(seed=0, n=40, d=400, scale=1.0, decay=0.5):
    """Return rows of norm about `scale` with a falling spectrum, and labels that they nearly explain."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, min(n, d))) @ (
        np.arange(1, min(n, d) + 1)[:, None] ** -decay * rng.standard_normal((min(n, d), d))
    )
    X *= scale / np.linalg.norm(X, axis=1).mean()
    y = np.where(X @ rng.standard_normal(d) + 0.1 * scale * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y


def sketched(X, r, seed=0):
    return Gaussian(X.shape[1], r, seed)


def recovered(name, X, y, *, r=None, penalty=1.0, s=None, tol=1e-6, max_passes=30, constant=0.0, **options):
    s = np.ones(len(y)) if s is None else s
    data = TrainingData(X if hasattr(X, "passes") else open_matrix(X), constant, s)
    task = BinaryProblem(LOSSES[name], y, s, penalty)
    surrogate = exact_surrogate(data) if r is None else sketch_surrogate(data, sketched(data, r))
    return data, *steps_of(recover_certified, data, task, surrogate, tol=tol, max_passes=max_passes, **options)


def steps_of(recover, data, problem, *arguments, **limits):
    """Return where a recovery ended, and its steps."""
    state = SolverState.zero(problem, data.shape)
    return state, list(recover(data, [state], *arguments, **limits))


def check_outcome(name, X, y, s, penalty, data, state, k=5):
    """Hold norm, coordinates and top features of what was reached against a direct solution."""
    whole = np.column_stack([X, np.full(len(y), data.constant)])
    truth, slack = direct_optimum(name, whole, y, s, penalty)
    proof = state.bound
    certificate = certificate_of(data, [state], None)
    assert np.linalg.norm(proof.weights - truth) <= proof.radius + slack
    off = np.abs(certificate.interval_centre[0] - truth[:-1])
    assert np.all(off <= certificate.interval_radius[0] + slack)
    assert np.all(np.abs(certificate.weights[0, :-1] - truth[:-1]) <= certificate.coordinate_radius[0] + slack)
    surely_in, surely_out = membership(certificate.interval_centre[0], certificate.interval_radius[0], k)
    order = np.sort(np.abs(truth[:-1]))[::-1]
    if k < len(order):
        assert np.all(np.abs(truth[:-1][surely_in]) >= order[k - 1] - 2 * slack)
        assert np.all(np.abs(truth[:-1][surely_out]) <= order[k] + 2 * slack)
    return slack


@pytest.mark.parametrize("r", [1, 4, 16, 100])
@pytest.mark.parametrize("name", NAMES)
def test_objectives_are_monotone_for_every_sketch(name, r, global_random_seed):
    for trial, (scale, penalty) in enumerate([(1.0, 1.0), (30.0, 1.0), (1.0, 1e-3), (1.0, 1e3)]):
        X, y = wide_data(global_random_seed + trial, scale=scale)
        s = np.random.default_rng(trial).uniform(0.5, 2, len(y))
        data, state, steps = recovered(name, X, y, r=r, penalty=penalty, s=s, max_passes=8, tol=1e-10)
        primal, dual = [step.primal[0] for step in steps], [step.dual[0] for step in steps]
        start = float(s @ LOSSES[name].value(np.zeros(len(y))))
        # P and D are sums of n + d terms whose sizes add up to 3 P(0) at most, each rounded by u a term
        rounding = 4 * (len(y) + X.shape[1]) * 2.0**-53 * start
        assert np.all(np.diff([start, *primal]) <= rounding)
        assert np.all(np.diff([0.0, *dual]) >= -rounding)
        for step in steps:
            assert step.primal[0] - step.dual[0] <= step.gap[0] + rounding
            assert step.n_components == r
        check_outcome(name, X, y, s, penalty, data, state)


@pytest.mark.parametrize("name", ["squared", "squared_hinge", "logistic"])
def test_the_published_iteration_diverges_where_the_certified_one_does_not(name):
    X, y = wide_data(3, n=60, d=600, scale=30.0, decay=0.1)
    s = np.ones(len(y))
    task = BinaryProblem(LOSSES[name], y, s, 1.0)
    data = TrainingData(open_matrix(X), 0.0, s)
    truth, _ = direct_optimum(name, X, y, s, 1.0)
    model = sketch_surrogate(data, sketched(X, 16))
    published, steps = steps_of(recover_iterative, data, task, model, tol=1e-8, max_passes=data.passes + 8)
    error = np.linalg.norm(published.bound.weights[:-1] - truth) / np.linalg.norm(truth)
    certified, _ = steps_of(recover_certified, data, task, model, tol=1e-8, max_passes=data.passes + 8)
    ours = np.linalg.norm(certified.bound.weights[:-1] - truth) / np.linalg.norm(truth)
    assert ours <= 1.0
    if name == "squared":
        assert error > 1e3
        # and its certificate says so
        assert steps[-1].gap[0] > 1e3 * steps[0].gap[0]
    assert ours <= error
    assert np.linalg.norm(published.bound.weights[:-1] - truth) <= published.bound.radius * (1 + 1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("penalty", [1.0, 1e-3, 1e-6])
def test_separable_data_and_a_weak_penalty_leave_a_sharp_certificate_for_the_hinge(scale, penalty):
    """Support vectors lie on the corner of the hinge: which side of it they are on must not depend on rounding."""
    X, y = wide_data(1, n=30, d=300, scale=scale)
    s = np.ones(len(y))
    for r in (None, 150):
        data, state, _ = recovered("hinge", X, y, r=r, penalty=penalty, tol=1e-4, max_passes=40)
        check_outcome("hinge", X, y, s, penalty, data, state)
        # K/λ reaches 1e12 here, where a sketch of half the columns stalls earlier
        assert state.error <= (1e-4 if r is None else 2e-2), r


def test_the_point_about_the_margin_is_never_the_worse_one(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for trial in range(20):
        X, y = wide_data(trial, n=20, d=60)
        s = rng.uniform(0.5, 2, 20)
        penalty = float(10.0 ** rng.uniform(-4, 2))
        data, task = TrainingData(open_matrix(X), 0.0, s), BinaryProblem(LOSSES["hinge"], y, s, penalty)
        dual = dual_point_at(data, task, near_dual(task, X))
        other = point_at(data, dual.weights * (1.0 + 10.0 ** rng.uniform(-14, -1)))
        chosen = resolve_hinge_corner(task, [other, dual], dual, data.row_bounds)
        gaps = [gap_parts(task, point, dual, data.row_bounds).gap for point in (chosen, other, dual)]
        assert gaps[0] <= min(gaps)
        np.testing.assert_allclose(chosen.values, X @ chosen.weights[:-1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_divergence_ends_before_anything_overflows(name):
    X, y = wide_data(3, n=60, d=600, scale=1e4, decay=0.1)
    s = np.ones(len(y))
    task, data = BinaryProblem(LOSSES[name], y, s, 1e-3), TrainingData(open_matrix(X), 0.0, s)
    surrogate = sketch_surrogate(data, sketched(X, 4))
    state, steps = steps_of(recover_iterative, data, task, surrogate, tol=1e-8, max_passes=60)
    certificate = certificate_of(data, [state], None)
    assert np.isfinite(certificate.radius[0])
    assert certificate.relative_error[0] == np.inf
    if name.startswith("squared"):
        assert len(steps) < 59
        assert np.linalg.norm(state.bound.weights) > 1e60


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("constant", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("penalty", [1e-3, 1.0, 1e3])
def test_the_exact_model_needs_one_step(name, constant, penalty):
    for shape in ((20, 100), (50, 8), (2, 2)):
        X, y = wide_data(1, *shape)
        y[:2] = [-1.0, 1.0]
        s = np.random.default_rng(0).uniform(0.5, 2, len(y))
        data, state, steps = recovered(name, X, y, penalty=penalty, s=s, constant=constant, tol=1e-6)
        check_outcome(name, X, y, s, penalty, data, state)
        # the hinge's gap is first order in the rounding of margins, so its radius is the root of it over λ
        assert state.error <= (1e-3 if name == "hinge" else 1e-5)
        assert len(steps) <= 3


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("storage", ["float32", "int8", "csr", "csc", "float16"])
def test_every_storage_is_certified_as_the_numbers_that_it_holds(name, storage):
    X, y = wide_data(2, n=25, d=300, scale=8.0)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    X = np.round(X * 4)
    s = np.ones(len(y))
    stored = sp.csr_array(X) if storage == "csr" else sp.csc_array(X) if storage == "csc" else X.astype(storage)
    data, state, _ = recovered(name, open_matrix(stored), y, r=100, tol=1e-3, penalty=10.0, max_passes=10)
    check_outcome(name, X, y, s, 10.0, data, state)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("offset", [0.0, 3.0, 1e4])
@pytest.mark.parametrize("sparse", [False, True])
def test_standardised_columns_are_certified(name, offset, sparse):
    rng = np.random.default_rng(5)
    X, y = wide_data(4, n=30, d=200, scale=5.0)
    X = X * 10.0 ** rng.uniform(-3, 3, X.shape[1]) + offset
    X[:, 7] = 2.5  # constant
    X[:, 8] = 0.0
    if sparse:
        X[rng.random(X.shape) < 0.7] = 0.0
    weight = rng.uniform(0.5, 2, len(y))
    view = open_matrix(sp.csr_array(X) if sparse else X).standardised("mean", "std", sample_weight=weight)
    data = TrainingData(view, 1.0, weight)
    task = BinaryProblem(LOSSES[name], y, weight, 5.0)
    surrogate = sketch_surrogate(data, sketched(X, 60))
    state, _ = steps_of(recover_certified, data, task, surrogate, tol=1e-4, max_passes=20)
    transform = view.transform
    seen = ((X.astype(np.longdouble) - transform.centre) * transform.factor).astype(np.float64)
    check_outcome(name, seen, y, weight, 5.0, data, state)


def test_several_tasks_share_the_passes_and_rows_of_weight_zero_take_no_part():
    X, y = wide_data(6)
    rng = np.random.default_rng(0)
    tasks, weights = [], []
    for _ in range(3):
        s = rng.uniform(0.5, 2, len(y)) * (rng.random(len(y)) < 0.7)
        weights.append(s)
        tasks.append(BinaryProblem(LOSSES["squared_hinge"], rng.choice([-1.0, 1.0], len(y)), s, 1.0))
    data = TrainingData(open_matrix(X), 0.0, np.max(weights, axis=0))
    states = [SolverState.zero(task, data.shape) for task in tasks]
    surrogate = sketch_surrogate(data, sketched(X, 100))
    steps = list(recover_certified(data, states, surrogate, tol=1e-5, max_passes=40))
    assert data.passes == 1 + len(steps)
    for task, s, state in zip(tasks, weights, states, strict=True):
        assert state.error <= 1e-5
        used = s > 0
        truth, slack = direct_optimum("squared_hinge", X[used], task.labels[used], s[used], 1.0)
        assert np.linalg.norm(state.bound.weights[:-1] - truth) <= state.bound.radius + slack


class TestPasses:
    """Passes over the data: one for a sketch, one or two for a step, statistics on the way if possible."""

    def run(self, matrix, y, steps, standardise=False):
        s = np.ones(len(y))
        seen = matrix.standardised() if standardise else matrix
        data = TrainingData(seen, 1.0, s)
        before = matrix.passes
        model = sketch_surrogate(data, sketched(seen, 64))
        task = BinaryProblem(LOSSES["squared"], y, s, 1.0)
        most = data.passes + steps * data.passes_of_a_step
        state, steps = steps_of(recover_certified, data, task, model, tol=1e-300, max_passes=most)
        certificate_of(data, [state], None)
        return matrix.passes - before, len(steps), data

    @pytest.mark.parametrize("standardise", [False, True])
    def test_whole_columns_take_one_a_step(self, standardise):
        X, y = wide_data()
        matrix = open_matrix(X)
        assert matrix.whole_columns
        passes, steps, data = self.run(matrix, y, 3, standardise)
        assert passes == 1 + steps
        assert steps == 3
        assert data.passes == passes

    @pytest.mark.parametrize("standardise", [False, True])
    def test_a_stream_of_rows_takes_two_a_step(self, standardise, tmp_path):
        X, y = wide_data(n=30, d=80)
        path = tmp_path / "x.csv"
        np.savetxt(path, X, delimiter=",", header=",".join(f"a{j}" for j in range(80)), comments="")
        matrix = open_matrix(path)
        assert not matrix.whole_columns
        passes, steps, _ = self.run(matrix, y, 3, standardise)
        # without whole columns the statistics need a pass of their own
        assert passes == 1 + 2 * steps + (1 if standardise else 0)

    def test_one_step_is_always_taken(self):
        X, y = wide_data()
        _, _, steps = recovered("squared", X, y, r=64, max_passes=1)
        assert len(steps) == 1

    def test_growing_is_counted_and_stops_at_the_largest_size(self):
        X, y = wide_data(scale=30.0)
        s = np.ones(len(y))
        data = TrainingData(open_matrix(X), 0.0, s)
        drawn = []

        def draw(k, components):
            drawn.append(components)
            return sketched(X, components, seed=k)

        improve = growing(data, draw, 16 + 2 * (16 + 4 * len(y) // 64 * 64))
        task = BinaryProblem(LOSSES["squared"], y, s, 1.0)
        surrogate = sketch_surrogate(data, draw(0, 16))
        _, steps = steps_of(recover_certified, data, task, surrogate, tol=1e-300, max_passes=16, improve=improve)
        sizes = [step.n_components for step in steps]
        assert sizes == sorted(sizes)
        assert len(drawn) > 1 and drawn[1] >= 4 * len(y) // 64 * 64  # over the worst size in one leap
        assert max(sizes) <= sum(drawn)
        assert data.passes == len(drawn) + len(sizes)
        assert data.passes <= 16
        primal = [step.primal[0] for step in steps]
        assert np.all(np.diff(primal) <= 1e-13 * primal[0])


def test_a_grown_sketch_is_the_sketch_of_both():
    X, _ = wide_data()
    data = TrainingData(open_matrix(X), 2.0)
    a, b = sketched(X, 32, 1), sketched(X, 96, 2)
    model = sketch_surrogate(data, a)
    assert isinstance(model, GramSurrogate)
    model.add(sketch_surrogate(data, b))
    joint = np.hstack([data.matrix.sketch(a) * (32 / 128) ** 0.5, data.matrix.sketch(b) * (96 / 128) ** 0.5])
    np.testing.assert_allclose(model.K, joint @ joint.T + 4.0, rtol=1e-12, atol=1e-12)
    assert model.n_components == 128


def test_rows_are_kept_where_there_are_many_samples(monkeypatch):
    monkeypatch.setattr("slimline.learning.surrogate.GRAM_SAMPLES", 10)
    X, y = wide_data(n=60, d=500)
    s = np.ones(len(y))
    for name in NAMES:
        data = TrainingData(open_matrix(X), 1.0, s)
        model = sketch_surrogate(data, sketched(X, 40))
        assert isinstance(model, FeatureSurrogate)
        task = BinaryProblem(LOSSES[name], y, s, 1.0)
        improve = growing(data, lambda k, components: sketched(X, components, seed=k), 10**9)
        state, _ = steps_of(recover_certified, data, task, model, tol=1e-2, max_passes=40, improve=improve)
        check_outcome(name, X, y, s, 1.0, data, state)
        assert state.error <= 1e-2


@pytest.mark.parametrize("name", NAMES)
def test_naive_and_dual_recovery_are_certified_too(name):
    X, y = wide_data(8)
    s = np.ones(len(y))
    task, data = BinaryProblem(LOSSES[name], y, s, 1.0), TrainingData(open_matrix(X), 1.0, s)
    projection = sketched(X, 100)
    Z = data.matrix.sketch(projection)
    model = sketch_surrogate(data, projection, Z)
    assert data.passes == 1
    naive, _ = steps_of(recover_naive, data, task, model, Z, projection)
    assert data.passes == 3  # w_α and its values, and the values of the lifted weights
    check_outcome(name, X, y, s, 1.0, data, naive)
    dual, _ = steps_of(recover_dual, data, task, model)
    assert data.passes == 4
    check_outcome(name, X, y, s, 1.0, data, dual)
    # vaswani2013, theorems 1 and 2: the dual way is the better one
    assert dual.bound.radius < naive.bound.radius
