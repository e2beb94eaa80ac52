"""Adversarial points, projections of every family, and the test that a guarantee fails no more often than it says."""

import numpy as np
import scipy.linalg
from scipy import stats

from slimline.projections import Gaussian, HashEmbedding, RandomSign, SparseSign, SubsampledHadamard

#: A true guarantee is taken for a false one with at most this probability, test by test.
MISTAKE = 1e-6


def assert_fails_at_most(failures, trials, delta):
    """Refuse a guarantee whose failures are more than chance allows (Clopper and Pearson, one-sided, exact)."""
    lowest = stats.beta.ppf(MISTAKE, failures, trials - failures + 1) if failures else 0.0
    assert lowest <= delta, f"{failures} failures in {trials} trials: above {lowest:.4f}, allowed {delta:.4f}"


def assert_frequency(hits, trials, probability):
    """Refuse a law from which what was seen is too far away, either way."""
    assert stats.binomtest(int(hits), trials, probability).pvalue > MISTAKE, (hits, trials, probability)


def gaussians(rng, trials, d, r):
    """Return many Gaussian projections, as an array of shape (trials, d, r)."""
    return rng.standard_normal((trials, d, r)) / np.sqrt(r)


def cosines_after(R, w, X):
    """Return cos(Rᵀw, Rᵀxᵢ) for every projection and every row of X."""
    v, Z = w @ R, X @ R
    return np.einsum("tr,tnr->tn", v, Z) / (np.linalg.norm(v, axis=1)[:, None] * np.linalg.norm(Z, axis=2))


def residuals(kind, points, dimension, rng):
    """Return unit vectors, one a row, in a position that some bound might not like."""
    if kind == "equal":
        return np.tile(np.eye(dimension)[0], (points, 1))
    if kind == "axes":  # as independent as can be: the union over the points is nearly exact
        return np.eye(dimension)[np.arange(points) % dimension]
    if kind == "opposite":
        return np.outer((-1.0) ** np.arange(points), np.eye(dimension)[0])
    nearly = np.eye(dimension)[0] + 1e-6 * rng.standard_normal((points, dimension))
    return nearly / np.linalg.norm(nearly, axis=1)[:, None]


KINDS = ("equal", "axes", "opposite", "nearly equal")


def points_at(cosine, kind, points, dimension, rng, scales=True):
    """Return a separator and points at just this cosine to it, of very different lengths."""
    rest = residuals(kind, points, dimension, rng)
    X = np.column_stack([np.full(points, cosine), np.sqrt(1 - cosine**2) * rest])
    u = np.eye(dimension + 1)[0]
    rotate, _ = np.linalg.qr(rng.standard_normal((dimension + 1, dimension + 1)))
    lengths = 10.0 ** np.linspace(-9, 9, points)[:, None] if scales else 1.0
    return u @ rotate, lengths * X @ rotate


def orthonormal(kind, d, rank, rng):
    """Return V (d × rank) with orthonormal columns: leverage on few features, on all alike, or at random."""
    if kind == "axes":
        return np.eye(d)[:, :rank]
    if kind == "spread":
        return scipy.linalg.hadamard(d)[:, :rank] / np.sqrt(d)
    if kind == "pairs":  # two features share each direction
        return (np.eye(d)[:, :rank] + np.eye(d)[:, rank : 2 * rank]) / np.sqrt(2)
    return np.linalg.qr(rng.standard_normal((d, rank)))[0]


def projection(family, d, r, seed):
    """Return a projection of slimline, by the names of `make_projection`."""
    if family == "gaussian":
        return Gaussian(d, r, seed)
    if family == "sign":
        return RandomSign(d, r, seed)
    if family in ("achlioptas", "very_sparse"):
        return SparseSign(d, r, seed, density=1 / 3 if family == "achlioptas" else 1 / np.sqrt(d))
    if family in ("srht", "srht with replacement"):
        return SubsampledHadamard(d, r, seed, replace=family != "srht")
    if family == "generalised_cw":
        return HashEmbedding(d, -(-r // 16) * 16, seed, n_stacks=4, bucket_width=4)
    parts = 4 if family == "osnap" else 1
    return HashEmbedding(d, -(-r // parts) * parts, seed, nnz_per_feature=parts)


def embedding_error(Z):
    """Return ‖I - VᵀRRᵀV‖₂ from Z = VᵀR."""
    return float(np.linalg.norm(np.eye(len(Z)) - Z @ Z.T, 2))
