"""Tests of the transformers beside scikit-learn's checks."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import johnson_lindenstrauss_min_dim

from slimline import GaussianProjection, HadamardProjection, SparseEmbedding, SparseSignProjection, make_projection
from slimline.errors import InvalidParameterError
from slimline.laws import norm_dimension, norm_failure
from slimline.projections import Projection
from slimline.projections._transformer import SparseOutputProjection
from slimline.testing._moments import as_dense, dense_rows, require_close, rounding_bound
from tests.estimators.transformers import CLASSES, TRANSFORMERS
from tests.pairwise import pairwise
from tests.refusals import refuses

X = np.random.default_rng(0).standard_normal((12, 300))


@pytest.fixture(params=TRANSFORMERS)
def make(request):
    return TRANSFORMERS[request.param]


@pytest.mark.parametrize(
    "family, dtype, convert",
    pairwise(
        TRANSFORMERS,
        ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "?"],
        [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.csr_matrix],
    ),
)
def test_sparse_whole_numbers_of_every_type(family, dtype, convert):
    counts = np.random.default_rng(1).integers(0, 2, (5, 40)).astype(dtype)
    transformer = TRANSFORMERS[family](n_components=16, random_state=0)
    got = transformer.fit_transform(convert(counts))
    expected = clone(transformer).fit_transform(counts.astype(np.float64))
    np.testing.assert_allclose(as_dense(got), expected, rtol=1e-5, atol=1e-5)


def test_transform_is_x_times_components(make):
    for data in (X, X.astype(np.float32), (X * 9).astype(np.int8), X > 0, sp.csr_array(X * (X > 1)), sp.csc_matrix(X)):
        transformer = make(n_components=32, random_state=3)
        Z = transformer.fit_transform(data)
        assert Z.dtype == (np.float64 if data.dtype == np.float64 else np.float32)
        R = as_dense(transformer.components_).T.astype(np.float64)
        assert R.shape == (300, 32) and transformer.components_.dtype == Z.dtype
        wide = as_dense(data).astype(np.float64)
        exact = dense_rows(transformer.projection_)
        require_close(Z, wide @ exact, rounding_bound(wide, exact, Z.dtype), "fit_transform")
        np.testing.assert_allclose(R, exact, rtol=2 * np.finfo(Z.dtype).eps)
        np.testing.assert_array_equal(Z, transformer.transform(data))
        np.testing.assert_array_equal(Z, make(n_components=32, random_state=3).fit(data).transform(data))


def test_wider_integers_become_float64(make):
    data = (X * 9).astype(np.int64)
    transformer = make(n_components=32, random_state=3).fit(data)
    assert transformer.transform(data).dtype == np.float64
    np.testing.assert_array_equal(transformer.transform(data), transformer.transform(data.astype(float)))
    np.testing.assert_array_equal(transformer.transform(data.tolist()), transformer.transform(data.astype(float)))


def test_lift_and_inverse_transform(make):
    transformer = make(n_components=32, random_state=3).fit(X)
    Z = transformer.transform(X)
    R = dense_rows(transformer.projection_)
    V = np.random.default_rng(1).standard_normal((3, 32))
    W = transformer.lift(V)
    np.testing.assert_allclose(W, V @ R.T, atol=1e-12)
    np.testing.assert_allclose(X @ W.T, Z @ V.T, atol=1e-10)
    back = transformer.inverse_transform(Z)
    np.testing.assert_allclose(back, Z @ np.linalg.pinv(R), atol=1e-10)
    # Z comes back exactly where R has full column rank (an empty bucket loses nothing either: its column of Z is 0)
    np.testing.assert_allclose(transformer.transform(back), Z, atol=1e-10)
    eager = make(n_components=32, random_state=3, compute_inverse_components=True).fit(X)
    np.testing.assert_allclose(eager.inverse_components_, np.linalg.pinv(R.T), atol=1e-12)
    np.testing.assert_allclose(eager.inverse_transform(sp.csr_array(Z)), back, atol=1e-12)
    assert transformer.inverse_transform(Z.astype(np.float32)).dtype == np.float32
    with pytest.raises(AttributeError, match="compute_inverse_components"):
        _ = transformer.inverse_components_
    with refuses("Z"):
        transformer.inverse_transform(Z[:, :-1])


@pytest.mark.parametrize("cls", CLASSES)
def test_automatic_dimension(cls):
    wide = np.zeros((10, 5000), dtype=np.int8)
    step = 16 if cls is SparseEmbedding else 1
    for parameters, least in (
        ({"eps": 0.2}, johnson_lindenstrauss_min_dim(10, eps=0.2)),
        ({"eps": 0.2, "delta": 0.05}, norm_dimension(0.2, 0.05, 45)),
        ({"eps": 0.5, "delta": 1e-6}, norm_dimension(0.5, 1e-6, 45)),
    ):
        transformer = cls(**parameters).fit(wide)
        assert least <= transformer.n_components_ < least + step
        assert transformer.transform(wide).shape == (10, transformer.n_components_)
        names = transformer.get_feature_names_out()
        assert len(names) == transformer.n_components_ and names[0] == f"{cls.__name__.lower()}0"
    one = cls(eps=0.5, delta=0.1).fit(wide[:1])
    assert one.n_components_ >= norm_dimension(0.5, 0.1, 1)
    with pytest.raises(
        ValueError, match=r"target dimension of \d+ which is larger than the original space with n_features=50"
    ):
        cls().fit(wide[:, :50])
    with pytest.raises(InvalidParameterError):
        cls().fit(wide[:1])


@pytest.mark.slow
def test_automatic_dimension_keeps_its_promise(global_random_seed):
    # Each distance fails with at most delta / 45, so all 45 with 0.05 at most; over 100 seeds more than 24 failures
    # have probability below 1e-9 (binomial).
    data = np.random.default_rng(7).standard_normal((10, 2000))
    failures = 0
    for seed in range(1000 * global_random_seed, 1000 * global_random_seed + 100):
        Z = GaussianProjection(eps=0.3, delta=0.05, random_state=seed).fit_transform(data)
        a, b = np.triu_indices(10, 1)
        ratio = np.sum((Z[a] - Z[b]) ** 2, axis=1) / np.sum((data[a] - data[b]) ** 2, axis=1)
        failures += bool(np.any(np.abs(ratio - 1) > 0.3))
    assert failures <= 24
    assert norm_failure(Z.shape[1], 0.3) * 45 <= 0.05


def test_frames(make):
    names = [f"gene{j}" for j in range(300)]
    expected = make(n_components=32, random_state=3).fit_transform(X)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        for container, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
            transformer = make(n_components=32, random_state=3).set_output(transform=container)
            Z = transformer.fit_transform(frame)
            assert isinstance(Z, kind)
            assert list(Z.columns) == list(transformer.get_feature_names_out())
            np.testing.assert_allclose(Z.to_numpy(), expected, atol=1e-12)
            assert list(transformer.feature_names_in_) == names
    with pytest.raises(ValueError, match="feature names"):
        transformer.transform(pd.DataFrame(X, columns=names[::-1]))
    small = pd.DataFrame(X.astype(np.float32), columns=names)
    assert make(n_components=32).fit_transform(small).dtype == np.float32


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix])
def test_sparse_output(container):
    data = container(X * (X > 1.5))
    for cls in (SparseSignProjection, SparseEmbedding):
        dense = cls(n_components=32, random_state=3).fit_transform(data)
        assert isinstance(dense, np.ndarray)
        sparse = cls(n_components=32, random_state=3, dense_output=False).fit_transform(data)
        assert sparse.format == "csr" and isinstance(sparse, sp.sparray) == isinstance(data, sp.sparray)
        np.testing.assert_array_equal(sparse.toarray(), dense)
        assert isinstance(cls(n_components=32, dense_output=False).fit_transform(X), np.ndarray)


def test_sparse_output_in_several_blocks(monkeypatch):
    monkeypatch.setattr("slimline.projections._transformer._BLOCK_BYTES", 32 * 8 * 3)  # three rows
    data = sp.csr_array((X * (X > 1.5)).astype(np.int8))
    for cls in (SparseSignProjection, SparseEmbedding):
        sparse = cls(n_components=32, random_state=3, dense_output=False).fit_transform(data)
        np.testing.assert_array_equal(sparse.toarray(), cls(n_components=32, random_state=3).fit_transform(data))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataDimensionalityWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.bool_])
@pytest.mark.parametrize("entries", [1 << 21, 100])
def test_sparse_output_with_many_components(dtype, entries, monkeypatch):
    """Nothing of the size of a dense result is made; all features at once, and some at a time."""
    monkeypatch.setattr("slimline.projections._transformer._ENTRIES", entries)
    monkeypatch.setattr(SparseOutputProjection, "_by_rows", None)
    data = sp.random_array((40, 300), density=0.01, rng=0).astype(dtype)
    data[0, 5] = 0  # stored
    for container in (sp.csr_array, sp.csc_matrix):
        for cls, options in ((SparseEmbedding, {}), (SparseEmbedding, {"nnz_per_feature": 3}),
                             (SparseSignProjection, {"density": 1e-4})):  # fmt: skip
            arguments = {"n_components": 12_288, "random_state": 3} | options
            sparse = cls(**arguments, dense_output=False).fit_transform(container(data))
            dense = cls(**arguments).fit_transform(container(data))
            assert sparse.format == "csr" and sparse.dtype == dense.dtype and sparse.has_sorted_indices
            assert isinstance(sparse, sp.sparray) == (container is sp.csr_array)
            assert np.all(sparse.data != 0)
            tolerance = 8 * np.finfo(dense.dtype).eps
            np.testing.assert_allclose(sparse.toarray(), dense, rtol=tolerance, atol=tolerance * np.abs(dense).max())


def test_entries_stored_twice_do_not_wrap_round(make):
    for dtype, value, total in ((np.int8, 100, 200), (np.uint8, 200, 400), (np.bool_, True, 2)):
        coordinates = sp.coo_array((np.full(2, value, dtype), ([0, 0], [7, 7])), shape=(1, 300))
        expected = make(n_components=32, random_state=3).fit_transform(np.eye(300, dtype=np.float32)[7:8] * total)
        rows = sp.csr_array((np.full(2, value, dtype), [7, 7], [0, 2]), shape=(1, 300))
        for data in (coordinates, rows, rows.tocsc()):
            np.testing.assert_allclose(make(n_components=32, random_state=3).fit_transform(data), expected, rtol=1e-6)


def test_frames_of_sparse_columns_stay_sparse():
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_array(X * (X > 1.5)))
    projection = SparseEmbedding(n_components=32, random_state=3, dense_output=False)
    sparse = projection.fit_transform(frame)
    assert sp.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), projection.transform(frame.to_numpy()), rtol=1e-12, atol=1e-12)


def test_components_are_sparse_for_sparse_families(make):
    transformer = make(n_components=32, random_state=0).fit(X)
    assert sp.issparse(transformer.components_) == isinstance(transformer, (SparseSignProjection, SparseEmbedding))


def test_density():
    assert SparseSignProjection(n_components=2).fit(np.ones((2, 400))).density_ == 0.05
    assert SparseSignProjection(n_components=2, density="achlioptas").fit(X).density_ == 1 / 3
    assert SparseSignProjection(n_components=2, density=1).fit(X).density_ == 1


def test_clone_pipeline_search_and_pickle(make):
    y = (X[:, 0] > 0).astype(int)
    y[:4] = [0, 1, 0, 1]
    transformer = make(n_components=32, random_state=0)
    copy = clone(transformer)
    assert copy.get_params() == transformer.get_params() and not hasattr(copy, "projection_")
    pipeline = make_pipeline(StandardScaler(), transformer, LogisticRegression())
    search = GridSearchCV(pipeline, {f"{type(transformer).__name__.lower()}__n_components": [16, 32]}, cv=2)
    search.fit(X, y)
    assert search.predict(X).shape == (12,)
    fitted = search.best_estimator_
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(fitted.predict_proba(X), again.predict_proba(X))
    line = fitted[1].projection_.to_json()
    assert json.loads(line)["n_features"] == 300 and Projection.from_json(line) == fitted[1].projection_


def test_random_state(make):
    def sketch(state):
        return make(n_components=32, random_state=state).fit_transform(X)

    np.testing.assert_array_equal(sketch(5), sketch(5))
    np.testing.assert_array_equal(sketch(5), sketch(np.int64(5)))
    np.testing.assert_array_equal(sketch(np.random.RandomState(5)), sketch(np.random.RandomState(5)))
    assert not np.array_equal(sketch(5), sketch(6)) and not np.array_equal(sketch(None), sketch(None))
    assert not np.array_equal(sketch(2**63), sketch(2**64 - 1))
    state = np.random.RandomState(5)
    assert not np.array_equal(sketch(state), sketch(state))


def test_fit_stores_no_matrix(make):
    transformer = make(n_components=1024, random_state=0).fit(sp.csr_array((3, 1_000_000), dtype=np.float32))
    assert len(pickle.dumps(transformer)) < 2000
    held = [value for value in vars(transformer).values() if isinstance(value, np.ndarray) or sp.issparse(value)]
    assert held == []
    assert [v for v in vars(transformer.projection_).values() if isinstance(v, np.ndarray) or sp.issparse(v)] == []


def test_make_projection():
    for family, cls in {
        "gaussian": GaussianProjection,
        "srht": HadamardProjection,
        "achlioptas": SparseSignProjection,
        "very_sparse": SparseSignProjection,
        "cw": SparseEmbedding,
        "osnap": SparseEmbedding,
        "auto": SparseEmbedding,
    }.items():
        transformer = make_projection(family, 64, random_state=3)
        assert type(transformer) is cls and transformer.random_state == 3 and transformer.n_components == 64
        assert transformer.fit_transform(X).shape == (12, 64)
    assert make_projection("osnap", 64).nnz_per_feature == 4
    assert make_projection("auto", 62).nnz_per_feature == 1
    assert make_projection("auto", np.int64(64)).nnz_per_feature == 4
    assert make_projection("auto", 8, bucket_width=4).nnz_per_feature == 1
    assert make_projection("auto", 16, bucket_width=4).nnz_per_feature == 4
    assert make_projection("cw", 64, bucket_width=4).bucket_width == 4
    assert make_projection("auto", 16, bucket_width=2, n_stacks=4).nnz_per_feature == 1
    generalised = make_projection("generalised_cw", 64)
    assert (generalised.n_stacks, generalised.bucket_width) == (4, 4)
    assert make_projection("generalised_cw", 64, n_stacks=2).n_stacks == 2
    assert make_projection("srht_replaced", 64).replace and not make_projection("srht", 64).replace
    assert make_projection("achlioptas").density == "achlioptas"
    with refuses("family"):
        make_projection("magic")


def test_auto_says_that_the_parts_are_too_many():
    X = np.ones((2, 50))
    with pytest.raises(InvalidParameterError):
        SparseEmbedding(eps=0.9, nnz_per_feature=64).fit(X)


def test_names_of_a_frame_are_forgotten_and_remembered():
    frame = pd.DataFrame(np.ones((3, 40)), columns=[f"c{i}" for i in range(40)])
    transformer = SparseEmbedding(16, random_state=0).fit(frame)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        transformer.transform(frame.to_numpy())
    transformer.fit(frame.to_numpy())
    assert not hasattr(transformer, "feature_names_in_")
    with pytest.raises(ValueError, match="39 features"):
        transformer.transform(np.ones((3, 39)))
