"""Plans of regressions, and of problems beside columns that are not penalised."""

import numpy as np
import pandas as pd
import pytest
import scipy.linalg

from slimline import CertifiedClassifier, CertifiedRegressor, plan
from slimline.data._covariates import GivenCovariates
from slimline.errors import CovariateWarning, InvalidParameterError
from slimline.learning.covariates import Covariates
from slimline.learning.regression_losses import REGRESSION_LOSSES
from slimline.planning._memory import fit_bytes
from slimline.planning._pilot import spectrum_of
from slimline.planning._problem import Problem, RegressionSettings, Samples
from slimline.planning._route import DataShape

N, D = 150, 4000
#: A year in days, a class, and a multiple of both.
COVARIATES = ["age", "sex", "both"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)).astype(np.float32) / np.sqrt(D)
    U = pd.DataFrame({"age": np.round(2e4 + 5e3 * rng.standard_normal(N)), "sex": rng.integers(0, 2, N)})
    U["both"] = U["age"] - 3 * U["sex"]
    t = 170.0 + 20.0 * X[:, :300].sum(axis=1) + 1e-3 * U["age"].to_numpy() + 5.0 * U["sex"].to_numpy()
    return X, t, U


def _problem(**changed):
    usual = {"C": 1.0, "loss": "squared", "tol": 1e-2, "constant": 0.0, "n_classes": 0, "n_targets": 1}
    usual |= {"intercept": True, "n_covariates": 0, "n_samples": N, "seed": 0}
    return Problem(**(usual | changed))


@pytest.mark.parametrize("method", ["sketch", "gram"])
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_the_parameters_of_a_regression_do_what_was_planned(data, loss, method):
    X, t, U = data
    made = plan(X, t, loss=loss, method=method, covariates=U)
    assert (made.task, made.n_classes, made.n_targets, made.n_covariates) == ("regression", 0, 1, 3)
    assert made.estimator == "CertifiedRegressor" and made.margin is None and made.margin_note == "needs classes"
    with pytest.warns(CovariateWarning):  # "both" depends on the others
        model = CertifiedRegressor(**made.parameters, random_state=0).fit(X, t, covariates=U)
    assert model.route_.method == made.choice.method == method
    assert 0.5 <= made.choice.steps / model.n_iter_ <= 2.0
    assert max(model.certificate_.relative_error) <= 1e-2


def test_the_task_follows_from_loss_and_labels(data):
    X, t, _ = data
    few = X[:40, :300]
    whole = np.arange(40) % 3
    assert plan(few, t[:40], loss="squared").task == "regression"
    assert plan(few, whole, loss="squared").n_classes == 3
    assert plan(few, whole.astype(float), loss="squared").n_classes == 3
    assert plan(few, np.array(["a", "b"])[whole % 2], loss="squared").n_classes == 2
    assert plan(few, whole, loss="squared", task="regression").n_targets == 1
    assert plan(few, whole, loss="quantile").task == "regression"
    both = plan(few, np.column_stack([whole, t[:40]]), loss="squared")
    assert (both.task, both.n_targets) == ("regression", 2)
    assert CertifiedRegressor(**both.parameters).fit(few, np.column_stack([whole, t[:40]])).coef_.shape == (2, 300)
    assert plan(n_samples=30, n_features=400, loss="squared").task == "classification"
    assert plan(n_samples=30, n_features=400, loss="squared", n_targets=3).n_targets == 3


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"loss": "huber", "margin": 0.3}, "margin"),
        ({"loss": "huber", "n_classes": 3}, "n_classes"),
        ({"n_targets": 2}, "n_targets"),
        ({"loss": "hinge", "task": "regression"}, "loss"),
        ({"loss": "huber", "task": "classification"}, "loss"),
        ({"task": "ranking"}, "task"),
        ({"intercept": "none"}, "intercept"),
        ({"intercept": "penalised", "n_covariates": 1}, "intercept"),
        ({"intercept_scaling": 2.0}, "intercept_scaling"),
        ({"n_covariates": 29}, "n_covariates"),
        ({"n_covariates": -1}, "n_covariates"),
        ({"covariates": np.ones((30, 1))}, "covariates"),
        ({"loss": "huber", "huber_delta": 0.0}, "huber_delta"),
        ({"loss": "huber", "epsilon": -1.0}, "epsilon"),
        ({"loss": "huber", "quantile": 1.0}, "quantile"),
        ({"loss": "huber", "standardize_target": 2}, "standardize_target"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments, parameter):
    with pytest.raises(InvalidParameterError) as caught:
        plan(n_samples=30, n_features=400, **arguments)
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("covariates", [np.ones((4, 1)), np.full((5, 1), np.nan), np.eye(5)])
def test_covariates_that_no_fit_takes_are_refused(covariates):
    X, t = np.eye(5), np.arange(5.0)
    for work in (plan, CertifiedRegressor().fit):
        with pytest.raises(InvalidParameterError) as caught:
            work(X, t, covariates=covariates, **({"loss": "huber"} if work is plan else {}))
        assert caught.value.parameter == "covariates"


