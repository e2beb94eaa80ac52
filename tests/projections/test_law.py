"""The law of R's entries, family by family, against its definition in theory sheet §1.

Every p-value is compared with 1e-7, and every z-score with 6 (2e-9 for a normal score; the scores are means of at
least 10,000 bounded or normal products, so the normal law is good to well within the factor 50 that is left). No
test looks at more than eight p-values or twenty scores: its failure probability is below 1e-6.
"""

import itertools

import numpy as np
import pytest
from scipy import stats

from slimline.projections import Gaussian, HashEmbedding, RandomSign, SparseSign, SubsampledHadamard
from slimline.testing._moments import dense_rows
from tests.families import FAMILIES, far_place

LEAST = 1e-7
MOST = 6.0


def _uniform(counts, probabilities=None):
    """p-value of Pearson's test."""
    counts = np.asarray(counts, dtype=float)
    expected = counts.sum() * (
        np.full(len(counts), 1 / len(counts)) if probabilities is None else np.asarray(probabilities)
    )
    assert expected.min() > 20  # where the asymptotic law of the test is good
    return stats.chisquare(counts, expected).pvalue


def _score(a, b):
    """z-score of the correlation of two independent centred samples."""
    a, b = np.ravel(a).astype(float), np.ravel(b).astype(float)
    return abs(np.sum(a * b)) / np.sqrt(np.sum(a * a) * np.sum(b * b) / len(a))


@pytest.mark.parametrize("family", ["gaussian", "sign", "achlioptas", "very_sparse"])
def test_entries_are_uncorrelated(family, global_random_seed):
    make = FAMILIES[family]
    R = dense_rows(make(1000, 192, global_random_seed)) * np.sqrt(192)
    again = dense_rows(make(1000, 192, global_random_seed + 1)) * np.sqrt(192)
    for lag in (1, 16, 32, 64, 128):  # columns that share a draw, a vector or a counter
        assert _score(R[:, lag:], R[:, :-lag]) < MOST
        if family != "sign":  # whose squares are constant
            assert _score(R[:, lag:] ** 2 - 1, R[:, :-lag] ** 2 - 1) < MOST
    for lag in (1, 2, 16, 128):
        assert _score(R[lag:], R[:-lag]) < MOST
    assert _score(R, again) < MOST and _score(R[1:], again[:-1]) < MOST
    if family != "sign":
        assert _score(R**2 - 1, again**2 - 1) < MOST


def test_gaussian_entries_are_normal(global_random_seed):
    R = np.sqrt(256) * dense_rows(Gaussian(2000, 256, global_random_seed)).ravel()
    assert stats.kstest(R, "norm").pvalue > LEAST
    # the tail, which Kolmogorov's test hardly sees
    counts = np.histogram(np.abs(R), bins=[0, 1, 2, 3, 3.5, np.inf])[0]
    probabilities = -np.diff(2 * stats.norm.sf([0, 1, 2, 3, 3.5, np.inf]))
    assert _uniform(counts, probabilities) > LEAST
    for moment, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(R**moment) - expected) < MOST * np.sqrt(variance / len(R))


