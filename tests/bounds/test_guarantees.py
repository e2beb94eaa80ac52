"""Guarantees of norms, angles, margins and subspaces attacked by simulation, with points chosen against them.

Theorems are loose, so each is asked for the eps that it promises in few dimensions with a failure probability near ½;
the exact laws are held to the probability that they name, from both sides.
"""

from functools import partial

import numpy as np
import pytest

from slimline.bounds import generalised_embedding, get
from slimline.errors import InvalidParameterError
from slimline.laws import cosine, norm_failure
from slimline.projections import HashEmbedding
from tests.bounds.attack import (
    KINDS,
    assert_fails_at_most,
    assert_frequency,
    cosines_after,
    embedding_error,
    gaussians,
    orthonormal,
    points_at,
    projection,
    residuals,
)
from tests.tiers import once_then_all

DELTA = 0.45


@pytest.fixture
def rng(global_random_seed):
    return np.random.default_rng(global_random_seed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scaled", [False, True])
def test_norms_of_a_set(kind, scaled, rng):
    bound, count, trials = get("uml2014.23.4"), 8, 4000
    r = 40
    eps = bound.eps(r, DELTA, vectors=count)
    X = residuals(kind, count, count, rng) * (10.0 ** np.linspace(-100, 100, count)[:, None] if scaled else 1.0)
    ratios = np.sum((X @ gaussians(rng, trials, count, r)) ** 2, axis=2) / np.sum(X**2, axis=1)
    lower, upper = bound.guarantee(eps)
    assert_fails_at_most(np.sum(np.any((ratios < lower) | (ratios > upper), axis=1)), trials, DELTA)
    # sharp: the exact law of one vector, and its union with as few dimensions as it asks for
    assert_frequency(np.sum((ratios[:, 0] < lower) | (ratios[:, 0] > upper)), trials, norm_failure(r, eps))
    least = bound.exact_dimension(0.5, DELTA, vectors=count)
    assert least < bound.dimension(0.5, DELTA, vectors=count) / 2
    ratios = np.sum((X @ gaussians(rng, trials, count, least)) ** 2, axis=2) / np.sum(X**2, axis=1)
    assert_fails_at_most(np.sum(np.any(np.abs(ratios - 1) > 0.5, axis=1)), trials, DELTA)


@pytest.mark.parametrize("name", ["uml2014.23.3", "shi2012.10"])
def test_one_norm_by_the_exact_law(name):
    # no simulation: whatever r and delta, what is promised fails with at most that probability
    bound = get(name)
    for delta in (0.9, 0.5, 0.1, 1e-3, 1e-12):
        r = np.array([1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000])
        eps = bound.eps(r, delta)
        said = ~np.isnan(eps)
        assert np.all(norm_failure(r[said], eps[said]) <= delta)


@pytest.mark.parametrize("c", [-1.0, -0.999, -0.827, -0.3, 0.0, 0.3, 0.827, 0.999, 1.0])
@pytest.mark.parametrize("name", ["shi2012.5", "shi2012.5.sharp"])
def test_angles(name, c, rng):
    bound, trials, r = get(name), 6000, 45
    u, X = points_at(c, "equal", 1, 3, rng)
    after = cosines_after(gaussians(rng, trials, 4, r), u, X)[:, 0]
    lower, upper = bound.guarantee(bound.eps(r, DELTA), cosine=c)
    assert_fails_at_most(np.sum((after < lower - 1e-12) | (after > upper + 1e-12)), trials, DELTA)
    # so far the interval is nearly everything: now the one that the exact law allows in as many dimensions
    eps = next(e for e in np.linspace(0.02, 0.9, 45) if bound.exact_dimension(e, DELTA, cosine=c) <= r)
    lower, upper = bound.guarantee(eps, cosine=c)
    failures = np.sum((after < lower - 1e-12) | (after > upper + 1e-12))
    assert_fails_at_most(failures, trials, DELTA)
    if abs(c) < 1:
        assert_frequency(failures, trials, cosine.cdf(lower, r, c) + cosine.sf(upper, r, c))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("c", [1.0, 0.0, -0.9])
def test_inner_products(kind, c, rng):
    bound, count, trials = get("fard2012.1"), 6, 1500
    r = 210
    w, S = points_at(c, kind, count, count, rng)
    eps = bound.eps(r, DELTA, vectors=count)
    R = gaussians(rng, trials, count + 1, r)
    errors = np.abs(np.einsum("tr,tnr->tn", w @ R, S @ R) - S @ w) / np.linalg.norm(S, axis=1)
    assert_fails_at_most(np.sum(np.any(errors > eps, axis=1)), trials, DELTA)
    # sharp: as many dimensions as the worst exact law asks for
    least = bound.exact_dimension(0.3, DELTA, vectors=count)
    R = gaussians(rng, trials, count + 1, least)
    errors = np.abs(np.einsum("tr,tnr->tn", w @ R, S @ R) - S @ w) / np.linalg.norm(S, axis=1)
    assert_fails_at_most(np.sum(np.any(errors > 0.3, axis=1)), trials, DELTA)


@pytest.mark.parametrize("kind", ["equal", "axes", "nearly equal"])
def test_inner_products_with_every_sparse_vector(kind, rng):
    # over all unit x that are k-sparse the worst error is the norm of the k largest coordinates
    bound, d, k, trials = get("fard2012.2"), 7, 3, 400
    r = bound.dimension(1.0, DELTA, features=d, sparsity=k)
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    w = residuals(kind, 3, d, rng)[2] @ basis
    R = gaussians(rng, trials, d, r)
    errors = np.einsum("tr,tnr->tn", w @ R, basis @ R) - basis @ w
    worst = np.sqrt(np.sum(np.sort(errors**2, axis=1)[:, -k:], axis=1))
    assert_fails_at_most(np.sum(worst > bound.eps(r, DELTA, features=d, sparsity=k)), trials, DELTA)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["shi2012.6", "shi2012.6.sharp"])
