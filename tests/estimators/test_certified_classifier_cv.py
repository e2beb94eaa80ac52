"""The path over C: every member certified, folds that are the fits they claim to be, and one sketch for all."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from slimline import CertifiedClassifier, CertifiedClassifierCV, CertifiedRegressorCV, open_matrix
from slimline.errors import InvalidParameterError
from slimline.estimators._penalty_search import best_penalty, most_tasks_at_once
from tests.refusals import refuses

# Many data sets below are too small, or too noisy, to learn anything from.
pytestmark = pytest.mark.filterwarnings(
    "ignore::slimline.errors.SearchWarning", "ignore::slimline.errors.AccuracyWarning"
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # weights of 1e3 times C = 1e4
@parametrize_with_checks([CertifiedClassifierCV(Cs=3, cv=2)])
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


def data(n=60, d=400, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) / np.sqrt(d)
    scores = X[:, :4].sum(axis=1) + 0.02 * rng.standard_normal(n)
    return X, np.digitize(scores, np.quantile(scores, np.arange(1, classes) / classes))


@pytest.mark.parametrize("method", ["gram", "sketch"])
@pytest.mark.parametrize("classes", [2, 3])
def test_members_of_the_path_are_certified_and_agree_with_single_fits(method, classes):
    X, y = data(classes=classes)
    settings = {"method": method, "n_components": 96, "tol": 1e-3, "random_state": 3, "max_passes": 100}
    path = CertifiedClassifierCV(Cs=[10.0, 0.1, 1.0], cv=3, **settings).fit(X, y)
    assert path.Cs_.tolist() == [0.1, 1.0, 10.0]
    assert path.scores_.shape == (3, 3)
    for C, coef, certificate in zip(path.Cs_, path.coefs_path_, path.certificates_path_, strict=True):
        exact = CertifiedClassifier(C=C, method="gram").fit(X, y)
        assert certificate.relative_error.max() <= 1e-3
        truth = exact.certificate_
        for k in range(len(coef)):
            away = np.linalg.norm(certificate.weights[k] - truth.weights[k])
            assert away <= certificate.radius[k] + truth.radius[k]
    best = int(np.flatnonzero(path.Cs_ == path.C_)[0])
    np.testing.assert_array_equal(path.coef_, path.coefs_path_[best])
    assert path.scores_.mean(axis=0)[best] == path.scores_.mean(axis=0).max()


@pytest.mark.parametrize("scoring", [None, "roc_auc", "neg_log_loss"])
def test_scores_are_those_of_fits_without_the_fold(scoring):
    X, y = data()
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    settings = {"loss": "logistic", "method": "gram"}
    path = CertifiedClassifierCV(Cs=[0.5, 50.0], cv=folds, scoring=scoring, **settings).fit(X, y)
    from sklearn.metrics import get_scorer

    scorer = get_scorer(scoring or "accuracy")
    for fold, (train, test) in enumerate(folds.split(X, y)):
        for number, C in enumerate(path.Cs_):
            alone = CertifiedClassifier(C=C, **settings).fit(X[train], y[train])
            np.testing.assert_allclose(path.scores_[fold, number], scorer(alone, X[test], y[test]), rtol=1e-6)


def test_one_sketch_and_shared_passes_serve_all_fits():
    X, y = data(n=40, d=2000)
    matrix = open_matrix(X)
    path = CertifiedClassifierCV(Cs=[0.1, 1.0], cv=4, method="sketch", n_components=512, random_state=0).fit(matrix, y)
    steps = len(path.history_)
    sketches = len({step.n_components for step in path.history_})
    assert path.n_passes_ == matrix.passes == steps + sketches  # and not ten times that


def test_weights_count_in_fits_and_scores():
    X, y = data(n=30, d=50)
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(y)).astype(float)
    cv = KFold(3)
    path = CertifiedClassifierCV(Cs=[1.0], cv=cv, method="gram").fit(X, y, sample_weight=weight)
    for fold, (train, test) in enumerate(cv.split(X)):
        alone = CertifiedClassifier(method="gram")
        alone.fit(X[train], y[train], sample_weight=weight[train])
        expected = alone.score(X[test], y[test], sample_weight=weight[test])
        np.testing.assert_allclose(path.scores_[fold, 0], expected)


def test_groups_of_tasks_give_the_same_answer(monkeypatch):
    X, y = data(classes=3)
    together = CertifiedClassifierCV(Cs=[0.1, 1.0], cv=3, method="gram").fit(X, y)
    monkeypatch.setattr("slimline.estimators._certified_search.most_tasks_at_once", lambda shape: 4)
    apart = CertifiedClassifierCV(Cs=[0.1, 1.0], cv=3, method="gram").fit(X, y)
    np.testing.assert_allclose(apart.coefs_path_, together.coefs_path_, rtol=1e-7, atol=1e-10)
    np.testing.assert_array_equal(apart.scores_, together.scores_)
    assert most_tasks_at_once((10**6, 10**9)) == 1


@pytest.mark.parametrize("Cs", [0, -1, True, [], [1.0, -1.0], [np.nan], "many", 2.5])
def test_penalties_that_cannot_be(Cs):
    X, y = data()
    with refuses("Cs"):
        CertifiedClassifierCV(Cs=Cs).fit(X, y)


def test_a_fold_that_takes_a_whole_class_is_refused():
    X, y = data(n=12)
    order = np.argsort(y)
    with pytest.raises(InvalidParameterError):
        CertifiedClassifierCV(Cs=[1.0], cv=KFold(2)).fit(X[order], y[order])


@pytest.mark.parametrize("search", ["certified", "sketch"])
def test_a_fold_without_weight_is_refused(search):
    X, y = data(n=12)
    with pytest.raises(InvalidParameterError, match="weight 0"):
        CertifiedClassifierCV(Cs=[1.0], cv=KFold(3), search=search).fit(X, y, sample_weight=np.arange(12) >= 4)


def test_probabilities_need_the_logistic_loss():
    X, y = data()
    with pytest.raises(Exception, match="logistic"):
        CertifiedClassifierCV(Cs=[1.0], cv=2, scoring="neg_log_loss").fit(X, y)


def test_what_was_not_certified_is_said():
    X, y = data(n=40, d=4000)
    with pytest.warns(ConvergenceWarning, match="certified relative error"):
        CertifiedClassifierCV(Cs=[1e4], cv=2, method="sketch", n_components=64, max_passes=2, tol=1e-6).fit(X, y)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), ShuffleSplit(2, train_size=0.4, random_state=0)], ids=str)
def test_fits_see_the_training_rows_of_the_splitter_and_no_others(cv):
    X, y = data(n=80)
    path = CertifiedClassifierCV(Cs=[0.01], cv=cv, method="gram").fit(X, y)
    for fold, (train, test) in enumerate(cv.split(X)):
        alone = CertifiedClassifier(C=0.01, method="gram").fit(X[train], y[train])
        np.testing.assert_allclose(path.scores_[fold, 0], alone.score(X[test], y[test]))


def test_every_group_of_tasks_has_its_passes_and_the_same_sketch(monkeypatch):
    X, y = data(n=40, d=2000)
    monkeypatch.setattr("slimline.estimators._certified_search.most_tasks_at_once", lambda shape: 2)
    path = CertifiedClassifierCV(
        Cs=[0.1, 1.0], cv=3, method="sketch", n_components=512, random_state=0, max_passes=8
    ).fit(X, y)
    assert max(claim.relative_error[0] for claim in path.certificates_path_) <= 1e-2


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge", "squared"])
@pytest.mark.parametrize("classes", [2, 3])
def test_search_on_an_exact_model_is_the_certified_search(loss, classes):
    X, y = data(classes=classes)
    settings = {"Cs": [0.1, 1.0, 10.0], "cv": 3, "loss": loss, "method": "gram", "tol": 1e-5}
    if loss == "hinge":  # an interval of free intercepts may be optimal, and scores differ along it
        settings["intercept"] = "penalised"
    certified = CertifiedClassifierCV(**settings).fit(X, y)
    quick = CertifiedClassifierCV(search="sketch", **settings).fit(X, y)
    # solved to a gap, not to rounding: a row or two on the boundary may fall on the other side
    assert np.abs(quick.scores_ - certified.scores_).max() <= 2.5 / 20
    assert np.abs(quick.scores_ - certified.scores_).mean() <= 0.02
    if quick.C_ == certified.C_:
        np.testing.assert_allclose(quick.coef_, certified.coef_, atol=1e-4 * np.abs(certified.coef_).max())
    assert quick.certificate_.relative_error.max() <= 1e-5
    assert quick.n_passes_ <= certified.n_passes_


@pytest.mark.parametrize("method", ["sketch", "gram", "direct"])
def test_search_on_the_sketch_fits_once(method):
    X, y = data(n=120, d=3000)
    settings = {"method": method, "n_components": 512, "random_state": 0}
    quick = CertifiedClassifierCV(np.logspace(-4, 4, 6), search="sketch", **settings).fit(X, y)
    alone = CertifiedClassifier(quick.C_, **settings).fit(X, y)
    assert quick.n_passes_ <= alone.n_passes_ + 1  # that the model need not know its smallest penalty may cost a step
    assert quick.certificate_.relative_error.max() <= 1e-2
    assert quick.scores_.shape == (5, 6)
    assert not hasattr(quick, "coefs_path_")
    best = quick.scores_.mean(axis=0)
    assert best[quick.Cs_ == quick.C_] == best.max()


def test_equal_scores_go_to_the_smallest_loss_and_equal_losses_to_the_smallest_penalty():
    same = np.array([[0.5, 1.0, 1.0, 1.0, 0.7], [0.5, 0.8, 0.8, 0.8, 0.9]])
    assert best_penalty(same, np.array([[0.0, 0.9, 0.5, 0.4, 0.1], [0.0, 0.8, 0.5, 0.5, 0.1]]), 1.0) == 3
    close = np.array([[0.0, 0.9, 0.5, 0.49, 0.1], [0.0, 0.8, 0.5, 0.5, 0.1]])  # 0.5 and 0.495
    assert best_penalty(same, close, 1.0) == 2
    assert best_penalty(same, close, 0.1) == 3
    assert best_penalty(same + 1e-15 * np.arange(5), close, 1.0) == 2
    assert (
        best_penalty(same[:, :2], np.array([[0.0, 0.9], [0.0, 0.8]]), 1.0) == 1
    )  # however small the loss of a worse score
    X, y = data(n=60, d=2000)
    X[:, 0] += 40.0 * np.where(y == y[0], 1.0, -1.0)  # every penalty tells them apart
    quick = CertifiedClassifierCV(search="sketch", method="gram", cv=4, intercept="penalised").fit(X, y)
    assert (quick.scores_ == 1.0).all() and quick.Cs_[0] < quick.C_


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("search", ["sketch", "certified"])
def test_search_and_intercept_fit_data_of_any_scale(search, standardize, scale):
    X, y = data(n=80, d=500)
    settings = {"search": search, "method": "gram", "standardize": standardize}
    plain = CertifiedClassifierCV(5, **settings).fit(X, y)
    scaled = CertifiedClassifierCV(5, **settings).fit(X * scale, y)
    unit = 500 if standardize else np.mean(np.sum(X**2, axis=1))
    np.testing.assert_allclose(
        np.intersect1d((plain.Cs_ * unit).round(9), np.logspace(-4, 4, 5)), np.logspace(-4, 4, 5)
    )
    np.testing.assert_allclose(scaled.Cs_ * (1.0 if standardize else scale**2), plain.Cs_, rtol=1e-9)
    np.testing.assert_allclose(scaled.scores_, plain.scores_)
    np.testing.assert_allclose(scaled.losses_, plain.losses_, rtol=1e-6)
    np.testing.assert_array_equal(scaled.predict(X * scale), plain.predict(X))


def test_search_must_be_known():
    with refuses("search"):
        CertifiedClassifierCV(search="quick").fit(*data())
    with pytest.raises(InvalidParameterError):
        CertifiedClassifierCV(search="sketch", cv=KFold(2)).fit(np.eye(4), [0, 0, 1, 1])


def test_a_number_of_folds_keeps_groups_together():
    X, y = data(n=60, d=80)
    groups = np.arange(60) // 3
    settings = {"method": "gram", "search": "sketch"}
    found = CertifiedClassifierCV([0.1, 1.0], cv=4, **settings).fit(X, y, groups=groups)
    by_hand = CertifiedClassifierCV([0.1, 1.0], cv=StratifiedGroupKFold(4), **settings).fit(X, y, groups=groups)
    np.testing.assert_array_equal(found.scores_, by_hand.scores_)
    alone = CertifiedClassifierCV([0.1, 1.0], cv=4, **settings).fit(X, y)
    assert (found.losses_ != alone.losses_).any()
    found = CertifiedRegressorCV([0.1, 1.0], cv=4, method="gram").fit(X, X[:, 0], groups=groups)
    by_hand = CertifiedRegressorCV([0.1, 1.0], cv=GroupKFold(4), method="gram").fit(X, X[:, 0], groups=groups)
    np.testing.assert_array_equal(found.scores_, by_hand.scores_)
