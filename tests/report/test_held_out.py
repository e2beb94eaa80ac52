"""Tests of the accuracy on held-out samples."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import accuracy_score, average_precision_score, balanced_accuracy_score, roc_auc_score

from slimline import CertifiedClassifier
from slimline.estimators._decisions import Decisions
from slimline.report._held_out import held_out, no_better_words


def _fitted(classes, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.array([f"k{c}" for c in range(classes)])
    y = labels[np.arange(120) % classes]
    X = rng.standard_normal((120, 60)) + 0.4 * rng.standard_normal((classes, 60))[np.arange(120) % classes]
    return CertifiedClassifier(C=0.1, random_state=0).fit(X[:60], y[:60]), X[60:], y[60:]


def _held_out(model, decisions, y, majority, source="", **more):
    return held_out(model.classes_, decisions, y, majority, source=source, trained_rows=60, **more)


@pytest.mark.parametrize("classes", [2, 4])
def test_numbers_are_those_of_scikit_learn(classes):
    model, X, y = _fitted(classes)
    decisions = model.decide(X)
    found = _held_out(model, decisions, y, "k1", "the last 60")
    assert found.n_rows == 60 and found.source == "the last 60" and found.trained_rows == 60
    assert found.accuracy == accuracy_score(y, decisions.labels)
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(y, decisions.labels))
    assert found.majority_label == "k1" and found.majority_rate == (y == "k1").mean()
    assert found.proved == decisions.proved.mean()
    assert np.array(found.confusion).sum() == 60 and np.trace(found.confusion) == found.accuracy * 60
    assert len(found.curves) == (1 if classes == 2 else classes)
    for curve in found.curves:
        of_it = y == curve.label
        scores = decisions.scores if classes == 2 else decisions.scores[:, int(curve.label[1:])]
        assert curve.area == pytest.approx(roc_auc_score(of_it, scores))
        assert curve.average_precision == pytest.approx(average_precision_score(of_it, scores))
        assert (curve.false_positive[0], curve.true_positive[0]) == (0.0, 0.0)
        assert (curve.false_positive[-1], curve.true_positive[-1]) == (1.0, 1.0)
        assert np.trapezoid(curve.true_positive, curve.false_positive) == pytest.approx(curve.area)


def test_the_interval_is_where_a_chance_would_be_a_surprise():
    model, X, y = _fitted(2)
    found = _held_out(model, model.decide(X), y, "k0", "")
    right = round(found.accuracy * 60)
    assert binom.sf(right - 1, 60, found.low) == pytest.approx(0.025)
    assert binom.cdf(right, 60, found.high) == pytest.approx(0.025)


def test_a_class_that_no_row_has_gets_no_curve():
    model, X, y = _fitted(3)
    rows = y != "k2"
    found = _held_out(model, model.decide(X[rows]), y[rows], "k2", "")
    assert [curve.label for curve in found.curves] == ["k0", "k1"] and found.majority_rate == 0.0
    one = y == "k0"
    assert _held_out(model, model.decide(X[one]), y[one], "k2", "").curves == ()


def test_long_curves_are_thinned_out():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 3))
    y = (X[:, 0] + rng.standard_normal(5000) > 0).astype(int)
    model = CertifiedClassifier().fit(X[:100], y[:100])
    (curve,) = _held_out(model, model.decide(X), y, 1, "").curves
    assert len(curve.false_positive) <= 200 and len(curve.recall) <= 200
    assert np.trapezoid(curve.true_positive, curve.false_positive) == pytest.approx(curve.area, abs=1e-2)


def test_no_better_than_always_naming_the_commonest_class():
    """Nine rows of ten are of one class: to name it always is right for these, and no better than chance by classes."""
    y = np.where(np.arange(40) % 10 == 0, "rare", "common")
    model = CertifiedClassifier().fit(np.eye(2), ["common", "rare"])

    def said(labels, **more):
        decisions = Decisions(np.asarray(labels), np.zeros(40), np.ones(40, dtype=bool))
        return _held_out(model, decisions, y, "common", **more)

    always = said(["common"] * 40)
    assert always.worse_than_majority and always.scoring == "accuracy" and "90.0%" in no_better_words(always)
    assert said(["common"] * 40, balanced=True).worse_than_majority
    assert not said(y).worse_than_majority and not said(y, balanced=True).worse_than_majority
    found = np.where(np.arange(40) < 15, "rare", y)  # all that are rare, and some that are not
    assert said(found).worse_than_majority
    assert not said(found, balanced=True).worse_than_majority
    assert "balanced accuracy" in no_better_words(said(["common"] * 40, balanced=True))
