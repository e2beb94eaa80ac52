"""A matrix against the same numbers written out: what the tests of all formats share."""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose

from slimline.data import BlockRequest
from slimline.projections import Gaussian, HashEmbedding, SubsampledHadamard


def numbers(n, d, dtype="f4", seed=0):
    """Return numbers that the type holds, normal ones if it is a type of floats."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(seed)
    if dtype.kind == "f":
        return rng.standard_normal((n, d)).astype(dtype)
    low, high = (0, 2) if dtype.kind == "b" else (0 if dtype.kind == "u" else -90, 100)
    return rng.integers(low, high, (n, d)).astype(dtype)


def dense_of(matrix, whole_columns=False):
    """Return all blocks of a pass put together, after checking that each cell comes exactly once."""
    out, seen = np.zeros(matrix.shape), np.zeros(matrix.shape, dtype=int)
    for block in matrix.blocks(BlockRequest(whole_columns=whole_columns)):
        values = block.values.toarray() if sp.issparse(block.values) else block.values
        assert values.shape == out[block.rows, block.columns].shape
        assert not whole_columns or block.rows == slice(0, matrix.shape[0])
        out[block.rows, block.columns] = values
        seen[block.rows, block.columns] += 1
    assert (seen == 1).all()
    return out


def in_several_pieces(x, seed=0):
    """Return a CSR or CSC matrix in disorder: every third value is stored as two that add up to it."""
    rng = np.random.default_rng(seed)
    data, indices, indptr = [], [], [0]
    for first, last in pairwise(x.indptr):
        values, places = x.data[first:last], x.indices[first:last]
        split = np.arange(len(values)) % 3 == 0
        order = rng.permutation(len(values) + int(split.sum()))
        data.append(
            np.concatenate([np.where(split, values - x.dtype.type(1), values), np.ones(split.sum(), x.dtype)])[order]
        )
        indices.append(np.concatenate([places, places[split]])[order])
        indptr.append(indptr[-1] + len(order))
    pieces = type(x)(x.shape, dtype=x.dtype)
    pieces.data, pieces.indices = np.concatenate(data), np.concatenate(indices)
    pieces.indptr = np.array(indptr, dtype=x.indptr.dtype)
    return pieces


def _close(found, wanted, scale):
    """Compare with rounding of float64 sums; `scale` is the same sum over absolute values."""
    error = np.abs(np.asarray(found) - wanted)
    assert (error <= 1e-13 * (1 + np.asarray(scale))).all(), error.max()


def check_passes(matrix, exact, *, seed=0):
    """Compare all passes, and those of two views, with the array; NaN stands for a missing value."""
    exact = np.asarray(exact, dtype=np.float64)
    assert matrix.shape == exact.shape
    if np.isnan(exact).any():
        filled = np.where(np.isnan(exact), 0.5, exact)
        _check(matrix.standardised(None, None, fill=0.5), filled, seed)
    else:
        _check(matrix, exact, seed)
        filled = exact
    _check_stats(matrix, exact)
    mean = np.nanmean(exact, axis=0)
    full = np.where(np.isnan(exact), mean, exact)
    spread = np.nanstd(exact, axis=0)
    spread[spread < 1e-12] = 1.0
    standard = matrix.standardised(fill="mean")
    a = np.random.default_rng(seed).standard_normal((matrix.shape[0], 2))
    z = (full - mean) / spread
    assert_allclose(standard.normal(a)[1], z @ (z.T @ a), rtol=1e-10, atol=1e-8)
    assert_allclose(standard.tdot(a), z.T @ a, rtol=1e-10, atol=1e-9)
    assert_allclose(standard.gram(), z @ z.T, rtol=1e-10, atol=1e-8)
    index = np.random.default_rng(seed).permutation(matrix.shape[0])[: max(matrix.shape[0] // 2, 1)]
    part = matrix.standardised(None, None, fill=0.5).rows(index)
    w = np.random.default_rng(seed).standard_normal(matrix.shape[1])
    _close(part.dot(w), filled[index] @ w, np.abs(filled[index]) @ np.abs(w))


def _check(matrix, exact, seed):
    rng = np.random.default_rng(seed)
    n, d = exact.shape
    W, A = rng.standard_normal((d, 3)), rng.standard_normal((n, 3))
    size = np.abs(exact)
    before = matrix.passes
    _close(matrix.dot(W), exact @ W, size @ np.abs(W))
    assert matrix.passes == before + 1
    _close(matrix.dot(W[:, 0]), exact @ W[:, 0], size @ np.abs(W[:, 0]))
    _close(matrix.tdot(A), exact.T @ A, size.T @ np.abs(A))
    assert matrix.passes == before + 3
    wide, short_panels = matrix.normal(A)
    assert matrix.passes == before + 3 + matrix.normal_passes
    _close(wide, exact.T @ A, size.T @ np.abs(A))
    _close(short_panels, exact @ (exact.T @ A), size @ (size.T @ np.abs(A)))
    gram = matrix.gram()
    _close(gram, exact @ exact.T, size @ size.T)
    assert np.array_equal(gram, gram.T)
    _close(matrix.row_norms(), np.linalg.norm(exact, axis=1), np.linalg.norm(exact, axis=1))
    r = 16
    for projection in (
        HashEmbedding(n_features=d, n_components=r, seed=seed),
        Gaussian(n_features=d, n_components=r, seed=seed),
        SubsampledHadamard(n_features=d, n_components=min(r, d), seed=seed),
    ):
        R = projection.lift(np.eye(projection.n_components)).T  # R itself: lift gives V Rᵀ
        tolerance = 1e-12 if matrix.dtype == np.float64 else 3e-6
        error = np.abs(matrix.sketch(projection) - exact @ R)
        assert (error <= tolerance * (1 + size @ np.abs(R)) * 8).all(), error.max()


def _check_stats(matrix, exact):
    before = matrix.passes
    stats = matrix.column_stats()
    assert matrix.passes == before + 1
    _close(stats.sum, np.nansum(exact, axis=0), np.nansum(np.abs(exact), axis=0))
    assert_allclose(stats.variance, np.nanvar(exact, axis=0), rtol=1e-10, atol=1e-12)
    assert np.array_equal(stats.missing, np.isnan(exact).sum(axis=0))
    assert np.array_equal(stats.nonzeros, ((exact != 0) & ~np.isnan(exact)).sum(axis=0))
