"""Projections as values: gram, nested columns, JSON, pickle, equality, errors."""

import dataclasses
import json
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from slimline.errors import InvalidParameterError, InvalidProjectionLineError, SlimlineError
from slimline.projections import (
    Gaussian,
    HashEmbedding,
    Projection,
    RandomSign,
    SparseSign,
    SubsampledHadamard,
    pseudo_inverse,
)
from slimline.testing._moments import as_dense, dense_rows
from tests.families import FAMILIES

KINDS = ["gaussian", "cw", "srht"]  # one family of each class of kernels
NESTED = ["gaussian", "sign", "achlioptas", "srht", "srht_replaced"]


@pytest.mark.parametrize("family", FAMILIES)
def test_gram(family):
    for d in (1, 2, 100, 1024, 3001):
        projection = FAMILIES[family](d, 64 if d > 32 or family != "srht" else d, 4)
        R = dense_rows(projection)
        atol = (d + 8) * 1e-15 * np.max(np.sum(R**2, axis=0))
        np.testing.assert_allclose(projection.gram(), R.T @ R, rtol=0, atol=atol)


def test_gram_over_several_tiles():
    projection = Gaussian(5000, 600, 1)  # 8 MB tiles hold about 1,700 rows
    R = dense_rows(projection)
    np.testing.assert_allclose(projection.gram(), R.T @ R, rtol=0, atol=5008 * 1e-15 * np.max(np.sum(R**2, axis=0)))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_features", [50, 400])  # R itself, and through the r × r matrix