def test_gaussian_rows_are_independent_normals(global_random_seed):
    # sums of squares of rows, columns and pairs of columns that come from one Box-Muller draw
    R = np.sqrt(128) * dense_rows(Gaussian(4000, 128, global_random_seed))
    assert stats.kstest(np.sum(R**2, axis=1), stats.chi2(128).cdf).pvalue > LEAST
    assert stats.kstest(np.sum(R[:, :16] ** 2 + R[:, 16:32] ** 2, axis=1), stats.chi2(32).cdf).pvalue > LEAST
    assert stats.kstest(np.arctan2(R[:, 0], R[:, 16]), stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > LEAST
    assert stats.kstest(np.sum(R, axis=1) / np.sqrt(128), "norm").pvalue > LEAST


def test_norms_under_gaussian_have_the_exact_law(global_random_seed):
    x = np.random.default_rng(0).standard_normal(50)
    x /= np.linalg.norm(x)
    norms = [
        np.sum(Gaussian(50, 16, seed).apply(x[None]) ** 2)
        for seed in range(5000 * global_random_seed, 5000 * global_random_seed + 5000)
    ]
    assert stats.kstest(16 * np.array(norms), stats.chi2(16).cdf).pvalue > LEAST


def test_sign_entries(global_random_seed):
    R = dense_rows(RandomSign(4000, 256, global_random_seed))
    np.testing.assert_array_equal(np.abs(R), 1 / 16)
    bits = (R < 0).astype(np.int64)
    patterns = bits.reshape(-1, 8) @ (1 << np.arange(8))
    assert _uniform(np.bincount(patterns, minlength=256)) > LEAST
    across = bits[: 4000 // 8 * 8].reshape(-1, 8, 256).transpose(0, 2, 1).reshape(-1, 8) @ (1 << np.arange(8))
    assert _uniform(np.bincount(across, minlength=256)) > LEAST
    assert _uniform(np.bincount(bits.sum(axis=1), minlength=257)[112:145], _binomial(256, 0.5, 112, 144)) > LEAST


def _binomial(n, p, low, high):
    law = stats.binom(n, p).pmf(np.arange(low, high + 1))
    return law / law.sum()


@pytest.mark.parametrize("density", [1 / 3, 0.15, 0.1, 0.03])
def test_sparse_sign_entries(density, global_random_seed):
    d, r = 6000, 100
    R = dense_rows(SparseSign(d, r, global_random_seed, density))
    value = 1 / np.sqrt(density * r)
    kinds = [np.sum(R == 0), np.sum(np.isclose(R, value, rtol=1e-15)), np.sum(np.isclose(R, -value, rtol=1e-15))]
    assert sum(kinds) == R.size
    assert _uniform(kinds, [1 - density, density / 2, density / 2]) > LEAST
    # how many a row has, and where
    count = np.count_nonzero(R, axis=1)
    low, high = (int(q) for q in stats.binom(r, density).ppf([0.01, 0.99]))
    inside = np.bincount(count, minlength=r + 1)[low : high + 1]
    assert _uniform(inside, _binomial(r, density, low, high)) > LEAST
    assert _uniform(np.count_nonzero(R, axis=0)) > LEAST
    # runs of zeros that begin at the row's first column: geometric
    first = np.where(count > 0, np.argmax(R != 0, axis=1), r)
    law = stats.geom(density).pmf(np.arange(1, 9))
    assert _uniform([*(np.sum(first == k) for k in range(8)), np.sum(first >= 8)], [*law, 1 - law.sum()]) > LEAST


def test_density_one_is_random_signs():
    np.testing.assert_allclose(np.abs(dense_rows(SparseSign(50, 20, 0, 1))), 1 / np.sqrt(20), rtol=1e-15)


@pytest.mark.parametrize("replace", [False, True])
def test_hadamard_samples_and_signs(replace, global_random_seed):
    counts, pairs, signs = np.zeros(64), np.zeros((64, 64)), np.zeros(64)
    seeds = range(4000 * global_random_seed, 4000 * global_random_seed + 4000)
    for seed in seeds:
        projection = SubsampledHadamard(64, 8, seed, replace)
        samples = projection.samples.astype(int)
        np.add.at(counts, samples, 1)
        pairs[samples[0], samples[7]] += 1
        signs += (
            dense_rows(projection)[:, 0]
            * np.sqrt(8)
            * np.where(np.bitwise_count(np.arange(64) & samples[0]) & 1, -1, 1)
        )
    assert _uniform(counts) > LEAST
    assert np.max(np.abs(signs)) / np.sqrt(len(seeds)) < MOST + 0.7  # one of 64 scores: 64 · 2e-11
    if replace:
        # two draws fall on the same column with probability 1/64
        assert stats.binomtest(int(np.trace(pairs)), len(seeds), 1 / 64).pvalue > LEAST
    else:
        assert np.trace(pairs) == 0
    coarse = pairs.reshape(8, 8, 8, 8).sum(axis=(1, 3)).ravel()
    law = np.ones((8, 8)) if replace else np.where(np.eye(8), 8 * 7, 64)
    assert _uniform(coarse, (law / law.sum()).ravel()) > LEAST


def test_hadamard_signs_are_independent_of_one_another(global_random_seed):
    projection = SubsampledHadamard(2**16, 1, global_random_seed)
    walsh = np.where(np.bitwise_count(np.arange(2**16, dtype=np.uint32) & projection.samples[0]) & 1, -1, 1)
    D = dense_rows(projection)[:, 0] * walsh
    patterns = (D < 0).reshape(-1, 8) @ (1 << np.arange(8))
    assert _uniform(np.bincount(patterns, minlength=256)) > LEAST
    for lag in (1, 32, 128):
        assert _score(D[lag:], D[:-lag]) < MOST


@pytest.mark.parametrize("hash", ["grouped", "independent"])
@pytest.mark.parametrize("s, v", [(1, 1), (1, 4), (4, 1), (2, 3)])
def test_hash_embedding_entries(s, v, hash, global_random_seed):
    buckets, d = 32, 32_000
    projection = HashEmbedding(d, buckets * s * v, global_random_seed, s, v, hash)
    assert projection.effective_hash == hash
    R = dense_rows(projection).reshape(d, s, v, buckets)
    # one entry in each of the s·v parts, the same bucket in all v parts of a position
    np.testing.assert_array_equal(np.count_nonzero(R, axis=3), 1)
    np.testing.assert_allclose(np.abs(R).max(axis=3), 1 / np.sqrt(s * v), rtol=1e-15)
    bucket = np.argmax(R != 0, axis=3)
    assert np.all(bucket == bucket[:, :, :1])
    bucket = bucket[:, :, 0]
    signs = np.sign(R.sum(axis=3)).reshape(d, s * v)
    # In a group the sixteen buckets are distinct, so counts vary less than independent ones would: one feature a group.
    loose = bucket[:: 16 if hash == "grouped" else 1]
    for i in range(s):
        assert _uniform(np.bincount(loose[:, i], minlength=buckets)) > LEAST
    if s > 1:  # positions are independent of one another, but for the bit that the grouped hash has in common
        if hash == "grouped":
            assert np.all((loose[:, :1] ^ loose) & 4 == 0)
        for low, high in ((0, 1), (1, 3), (3, 4)):  # bits of the bucket number, two of one position with two of another
            bits = [(loose[:, i] >> low & 1) * 2 + (loose[:, i] >> high & 1) for i in (0, 1)]
            assert _uniform(np.bincount(bits[0] * 4 + bits[1], minlength=16)) > LEAST
    assert abs(signs.sum()) / np.sqrt(signs.size) < MOST
    for lag in (1, 4, 8):
        assert _score(signs[lag:], signs[:-lag]) < MOST
    if s * v > 1:
        assert _score(signs[:, 1:], signs[:, :-1]) < MOST
    # signs and buckets are independent: in every bucket, as many of either sign
    balance = np.zeros((buckets, 2))
    np.add.at(balance, (bucket[:, 0], (signs[:, 0] < 0).astype(int)), 1)
    assert stats.chi2.sf(np.sum(np.diff(balance, axis=1)[:, 0] ** 2 / balance.sum(axis=1)), buckets) > LEAST


@pytest.mark.parametrize("hash", ["grouped", "independent"])
@pytest.mark.parametrize("s, a, v", [(1, 3, 4), (1, 1, 5), (2, 6, 2)])
def test_generalised_embedding_entries(s, a, v, hash, global_random_seed):
    """q buckets of a stacks of v components: one entry a stack, in the same bucket, its place and sign at random."""
    q, d = 32, 48_000
    projection = HashEmbedding(d, s * a * v * q, global_random_seed, s, v, hash, n_stacks=a)
    assert projection.effective_hash == hash and projection.buckets == q
    rows = projection.rows().tocsr()
    np.testing.assert_array_equal(np.diff(rows.indptr), s * a)
    np.testing.assert_allclose(np.abs(rows.data), 1 / np.sqrt(s * a), rtol=1e-15)
    columns = rows.indices.reshape(d, s, a)
    stack, place, bucket = columns // (v * q), columns // q % v, columns % q
    np.testing.assert_array_equal(stack, np.broadcast_to(np.arange(s * a).reshape(s, a), (d, s, a)))
    assert np.all(bucket == bucket[:, :, :1])
    if hash == "grouped":  # 16 features share their place in a stack
        assert np.all(place.reshape(-1, 16, s, a) == place.reshape(-1, 16, s, a)[:, :1])
    loose = slice(None, None, 16 if hash == "grouped" else 1)  # features that are drawn independently
    place, bucket, signs = place[loose], bucket[loose, :, 0], np.sign(rows.data).reshape(d, s, a)[loose]
    joint = (bucket[:, 0] // 8 * v + place[:, 0, 0]) * 2 + (signs[:, 0, 0] > 0)  # each of its parts with the others
    assert _uniform(np.bincount(joint, minlength=q // 8 * v * 2)) > LEAST
    for i, u in {(0, a // 2), (s - 1, a - 1)}:
        assert _uniform(np.bincount(place[:, i, u], minlength=v)) > LEAST
    if a > 1:  # places in two stacks, and signs in two stacks, are independent
        assert _uniform(np.bincount(place[:, 0, 0] * v + place[:, 0, a - 1], minlength=v * v)) > LEAST
        assert _score(signs[:, 0, 0], signs[:, 0, a - 1]) < MOST
    if s > 1:
        assert _uniform(np.bincount(place[:, 0, 0] * v + place[:, 1, 0], minlength=v * v)) > LEAST
    centred = place[:, 0, 0] - (v - 1) / 2
    for lag in (1, 4):
        assert _score(centred[lag:], centred[:-lag]) < MOST


@pytest.mark.parametrize("q, a, v", [(1, 1, 3), (2, 1, 2), (2, 2, 1), (1, 2, 2), (2, 2, 2), (3, 1, 2)])
def test_exact_second_moment_of_a_generalised_embedding(q, a, v):
    """E‖VᵀRRᵀV - I‖² = (ρ² + ρ - 2 Σ ℓ²)/(qav), summed over all buckets, places and signs of two features."""
    of_a_feature = []
    for bucket in range(q):
        for places in itertools.product(range(v), repeat=a):
            for signs in itertools.product((-1.0, 1.0), repeat=a):
                row = np.zeros((a, v, q))
                row[np.arange(a), places, bucket] = signs
                of_a_feature.append(row.ravel() / np.sqrt(a))
    rows = np.array(of_a_feature)
    R = np.stack([np.repeat(rows, len(rows), axis=0), np.tile(rows, (len(rows), 1))], axis=1)  # every pair of rows
    np.testing.assert_allclose(np.mean(R @ R.transpose(0, 2, 1), axis=0), np.eye(2), atol=1e-12)
    angle = 0.7
    for V in (np.eye(2), np.array([[np.cos(angle)], [np.sin(angle)]])):
        rho, leverage = V.shape[1], np.sum(V**2, axis=1)
        Z = V.T @ R
        errors = np.sum((Z @ Z.transpose(0, 2, 1) - np.eye(rho)) ** 2, axis=(1, 2))
        expected = (rho**2 + rho - 2 * np.sum(leverage**2)) / (q * a * v)
        np.testing.assert_allclose(np.mean(errors), expected, rtol=1e-12)


@pytest.mark.parametrize("hash", ["grouped", "independent"])
def test_collisions(hash, global_random_seed):
    buckets, groups = 64, 4000
    R = dense_rows(HashEmbedding(16 * groups, buckets, global_random_seed, hash=hash))
    bucket = np.abs(R).argmax(axis=1).reshape(groups, 16)
    within = sum(np.sum(bucket[:, a] == bucket[:, b]) for a in range(16) for b in range(a))
    if hash == "grouped":
        assert within == 0
        np.testing.assert_array_equal(np.sort(bucket // 16, axis=1)[:, 0], np.sort(bucket // 16, axis=1)[:, -1])
    else:
        assert stats.binomtest(int(within), 120 * groups, 1 / buckets).pvalue > LEAST
    # features of different groups, one pair of groups once: independent pairs for each pair of lanes
    left, right = bucket[::2], bucket[1::2]
    for a, b in ((0, 0), (0, 1), (3, 12), (15, 0)):
        assert stats.binomtest(int(np.sum(left[:, a] == right[:, b])), groups // 2, 1 / buckets).pvalue > LEAST


def test_far_features_follow_the_same_law(global_random_seed):
    # where the counter carries, rows before and after are neither alike nor those of feature 0
    for make in (
        FAMILIES["gaussian"],
        FAMILIES["sign"],
        FAMILIES["achlioptas"],
        FAMILIES["cw"],
        FAMILIES["osnap_independent"],
        FAMILIES["generalised_cw"],
    ):
        projection = make(2**50, 128, global_random_seed)
        start, stop = far_place(projection) - 256, far_place(projection) + 256
        far = dense_rows(projection, start, stop)
        near = dense_rows(projection, 0, 512)
        assert len(np.unique(far, axis=0)) > 256 or projection.family == "sparse_embedding"
        assert not np.array_equal(far[256:], near[:256]) and not np.array_equal(far[:256], far[256:])
        assert _score(far[256:], near[:256]) < MOST and _score(far, near) < MOST
        x = np.random.default_rng(0).standard_normal((3, 512))
        exact = x @ far
        bound = (np.abs(x) @ np.abs(far)) * 600 * 2.0**-53 * 2
        assert np.all(np.abs(projection.apply(x, first_feature=start) - exact) <= bound)
        v = np.random.default_rng(1).standard_normal((2, 128))
        bound = (np.abs(v) @ np.abs(far.T)) * 200 * 2.0**-53 * 2
        assert np.all(np.abs(projection.lift(v, start=start, stop=stop) - v @ far.T) <= bound)
