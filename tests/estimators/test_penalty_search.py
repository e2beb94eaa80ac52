"""The choice of C: one grid in units of the data, extended if it ends too early, and scores that mean something."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

from slimline import CertifiedClassifier, CertifiedClassifierCV
from slimline.data import simulate_genotypes
from slimline.errors import AccuracyWarning, SearchWarning
from slimline.estimators._penalty_search import penalties, search_penalties
from tests.learning.real_sets import as_dense, filled, real_set
from tests.tiers import rest_nightly

SEARCHES = ["sketch", "certified"]


def scored(best_at):
    """Return what scores penalties by their distance from one of them, and what was tried."""
    tried = []

    def attempt(Cs):
        tried.append(Cs)
        return -np.abs(np.log10(Cs / best_at))[None, :], np.ones((1, len(Cs)))

    return attempt, tried


@pytest.mark.parametrize(("best_at", "edge"), [(1.0, ""), (1e5, ""), (1e-5, ""), (1e9, "largest"), (1e-9, "smallest")])
@pytest.mark.parametrize("unit", [1.0, 1e-7, 1e12])
def test_an_automatic_grid_is_extended_until_its_best_value_is_inside(best_at, edge, unit):
    attempt, tried = scored(best_at / unit)
    found = search_penalties(10, unit, 1.0, attempt)
    np.testing.assert_allclose(tried[0], np.logspace(-4, 4, 10) / unit)
    assert found.edge == edge
    assert (np.diff(found.Cs) > 0).all() and found.scores.shape == found.losses.shape == (1, len(found.Cs))
    np.testing.assert_allclose(found.scores[0], -np.abs(np.log10(found.Cs * unit / best_at)))
    assert len(tried) == 1 or best_at != 1.0
    if not edge:
        assert abs(np.log10(found.Cs[found.best] * unit / best_at)) < 1.0
    assert found.Cs[0] * unit > 1e-6 / 1.01 and found.Cs[-1] * unit < 1e6 * 1.01


def test_values_that_are_given_are_not_extended():
    attempt, tried = scored(1e5)
    found = search_penalties([1.0, 10.0], 1.0, 1.0, attempt)
    assert len(tried) == 1 and found.Cs.tolist() == [1.0, 10.0] and found.edge == "largest"
    assert search_penalties([3.0], 1.0, 1.0, attempt).edge == ""
    assert penalties(1, 4.0).tolist() == [0.25]


def separated(n=60, d=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.arange(n) % 4 == 0
    X[y, :20] += 2.0
    return X, y


@pytest.mark.filterwarnings("ignore::slimline.errors.SearchWarning", "ignore::slimline.errors.AccuracyWarning")
@pytest.mark.parametrize("search", SEARCHES)
def test_weights_of_samples_enter_the_grid(search):
    X, y = separated()
    X[:10] *= 100.0
    weight = np.r_[np.full(10, 1e-9), np.ones(len(y) - 10)]
    folds = StratifiedKFold(3)
    model = CertifiedClassifierCV(5, search=search, cv=folds, method="gram", fit_intercept=False)
    weighted, plain = model.fit(X, y, sample_weight=weight).Cs_.copy(), model.fit(X, y).Cs_
    assert np.isclose(weighted[:, None], np.logspace(-4, 4, 5) / np.mean(np.sum(X[10:] ** 2, axis=1))).any(axis=0).all()
    assert np.isclose(plain[:, None], np.logspace(-4, 4, 5) / np.mean(np.sum(X**2, axis=1))).any(axis=0).all()


@pytest.mark.parametrize("search", SEARCHES)
def test_balanced_accuracy_is_what_it_says(search):
    X, y = separated()
    folds = StratifiedKFold(3)
    settings = {"method": "gram"}
    model = CertifiedClassifierCV([1e-3, 1e-1], search=search, cv=folds, scoring="balanced_accuracy", **settings)
    model.fit(X, y)
    for fold, (train, test) in enumerate(folds.split(X, y)):
        for k, C in enumerate(model.Cs_):
            alone = CertifiedClassifier(C, **settings).fit(X[train], y[train])
            expected = balanced_accuracy_score(y[test], alone.predict(X[test]))
            assert model.scores_[fold, k] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_best_value_at_the_end_is_said(search):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((40, 200)), np.arange(40) % 2
    X[:, :50] = 2.0 * y[:, None] - 1.0  # nothing contradicts these, so that more C always has a smaller loss
    with pytest.warns(SearchWarning, match="largest"):
        CertifiedClassifierCV(search=search, method="gram", loss="logistic", scoring="neg_log_loss").fit(X, y)


@pytest.mark.parametrize("scoring", [None, "accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("search", SEARCHES)
def test_scores_that_need_no_features_are_said(search, scoring):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 100)), np.arange(60) % 5 == 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CertifiedClassifierCV([1e-9, 1e-8], search=search, scoring=scoring, method="gram").fit(X, y)
    assert any(entry.category is AccuracyWarning for entry in caught)
    X, y = separated()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CertifiedClassifierCV([1e-3, 1e-2], search=search, scoring=scoring, method="gram").fit(X, y)


@pytest.mark.slow
def test_classes_that_differ_little_are_scored_without_the_noise_of_a_sketch():
    """Held-out samples whose scores are lost in the noise of 2,000 components are told apart by their features."""
    cohort = simulate_genotypes(480, 40_000, n_populations=3, fst=0.002, seed=0)
    scores = {}
    for method, r in (("auto", "auto"), ("gram", "auto"), ("sketch", 2000)):
        search = CertifiedClassifierCV(
            [1e-6, 1e-5], cv=3, search="sketch", standardize=True, method=method, n_components=r, random_state=0
        )
        scores[method] = search.fit(cohort.X, cohort.populations).scores_
    np.testing.assert_array_equal(scores["auto"], scores["gram"])
    assert scores["auto"].mean() > 0.95 and scores["sketch"].mean() < 0.9


def one_population(folder):
    """Return genotypes without missing calls, and who is of one population."""
    lines = (folder / "hapmap3_1kg/hapmap3.labels.tsv").read_text().splitlines()[1:]
    y = np.array([line.split("\t")[2] == "CEU" for line in lines])
    return filled(as_dense(folder, "hapmap3", np.arange(len(y)))[:, ::3]), y


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", rest_nightly(["golub"], ["alon", "singh", "hapmap3"]))
def test_fold_scores_are_those_of_standardising_inside_each_fold(data_dir, name):
    """Means of all rows centre the rows left out, too: with a free intercept, this does not matter."""
    X, y = one_population(data_dir) if name == "hapmap3" else real_set(data_dir, name)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchWarning)
        model = CertifiedClassifierCV(search="sketch", cv=folds, standardize=True, method="gram").fit(X, y)
    inside = np.empty_like(model.scores_)
    for fold, (train, test) in enumerate(folds.split(X, y)):
        mean, std = X[train].mean(axis=0), X[train].std(axis=0)
        varies = std > 1e-9
        seen, unseen = ((X[rows][:, varies] - mean[varies]) / std[varies] for rows in (train, test))
        for k, C in enumerate(model.Cs_):
            alone = CertifiedClassifier(C, method="gram").fit(seen, y[train])
            inside[fold, k] = accuracy_score(y[test], alone.predict(unseen))
    error = np.maximum(inside.std(axis=0), 1.0 / len(y)) / np.sqrt(len(inside) - 1)
    outside = model.scores_.mean(axis=0)
    for best in (outside.argmax(), inside.mean(axis=0).argmax()):
        assert np.abs(outside - inside.mean(axis=0))[best] <= error[best]
    commonest = np.unique(y, return_counts=True)[1].max() / len(y)
    assert (model.scores_.mean(axis=0) > commonest - 0.02).all()  # and never below what needs no features