@pytest.mark.parametrize("gamma", [0.2, 0.9])
def test_binary_margins(name, kind, gamma, rng):
    bound, m, trials = get(name), 8, 4000
    u, X = points_at(gamma, kind, m, m, rng)
    y = np.where(np.arange(m) % 3, 1.0, -1.0)
    X = y[:, None] * X  # so that y cos(u, x) = γ
    r = 70
    after = (y * cosines_after(gaussians(rng, trials, m + 1, r), u, X)).min(axis=1)
    lower = bound.guarantee(bound.eps(r, DELTA, points=m), margin=gamma).lower
    assert_fails_at_most(np.sum(after < lower), trials, DELTA)
    # sharp: a third of the margin may go, and there are as many dimensions as the exact law asks for
    eps = bound.eps_keeping(2 / 3 * gamma, margin=gamma)
    least = bound.exact_dimension(eps, DELTA, points=m, margin=gamma)
    assert least * 3 < bound.dimension(eps, DELTA, points=m)
    after = (y * cosines_after(gaussians(rng, trials // 4, m + 1, least), u, X)).min(axis=1)
    assert_fails_at_most(np.sum(after < 2 / 3 * gamma), trials // 4, DELTA)


def classes_and_points(kind, rng):
    """Return vectors of three classes and points of every class: rivals orthogonal, behind, or near the own one."""
    rivals = {"orthogonal": [0.0, 0.0], "behind": [-1.0, -0.6], "near": [0.8, 0.5]}[kind]
    d, U = 6, np.eye(6)[:3].copy()
    U[1] = rivals[0] * U[0] + np.sqrt(1 - rivals[0] ** 2) * np.eye(d)[3]
    U[2] = rivals[1] * U[0] + np.sqrt(1 - rivals[1] ** 2) * np.eye(d)[4]
    X = np.vstack([U, U + 0.02 * rng.standard_normal(U.shape)])
    return U @ (Q := np.linalg.qr(rng.standard_normal((d, d)))[0]), X @ Q, np.tile(np.arange(3), 2)


def own_less_others(scores, labels):
    """Return the score of the own class less the largest other one; scores of shape (…, points, classes)."""
    own = np.zeros(scores.shape[-2:], bool)
    own[np.arange(len(labels)), labels] = True
    return scores[..., own] - np.where(own, -np.inf, scores).max(axis=-1)


def unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


@pytest.mark.parametrize("kind", ["orthogonal", "behind", "near"])
def test_multiclass_margins(kind, rng):
    bound, trials = get("shi2012.8"), 3000
    U, X, labels = classes_and_points(kind, rng)
    gamma = own_less_others(unit(X) @ unit(U).T, labels).min()
    assert gamma > 0
    r = 80
    R = gaussians(rng, trials, 6, r)
    after = own_less_others(unit(X @ R) @ unit(U @ R).transpose(0, 2, 1), labels).min(axis=1)
    lower = bound.guarantee(bound.eps(r, DELTA, points=6, classes=3), multiclass_margin=gamma).lower
    assert_fails_at_most(np.sum(after < lower), trials, DELTA)


@pytest.mark.parametrize("kind", ["orthogonal", "behind", "near"])
def test_one_parameter_margins(kind, rng):
    bound, trials, classes = get("shi2012.9"), 2000, 3
    U, X, labels = classes_and_points(kind, rng)
    gamma = own_less_others(unit(X) @ unit(U).T, labels).min()
    eps = bound.eps(75, DELTA, points=6, classes=classes)
    wanted = 0.5 * gamma / np.sqrt(2 * classes)
    least = bound.exact_dimension(
        bound.eps_keeping(wanted, multiclass_margin=gamma, classes=classes),
        DELTA,
        points=6,
        classes=classes,
        multiclass_margin=gamma,
    )
    for r, lower in ((75, bound.guarantee(eps, multiclass_margin=gamma, classes=classes).lower), (least, wanted)):
        draws = trials if r == 75 else max(100, 75 * trials // r)
        R = np.stack([gaussians(rng, draws, 6, r) for _ in range(classes)], axis=1)  # one projection a class
        v = np.einsum("cd,tcdr->tr", unit(U), R)
        Z = np.einsum("nd,tcdr->tcnr", X, R)
        own = Z[:, labels, np.arange(6)]
        cosines = np.array(
            [
                np.einsum("tr,tr->t", unit(v), unit(own[:, i] - Z[:, other, i]))
                for i in range(6)
                for other in range(classes)
                if other != labels[i]
            ]
        )
        assert_fails_at_most(np.sum(cosines.min(axis=0) < lower), draws, DELTA)


@pytest.mark.parametrize("kind", KINDS)
def test_half_the_margin_with_errors(kind, rng):
    bound, m, gamma, share = get("balcan2006"), 10, 0.5, 0.25
    u, X = points_at(gamma, kind, m, m, rng)
    for r in (bound.dimension(share, DELTA, margin=gamma), bound.exact_dimension(share, DELTA, margin=gamma)):
        after = cosines_after(gaussians(rng, 4000, m + 1, r), u, X)
        wrong = np.mean(after < bound.guarantee(share, margin=gamma).lower, axis=1)
        assert_fails_at_most(np.sum(wrong > share), 4000, DELTA)


EMBEDDINGS = [
    ("paul2013.srht", "srht with replacement"),
    ("paul2013.sign", "sign"),
    ("paul2013.sign", "achlioptas"),
    ("paul2013.sign", "gaussian"),
    ("paul2013.cw", "cw"),
    ("paul2013.cw", "osnap"),
    ("paul2013.cw.generalised", "generalised_cw"),
    ("paul2013.cw", "srht"),
    ("paul2013.cw", "srht with replacement"),
    ("paul2013.cw", "sign"),
    ("paul2013.cw", "achlioptas"),
    ("embedding.very_sparse", "very_sparse"),
    ("vaswani2013.c1", "gaussian"),
    ("vaswani2013.c2", "gaussian"),
]


@pytest.mark.parametrize("theorem, kind", once_then_all(EMBEDDINGS, ["axes", "spread", "pairs", "random"]))
def test_subspaces(theorem, kind, rng):
    name, family = theorem
    bound, d, rank, trials = get(name), 64, 3, 150
    eps = 0.5 if bound.eps_below == 0.5 else 0.9
    sizes = {"features": d} if "features" in bound.needs else {}
    r = bound.dimension(eps, DELTA, rank=rank, **sizes)
    V = orthonormal(kind, d, rank, rng)
    seeds = rng.integers(2**32, size=trials)
    errors = np.array([embedding_error(projection(family, d, r, int(seed)).apply(V.T)) for seed in seeds])
    assert_fails_at_most(np.sum(errors > bound.eps(r, DELTA, rank=rank, **sizes)), trials, DELTA)


@pytest.mark.parametrize("eps, rank", [(0.9, 3), (0.5, 1), (0.3, 20), (1e-3, 1000)])
def test_sizes_of_a_generalised_embedding(eps, rank):
    """The factors of the printed r with the constant 1; as many buckets as the theorem asks for, and no more."""
    printed, sizes = (generalised_embedding(eps, DELTA, rank, version) for version in ("printed", "correct"))
    stacks, width = np.log(rank / (DELTA * eps)) / eps, 1 / eps
    for found in (printed, sizes):
        assert (found.n_stacks, found.bucket_width) == (np.ceil(stacks), np.ceil(width))
        assert found.n_components == found.buckets * found.n_stacks * found.bucket_width
    assert printed.buckets == np.ceil(rank * eps**-2 * (rank + np.log(1 / (DELTA * eps))))
    order = get("paul2013.cw.generalised", "printed").required(eps, DELTA, rank=rank)
    assert order <= printed.n_components <= order * (1 + 1 / stacks) * (1 + eps) * (1 + 1 / (printed.buckets - 1))
    least = get("paul2013.cw.generalised").dimension(eps, DELTA, rank=rank)
    assert least <= sizes.n_components < least + sizes.n_stacks * sizes.bucket_width


@pytest.mark.parametrize("kind", ["axes", "pairs"])
def test_sizes_keep_subspaces(kind, rng):
    d, rank, eps, trials = 64, 2, 0.6, 200
    sizes = generalised_embedding(eps, DELTA, rank)
    V = orthonormal(kind, d, rank, rng)
    make = partial(HashEmbedding, d, sizes.n_components, n_stacks=sizes.n_stacks, bucket_width=sizes.bucket_width)
    errors = np.array([embedding_error(make(seed=int(seed)).apply(V.T)) for seed in rng.integers(2**32, size=trials)])
    assert_fails_at_most(np.sum(errors > eps), trials, DELTA)


@pytest.mark.parametrize("call", [(0.0, 0.1, 2), (1.0, 0.1, 2), (0.5, 1.0, 2), (0.5, 0.1, 0), (1e-5, 0.1, 2)])
def test_sizes_that_there_are_not(call):
    with pytest.raises(InvalidParameterError):
        generalised_embedding(*call)


@pytest.mark.parametrize("rank", [1, 2, 5])
@pytest.mark.parametrize("name", ["vaswani2013.c1", "vaswani2013.c2"])
def test_gaussian_subspaces_with_little_to_spare(name, rank, rng):
    bound, trials, delta = get(name), 2000, 0.9
    r = bound.dimension(0.5, delta, rank=rank)
    A = gaussians(rng, trials, rank, r)
    errors = np.abs(np.linalg.eigvalsh(A @ A.transpose(0, 2, 1)) - 1).max(axis=1)
    assert_fails_at_most(np.sum(errors > 0.5), trials, delta)
