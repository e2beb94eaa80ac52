"""Bytes with missing values: filled with a byte they are sketched as bytes, with another number as floats."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline._kernels import instruction_set
from slimline.data._blocks import MISSING_CALL, PackedGenotypes
from slimline.projections import Gaussian, HashEmbedding, SubsampledHadamard
from tests.pairwise import pairwise

PROJECTIONS = [
    HashEmbedding(5000, 64, 1, 1, 1, "grouped"),
    Gaussian(5000, 32, 1),
    SubsampledHadamard(5000, 32, 1, False),
]


@pytest.mark.parametrize(
    "order, stored, fill, small",
    pairwise(
        ["C", "F"], [(np.int8, -127), (np.uint8, 9), (np.int8, None)], [0.0, 3.0, 1.5, 300.0, "mean"], [False, True]
    ),
)
def test_filled_sketch(order, stored, fill, small, monkeypatch):
    dtype, missing = stored
    if small:
        monkeypatch.setattr("slimline.data._blocks._TILE_BYTES", 37 * 200)
    rng = np.random.default_rng(0)
    X = np.asarray(rng.integers(0, 8, (37, 5000)), dtype=dtype, order=order)
    explicit = X.astype(np.float64)
    if missing is not None:
        holes = rng.random(X.shape) < 0.01
        X[holes] = missing
        explicit[holes] = np.nan
    numbers = np.nanmean(explicit, axis=0) if fill == "mean" else fill
    explicit = np.where(np.isnan(explicit), numbers, explicit)
    view = open_matrix(X, missing=missing).standardised(None, None, fill)
    for projection in PROJECTIONS:
        R = projection.rows()
        expected = explicit @ (R.toarray() if sp.issparse(R) else R)
        assert np.abs(view.sketch(projection) - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize(("nonzeros", "width"), [(1, 1), (4, 1), (2, 3), (1, 5)])
@pytest.mark.parametrize("hash", ["grouped", "independent"])
def test_a_sketch_of_packed_genotypes(nonzeros, width, hash):
    """Any number of people, also in the last byte; any first variant; rows of bytes that lie apart; several tiles."""
    rng = np.random.default_rng(2)
    columns = 16 * nonzeros * width
    projection = HashEmbedding(600, columns, 3, nonzeros, width, hash)
    R = projection.rows().toarray()
    shapes = [(n, 3 + n % 5, n) for n in range(1, 70)] + [(1300, 20, 3), (2250, 40, 9), (130, 555, 45)]
    for n, d, first in shapes:
        wide = rng.integers(0, 256, (d, (n + 3) // 4 + n % 3), dtype=np.uint8)
        genotypes = PackedGenotypes(wide[:, : (n + 3) // 4], n)
        values = genotypes.unpack().astype(np.float64)
        values[values == MISSING_CALL] = np.nan
        centre, factor = (rng.random(d) if first % 2 else None), (10.0 ** rng.integers(-2, 3, d) if first % 3 else None)
        fill = rng.random(d) * 2
        explicit = np.where(np.isnan(values), fill, values)
        explicit = (explicit - (0 if centre is None else centre)) * (1 if factor is None else factor)
        begin = rng.random((n, columns)).astype(np.float32)
        out = begin.copy()
        done = projection.add_genotypes(genotypes.packed, n, (centre, factor, fill), first, out)
        assert done == (instruction_set() in ("avx2", "avx512"))
        if not done:
            assert np.array_equal(out, begin)
            continue
        rows = R[first : first + d]
        bound = (d + 8) * np.finfo(np.float32).eps * (np.abs(explicit) @ np.abs(rows) + np.abs(begin))
        assert (np.abs(out - (begin + explicit @ rows)) <= bound).all()
        projection.add_genotypes(genotypes.packed, n, (centre, factor, None), first, out)
        assert np.array_equal(np.isnan(out).any(axis=1), np.isnan(values).any(axis=1))


def test_packed_genotypes_of_a_wrong_shape_are_refused():
    embedding, out = HashEmbedding(600, 64, 3), np.zeros((9, 64), np.float32)
    with pytest.raises(ValueError, match="bytes a variant"):
        embedding.add_genotypes(np.zeros((5, 2), np.uint8), 9, (None, None, None), 0, out)
    with pytest.raises(ValueError, match="C order"):
        embedding.add_genotypes(np.zeros((3, 5), np.uint8).T, 9, (None, None, None), 0, out)
    with pytest.raises(ValueError, match="must have one entry a column"):
        embedding.add_genotypes(np.zeros((5, 3), np.uint8), 9, (np.zeros(4), None, None), 0, out)


def test_a_sketch_of_packed_genotypes_in_float64_is_left_to_others():
    out = np.zeros((9, 64))
    assert not HashEmbedding(600, 64, 3).add_genotypes(np.zeros((5, 3), np.uint8), 9, (None, None, None), 0, out)
    assert not out.any()
