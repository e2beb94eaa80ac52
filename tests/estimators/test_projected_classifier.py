"""Any classifier on the sketch: wiring, lifted weights, every kind of data, real data."""

import gzip
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler, normalize
from sklearn.svm import SVC, LinearSVC

from slimline import GaussianProjection, ProjectedClassifier, SparseEmbedding, open_matrix
from slimline.errors import InvalidParameterError
from slimline.projections import Gaussian, HashEmbedding, Identity, Projection
from tests.pairwise import pairwise

FAMILIES = ["auto", "gaussian", "sign", "achlioptas", "very_sparse", "srht", "srht_replaced", "cw", "osnap"]
FAMILIES += ["generalised_cw"]


def _data(n=120, d=3000, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return (rng.normal(size=(n_classes, d))[y] / 2 + rng.normal(size=(n, d))) / np.sqrt(d), y


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_the_classifier_on_the_sketch(family):
    X, y = _data()
    model = ProjectedClassifier(family, 256, LogisticRegression(), random_state=4).fit(X, y)
    Z = X @ np.asarray(model.projection_.rows() @ np.eye(256))
    expected = LogisticRegression(random_state=0).fit(Z, y)
    assert model.n_components_ == 256 and model.projection_.seed == 4
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(Z), rtol=0, atol=1e-3)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(Z), rtol=0, atol=1e-3)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    np.testing.assert_array_equal(model.predict(X), expected.predict(Z))


@pytest.mark.parametrize(
    "family, estimator, n_classes",
    pairwise(
        FAMILIES, [None, LogisticRegression(), RidgeClassifier(), LinearSVC(fit_intercept=False, dual=False)], [2, 3]
    ),
)
def test_lifted_weights_give_the_scores(family, estimator, n_classes):
    X, y = _data(60, 500, n_classes)
    model = ProjectedClassifier(family, 64, estimator, random_state=0).fit(X, y)
    scores = X @ model.coef_.T + model.intercept_
    assert model.coef_.shape == (*model.estimator_.coef_.shape[:-1], 500)
    expected = model.decision_function(X).reshape(scores.shape)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12 * np.abs(expected).max() * 500)


def test_weights_of_a_linear_kernel_on_sparse_and_of_no_linear_model():
    X, y = _data(60, 500, 2)
    linear = ProjectedClassifier("cw", 64, SVC(kernel="linear"), random_state=0).fit(X, y)
    np.testing.assert_allclose(X @ linear.coef_[0] + linear.intercept_, linear.decision_function(X), atol=1e-9)
    for estimator in (GaussianNB(), SVC(), KNeighborsClassifier()):
        model = ProjectedClassifier("cw", 64, estimator, random_state=0).fit(X, y)
        assert not hasattr(model, "coef_") and not hasattr(model, "intercept_")


def test_methods_are_there_where_the_estimator_has_them():
    assert hasattr(ProjectedClassifier(), "decision_function") and not hasattr(ProjectedClassifier(), "predict_proba")
    neighbours = ProjectedClassifier(estimator=KNeighborsClassifier())
    assert hasattr(neighbours, "predict_proba") and not hasattr(neighbours, "decision_function")
    X, y = _data(30, 100)
    assert neighbours.fit(X, y).predict_proba(X).shape == (30, 3)


def test_how_many_components_auto_takes():
    for d, n_components, kind in ((5, 5, Identity), (2048, 2048, Identity), (2049, 1024, HashEmbedding)):
        X, y = _data(12, d)
        model = ProjectedClassifier(random_state=0).fit(X, y)
        assert model.n_components_ == n_components and isinstance(model.projection_, kind)
    assert model.projection_.nnz_per_feature == 4


