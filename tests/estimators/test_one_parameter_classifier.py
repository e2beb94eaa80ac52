"""One vector for all classes: its projections, its training, its size, its accuracy."""

import gzip
import pickle
from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from slimline import OneParameterClassifier, open_matrix
from slimline.errors import InvalidParameterError
from slimline.estimators import _one_parameter as class_scores
from slimline.estimators._one_parameter import ClassProjections, PassedScores, SketchedScores, training_scores


def _clusters(n_classes, n_features, n, seed=0, spread=0.3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n_classes, n_features))[y] + spread * rng.normal(size=(n, n_features)), y


def _explicit(model, X):
    """Return the scores from the written-out projections."""
    projections = ClassProjections(model.n_features_in_, model.vector_.size, model.seed_, model.fit_intercept)
    X = np.column_stack([X, np.ones(len(X))]) if model.fit_intercept else X
    scores = [X @ (projections.of(y).rows().toarray() @ model.vector_) for y in range(model.classes_.size)]
    return np.stack(scores, axis=1)


def _within_their_gaps(one, other):
    """Return whether two vectors are as near to each other as their gaps prove: ½‖v - v*‖² ≤ gap for each."""
    return np.linalg.norm(one.vector_ - other.vector_) <= np.sqrt(2 * one.gap_) + np.sqrt(2 * other.gap_)


# The projections --------------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [10, 64])  # the textbook hash, one entry a feature; the grouped one, four
def test_projections_of_the_classes_are_isometries_in_expectation_and_independent(r, global_random_seed):
    """E⟨v, R_yᵀx⟩ = ⟨u_y, x⟩ for v = Σ R_yᵀu_y, and its variance is that of one projection of all classes together.

    Means of 2,000 draws: 6 standard errors are exceeded with probability below 1e-8. Draws are bounded, so the mean
    square is as nearly normal; 4 per class and moment are looked at.
    """
    n_classes, d, draws = 3, 4, 2000
    rng = np.random.default_rng(global_random_seed)
    u, x = rng.normal(size=(n_classes, d)), rng.normal(size=d)
    scores, cross = np.empty((draws, n_classes)), np.empty((draws, d, d))
    for k in range(draws):
        projections = ClassProjections(d, r, 10**6 * global_random_seed + k, intercept=False)
        R = [projections.of(y).rows().toarray() for y in range(n_classes)]
        v = sum(R_y.T @ u_y for R_y, u_y in zip(R, u, strict=True))
        scores[k] = [x @ (R_y @ v) for R_y in R]
        cross[k] = R[0] @ R[1].T
    error = scores.std(axis=0) / np.sqrt(draws)
    np.testing.assert_array_less(np.abs(scores.mean(axis=0) - u @ x), 6 * error)
    np.testing.assert_array_less(np.abs(cross.mean(axis=0)), 6 * cross.std(axis=0) / np.sqrt(draws))
    # theory sheet §1 with k₄ = 1: of any two places of R that can share a column, here those of different classes
    # and, with the textbook hash, of one class too
    together = r == 10
    for y in range(n_classes):
        others = np.sum(u**2) - np.sum(u[y] ** 2)
        own = np.sum(u[y] ** 2) * (x @ x) + (u[y] @ x) ** 2 - 2 * np.sum(u[y] ** 2 * x**2) if together else 0.0
        variance = (others * (x @ x) + own) / r
        squares = (scores[:, y] - u[y] @ x) ** 2
        assert abs(squares.mean() - variance) < 6 * squares.std() / np.sqrt(draws)


def test_the_projection_of_a_class_depends_on_its_number_and_the_seed_alone():
    rows = ClassProjections(20, 64, 3, True).of(5).rows().toarray()
    np.testing.assert_array_equal(rows, ClassProjections(20, 64, 3, True).of(5).rows().toarray())
    for other in (ClassProjections(20, 64, 3, True).of(6), ClassProjections(20, 64, 4, True).of(5)):
        assert np.any(rows != other.rows().toarray())