def test_pseudo_inverse(family, n_features):
    projection = FAMILIES[family](n_features, 64, 4)
    R = dense_rows(projection)
    expected = np.linalg.pinv(R, rcond=1e-10)  # R may lack rank: singular values that rounding made are none
    np.testing.assert_allclose(pseudo_inverse(projection).apply(np.eye(64)), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("family", NESTED)
def test_nested_columns(family):
    few, many = FAMILIES[family](300, 40, 9), FAMILIES[family](300, 130, 9)
    assert many.with_components(40) == few
    # two roundings on either side: value times scale, and back
    unscaled = dense_rows(few) / few.scale
    np.testing.assert_allclose(unscaled, (dense_rows(many) / many.scale)[:, :40], rtol=4 * 2.0**-53)


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_written_in_the_family_s_own_way(family):
    projection = FAMILIES[family](300, 64, 9)
    for dtype in (np.float32, np.float64):
        rows = projection.rows(10, 20, dtype)
        assert rows.shape == (10, 64) and rows.dtype == dtype
        assert sp.issparse(rows) == (projection.family in ("sparse_sign", "sparse_embedding"))
        if sp.issparse(rows):
            assert rows.has_canonical_format and np.all(rows.data != 0)
    assert projection.rows(5, 5).shape == (0, 64)
    assert as_dense(projection.rows()).shape == (300, 64)


@pytest.mark.parametrize("family", KINDS)
def test_rows_are_float64_or_float32(family):
    projection = FAMILIES[family](300, 64, 9)
    for dtype in ("float32", "f4", float, np.dtype(np.float64)):
        assert projection.rows(10, 20, dtype).dtype == np.dtype(dtype)
    for dtype in (np.float16, np.int64, np.complex128, bool, object, "U3", ">f8", "real"):
        for stop in (20, 10):
            with pytest.raises(InvalidParameterError) as caught:
                projection.rows(10, stop, dtype)
            assert caught.value.parameter == "dtype"


@pytest.mark.parametrize("family", FAMILIES)
def test_values(family):
    projection = FAMILIES[family](300, 64, 2**64 - 1)
    assert projection == FAMILIES[family](300, 64, 2**64 - 1)
    assert len({projection, FAMILIES[family](300, 64, 2**64 - 1), FAMILIES[family](300, 64, 1)}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        projection.seed = 3
    fields = json.loads(projection.to_json())
    assert fields["slimline_projection"] == 1 and fields["family"] == projection.family
    assert fields["seed"] == 2**64 - 1
    assert "_native" not in vars(pickle.loads(pickle.dumps(projection)))
    numpy_types = dataclasses.replace(projection, n_features=np.int64(300), seed=np.uint64(2**64 - 1))
    assert numpy_types == projection and numpy_types.to_json() == projection.to_json()


@pytest.mark.parametrize("family", FAMILIES)
def test_apply_and_lift_refuse(family):
    projection = FAMILIES[family](50, 64, 1)
    X = np.ones((2, 50))
    for bad in (
        lambda: projection.apply(np.ones((2, 51))),
        lambda: projection.apply(X, first_feature=1),
        lambda: projection.apply(X, first_feature=-1),
        lambda: projection.apply(X.astype(complex)),
        lambda: projection.apply(X.astype(object)),
        lambda: projection.apply(X.astype(np.int64)),
        lambda: projection.apply(sp.csr_array(X.astype(np.int64))),
        lambda: projection.apply(X, out=np.zeros((2, 63))),
        lambda: projection.apply(X, out=np.zeros((2, 64), dtype=np.float32)),
        lambda: projection.apply(X, out=np.zeros((64, 2)).T),
        lambda: projection.lift(np.ones(63)),
        lambda: projection.lift(np.ones((2, 2, 64))),
        lambda: projection.lift(np.ones(64), start=3, stop=51),
        lambda: projection.lift(np.ones(64), start=4, stop=3),
        lambda: projection.rows(-1, 3),
        lambda: projection.rows(0, 51),
    ):
        with pytest.raises(InvalidParameterError):
            bad()


@pytest.mark.parametrize("family", KINDS)
def test_an_array_that_is_copied_in_several_blocks(family, monkeypatch):
    """Blocks of 2,048 rows and 512 columns; each meets its own rows of R, and those that come first are not lost."""
    monkeypatch.setattr("slimline._base.layout._BLOCK_BYTES", 1)
    strided = np.random.default_rng(0).integers(-2, 3, (4200, 2300)).astype(np.int8)[::2, ::2]
    projection = FAMILIES[family](1300, 64, 3)
    expected = strided.astype(np.float64) @ dense_rows(projection)[100:1250]
    bound = 1150 * np.finfo(np.float32).eps * 2 * np.abs(dense_rows(projection)).sum(axis=0)
    assert np.all(np.abs(projection.apply(strided, first_feature=100) - expected) <= bound)


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_to_do(family):
    projection = FAMILIES[family](50, 64, 1)
    for X in (np.ones((0, 50)), sp.csr_array((0, 50)), sp.csc_array((0, 50))):
        assert projection.apply(X).shape == (0, 64)
    for X in (np.ones((3, 0)), sp.csr_array((3, 0)), sp.csc_array((3, 50))):
        np.testing.assert_array_equal(projection.apply(X), np.zeros((3, 64)))
    out = np.full((3, 64), 7.0)
    assert projection.apply(np.ones((3, 0)), out=out) is out
    np.testing.assert_array_equal(out, 7)
    assert projection.lift(np.ones((0, 64))).shape == (0, 50)
    assert projection.lift(np.ones(64), start=5, stop=5).shape == (0,)


@pytest.mark.parametrize("family", FAMILIES)
def test_lift_of_one_vector_and_of_lists(family):
    projection = FAMILIES[family](50, 64, 1)
    v = np.arange(64)
    lifted = projection.lift(v)
    assert lifted.shape == (50,) and lifted.dtype == np.float64
    np.testing.assert_array_equal(lifted, projection.lift([list(range(64))])[0])
    assert projection.lift(v.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(projection.lift(np.repeat(v, 2)[::2].astype(float)), lifted)


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: Gaussian(0, 4, 0), "n_features"),
        (lambda: Gaussian(4, 0, 0), "n_components"),
        (lambda: Gaussian(4, 2**30 + 1, 0), "n_components"),
        (lambda: Gaussian(4, 4, -1), "seed"),
        (lambda: Gaussian(4, 4, 2**64), "seed"),
        (lambda: Gaussian(4.5, 4, 0), "n_features"),
        (lambda: Gaussian(4, True, 0), "n_components"),
        (lambda: SparseSign(4, 4, 0, 0), "density"),
        (lambda: SparseSign(4, 4, 0, 1.5), "density"),
        (lambda: SparseSign(4, 4, 0, float("nan")), "density"),
        (lambda: SparseSign(4, 4, 0, "auto"), "density"),
        (lambda: HashEmbedding(4, 7, 0, nnz_per_feature=2), "n_components .*got 7"),
        (lambda: HashEmbedding(4, 8, 0, nnz_per_feature=0), "nnz_per_feature"),
        (lambda: HashEmbedding(4, 8, 0, bucket_width=1.5), "bucket_width"),
        (lambda: HashEmbedding(4, 8, 0, n_stacks=0), "n_stacks"),
        (lambda: HashEmbedding(4, 8, 0, n_stacks=True), "n_stacks"),
        (lambda: HashEmbedding(4, 8, 0, n_stacks=65536), "n_stacks"),
        (lambda: HashEmbedding(4, 12, 0, n_stacks=2, bucket_width=4), "multiple of 8 .* example 16; got 12.*n_stacks"),
        (lambda: HashEmbedding(4, 4, 0, n_stacks=2, bucket_width=4), "n_components .*got 4"),
        (lambda: HashEmbedding(4, 8, 0, hash="md5"), "hash"),
    ],
)
def test_impossible_parameters(make, named):
    with pytest.raises(InvalidParameterError, match=named) as caught:
        make()
    assert isinstance(caught.value, (ValueError, SlimlineError))


