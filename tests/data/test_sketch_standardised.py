"""Dense values that are filled, centred and scaled on their way into a sparse embedding: every type, and every edge."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline._base.layout import result_dtype
from slimline._kernels import _native
from slimline.data import _products as products
from slimline.data._blocks import PackedGenotypes
from slimline.errors import InvalidParameterError
from slimline.projections import HashEmbedding, ShiftedEmbedding
from tests.pairwise import pairwise

WHOLE = [np.int8, np.uint8, np.int16]
FLOATS = [np.float16, np.float32, np.float64]


def explicit(values, centre, factor, fill):
    """Return the standardised values in float64, the slow way."""
    values = np.where(np.isnan(values), np.nan if fill is None else fill, values)
    return (values - (0 if centre is None else centre)) * (1 if factor is None else factor)


@pytest.mark.parametrize(
    "dtype, parts, order", pairwise(WHOLE + FLOATS, [(1, 1), (4, 1), (1, 3), (1, 2, 3)], ["C", "F"])
)
def test_any_type(dtype, parts, order):
    """Any first feature and number of columns: groups of 16 are cut; near-constant columns keep their digits."""
    rng = np.random.default_rng(1)
    s, v, *stacks = parts
    projection = HashEmbedding(400, 192, 3, s, v, "grouped", n_stacks=stacks[0] if stacks else None)
    R = projection.rows().toarray()
    out_type = result_dtype(np.dtype(dtype))
    for n, d, first in ((1, 1, 5), (3, 7, 16), (19, 16, 0), (33, 40, 9), (70, 300, 31), (17, 33, 367)):
        x = rng.integers(0, 3, (n, d)).astype(dtype) + dtype(100 * (first % 2))
        if dtype in FLOATS:
            x += rng.random(x.shape).astype(dtype)
        values = x.astype(np.float64)
        missing = None
        if first % 3:
            holes = rng.random(x.shape) < 0.1
            missing = 77 if dtype in WHOLE else None
            x[holes] = np.nan if missing is None else missing
            values[holes] = np.nan
        centre = 100.0 * (first % 2) + rng.random(d) if first % 5 else None
        factor = 10.0 ** rng.integers(-2, 3, d) if first % 7 else None
        fill = rng.random(d) * 2
        wide = explicit(values, centre, factor, fill)
        begin = rng.random((n, 192)).astype(out_type)
        out = begin.copy()
        x = np.asarray(x, order=order)
        assert projection.add_standardised(x, missing, (centre, factor, fill), first, out)
        rows = R[first : first + d]
        # each value is off by a few roundings of itself, each sum by one rounding an addition
        bound = (d + 8) * np.finfo(out_type).eps * (np.abs(wide) @ np.abs(rows) + np.abs(begin))
        assert (np.abs(out - (begin + wide @ rows)) <= bound).all()
        if np.isnan(values).any():
            projection.add_standardised(x, missing, (centre, factor, None), first, out)
            assert np.array_equal(np.isnan(out).any(axis=1), np.isnan(values).any(axis=1))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_view_is_sketched_on_the_way(dtype, order, monkeypatch):
    """Nothing is written out: the tiles that other projections need are never asked for."""

    def refused(*_):
        raise AssertionError("values were written out")

    rng = np.random.default_rng(2)
    X = rng.integers(0, 100, (37, 5000)).astype(dtype)
    missing = 7
    values = np.where(missing == X, np.nan, X.astype(np.float64))
    mean, sd = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    monkeypatch.setattr(products, "tiles", refused)
    projection = HashEmbedding(5000, 64, 1)
    expected = explicit(values, mean, 1 / sd, mean) @ projection.rows().toarray()
    got = open_matrix(np.asarray(X, order=order), missing=missing).standardised(fill="mean").sketch(projection)
    assert got.dtype == result_dtype(X.dtype)
    assert np.abs(got - expected).max() <= 100 * np.finfo(got.dtype).eps * np.abs(expected).max()


@pytest.mark.parametrize("order", ["C", "F"])
def test_many_blocks_of_rows_and_columns(order):
    """More columns than one table of the hash has, and more rows than one thread takes at once."""
    rng = np.random.default_rng(3)
    projection = HashEmbedding(140_000, 1024, 1, 64)  # 2^19 entries of groups: 131,072 features
    X = rng.standard_normal((35, 140_000), dtype=np.float32)
    centre, factor = rng.standard_normal(140_000), rng.random(140_000) + 0.5
    R = projection.rows()
    assert sp.issparse(R)
    expected = explicit(X.astype(np.float64), centre, factor, None) @ R
    out = np.zeros((35, 1024), np.float32)
    assert projection.add_standardised(np.asarray(X, order=order), None, (centre, factor, None), 0, out)
    assert np.abs(out - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("scale", "shift"), [(1e-42, 0.0), (3e-39, 0.0), (1e-30, 0.0), (1e30, 0.0), (1e36, 1e37), (1e-30, 1.0), (1.0, 1e33)]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_at_the_ends_of_float32(scale, shift, order):
    """Values beyond float32 on the way are computed in float64."""
    rng = np.random.default_rng(4)
    X = (rng.standard_normal((31, 640)) * scale + shift).astype(np.float32)
    X[0] = np.where(np.arange(640) % 2, np.finfo(np.float32).max, X[0])  # beside a centre of any size
    X = X[1:] if scale < 1e30 else X
    wide = X.astype(np.float64)
    centre, sd = wide.mean(axis=0), wide.std(axis=0)
    factor = 1 / np.where(sd > 0, sd, 1)
    projection = HashEmbedding(640, 64, 1)
    expected = explicit(wide, centre, factor, None) @ projection.rows().toarray()
    got = open_matrix(np.asarray(X, order=order)).standardised(centre, 1 / factor).sketch(projection)
    assert np.abs(got - expected).max() <= 1e-5 * max(np.abs(expected).max(), 1e-30)


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_float32_cannot_hold_is_left_to_others(order):
    projection, out = HashEmbedding(32, 16, 3), np.zeros((2, 16), np.float32)
    x, one = np.ones((2, 32), np.float32, order), np.ones(32)
    for parts in (
        (1e33 * one, None, None),
        (None, 1e39 * one, None),
        (None, 1e-39 * one, None),
        (None, 1e30 * one, 1e10 * one),
    ):
        assert not projection.add_standardised(x, None, parts, 0, out)
        assert not out.any()
        wide = np.zeros((2, 16))
        assert projection.add_standardised(x.astype(np.float64), None, parts, 0, wide)
        assert np.isfinite(wide).all()
    assert projection.add_standardised(x, None, (None, 0 * one, None), 0, out)


def test_what_cannot_be_standardised_on_the_way_is_left_to_others():
    parts = (None, None, np.zeros(400))
    out = np.zeros((5, 64), np.float32)
    grouped, independent = HashEmbedding(400, 64, 3), HashEmbedding(400, 64, 3, hash="independent")
    assert not independent.add_standardised(np.ones((5, 400), np.int8), None, parts, 0, out)
    assert not grouped.add_standardised(np.ones((5, 400)), None, parts, 0, out)  # float64 into float32
    assert not grouped.add_standardised(np.ones((5, 400), np.float32), None, parts, 0, out.astype(np.float64))
    assert not out.any()
    native = grouped._native
    with pytest.raises(ValueError, match="fill must have one entry a column"):
        native.apply_standard(np.ones((5, 399), np.int8), None, _native.ColumnTransform(*parts), 0, 1.0, out, 1)
    x = np.ones((5, 400), np.int8)
    with pytest.raises(ValueError, match="grouped hash"):
        independent._native.apply_standard(x, None, _native.ColumnTransform(*parts), 0, 1.0, out, 1)


@pytest.mark.parametrize("hash_", ["grouped", "independent"])
def test_columns_go_by_any_hash(hash_):
    rng = np.random.default_rng(6)
    projection = HashEmbedding(300, 48, 3, 2, hash=hash_)
    X = np.asfortranarray(rng.standard_normal((1100, 300)) + 5.0)  # more rows than are summed up together
    mean, sd = X.mean(axis=0), X.std(axis=0)
    out = np.zeros((1100, 48))
    assert projection.add_standardised(X, None, (mean, 1 / sd, None), 0, out)
    np.testing.assert_allclose(out, (X - mean) / sd @ projection.rows().toarray(), rtol=0, atol=1e-12)
    row = np.zeros((1, 48))
    assert projection.add_standardised(X[7:8], None, (mean, 1 / sd, None), 0, row)  # one row of columns that lie apart
    np.testing.assert_allclose(row, out[7:8], rtol=0, atol=1e-12)


@pytest.mark.parametrize("first", [-1, 1, 1000])
def test_columns_that_are_not_there_are_refused(first):
    projection, out = HashEmbedding(32, 16, 3), np.zeros((2, 16), np.float32)
    with pytest.raises(InvalidParameterError, match="are not within 0:32"):
        projection.add_standardised(np.ones((2, 32), np.float32), None, (None, None, None), first, out)
    with pytest.raises(InvalidParameterError, match="are not within 0:32"):
        projection.add_genotypes(np.zeros((32, 1), np.uint8), 2, (None, None, None), first, out)


@pytest.mark.parametrize("kind", ["int8", "float32", "packed", "sparse"])
def test_a_stretch_of_a_longer_embedding(kind):
    """Standardised on the way or not, its rows are those of the stretch."""
    rng = np.random.default_rng(5)
    projection = ShiftedEmbedding(320, 64, 1, 1, 1, "grouped", first=32)
    R = projection.rows().toarray()
    assert np.array_equal(R, HashEmbedding(352, 64, 1).rows().toarray()[32:])
    X = rng.integers(0, 3, (20, 320)).astype(np.int8)
    wide = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    if kind == "packed":
        out = np.zeros((20, 64), np.float32)
        genotypes = PackedGenotypes(rng.integers(0, 256, (320, 5), dtype=np.uint8), 20)
        if projection.add_genotypes(genotypes.packed, 20, (None, None, np.zeros(320)), 0, out):
            values = genotypes.unpack().astype(np.float64)
            assert np.abs(out - np.where(values < 0, 0, values) @ R).max() <= 1e-4
        return
    data = sp.csr_array(X.astype(np.float64)) if kind == "sparse" else X.astype(kind)
    assert np.abs(open_matrix(data).sketch(projection) - X @ R).max() <= 1e-4
    assert np.abs(open_matrix(data).standardised().sketch(projection) - wide @ R).max() <= 1e-4