@pytest.mark.parametrize("kind", [PassedScores, SketchedScores])
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
def test_scores_and_their_adjoint(kind, container, intercept, monkeypatch, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, v, G = rng.normal(size=(7, 33)), rng.normal(size=64), rng.normal(size=(7, 5))
    monkeypatch.setattr(class_scores, "_HELD", 70)  # two classes at a time
    projections = ClassProjections(33, 64, 1, intercept)
    S = kind(projections, open_matrix(container(X)), 5)
    assert [(c.start, c.stop) for c in S.chunks] == [(0, 2), (2, 4), (4, 5)]
    scores = np.hstack([S.scores(v, chunk) for chunk in S.chunks])
    whole = np.column_stack([X, np.ones(7)]) if intercept else X
    expected = np.stack([whole @ (projections.of(y).rows() @ v) for y in range(5)], axis=1)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
    back = sum(S.adjoint(G[:, chunk], chunk) for chunk in S.chunks)
    assert v @ back == pytest.approx(np.sum(scores * G), abs=1e-11)


def test_wide_data_are_sketched_once_for_each_class():
    X, y = _clusters(3, 400, 60)
    X /= 20  # rows of length about 1
    matrix = open_matrix(X)
    model = OneParameterClassifier(128, random_state=0).fit(matrix, y)
    assert matrix.passes == 3 < model.n_iter_
    narrow = OneParameterClassifier(134, random_state=0)  # 3 · 134 > 400
    assert isinstance(training_scores(ClassProjections(400, 134, 0, True), matrix, 3), PassedScores)
    assert narrow.fit(matrix, y).score(X, y) == model.score(X, y) == 1.0


# Training and prediction ------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_objective_and_scores_are_those_of_the_written_out_projections(intercept):
    X, y = _clusters(5, 12, 90, spread=1.0)
    weight = np.random.default_rng(0).uniform(0, 2, 90)
    model = OneParameterClassifier(32, 0.3, fit_intercept=intercept, random_state=1, tol=1e-4).fit(X, y, weight)
    scores = _explicit(model, X)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    margins = scores + 1 - scores[np.arange(90), y][:, None]
    margins[np.arange(90), y] = 0
    objective = 0.5 * model.vector_ @ model.vector_ + 0.3 * weight @ margins.max(axis=1)
    assert model.objective_ == pytest.approx(objective, rel=1e-12)
    assert 0 <= model.gap_ <= 1e-4 * model.objective_
    # no step in any direction is better by more than the gap
    rng = np.random.default_rng(2)
    for size in (1e-3, 1e-2, 1e-1):
        step = size * rng.normal(size=32)
        other = copy(model)
        other.vector_ = model.vector_ + step
        moved = _explicit(other, X)
        hinge = np.max(moved + (y[:, None] != np.arange(5)), axis=1) - moved[np.arange(90), y]
        assert 0.5 * other.vector_ @ other.vector_ + 0.3 * weight @ hinge >= objective - model.gap_


def test_every_kind_of_data_gives_the_same_model(tmp_path):
    X, y = _clusters(4, 9, 80)
    X = np.round(X, 1).astype(np.float32)
    labels = np.array(["ash", "elm", "fir", "oak"])[y]
    names = [f"f{j}" for j in range(9)]
    np.save(tmp_path / "X.npy", X)
    expected = OneParameterClassifier(256, random_state=0).fit(X, labels)
    kinds = [
        sp.csr_array(X),
        sp.csc_matrix(X),
        open_matrix(X),
        open_matrix(tmp_path / "X.npy"),
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        open_matrix(X, feature_names=names),
    ]
    for data in kinds:
        model = OneParameterClassifier(256, random_state=0).fit(data, labels)
        assert _within_their_gaps(model, expected)
        np.testing.assert_array_equal(model.predict(data), expected.predict(X))
        assert model.score(data, labels) == expected.score(X, labels) > 0.95
        assert hasattr(model, "feature_names_in_") == any(data is named for named in kinds[-3:])


def test_prediction_looks_at_some_classes_at_a_time(monkeypatch):
    X, y = _clusters(11, 8, 66)
    model = OneParameterClassifier(512, random_state=0).fit(X, y)
    labels, scores = model.predict(X), model.decision_function(X)
    monkeypatch.setattr(class_scores, "_HELD", 4 * 66)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    again = OneParameterClassifier(512, random_state=0).fit(X, y)
    assert _within_their_gaps(again, model)


def test_two_classes_have_one_score():
    X, y = _clusters(2, 6, 40)
    model = OneParameterClassifier(64, random_state=0).fit(X, y == 1)
    scores = _explicit(model, X)
    np.testing.assert_allclose(model.decision_function(X), scores[:, 1] - scores[:, 0], atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_search_pipeline_clone_and_pickle():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), OneParameterClassifier(random_state=0))
    grid = {"oneparameterclassifier__C": [0.1, 1.0], "oneparameterclassifier__n_components": [16, 512]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.93
    model = search.best_estimator_[-1]
    again = pickle.loads(pickle.dumps(model))
    Z = search.best_estimator_[0].transform(X)
    np.testing.assert_array_equal(again.decision_function(Z), model.decision_function(Z))
    assert clone(model).get_params() == model.get_params()


def test_the_seed_decides():
    X, y = _clusters(3, 6, 30)
    fit = [OneParameterClassifier(64, random_state=s).fit(X, y) for s in (5, 5, 6, np.random.RandomState(5))]
    np.testing.assert_array_equal(fit[0].vector_, fit[1].vector_)
    assert fit[0].seed_ == 5 and len({model.seed_ for model in fit}) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_components": 0},
        {"n_components": 8.5},
        {"C": 0.0},
        {"C": np.inf},
        {"tol": -1},
        {"max_iter": 0},
        {"fit_intercept": "yes"},
        {"random_state": -1},
    ],
)
def test_parameters_that_cannot_work(wrong):
    X, y = _clusters(3, 6, 30)
    with pytest.raises(InvalidParameterError) as caught:
        OneParameterClassifier(**wrong).fit(X, y)
    assert {caught.value.parameter: caught.value.value} == wrong


