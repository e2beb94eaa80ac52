"""Bad input: the error that scikit-learn users expect, naming the parameter and the remedy."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.exceptions import NotFittedError

from slimline import (
    CertifiedClassifier,
    GaussianProjection,
    HadamardProjection,
    SparseEmbedding,
    SparseSignProjection,
    open_matrix,
)
from slimline.errors import NonFiniteError
from tests.estimators.transformers import CLASSES, TRANSFORMERS
from tests.refusals import refuses
from tests.tiers import each_once

X = np.ones((6, 40))


@pytest.fixture(params=TRANSFORMERS)
def make(request):
    return TRANSFORMERS[request.param]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_values_that_are_not_finite(make, value, dtype):
    # at every place of the row: no feature may be one that the sketch does not see
    transformer = make(n_components=32, random_state=0).fit(X)
    for column in range(40):
        bad = X.astype(dtype)
        bad[3, column] = value
        containers = [np.asarray, np.asfortranarray]
        if dtype != np.float16 and column % 8 == 0:
            containers += [sp.csr_array, sp.csc_array]
        for container in containers:
            data = container(bad)
            for call in (transformer.transform, make(n_components=32).fit, make(n_components=32).fit_transform):
                with pytest.raises(ValueError, match=r"NaN|infinity"):
                    call(data)


def test_inf_and_minus_inf_together(make):
    bad = np.ones((6, 40))
    bad[3, ::2], bad[3, 1::2] = np.inf, -np.inf
    with pytest.raises(ValueError, match="infinity"), np.errstate(invalid="ignore"):
        make(n_components=32).fit(X).transform(bad)


def test_assume_finite(make):
    bad = np.ones((6, 40))
    bad[0, 0] = np.nan
    transformer = make(n_components=32).fit(X)
    with sklearn.config_context(assume_finite=True):
        assert transformer.transform(bad).shape == (6, 32)


def test_large_finite_values_are_no_error(make):
    data = np.full((2, 40), 1e300)
    assert np.all(np.isfinite(make(n_components=32, random_state=0).fit_transform(data)))


@pytest.mark.parametrize(
    "bad, message",
    [
        (np.ones((6, 40)) * 1j, "[Cc]omplex"),
        (np.ones(40), "2D array"),
        (np.ones((2, 3, 4)), "dim 3|3D|<= 2"),
        (np.ones((6, 0)), r"0 feature\(s\)"),
        (np.ones((0, 40)), r"0 sample\(s\)"),
        (np.array([["a"] * 40] * 6), "could not convert|numeric|dtype"),
        (np.array([["a"] * 40] * 6, dtype=object), "could not convert|numeric|dtype"),
        (sp.csr_array(np.ones((6, 40)) * 1j), "[Cc]omplex"),
        (sp.csr_array(np.ones(40)), "2D"),
    ],
)
def test_data_that_is_none(make, bad, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(n_components=32).fit(bad)
    with pytest.raises((ValueError, TypeError), match=message):
        make(n_components=32).fit_transform(bad)


def test_object_arrays_of_numbers_are_read(make):
    expected = make(n_components=32, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(make(n_components=32, random_state=0).fit_transform(X.astype(object)), expected)


def test_wrong_feature_count(make):
    transformer = make(n_components=32).fit(X)
    for bad in (X[:, :-1], np.ones((6, 41)), sp.csr_array(np.ones((6, 41)))):
        with pytest.raises(ValueError, match="expecting 40 features"):
            transformer.transform(bad)


def test_not_fitted(make):
    transformer = make(n_components=32)
    for call in (
        lambda: transformer.transform(X),
        lambda: transformer.lift(np.ones(32)),
        lambda: transformer.inverse_transform(np.ones((2, 32))),
        lambda: transformer.get_feature_names_out(),
    ):
        with pytest.raises(NotFittedError):
            call()
    for name in ("components_", "inverse_components_", "n_components_"):
        assert not hasattr(transformer, name)


WRONG = [
    *({"n_components": value} for value in (0, -3, 2.5, "many", None, True)),
    *({"eps": value} for value in (0, 1, -0.1, "small", float("nan"))),
    *({"eps": 0.5, "delta": value} for value in (0, 1, "low")),
    *({"n_components": 2, "random_state": value} for value in (-1, 2**64, "seed", 1.5)),
    {"eps": 1e-200},
    {"delta": 0.1, "eps": 1e-9},  # no number of dimensions that one could use
    {"delta": 1e-9, "eps": 0.01},
]


@pytest.mark.parametrize("parameters, cls", each_once(WRONG, CLASSES), ids=str)
def test_parameters(parameters, cls):
    with refuses(list(parameters)[-1]):
        cls(**parameters).fit(np.zeros((6, 5000), dtype=np.int8))


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: SparseSignProjection(2, density=0), "density"),
        (lambda: SparseSignProjection(2, density=1.1), "density"),
        (lambda: SparseSignProjection(2, density="sparse"), "density"),
        (lambda: SparseSignProjection(2, dense_output="yes"), "dense_output"),
        (lambda: SparseEmbedding(2, dense_output=1), "dense_output"),
        (lambda: SparseEmbedding(3, nnz_per_feature=2), "n_components"),
        (lambda: SparseEmbedding(2, nnz_per_feature=0), "nnz_per_feature"),
        (lambda: SparseEmbedding(2, bucket_width=1.5), "bucket_width"),
        (lambda: SparseEmbedding(2, bucket_width=-1), "bucket_width"),
        (lambda: SparseEmbedding(2, hash="md5"), "hash"),
        (lambda: HadamardProjection(65), "n_components"),
        (lambda: HadamardProjection(2, replace="yes"), "replace"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataDimensionalityWarning")
def test_parameters_of_one_class(make, named):
    with refuses(named):
        make().fit(X)


def test_number_of_threads_is_checked(monkeypatch):
    monkeypatch.setenv("SLIMLINE_NUM_THREADS", "many")
    with refuses("SLIMLINE_NUM_THREADS"):
        GaussianProjection(2).fit_transform(X)
    monkeypatch.setenv("SLIMLINE_NUM_THREADS", "")
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert GaussianProjection(2).fit_transform(X).shape == (6, 2)


def test_the_remedy_for_missing_values_works_for_what_the_caller_holds():
    """An array has no method `standardised`: the message names a call that takes arrays."""
    rng = np.random.default_rng(0)
    data, labels = rng.standard_normal((20, 30)), np.arange(20) % 2
    data[3, 4] = np.nan
    with pytest.raises(NonFiniteError) as caught:
        CertifiedClassifier().fit(data, labels)
    remedy = "open_matrix(X).standardised(centre=None, scale=None, fill='mean')"
    assert caught.value.parameter == "fill" and remedy in str(caught.value)
    CertifiedClassifier().fit(eval(remedy, {"open_matrix": open_matrix, "X": data}), labels)
