"""Tests of the errors, scores and residuals of a regression on held-out samples."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, r2_score, root_mean_squared_error

from slimline import CertifiedRegressor
from slimline.errors import DataError
from slimline.estimators import CertifiedPredictions
from slimline.report._held_out_targets import held_out_targets, no_better_target_words, null_predictions

TOLD = {
    "names": ("height",),
    "with_covariates": True,
    "loss": "squared",
    "quantile": 0.5,
    "source": "",
    "trained_rows": 9,
}


def _measured(value, y, baseline=None, radius=0.0, **more):
    found = CertifiedPredictions(value, value - radius, value + radius)
    baseline = np.full_like(y, y.mean()) if baseline is None else baseline
    return held_out_targets(found, y, baseline, **{**TOLD, **more})


def _data(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = 160.0 + 9.0 * rng.standard_normal(n)
    return y, y + 6.0 * rng.standard_normal(n), rng


def test_numbers_are_those_of_scikit_learn():
    y, value, rng = _data()
    null = y + 20.0 * rng.standard_normal(len(y))
    (held,) = _measured(value, y, null)
    assert held.name == "height" and held.n_rows == 300 and held.baseline == "the covariates alone"
    assert held.r2.value == pytest.approx(r2_score(y, value)) and held.baseline_r2 == pytest.approx(r2_score(y, null))
    assert held.correlation.value == pytest.approx(np.corrcoef(y, value)[0, 1])
    assert held.mean_absolute_error == pytest.approx(mean_absolute_error(y, value))
    assert held.baseline_mean_absolute_error == pytest.approx(mean_absolute_error(y, null))
    assert held.root_mean_square_error == pytest.approx(root_mean_squared_error(y, value))
    assert held.loss == pytest.approx(held.root_mean_square_error**2) and held.scoring == "squared error"
    assert held.predicted == tuple(value) and held.observed == tuple(y) and held.coverage is None
    assert held.residual_quantiles == pytest.approx(np.quantile(y - value, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]))
    counts, ends = np.histogram(y - value, len(held.residual_counts))
    assert held.residual_counts == tuple(counts) and held.residual_ends == pytest.approx(ends)
    assert sum(held.residual_counts) == 300 and not held.worse_than_baseline


@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive"])
def test_robust_losses_are_compared_by_absolute_errors(loss):
    y, value, _ = _data()
    y[0] += 1e6  # an outlier decides every squared error
    (held,) = _measured(value, y, loss=loss, with_covariates=False)
    assert held.scoring == "absolute error" and held.baseline == "the median"
    assert held.loss == pytest.approx(mean_absolute_error(y, value))


def test_quantiles_are_compared_by_their_loss_and_have_a_coverage():
    y, value, _ = _data()
    (held,) = _measured(value + 8.0, y, loss="quantile", quantile=0.9, with_covariates=False)
    assert held.scoring == "quantile loss" and held.baseline == "the quantile"
    assert held.loss == pytest.approx(mean_pinball_loss(y, value + 8.0, alpha=0.9))
    below = int(np.sum(y <= value + 8.0))
    assert held.coverage.share == below / 300 and held.coverage.quantile == 0.9
    assert binom.sf(below - 1, 300, held.coverage.low) == pytest.approx(0.025)
    assert binom.cdf(below, 300, held.coverage.high) == pytest.approx(0.025)


# Certified intervals -------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_the_exact_model_is_within(loss):
    rng = np.random.default_rng(1)
    X, sex = rng.standard_normal((150, 900)), rng.integers(0, 2, (150, 1))
    y = X[:, :9].sum(axis=1) + 4.0 * sex[:, 0] + rng.standard_normal(150)
    settings = {"C": 1e-2, "loss": loss, "random_state": 0}
    rough = CertifiedRegressor(tol=0.02, method="sketch", n_components=150, **settings)
    exact = CertifiedRegressor(tol=1e-9, method="gram", **settings)
    rough, exact = (model.fit(X[:100], y[:100], covariates=sex[:100]) for model in (rough, exact))
    assert 1e-6 < rough.certificate_.relative_error[0] <= 0.02
    found = rough.certified_predictions(X[100:], sex[100:])
    (held,) = held_out_targets(found, y[100:], np.zeros(50), **{**TOLD, "loss": loss})
    reached = exact.predict(X[100:], sex[100:])
    assert held.r2.lower <= r2_score(y[100:], reached) <= held.r2.upper < held.r2.lower + 2.0
    assert held.correlation.lower <= np.corrcoef(y[100:], reached)[0, 1] <= held.correlation.upper
    assert (np.abs(np.array(held.predicted) - reached) <= held.radius).all()
    assert held.largest_radius == max(held.radius) and held.median_radius == np.median(held.radius)


def test_nothing_proved_is_no_interval():
    y, value, _ = _data(20)
    for radius in (np.inf, 1e9):
        (held,) = _measured(value, y, radius=radius)
        assert held.r2.upper == 1.0 and held.r2.lower < -1e9
        assert (held.correlation.lower, held.correlation.upper) == (-1.0, 1.0)


def test_what_is_constant_has_no_score():
    y, value, _ = _data(20)
    (held,) = _measured(value, np.full(20, 0.1))
    assert held.r2 is None and held.correlation is None and held.baseline_r2 is None
    (held,) = _measured(np.full(20, 0.1), y)
    assert held.correlation is None and held.r2.value <= 0.0
    (held,) = _measured(value[:1], y[:1])
    assert held.r2 is None and held.residual_counts[2] == 1


# Baseline ------------------------------------------------------------------------------------------


def test_the_baseline_is_least_squares_on_the_covariates():
    rng = np.random.default_rng(0)
    U = np.column_stack([20_000 + 5_000 * rng.standard_normal(60), rng.integers(0, 2, 60), np.full(60, 3.0)])
    U = np.column_stack([U, U[:, 0] - 7.0])  # a constant, and a copy
    y = 1e-3 * U[:, :1] + rng.standard_normal((60, 2))
    model = LinearRegression().fit(U[:40, :2], y[:40])
    found = null_predictions(y[:40], U[:40], U[40:], 20, loss="squared")
    assert found == pytest.approx(model.predict(U[40:, :2]))
    rest = y[:40] - model.predict(U[:40, :2])
    for loss, quantile in (("huber", 0.5), ("quantile", 0.8)):
        moved = null_predictions(y[:40], U[:40], U[40:], 20, loss=loss, quantile=quantile)
        assert moved - found == pytest.approx(np.tile(np.quantile(rest, quantile, axis=0), (20, 1)))


@pytest.mark.parametrize(
    ("loss", "function"),
    [("squared", np.mean), ("epsilon_insensitive", np.median), ("quantile", lambda y: np.quantile(y, 0.3))],
)
def test_without_covariates_it_is_a_number(loss, function):
    y, _, _ = _data(51)
    found = null_predictions(y, None, None, 4, loss=loss, quantile=0.3)
    assert found.shape == (4,) and found == pytest.approx(function(y))


def test_no_better_than_the_baseline():
    y, value, rng = _data()
    noise = y.mean() + 30.0 * rng.standard_normal(300)
    (held,) = _measured(noise, y)
    assert held.worse_than_baseline and "of 'height' is" in no_better_target_words([held])
    assert "2 other targets" in no_better_target_words([held] * 3)
    assert _measured(np.full(300, y.mean()), y)[0].worse_than_baseline  # the same is no better
    assert not _measured(value, y)[0].worse_than_baseline


# Points --------------------------------------------------------------------------------------------


def test_many_points_are_thinned_out():
    y, value, _ = _data(5000)
    (held,), (again,) = _measured(value, y, radius=0.5), _measured(value, y, radius=0.5)
    assert held == again and 900 < len(held.predicted) <= 1000
    assert held.radius == pytest.approx([0.5] * len(held.radius))
    residuals = np.array(held.observed) - held.predicted
    assert np.abs(residuals).max() == np.abs(y - value).max()
    assert (min(held.predicted), max(held.predicted)) == (value.min(), value.max())
    order = np.argsort(value)  # every stretch of predictions has its share of points
    shares = np.histogram(held.predicted, value[order[[0, 1250, 2500, 3750, 4999]]])[0]
    assert shares.min() > 230 and shares.max() < 290
    assert sum(held.residual_counts) == 5000


def test_several_targets_share_the_points():
    y, value, _ = _data(2000)
    both = held_out_targets(
        CertifiedPredictions(*(np.column_stack([part, part]) for part in (value, value - 1, value + 2))),
        np.column_stack([y, -y]), np.zeros((2000, 2)), **{**TOLD, "names": ("a", "b")},
    )  # fmt: skip
    assert [held.name for held in both] == ["a", "b"] and all(len(held.predicted) <= 500 for held in both)
    assert both[0].correlation.value == pytest.approx(-both[1].correlation.value)
    assert both[0].largest_radius == pytest.approx(2.0)  # the farther side


def test_other_shapes_are_refused():
    y, value, _ = _data(20)
    with pytest.raises(DataError, match="y_test has the shape"):
        _measured(value, y[:4])
