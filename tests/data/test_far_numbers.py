"""Numbers of very different size: columns far from zero, weights far from each other."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.data import ALL_BLOCKS, Block, Matrix, PackedGenotypes, StorageTraits
from slimline.projections import Gaussian
from tests.pairwise import pairwise

EPS = np.finfo(np.float64).eps


@pytest.mark.parametrize(
    "kind, far, given, scaled", pairwise([sp.csr_array, sp.csc_array], [1e3, 1e8, 1e12], [False, True], [False, True])
)
def test_sparse_columns_far_from_zero_lose_no_digits(kind, far, given, scaled):
    rng = np.random.default_rng(1)
    X = np.zeros((60, 7))
    X[:, 1] = far + rng.standard_normal(60)
    X[::5, 2] = 1 + rng.random(12)
    X[1:, 4] = -far * (1 + rng.random(59) * 1e-3)
    X[:, 5] = far
    mean, std = X.mean(axis=0), X.std(axis=0)
    std[std <= 60 * EPS * np.abs(mean)] = 1.0
    E = (X - mean) / (std if scaled else 1.0)
    rule = (mean, std) if given else ("mean", "std")
    view = open_matrix(kind(X)).standardised(rule[0], rule[1] if scaled else None)
    A, W = rng.standard_normal((60, 2)), rng.standard_normal((7, 2))
    # what computing the means themselves may lose, beside the sums
    off = 60 * EPS * np.abs(mean) / (std if scaled else 1.0)
    slack, lost = np.abs(E) + off, 2 * np.abs(E) @ off
    for got, expected, bound in (
        (view.dot(W), E @ W, slack @ np.abs(W) * 70 * EPS + off @ np.abs(W)),
        (view.tdot(A), E.T @ A, slack.T @ np.abs(A) * 70 * EPS + off[:, None] * np.abs(A).sum(axis=0)),
        (view.gram(), E @ E.T, slack @ slack.T * 70 * EPS + np.add.outer(lost, lost) + off @ off),
        (view.row_norms(), np.linalg.norm(E, axis=1), np.linalg.norm(slack, axis=1) * 70 * EPS + np.linalg.norm(off)),
    ):
        assert (np.abs(got - expected) <= bound).all()
    projection = Gaussian(7, 4, 3)
    sketch = E @ projection.rows()
    assert np.abs(view.sketch(projection) - sketch).max() <= 1e-12 * np.abs(sketch).max() + 20 * off.max()


@pytest.mark.parametrize("dtype, order, k", pairwise([np.int8, np.uint8], ["C", "F"], [1, 3]))
def test_small_weights_beside_large_ones(dtype, order, k):
    """A row that does not touch the large weights must not notice them."""
    rng = np.random.default_rng(2)
    X = np.asarray(rng.integers(0, 3, (90, 1500)), dtype=dtype, order=order)
    X[:45, ::2] = 0
    W = rng.standard_normal((1500, k)) * np.exp(rng.uniform(-100, 0, (1500, k)))
    W[::2] = 1e20 * rng.standard_normal((750, k))
    A = rng.standard_normal((90, k)) * 10.0 ** rng.uniform(-200, 200, (90, k))
    matrix, wide = open_matrix(X), X.astype(np.float64)
    assert (np.abs(matrix.dot(W) - wide @ W) <= 3000 * EPS * (wide @ np.abs(W))).all()
    assert (np.abs(matrix.tdot(A) - wide.T @ A) <= 200 * EPS * (wide.T @ np.abs(A))).all()
    first, second = matrix.normal(A)
    assert (np.abs(first - wide.T @ A) <= 200 * EPS * (wide.T @ np.abs(A))).all()
    assert (np.abs(second - wide @ (wide.T @ A)) <= 4000 * EPS * (wide @ (wide.T @ np.abs(A)))).all()


class _Packed(Matrix):
    traits = StorageTraits(whole_columns=True, prefetch=False)

    def __init__(self, values):
        super().__init__(values.shape, np.int8, "packed")
        self._values = values

    def blocks(self, request=ALL_BLOCKS):
        yield Block(slice(0, self.shape[0]), slice(0, self.shape[1]), self._values)

    @property
    def fingerprint(self):
        return "packed"


def test_small_weights_beside_large_ones_in_packed_genotypes():
    rng = np.random.default_rng(3)
    codes = rng.choice(4, size=(700, 33, 4), p=[0.3, 0.01, 0.3, 0.39]).astype(np.uint8)
    packed = codes[:, :, 0] | codes[:, :, 1] << 2 | codes[:, :, 2] << 4 | codes[:, :, 3] << 6
    values = PackedGenotypes(packed, 130)
    wide = values.unpack().astype(np.float64)
    wide[wide < 0] = 1.5
    view = _Packed(values).standardised(None, None, 1.5)
    w = rng.standard_normal(700) * 10.0 ** rng.uniform(-30, 30, 700)
    a = rng.standard_normal(130) * 10.0 ** rng.uniform(-30, 30, 130)
    assert (np.abs(view.dot(w) - wide @ w) <= 1400 * EPS * (wide @ np.abs(w))).all()
    assert (np.abs(view.tdot(a) - wide.T @ a) <= 300 * EPS * (wide.T @ np.abs(a))).all()


def test_tiny_weights_are_not_lost():
    X = np.array([[1, 1], [0, 1], [3, 7]], dtype=np.int8)
    scale = np.array([1e25, 3e25])
    a = np.array([1.1e-240, 1.3e-240, 1.7e-240])
    wide = X / scale
    assert np.allclose(open_matrix(X).standardised(None, scale).normal(a)[1], wide @ (wide.T @ a), rtol=1e-14, atol=0)


def test_huge_columns_are_standardised_again_and_again():
    view = open_matrix(np.array([[1e200, 1], [1e200, 2]])).standardised()
    for _ in range(2):
        assert np.array_equal(view.dot([1, 1]), [-1, 1])
    assert np.array_equal(open_matrix(np.full((2, 2), 1e200)).column_stats().deviation, [0, 0])


@pytest.mark.parametrize("dtype, order, missing", pairwise([np.int8, np.uint8], ["C", "F"], [None, 3]))
def test_statistics_of_many_bytes_do_not_overflow(dtype, order, missing):
    X = np.full((70_000, 3), np.iinfo(dtype).min or 255, dtype=dtype, order=order)
    X[::3, 1] = 3
    stats = open_matrix(X, missing=missing).column_stats()
    wide = X.astype(np.float64)
    if missing is not None:
        wide[wide == missing] = np.nan
    assert np.allclose(stats.mean, np.nanmean(wide, axis=0), rtol=1e-15)
    assert np.allclose(stats.variance, np.nanvar(wide, axis=0), rtol=1e-12)
    assert np.array_equal(stats.missing, np.isnan(wide).sum(axis=0))
