"""Bad input: the error that scikit-learn users expect, naming the parameter and the remedy."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.exceptions import NotFittedError

from slimline import GaussianProjection, HadamardProjection, SparseEmbedding, SparseSignProjection
from slimline.errors import InvalidParameterError
from tests.estimators.transformers import CLASSES, TRANSFORMERS
from tests.refusals import refuses

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


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    "parameters, named",
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": -3}, "n_components"),
        ({"n_components": 2.5}, "n_components"),
        ({"n_components": "many"}, "n_components"),
        ({"n_components": None}, "n_components"),
        ({"n_components": True}, "n_components"),
        ({"eps": 0}, "eps"),
        ({"eps": 1}, "eps"),
        ({"eps": -0.1}, "eps"),
        ({"eps": "small"}, "eps"),
        ({"eps": float("nan")}, "eps"),
        ({"eps": 0.5, "delta": 0}, "delta"),
        ({"eps": 0.5, "delta": 1}, "delta"),
        ({"eps": 0.5, "delta": "low"}, "delta"),
        ({"n_components": 2, "random_state": -1}, "random_state"),
        ({"n_components": 2, "random_state": 2**64}, "random_state"),
        ({"n_components": 2, "random_state": "seed"}, "random_state"),
        ({"n_components": 2, "random_state": 1.5}, "random_state"),
        ({"eps": 1e-200}, "raise eps"),
        ({"eps": 1e-9, "delta": 0.1}, "raise eps or delta"),
        ({"eps": 1e-7, "delta": 0.25}, "raise eps or delta"),
        ({"eps": 0.01, "delta": 1e-09}, "raise eps or delta, or set n_components"),
    ],
)
def test_parameters(cls, parameters, named):
    data = np.zeros((6, 5000), dtype=np.int8)
    with pytest.raises(ValueError, match=named) as caught:
        cls(**parameters).fit(data)
    value = next(iter(parameters.values())) if len(parameters) == 1 else list(parameters.values())[-1]
    assert str(value) in str(caught.value)


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: SparseSignProjection(2, density=0), "density"),
        (lambda: SparseSignProjection(2, density=1.1), "density"),
        (lambda: SparseSignProjection(2, density="sparse"), "density"),
        (lambda: SparseSignProjection(2, dense_output="yes"), "dense_output"),
        (lambda: SparseEmbedding(2, dense_output=1), "dense_output"),
        (lambda: SparseEmbedding(3, nnz_per_feature=2), "multiple of 2 .*nnz_per_feature"),
        (lambda: SparseEmbedding(2, nnz_per_feature=0), "nnz_per_feature"),
        (lambda: SparseEmbedding(2, bucket_width=1.5), "bucket_width"),
        (lambda: SparseEmbedding(2, bucket_width=-1), "bucket_width"),
        (lambda: SparseEmbedding(2, hash="md5"), "hash"),
        (lambda: HadamardProjection(65), "n_components must be at most 64"),
        (lambda: HadamardProjection(2, replace="yes"), "replace"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataDimensionalityWarning")
def test_parameters_of_one_class(make, named):
    with pytest.raises(InvalidParameterError, match=named):
        make().fit(X)


def test_number_of_threads_is_checked(monkeypatch):
    monkeypatch.setenv("SLIMLINE_NUM_THREADS", "many")
    with refuses("SLIMLINE_NUM_THREADS"):
        GaussianProjection(2).fit_transform(X)
    monkeypatch.setenv("SLIMLINE_NUM_THREADS", "")
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert GaussianProjection(2).fit_transform(X).shape == (6, 2)