def test_a_budget_that_ends_early_is_told_with_what_was_reached():
    X, y = _clusters(3, 6, 30, spread=2.0)
    with pytest.warns(ConvergenceWarning, match=r"after 3 gradients .* within .* of its minimum, and tol=0.0001"):
        model = OneParameterClassifier(64, max_iter=3, tol=1e-4, random_state=0).fit(X, y)
    assert model.n_iter_ == 3


# Size and accuracy ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")  # one sample a class
@pytest.mark.parametrize("classes", [1_000, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_many_classes_take_no_more_memory_than_ten(classes):
    X, y = _clusters(classes, 64, classes)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    r = 1 << 19
    model = OneParameterClassifier(r, C=10.0, max_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="after 2 gradients"):
        many = model.fit(X, y)
    few = OneParameterClassifier(r, random_state=0).fit(X[:10], y[:10])
    assert many.classes_.size == classes and few.classes_.size == 10
    sizes = []
    for model in (many, few):
        arrays = {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}
        assert arrays.keys() == {"classes_", "vector_"}
        assert model.vector_.nbytes == r * 8
        sizes.append(len(pickle.dumps(model)) - model.classes_.nbytes)
    assert abs(sizes[0] - sizes[1]) < 200
    assert np.mean(many.predict(X[:500]) == y[:500]) > 0.1  # chance: 0.001


def _mnist(folder, part, n):
    images = gzip.decompress((folder / "mnist" / f"{part}-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / "mnist" / f"{part}-labels-idx1-ubyte.gz").read_bytes())
    X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)[:n] / np.float32(255)
    return X, np.frombuffer(labels, np.uint8, offset=8)[:n]


@pytest.mark.slow
@pytest.mark.data
def test_mnist_against_crammer_and_singer(data_dir):
    (X, y), (X_test, y_test) = _mnist(data_dir, "train", 2000), _mnist(data_dir, "t10k", 5000)
    exact = LinearSVC(C=0.01, multi_class="crammer_singer", random_state=0).fit(X, y).score(X_test, y_test)
    scores = [OneParameterClassifier(r, 0.01, random_state=0).fit(X, y).score(X_test, y_test) for r in (128, 512, 8192)]
    # few components lose much; as many numbers as Crammer and Singer's 7,850 nearly nothing
    assert 0.3 < scores[0] < scores[1] - 0.05 < scores[2] - 0.1
    assert scores[2] > exact - 0.02