def test_theorems_that_need_classes_say_so(data):
    X, t, _ = data
    numbers, classes = plan(X, t, loss="squared"), plan(X, t > np.median(t), loss="squared")
    assert [row.name for row in numbers.guarantees] == [
        row.name for row in classes.guarantees if not row.name.startswith("balcan")
    ]
    known = {row.name + row.about: row for row in classes.guarantees}
    for row in numbers.guarantees:
        if row.note == "needs classes":
            assert row.dimension is None and ("margin" in row.about or "SVM" in row.about)
        elif not row.name.startswith("shi2012.5"):  # of the cosine of the margin, where there is one
            assert row.dimension == known[row.name + row.about].dimension
    assert any("margin" in curve.name or "shi2012.6" in curve.name for curve in classes.curves)
    assert not any(curve.name.startswith(("shi2012.6", "paul2013.1")) for curve in numbers.curves)


@pytest.mark.parametrize("penalty", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("q", [1, 4, 59])
def test_the_effective_dimension_is_that_of_feasible_dual_variables(penalty, q):
    rng = np.random.default_rng(q)
    n = 60
    X = 3.0 + rng.standard_normal((n, 90)) * np.geomspace(1, 1e-2, 90)
    U = np.column_stack([np.ones(n), 1e4 * rng.standard_normal((n, q - 1))])
    K = X @ X.T
    spectrum = spectrum_of(K, n, Covariates(U, np.ones(n)))
    Q = scipy.linalg.null_space(U.T / np.linalg.norm(U, axis=0)[:, None])
    part = Q.T @ K @ Q
    expected = np.trace(np.linalg.solve(part + penalty * np.eye(len(part)), part))
    assert spectrum.of_sample(penalty) == pytest.approx(expected, rel=1e-8)
    assert spectrum.of_all(penalty) == pytest.approx(expected, rel=1e-8)
    # eigenvalues interlace: no column takes more than 1
    plain = spectrum_of(K, n).of_sample(penalty)
    assert plain - q <= spectrum.of_sample(penalty) * (1 + 1e-9) and spectrum.of_sample(penalty) <= plain


@pytest.mark.parametrize("q", [1, 40, 140])  # as many as half the sample, which extrapolation looks at
def test_all_rows_from_a_sample_beside_covariates(q):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1200, 3000)) * (1.0 + np.arange(3000)) ** -0.8
    U = np.column_stack([np.ones(1200), rng.standard_normal((1200, q - 1))])
    Q = np.linalg.qr(U)[0]
    rest = X - Q @ (Q.T @ X)
    K = rest @ rest.T
    exact = np.trace(np.linalg.solve(K + np.eye(len(K)), K))
    part = X[:200] @ X[:200].T
    predicted = spectrum_of(part, 1200, Covariates(U[:200], np.ones(200))).of_all(1.0)
    assert predicted == pytest.approx(exact, rel=0.3)


@pytest.mark.parametrize("standardize_target", [False, True])
@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive", "squared_epsilon_insensitive", "quantile"])
def test_the_problem_of_the_pilot_run_is_that_of_the_fit(data, loss, standardize_target):
    X, t, U = data
    settings = {"delta": "auto", "epsilon": 0.3, "quantile": 0.8, "standardize_target": standardize_target}
    model = CertifiedRegressor(C=0.7, loss=loss, method="gram", **settings).fit(X, t, covariates=U[COVARIATES[:2]])
    problem = _problem(
        C=0.7, loss=loss, n_covariates=2, settings=RegressionSettings("auto", 0.3, 0.8, standardize_target)
    )
    samples = Samples(np.zeros(N, dtype=int), t[:, None], GivenCovariates.of(U[COVARIATES[:2]], N))
    (one,) = samples.problems(problem)
    # the fit's weights and effects are the minimum of the pilot's objective: nothing else lowers it
    values = X @ model.coef_
    effects = np.append(model.intercept_, model.covariate_coef_.ravel())
    columns = np.column_stack([np.ones(N), U[COVARIATES[:2]]])
    lowest = one.primal(model.coef_.ravel(), values + columns @ effects - t)
    assert one.loss_of(-t + t.mean()) > lowest > 0.0
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2):
        moved = model.coef_.ravel() + size * np.linalg.norm(model.coef_) * rng.standard_normal(D) / np.sqrt(D)
        assert one.primal(moved, X @ moved + columns @ effects - t) >= lowest
    for factor in (0.99, 1.01):
        moved = factor * model.coef_.ravel()
        assert one.primal(moved, X @ moved + columns @ effects - t) >= lowest


