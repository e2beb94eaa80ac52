"""The selector: the heaviest features, which of them are proved, and how far sketches agree."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from slimline import CertifiedClassifier, CertifiedFeatureSelector
from slimline.errors import InvalidParameterError
from slimline.estimators._selector import jaccard, stability_index


@parametrize_with_checks([CertifiedFeatureSelector(), CertifiedFeatureSelector(k=2, repeats=2)])
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


def data(n=80, d=1500, strong=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) / np.sqrt(d)
    X[:, :strong] *= 12.0
    y = X[:, :strong].sum(axis=1) > 0
    return X, y


def test_chosen_and_proved_features_are_those_of_the_exact_model():
    X, y = data()
    estimator = CertifiedClassifier(method="sketch", n_components=512, tol=1e-3, random_state=0)
    selector = CertifiedFeatureSelector(5, estimator).fit(X, y)
    exact = CertifiedClassifier(method="gram").fit(X, y)
    truth = set(np.argsort(-np.abs(exact.coef_[0]))[:5].tolist())
    assert set(np.flatnonzero(selector.proved_).tolist()) <= truth
    assert selector.proved_.any()
    assert set(selector.get_support(indices=True).tolist()) == set(selector.ranking_.tolist()) == truth
    np.testing.assert_array_equal(selector.transform(X), X[:, sorted(truth)])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the naive weights
def test_repeats_measure_how_far_sketches_agree():
    X, y = data(strong=2)
    rough = CertifiedClassifier(method="sketch", recovery="naive", n_components=64, random_state=1)
    selector = CertifiedFeatureSelector(20, rough, repeats=4).fit(X, y)
    assert len(selector.estimators_) == 4
    chosen = np.array([np.isin(np.arange(1500), model.top_features(20).index) for model in selector.estimators_])
    np.testing.assert_allclose(selector.frequency_, chosen.mean(axis=0))
    pairs = [len(set(np.flatnonzero(a)) & set(np.flatnonzero(b))) for i, a in enumerate(chosen) for b in chosen[:i]]
    np.testing.assert_allclose(selector.jaccard_, np.mean([same / (40 - same) for same in pairs]))
    assert 0.0 <= selector.jaccard_ < 1.0
    assert selector.stability_ == stability_index(chosen)
    falling = selector.frequency_[selector.ranking_]
    assert np.all(np.diff(falling) <= 0)
    exact = CertifiedFeatureSelector(20, CertifiedClassifier(method="gram"), repeats=3).fit(X, y)
    assert exact.jaccard_ == exact.stability_ == 1.0


def test_stability_index_by_its_definition():
    rng = np.random.default_rng(0)
    chosen = rng.random((7, 40)) < 0.2
    d = chosen.shape[1]
    variance = chosen.var(axis=0, ddof=1).mean()
    k = chosen.sum(axis=1).mean() / d
    np.testing.assert_allclose(stability_index(chosen), 1 - variance / (k * (1 - k)))
    assert stability_index(np.tile(chosen[:1], (4, 1))) == 1.0
    assert stability_index(chosen[:1]) == 1.0
    random = np.array([np.isin(np.arange(400), rng.choice(400, 20, replace=False)) for _ in range(200)])
    assert abs(stability_index(random)) < 0.05  # chance: about 0
    assert jaccard(chosen[0], chosen[0]) == 1.0
    assert jaccard(np.zeros(3, bool), np.zeros(3, bool)) == 1.0
    assert jaccard(np.array([True, True, False]), np.array([False, True, True])) == pytest.approx(1 / 3)


def test_sparse_frames_pipelines_and_names():
    import pandas as pd

    X, y = data(n=60, d=120)
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(120)])
    selector = CertifiedFeatureSelector(3).set_output(transform="pandas").fit(frame, y)
    assert list(selector.transform(frame).columns) == list(selector.get_feature_names_out())
    assert all(name.startswith("gene") for name in selector.get_feature_names_out())
    sparse = CertifiedFeatureSelector(3).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(sparse.get_support(), selector.get_support())
    model = make_pipeline(CertifiedFeatureSelector(5), CertifiedClassifier()).fit(X, y)
    assert model.score(X, y) > 0.8
    assert CertifiedFeatureSelector(500).fit(X, y).get_support().all()  # more than there are


@pytest.mark.parametrize("parameters", [{"k": 0}, {"k": 1.5}, {"k": True}, {"repeats": 0}, {"estimator": 3.0}], ids=str)
def test_what_cannot_be_is_refused(parameters):
    X, y = data(n=20, d=30)
    with pytest.raises(InvalidParameterError):
        CertifiedFeatureSelector(**parameters).fit(X, y)


def test_repeated_fits_sketch_where_one_would_not():
    X, y = data()
    selector = CertifiedFeatureSelector(5, repeats=2).fit(X, y)
    assert [model.route_.method for model in selector.estimators_] == ["sketch", "sketch"]
    assert CertifiedFeatureSelector(5).fit(X, y).estimators_[0].route_.method == "gram"
