"""Parameters are checked in fit whatever the others are, and a failed fit leaves nothing fitted."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.random_projection import johnson_lindenstrauss_min_dim

from slimline import GaussianProjection, SparseEmbedding, SparseSignProjection, open_matrix
from slimline.errors import InvalidParameterError
from tests.refusals import refuses

X = np.random.default_rng(0).normal(size=(10, 113))


@pytest.mark.parametrize(
    "parameters",
    [{"eps": -1}, {"eps": 1.5}, {"eps": "a"}, {"delta": 7}, {"delta": True}, {"compute_inverse_components": "x"}],
    ids=str,
)
def test_every_parameter_is_checked(parameters):
    with refuses(next(iter(parameters))):
        GaussianProjection(2, **parameters).fit(X)


def test_arrays_are_no_parameters():
    with refuses("density"):
        SparseSignProjection(2, density=np.array([0.1, 0.2])).fit(X)
    with refuses("n_components"):
        GaussianProjection(np.array([2, 3])).fit(X)


def test_automatic_dimension_never_exceeds_the_features():
    # 110 components are asked for; the next multiple of 64 is above 113, the next of 4 is not
    assert SparseEmbedding(eps=0.5, nnz_per_feature=4).fit(X).n_components_ == 112


@pytest.mark.parametrize("nonzeros", [4, 64])
def test_automatic_dimension_is_never_rounded_down(nonzeros):
    least = johnson_lindenstrauss_min_dim(6, eps=0.1)  # 1,535
    for n_features in (least, least + 1, -(-least // nonzeros) * nonzeros):
        transformer = SparseEmbedding(nnz_per_feature=nonzeros)
        data = np.zeros((6, n_features), np.int8)
        if n_features % nonzeros == 0:
            assert transformer.fit(data).n_components_ == n_features
            continue
        with pytest.raises(ValueError, match=rf"no multiple of {nonzeros} .* lower nnz_per_feature"):
            transformer.fit(data)


def test_unknown_arguments_are_refused():
    with pytest.raises(TypeError, match="n_componentz"):
        GaussianProjection(3).fit_transform(X, n_componentz=5)


def test_a_matrix_makes_its_own_sketch():
    matrix = open_matrix(X)
    transformer = SparseEmbedding(16, random_state=0)
    for method in (transformer.fit, transformer.fit_transform):
        with pytest.raises(InvalidParameterError):
            method(matrix)
    expected = transformer.fit_transform(X)
    np.testing.assert_allclose(
        matrix.sketch(transformer.projection_for(matrix.shape)), expected, rtol=1e-12, atol=1e-12
    )


def test_failed_fit_leaves_nothing_fitted():
    bad = np.full((3, 20), np.nan)
    for method in ("fit", "fit_transform"):
        for transformer in (GaussianProjection(2), GaussianProjection(2).fit(np.ones((3, 30)))):
            with pytest.raises(ValueError, match="NaN"):
                getattr(transformer, method)(bad)
            for call in (transformer.transform, transformer.lift, transformer.inverse_transform):
                with pytest.raises(NotFittedError):
                    call(np.ones((3, 20)))


@pytest.mark.parametrize("V", [np.ones(2, dtype=complex), np.array([1.0, np.nan]), sp.csr_array(np.ones((1, 2)))])
def test_lift_refuses_what_is_not_real_and_finite(V):
    with pytest.raises((ValueError, TypeError)):
        GaussianProjection(2).fit(X).lift(V)


def test_inverse_is_made_once():
    transformer = SparseEmbedding(64, random_state=0).fit(X)
    Z = transformer.transform(X)
    transformer.inverse_transform(Z)
    assert transformer._inverse() is transformer._inverse()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.float32, np.float64])
def test_the_type_of_a_frame_is_kept(frame, dtype):
    values = np.random.default_rng(1).integers(0, 3, size=(10, 113)).astype(dtype)
    columns = {f"c{i}": values[:, i] for i in range(113)}
    transformer = SparseEmbedding(16, random_state=0)
    Z = transformer.fit_transform(frame(columns))
    assert Z.dtype == (np.float64 if dtype == np.float64 else np.float32)
    np.testing.assert_allclose(Z, SparseEmbedding(16, random_state=0).fit_transform(values))
    assert list(transformer.feature_names_in_) == list(columns)
    with pytest.raises(ValueError, match="feature names"):
        transformer.transform(frame({f"d{i}": values[:, i] for i in range(113)}))