def test_settings_go_into_the_parameters():
    sizes = {"n_samples": 30, "n_features": 400}
    told = plan(**sizes, loss="huber", huber_delta=2.0, standardize_target=True).parameters
    assert told["delta"] == 2.0 and told["standardize_target"] is True and "epsilon" not in told
    assert "delta" not in plan(**sizes, loss="huber").parameters
    assert plan(**sizes, loss="quantile", quantile=0.9).parameters["quantile"] == 0.9
    assert plan(**sizes, loss="epsilon_insensitive", epsilon=0.0).parameters["epsilon"] == 0.0
    for loss in REGRESSION_LOSSES:
        CertifiedRegressor(**plan(**sizes, loss=loss, n_targets=1, fit_intercept=False).parameters)


def test_covariates_that_separate_the_sample_are_left_out_of_the_pilot_run(data):
    X, _, _ = data
    y = np.arange(N) % 2
    samples = Samples(y, np.zeros((N, 0)), GivenCovariates.of((y + 2.0)[:, None], N))
    (one,) = samples.problems(_problem(loss="logistic", n_classes=2, n_targets=0, n_covariates=1))
    assert one.free.shape == (N, 1) and np.ptp(one.free) == 0.0
    made = plan(X, y, covariates=(y + 2.0)[:, None], loss="logistic")
    assert made.errors[2] < 1.0 and made.n_covariates == 1


@pytest.mark.parametrize("shape", [(3, 1), (4, 40), (30, 1)])
@pytest.mark.parametrize("loss", ["squared", "quantile"])
def test_odd_shapes(shape, loss):
    rng = np.random.default_rng(3)
    t = rng.standard_normal(shape[0])
    made = plan(rng.standard_normal(shape), t, covariates=np.arange(shape[0])[:, None], loss=loss)
    assert made.choice.method in ("gram", "direct") and "1 covariate" in str(made) and "1 target" in str(made)


@pytest.mark.slow
def test_degenerate_columns_and_huge_and_tiny_C(data):
    X, t, U = data
    X = X[:, :600].copy()
    X[:, 100:200] = 0.0
    X[:, 200:300] = X[:, :1]
    X[:, 300] = 1e4
    for C in (1e-12, 1e6):
        for y, loss in ((t, "huber"), (np.zeros(N), "epsilon_insensitive"), (t > np.median(t), "squared_hinge")):
            made = plan(X, y, C=C, loss=loss, covariates=U)
            assert made.choice.seconds < np.inf and made.choice.steps >= 1


def test_a_sample_of_more_rows_with_covariates_that_are_not_given(data):
    X, t, _ = data
    made = plan(X, t, loss="squared", n_covariates=10, n_samples=5000)
    assert (made.n_samples, made.n_covariates) == (5000, 10)
    assert made.effective_dimension > plan(X, t, loss="squared", n_covariates=10).effective_dimension


def test_an_interior_point_takes_more_memory_than_descent():
    shape = DataShape((2000, 50_000))

    def gram(loss, n_free):
        return fit_bytes(shape, 1, "gram", 1, loss=loss, n_free=n_free)

    matrix = 8.0 * 2000**2
    assert gram("hinge", 1) - gram("hinge", 0) > matrix
    assert gram("quantile", 0) == gram("quantile", 13) == gram("hinge", 13)
    assert gram("squared", 13) == gram("squared", 0)
    thin = DataShape((50, 10**6))
    assert fit_bytes(thin, 1, "gram", 1, n_free=4) - fit_bytes(thin, 1, "gram", 1) > 8.0 * 10**6


def test_a_free_intercept_is_the_usual_one(data):
    X, t, _ = data
    y = t > np.median(t)
    made = plan(X, y, loss="logistic")
    told = plan(X, y, loss="logistic", intercept="penalised")
    assert made.intercept == "free" and told.parameters["intercept"] == "penalised"
    assert made.effective_dimension <= told.effective_dimension  # the constant column adds a direction
    model = CertifiedClassifier(**told.parameters, random_state=0).fit(X, y)
    assert model.intercept == "penalised" and model.n_iter_ == told.choice.steps
