"""Tests of the calibration of probabilities, and of the prevalence."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

from slimline import CertifiedClassifier, CertifiedRegressor
from slimline.errors import InvalidParameterError
from slimline.report._calibration import calibration_of, prevalence_facts, wilson
from slimline.report._records import PrevalenceFacts

CLASSES = np.array(["control", "case"])


def _scored(n=200, seed=0):
    rng = np.random.default_rng(seed)
    scores = 2.0 * rng.standard_normal(n)
    return scores, np.where(rng.random(n) < expit(scores), "case", "control")


@pytest.mark.parametrize(("successes", "n"), [(0, 7), (7, 7), (3, 7), (1, 1000), (499, 1000), (0, 1), (1, 1)])
def test_wilson(successes, n):
    found = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert wilson(successes, n) == pytest.approx((found.low, found.high), abs=1e-12)


def test_bins_are_those_of_scikit_learn():
    scores, y = _scored()
    (found,) = calibration_of(CLASSES, scores, y)
    observed, predicted = calibration_curve(y == "case", expit(scores), n_bins=10, strategy="quantile")
    assert found.label == "case" and [part.n_rows for part in found.bins] == [20] * 10
    assert [part.observed for part in found.bins] == pytest.approx(observed)
    assert [part.predicted for part in found.bins] == pytest.approx(predicted)
    assert found.error == pytest.approx(np.abs(observed - predicted).mean())
    for part in found.bins:
        assert (part.low, part.high) == pytest.approx(
            wilson(part.n_of_it, 20)
        ) and part.low <= part.observed <= part.high


def test_several_classes_have_a_calibration_each():
    rng = np.random.default_rng(0)
    classes, scores = np.array(["a", "b", "c", "d"]), rng.standard_normal((90, 4))
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 90)]  # none of d
    found = calibration_of(classes, scores, y)
    assert [one.label for one in found] == ["a", "b", "c"]
    share = expit(scores[:, 1]) / expit(scores).sum(axis=1)
    assert sum(part.n_rows * part.predicted for part in found[1].bins) == pytest.approx(share.sum())
    assert sum(part.n_of_it for part in found[1].bins) == (y == "b").sum()


def test_equal_probabilities_stay_together():
    """Sorted by class, samples of one probability would else fill bins of one class each."""
    scores = np.zeros(100)
    y = np.repeat(CLASSES, 50)
    (found,) = calibration_of(CLASSES, scores, y)
    assert len(found.bins) == 1 and found.bins[0].observed == 0.5 and found.error == 0.0
    scores[80:] = 3.0
    for order in (np.arange(100), np.random.default_rng(0).permutation(100)):
        (found,) = calibration_of(CLASSES, scores[order], y[order])
        assert [(part.n_rows, part.n_of_it) for part in found.bins] == [(80, 30), (20, 20)]


@pytest.mark.parametrize("n", [1, 3, 11, 25])
def test_few_samples_make_few_bins(n):
    scores, y = _scored(n)
    (found,) = calibration_of(CLASSES, scores, y)
    assert sum(part.n_rows for part in found.bins) == n and len(found.bins) == max(1, n // 10)


def test_certain_scores():
    (found,) = calibration_of(CLASSES, np.array([-1e9, -800.0, 800.0, 1e9] * 10), np.tile(CLASSES, 20))
    assert found.error == 0.5 and {part.predicted for part in found.bins} == {0.0, 1.0}


# Prevalence ----------------------------------------------------------------------------------------


def test_a_sample_by_class_is_moved_to_its_population():
    """A population of two strata; all cases and every tenth control are sampled, exactly."""
    cases, controls = np.array([10, 40]), np.array([4000, 1000])
    sampled = controls // 10
    scores = np.repeat(logit(cases / (cases + sampled)), cases + sampled)  # calibrated for the sample
    y = np.concatenate([np.repeat(["case", "control"], pair) for pair in zip(cases, sampled, strict=True)])
    prevalence, share = cases.sum() / (cases + controls).sum(), cases.sum() / (cases + sampled).sum()
    facts = PrevalenceFacts(prevalence, share, logit(prevalence) - logit(share))
    (found,) = calibration_of(CLASSES, scores, y, facts)
    truth = cases / (cases + controls)
    assert [part.predicted for part in found.bins] == pytest.approx(truth)
    assert [part.observed for part in found.bins] == pytest.approx(truth)
    assert found.error == pytest.approx(0.0, abs=1e-15)
    for part, k, n in zip(found.bins, cases, cases + sampled, strict=True):
        assert (part.low, part.high) == pytest.approx(tuple(expit(logit(np.array(wilson(k, n))) + facts.shift)))


def test_at_a_prevalence_samples_count_as_often_as_their_class():
    scores, y = _scored(400)
    facts = PrevalenceFacts(0.02, 0.45, logit(0.02) - logit(0.45))
    (found,) = calibration_of(CLASSES, scores, y, facts)
    moved, weight = expit(scores + facts.shift), np.where(y == "case", 0.02 / 0.45, 0.98 / 0.55)
    order, total = np.argsort(scores), 0.0
    for part, rows in zip(found.bins, np.array_split(order, 10), strict=True):
        mean, observed = (np.average(what[rows], weights=weight[rows]) for what in (moved, y == "case"))
        assert (part.predicted, part.observed) == pytest.approx((mean, observed))
        total += weight[rows].sum() * abs(mean - observed)
    assert found.error == pytest.approx(total / weight.sum())


def test_the_shift_is_that_of_the_training_samples():
    X, y = np.eye(6), [0, 0, 0, 0, 1, 1]
    model = CertifiedClassifier(loss="logistic", intercept="free").fit(X, y)
    facts = prevalence_facts(model, 0.01)
    assert (facts.prevalence, facts.training_share) == (0.01, 1 / 3)
    assert facts.shift == pytest.approx(np.log(0.01 / 0.99) - np.log(1 / 2))


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (CertifiedClassifier(loss="squared_hinge", intercept="free"), [0, 0, 1, 1, 1, 1], "logistic"),
        (CertifiedClassifier(loss="logistic", intercept="free"), [0, 0, 1, 1, 2, 2], "two classes"),
        (CertifiedClassifier(loss="logistic", intercept="penalised"), [0, 0, 1, 1, 1, 1], "intercept"),
        (
            CertifiedClassifier(loss="logistic", intercept="free", class_weight="balanced"),
            [0, 0, 1, 1, 1, 1],
            "class_w",
        ),
        (CertifiedRegressor(), [0.0, 0.0, 1.0, 1.0, 1.0, 1.0], "two classes"),
    ],
)
def test_other_models_have_no_shift(model, y, words):
    model.fit(np.eye(6), y)
    with pytest.raises(InvalidParameterError, match=words) as raised:
        prevalence_facts(model, 0.01)
    assert raised.value.parameter == "prevalence"


@pytest.mark.parametrize("prevalence", [0.0, 1.0, -1.0, float("nan"), "much"])
def test_a_prevalence_is_a_share(prevalence):
    model = CertifiedClassifier(loss="logistic", intercept="free").fit(np.eye(6), [0, 0, 0, 0, 1, 1])
    with pytest.raises(InvalidParameterError) as raised:
        prevalence_facts(model, prevalence)
    assert raised.value.parameter == "prevalence"