def test_narrow_data_lose_nothing():
    X, y = _data(60, 40)
    model = ProjectedClassifier().fit(X, y)
    exact = LinearSVC(dual=False, tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(model.coef_, exact.coef_)
    np.testing.assert_array_equal(model.decision_function(X), exact.decision_function(X))


@pytest.mark.parametrize("d", [1, 40, 300])
def test_the_identity_is_a_projection(d):
    identity, rng = Identity(d, d, 0), np.random.default_rng(0)
    X = rng.normal(size=(5, d))
    for container in (np.array, np.asfortranarray, sp.csr_array, sp.csc_array):
        np.testing.assert_array_equal(identity.apply(container(X)), X)
        part = np.ones((5, d))
        identity.apply(container(X[:, d // 2 :]), first_feature=d // 2, out=part)
        np.testing.assert_array_equal(part, 1 + np.where(np.arange(d) < d // 2, 0, X))
    np.testing.assert_array_equal(identity.rows(d // 2).toarray(), np.eye(d)[d // 2 :])
    np.testing.assert_array_equal(identity.lift(X, start=d // 3), X[:, d // 3 :])
    np.testing.assert_array_equal(identity.gram(), np.eye(d))
    assert Projection.from_json(identity.to_json()) == identity
    with pytest.raises(InvalidParameterError, match="nothing is projected"):
        Identity(d, d + 1, 0)


def test_a_transformer_keeps_what_it_says():
    X, y = _data(40, 3000)
    given = GaussianProjection(32, random_state=7)
    model = ProjectedClassifier(given, 99, random_state=1).fit(X, y)
    assert model.projection_ == Gaussian(3000, 32, 7)
    assert not hasattr(given, "projection_")  # cloned
    assert ProjectedClassifier(GaussianProjection(), 99, random_state=1).fit(X, y).projection_ == Gaussian(3000, 99, 1)
    embedding = SparseEmbedding(nnz_per_feature=2)
    assert ProjectedClassifier(embedding, random_state=1).fit(X, y).projection_ == HashEmbedding(3000, 1024, 1, 2)


def test_seeds():
    X, y = _data(40, 3000)
    noisy = SGDClassifier(max_iter=20, tol=None)
    pair = [ProjectedClassifier("cw", 64, noisy, random_state=3).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(pair[0].coef_, pair[1].coef_)
    assert pair[0].estimator_.random_state is not None and noisy.random_state is None
    own = ProjectedClassifier("cw", 64, clone(noisy).set_params(random_state=5), random_state=3).fit(X, y)
    assert own.estimator_.random_state == 5
    inside = ProjectedClassifier("cw", 64, make_pipeline(StandardScaler(), noisy), random_state=2**63).fit(X, y)
    assert inside.estimator_[-1].random_state is not None and inside.projection_.seed == 2**63
    unseeded = [ProjectedClassifier("cw", 64).fit(X, y).projection_.seed for _ in range(2)]
    assert unseeded[0] != unseeded[1]


def test_sample_weights_reach_the_estimator():
    X, y = _data(60, 500)
    times = np.random.default_rng(0).integers(0, 4, 60)
    weighted = ProjectedClassifier("osnap", 64, RidgeClassifier(), random_state=0).fit(X, y, sample_weight=times)
    repeated = ProjectedClassifier("osnap", 64, RidgeClassifier(), random_state=0)
    repeated.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=0, atol=1e-9)
    with pytest.raises(
        InvalidParameterError, match="sample_weight must be left out: LinearDiscriminantAnalysis takes none"
    ):
        ProjectedClassifier("osnap", 64, LinearDiscriminantAnalysis()).fit(X, y, times)


@pytest.mark.parametrize("d, n_components", [(600, 64), (600, "auto")])
def test_every_kind_of_data_gives_the_same_model(d, n_components, tmp_path):
    X, y = _data(60, d)
    X = np.round(X, 1).astype(np.float32)
    labels = np.array(["ash", "elm", "fir"])[y]
    names = [f"f{j}" for j in range(d)]
    np.save(tmp_path / "X.npy", X)
    expected = ProjectedClassifier("osnap", n_components, random_state=0).fit(X, labels)
    for data in (
        sp.csr_array(X),
        sp.csc_matrix(X),
        open_matrix(X),
        open_matrix(tmp_path / "X.npy"),
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        open_matrix(sp.csr_array(X), feature_names=names),
    ):
        model = ProjectedClassifier("osnap", n_components, random_state=0).fit(data, labels)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-4 * np.abs(expected.coef_).max())
        np.testing.assert_array_equal(model.predict(data), expected.predict(X))
        assert model.score(data, labels) == expected.score(X, labels)


def test_a_matrix_is_read_once_a_call():
    X, y = _data(40, 3000)
    matrix = open_matrix(X)
    model = ProjectedClassifier(random_state=0).fit(matrix, y)
    assert matrix.passes == 1
    model.predict(matrix.rows(slice(0, 10)))
    assert matrix.passes == 2


def test_search_pipeline_clone_and_pickle():
    X, y = _data(60, 500)
    pipeline = make_pipeline(Normalizer(), ProjectedClassifier(estimator=LogisticRegression(), random_state=0))
    grid = {
        "projectedclassifier__n_components": [32, 128],
        "projectedclassifier__projection": ["gaussian", "osnap"],
        "projectedclassifier__estimator__C": [1.0, 100.0],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    model = search.best_estimator_
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
    assert clone(model[-1]).get_params()["n_components"] == model[-1].n_components


@pytest.mark.parametrize(
    "parameters, parameter",
    [
        ({"projection": "nonsense", "n_components": 8}, "family"),
        ({"projection": 3, "n_components": 8}, "projection"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": "many"}, "n_components"),
        ({"n_components": 1.5}, "n_components"),
        ({"projection": "osnap", "n_components": 6}, "n_components"),
        ({"n_components": 8, "random_state": -1}, "random_state"),
    ],
)
def test_parameters_that_cannot_work(parameters, parameter):
    X, y = _data(12, 50)
    with pytest.raises(InvalidParameterError) as caught:
        ProjectedClassifier(**parameters).fit(X, y)
    assert caught.value.parameter == parameter


# Real data --------------------------------------------------------------------------------------------


@pytest.mark.data
def test_arcene_raw_from_its_file(data_dir):
    X, X_test = (open_matrix(data_dir / "arcene" / f"arcene_{part}.data", format="csv") for part in ("train", "valid"))
    y, y_test = (np.loadtxt(data_dir / "arcene" / f"arcene_{part}.labels") for part in ("train", "valid"))
    scores = [ProjectedClassifier(random_state=seed).fit(X, y).score(X_test, y_test) for seed in range(5)]
    # LinearSVC on all 10,000 features: 0.82 (C = 1, raw data)
    assert np.mean(scores) > 0.77


@pytest.mark.data
@pytest.mark.parametrize("family", ["auto", "srht"])
def test_newsgroup_pairs(data_dir, family):
    counts = sp.load_npz(data_dir / "newsgroups20" / "counts_train.npz").astype(np.float64)
    labels = np.load(data_dir / "newsgroups20" / "labels_train.npy")
    pairs = json.loads(gzip.decompress((data_dir / "newsgroups20" / "pairs.json.gz").read_bytes()))
    full, projected = [], []
    for pair in pairs[::40]:
        rows = np.random.default_rng(0).permutation(pair["rows_pos"] + pair["rows_neg"])
        X, y = normalize(counts[rows]), labels[rows]
        half = len(rows) // 2
        full.append(LinearSVC(dual=False).fit(X[:half], y[:half]).score(X[half:], y[half:]))
        model = ProjectedClassifier(family, random_state=0).fit(X[:half], y[:half])
        assert model.n_components_ == 1024
        projected.append(model.score(X[half:], y[half:]))
    # 73,712 words in 1,024 numbers: paul2013's Table 3 loses under 4 points at 512
    assert np.mean(projected) > np.mean(full) - 0.05