@pytest.mark.parametrize(
    "line",
    [
        "", "null", "[]", "3", "{}", "not json", '{"slimline_projection": 1}',
        pytest.param("[" * 100_000, id="deep"),
        '{"slimline_projection": 1, "family": "gaussian"}',
        '{"slimline_projection": 1, "family": "gaussian", "n_features": 0, "n_components": 1, "seed": 1}',
        '{"slimline_projection": 1, "family": "gaussian", "n_features": 2, "n_components": 1, "seed": 1, "more": 2}',
        '{"slimline_projection": 1, "family": ["gaussian"], "n_features": 2, "n_components": 1, "seed": 1}',
    ],
)  # fmt: skip
def test_lines_that_are_none(line):
    with pytest.raises(InvalidProjectionLineError, match="Not a line"):
        Projection.from_json(line)


def test_a_line_of_an_unknown_family():
    with pytest.raises(InvalidProjectionLineError, match="'magic', and no such family is known: import the module"):
        Projection.from_json('{"slimline_projection": 1, "family": "magic"}')


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda p: p.apply(np.ones((2, 5)), first_feature=1.5), "first_feature must be a whole number.*got 1.5"),
        (lambda p: p.apply(pd.DataFrame(np.ones((2, 5)))), "X must be an array or a sparse matrix"),
        (lambda p: p.lift(np.ones(7)), r"got shape \(7,\)"),
    ],
)
def test_what_values_are_given_is_checked(call, message):
    with pytest.raises(InvalidParameterError, match=message):
        call(RandomSign(5, 4, 3))


def test_a_line_of_a_later_layout():
    line = RandomSign(5, 4, 3).to_json().replace('"slimline_projection": 1', '"slimline_projection": 2')
    with pytest.raises(InvalidProjectionLineError, match="layout 2"):
        Projection.from_json(line)


def test_grouped_falls_back_where_buckets_are_not_in_groups():
    assert HashEmbedding(100, 48, 0).effective_hash == "grouped"
    assert HashEmbedding(100, 40, 0).effective_hash == "independent"
    assert HashEmbedding(100, 48, 0, nnz_per_feature=2).effective_hash == "independent"
    np.testing.assert_array_equal(
        dense_rows(HashEmbedding(100, 40, 0)), dense_rows(HashEmbedding(100, 40, 0, hash="independent"))
    )


@pytest.mark.parametrize("hash", ["grouped", "independent"])
def test_a_filled_bucket_is_made_of_stacks_of_one_component(hash):
    """What was written before there were stacks keeps its line and its R."""
    filled = HashEmbedding(500, 64 * 6, 3, 1, 6, hash)
    assert "n_stacks" not in filled.to_json()
    stacked = HashEmbedding(500, 64 * 6, 3, hash=hash, n_stacks=6)
    np.testing.assert_array_equal(dense_rows(filled), dense_rows(stacked))
    for projection in (filled, stacked):
        assert Projection.from_json(projection.to_json()) == projection
        assert pickle.loads(pickle.dumps(projection)) == projection


def test_one_bucket_of_stacks_is_a_sparse_johnson_lindenstrauss_transform():
    R = dense_rows(HashEmbedding(400, 5 * 8, 0, n_stacks=5, bucket_width=8))
    stacks = R.reshape(400, 5, 8)
    np.testing.assert_array_equal(np.count_nonzero(stacks, axis=2), 1)
    np.testing.assert_allclose(np.abs(stacks).max(axis=2), 1 / np.sqrt(5), rtol=1e-15)


def test_the_seed_decides():
    for family, make in FAMILIES.items():
        rows = {dense_rows(make(200, 64, seed)).tobytes() for seed in (0, 1, 2, 2**32, 2**63)}
        assert len(rows) == 5, family


def test_families_of_one_seed_are_not_alike():
    signs = np.sign(dense_rows(RandomSign(256, 64, 0)))
    other = np.sign(dense_rows(SubsampledHadamard(256, 64, 0)))
    assert abs(np.mean(signs * other)) < 6 / np.sqrt(signs.size)  # z < 6: failure probability 2e-9
