"""`plan`: from sizes, from data, from a sample; what it refuses; what it says."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import CertifiedClassifier, bounds, open_matrix, plan
from slimline.errors import DataError, InvalidParameterError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    X = rng.standard_normal((150, 4000)).astype(np.float32)  # few enough that the sample is not sketched
    X[:, :20] += 2.0 * (2 * y[:, None] - 1)
    return X, y


@pytest.fixture(scope="module")
def made(data):
    return plan(*data, C=1e-3)


def test_from_sizes():
    made = plan(n_samples=2000, n_features=500_000, dtype="int8", margin=0.3)
    assert (made.n_samples, made.n_features, made.source, made.passes) == (2000, 500_000, "sizes", 0)
    assert made.margin_dimension == bounds.margin_dimension(np.full(2000, 0.3), 0.05)
    assert made.most_dimension < made.margin_dimension
    assert made.choice.method == "sketch" and "Project to" in made.advice
    assert 500 < made.effective_dimension < 1500  # rows of norm 1 that have nothing in common: n/2
    small = plan(n_samples=60, n_features=4000)
    assert small.choice.method == "gram"
    assert "Do not project: n is small, the Gram route is exact and faster" in small.advice
    assert small.margin is None and "no labels" in small.margin_note


def test_sparse_sizes_go_through_the_rows():
    made = plan(n_samples=20_000, n_features=200_000, density=1e-3, dtype="float32")
    assert made.choice.method == "direct" and 'method="direct"' in made.advice
    (row,) = [row for row in made.guarantees if row.name == "fard2012.2"]
    assert row.dimension == bounds.get("fard2012.2").dimension(0.1, 0.05, features=200_000, sparsity=200)


def test_from_data(data, made):
    X, y = data
    signs = 2.0 * y - 1
    assert made.passes == 3  # a sketch of the sample, its rows, one product
    assert made.margin > 0 and made.n_classes == 2
    # the separator is that of all rows here: the margin that the exact model without an intercept has
    exact = CertifiedClassifier(C=1e-3, method="gram", fit_intercept=False).fit(X, y).coef_[0]
    cosines = signs * (X @ exact) / (np.linalg.norm(X, axis=1) * np.linalg.norm(exact))
    assert made.margin == pytest.approx(cosines.min(), rel=1e-3)
    assert made.margin_dimension == pytest.approx(bounds.margin_dimension(cosines, 0.05), rel=1e-2)
    centred = X - X.mean(axis=0)  # a free intercept
    K = centred @ centred.T
    d = np.trace(np.linalg.solve(K + 1e3 * np.eye(150), K))
    assert made.effective_dimension == pytest.approx(d, rel=1e-3)
    assert list(made.errors) == [1, 2, 4] and made.errors[1] >= made.errors[2] >= made.errors[4]


def test_the_parameters_do_what_was_planned(data, made):
    for method in ("auto", "sketch"):
        chosen = made if method == "auto" else plan(*data, C=1e-3, method="sketch")
        model = CertifiedClassifier(**chosen.parameters, random_state=0).fit(*data)
        assert model.route_.method == chosen.choice.method
        assert model.route_.n_components == chosen.choice.n_components
        assert max(model.certificate_.relative_error) <= 1e-2


@pytest.mark.slow
def test_storage_makes_no_difference(data, tmp_path):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    first = plan(X, y, C=1e-3)
    for source in (X.astype(np.float64), sp.csr_array(X), np.asfortranarray(X), tmp_path / "X.npy",
                   str(tmp_path / "X.npy"), open_matrix(X)):  # fmt: skip
        other = plan(source, y, C=1e-3)
        assert other.margin == pytest.approx(first.margin, rel=1e-3)
        assert other.margin_dimension == pytest.approx(first.margin_dimension, rel=1e-2)
        assert other.effective_dimension == pytest.approx(first.effective_dimension, rel=1e-3)
        assert [row.dimension for row in other.guarantees if row.name != "fard2012.2"] == [
            row.dimension for row in first.guarantees
        ]


def test_a_sample_is_enough(data):
    X, y = data
    whole = plan(X, y, C=1e-3, n_samples=6000)
    assert whole.n_samples == 6000 and "the 150 rows at hand" in whole.margin_note
    (row,) = [row for row in whole.guarantees if row.name == "shi2012.6"]
    assert row.dimension == bounds.get("shi2012.6").dimension(0.1, 0.05, points=6000)
    assert whole.effective_dimension > plan(X, y, C=1e-3).effective_dimension


@pytest.mark.slow
def test_several_classes_without_labels_and_standardised():
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b", "c"], 40)
    X = rng.standard_normal((120, 3000)) + 3.0 * (np.arange(3000) % 3 == np.repeat([0, 1, 2], 40)[:, None])
    made = plan(X, y, standardize=True, C=1e-4)
    assert made.n_classes == 3 and {"shi2012.8", "shi2012.9"} <= {row.name for row in made.guarantees}
    assert made.margin > 0 and made.margin_dimension > 1
    blind = plan(X)
    assert blind.margin is None and blind.n_classes == 2 and blind.passes == 3
    assert plan(X, n_classes=7).n_classes == 7


def test_labels_that_come_with_the_data(data):
    X, y = data
    assert plan(open_matrix(X, labels=y)).margin == plan(X, y).margin


def test_rows_on_the_wrong_side_are_counted():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((400, 3)), rng.integers(0, 2, 400)
    made = plan(X, y)
    assert made.margin < 0 and "on the wrong side" in made.margin_note
    assert not any(row.name == "balcan2006" for row in made.guarantees)


def test_a_row_on_the_boundary_has_no_dimension():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0], [1e-9, 1.0], [-1e-9, 1.0]])
    made = plan(X, [1, 1, 0, 0, 1, 0], fit_intercept=False)
    assert made.margin < 1e-6 and made.margin_dimension is None


@pytest.mark.parametrize("shape", [(2, 1), (2, 40), (30, 1), (3, 70_000)])
def test_odd_shapes(shape):
    rng = np.random.default_rng(3)
    made = plan(rng.standard_normal(shape), np.arange(shape[0]) % 2)
    assert made.choice.method in ("gram", "direct") and str(made)


@pytest.mark.slow
def test_degenerate_columns_and_huge_and_tiny_C(data):
    X, y = data
    X = X[:, :600].copy()
    X[:, 100:200] = 0.0
    X[:, 200:300] = X[:, :1]
    X[:, 300] = 1e4
    for C in (1e-12, 1e6):
        made = plan(X, y, C=C)
        assert made.choice.seconds < np.inf and made.choice.steps >= 1
    made = plan(np.zeros((20, 30)), np.arange(20) % 2)
    assert made.margin == 0.0 and made.margin_dimension is None


@pytest.mark.slow
def test_the_same_seed_makes_the_same_plan(data):
    first, second = plan(*data, random_state=4), plan(*data, random_state=4)
    assert first.guarantees == second.guarantees and first.errors == second.errors
    assert [cost.steps for cost in first.costs] == [cost.steps for cost in second.costs]


def test_progress_is_told(data):
    told = []
    plan(*data, progress=told.append)
    assert len(told) >= 2


def test_as_json_and_as_text(made):
    record = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert record["n_samples"] == 150 and "curves" not in record
    assert record["parameters"]["method"] == made.choice.method
    assert len(record["guarantees"]) == len(made.guarantees)
    text = str(made)
    assert made.advice in text and all(row.name in text for row in made.guarantees)
    assert all(cost.label in text for cost in made.costs)


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({}, None),
        ({"n_samples": 10}, None),
        ({"n_samples": 0, "n_features": 5}, "n_samples"),
        ({"n_samples": 10, "n_features": 5, "density": 2.0}, "density"),
        ({"n_samples": 10, "n_features": 5, "eps": 1.0}, "eps"),
        ({"n_samples": 10, "n_features": 5, "delta": 0.0}, "delta"),
        ({"n_samples": 10, "n_features": 5, "margin": 1.5}, "margin"),
        ({"n_samples": 10, "n_features": 5, "n_classes": 3, "margin": 2.5}, "margin"),
        ({"n_samples": 10, "n_features": 5, "rank": 6}, "rank"),
        ({"n_samples": 10, "n_features": 5, "rank": 1.5}, "rank"),
        ({"n_samples": 10, "n_features": 5, "sparsity": 0}, "sparsity"),
        ({"n_samples": 10, "n_features": 5, "random_state": "now"}, "random_state"),
        ({"n_samples": 10, "n_features": 5, "dtype": "foo"}, "dtype"),
        ({"n_samples": 10, "n_features": 5, "dtype": complex}, "dtype"),
        ({"n_samples": 10, "n_features": 5, "intercept_scaling": 0.0}, "intercept_scaling"),
        ({"n_samples": 10.5, "n_features": 5}, "n_samples"),
        ({"n_samples": 10, "n_features": 5, "eps": "0.1"}, "eps"),
        ({"n_samples": 10, "n_features": 5, "n_components": True}, "n_components"),
        ({"n_samples": 10, "n_features": 50, "n_components": 50, "method": "sketch"}, "method"),
        ({"X": np.ones((4, 3)), "density": 0.1}, "density"),
        ({"X": np.ones((4, 3)), "y": [0.5, 1.5, 2.25, 3.5]}, "y"),
        ({"n_samples": 10, "n_features": 5, "loss": "absolute"}, "loss"),
        ({"n_samples": 10, "n_features": 5, "method": "magic"}, "method"),
        ({"n_samples": 10, "n_features": 5, "C": -1.0}, "C"),
        ({"n_samples": 10, "n_features": 5, "tol": 0.0}, "tol"),
        ({"n_samples": 10, "n_features": 5, "n_components": 1.5}, "n_components"),
        ({"n_samples": 10, "n_features": 5, "n_classes": 1}, "n_classes"),
        ({"n_samples": 10, "n_features": 5, "dtype": "int8", "method": "direct"}, "method"),
        ({"n_samples": 10, "n_features": 5, "y": [0, 1]}, "y"),
        ({"X": np.ones((4, 3)), "y": [0, 1]}, "y"),
        ({"X": np.ones((4, 3)), "n_samples": 3}, "n_samples"),
        ({"X": np.ones((4, 3)), "n_features": 5}, "n_features"),
        ({"X": np.ones((4, 3)), "y": [0, 1, 2, 2], "n_classes": 2}, "n_classes"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments, parameter):
    with pytest.raises(InvalidParameterError) as caught:
        plan(**arguments)
    assert caught.value.parameter == parameter


def test_a_given_margin_of_several_classes():
    made = plan(n_samples=1000, n_features=10**5, n_classes=3, margin=0.3)
    cosines = np.tile([0.15, -0.15, -0.15], (1000, 1))
    assert made.margin_dimension == bounds.multiclass_margin_dimension(cosines, np.zeros(1000, int), 0.05)
    assert made.most_dimension == bounds.multiclass_margin_dimension(cosines, np.zeros(1000, int), 0.05, errors=10)
    assert plan(n_samples=10**8, n_features=10**5, margin=1e-8).margin_dimension is None


@pytest.mark.slow
def test_as_many_components_as_one_likes_cost_no_time():
    made = plan(n_samples=500, n_features=20_000, n_components=10**6)
    assert made.choice.method == "gram"


def test_any_random_state():
    for state in (None, 7, np.random.RandomState(3)):
        assert plan(n_samples=30, n_features=50, random_state=state).choice.steps >= 1


def test_data_that_cannot_be_planned_for():
    with pytest.raises(DataError, match="2 of 4 samples have no label"):
        plan(np.ones((4, 3)), np.array(["a", None, "b", float("nan")], dtype=object))
    with pytest.raises(DataError, match="only one class"):
        plan(np.ones((4, 3)), [1, 1, 1, 1])
    with pytest.raises(DataError, match="nothing to plan for"):
        plan(np.ones((0, 3)))
    with pytest.raises(DataError):
        plan(np.array([[1.0, np.nan], [0.0, 1.0]]), [0, 1])
