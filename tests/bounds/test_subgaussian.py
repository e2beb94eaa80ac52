"""Lemma 10 and the margins of shi2012 for sub-Gaussian columns: exact tails, proof, families without them, attacks.

The proofs are in docs/margin_theorems.md.
"""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from slimline import geometry
from slimline.bounds import BOUNDS, get
from slimline.bounds._subgaussian import SUBGAUSSIAN_FAMILIES
from tests.bounds.attack import assert_fails_at_most, points_at, projection

#: Entries of √r R: values, and how often.
ENTRIES = {
    "sign": ([-1.0, 1.0], [0.5, 0.5]),
    "achlioptas": (np.sqrt(3) * np.arange(-1.0, 2.0), [1 / 6, 2 / 3, 1 / 6]),
    "half": (np.sqrt(2) * np.arange(-1.0, 2.0), [1 / 4, 1 / 2, 1 / 4]),
}
DELTA = 0.45
#: Features of R.
FEATURES = 20


def rate(eps):
    return eps**2 / 4 - eps**3 / 6


@pytest.fixture
def rng(global_random_seed):
    return np.random.default_rng(global_random_seed)


@pytest.mark.parametrize("family", ENTRIES)
@pytest.mark.parametrize("features", [1, 2, 3, 5, 8])
def test_lemma_10_by_exact_tails(family, features):
    """Compare with the law of ‖Rᵀx‖², x equal on few features: a sum of r squares of whole numbers."""
    values, chances = ENTRIES[family]
    unit = np.abs(values[values != 0][0]) if family != "sign" else 1.0
    one = np.array(chances) if len(chances) == 3 else np.array([0.5, 0.0, 0.5])
    total = np.array([1.0])
    for _ in range(features):
        total = np.convolve(total, one)
    squares = np.zeros(features**2 + 1)
    np.add.at(squares, np.arange(-features, features + 1) ** 2, total)
    eps = np.linspace(0.02, 0.999, 50)
    for r in (1, 2, 7, 40, 150):
        law = np.array([1.0])
        for _ in range(r):
            law = np.convolve(law, squares)
        at = np.arange(law.size) * unit**2 / (features * r)  # ‖Rᵀx‖²
        for one_eps in eps:
            upper, lower = law[at >= 1 + one_eps - 1e-12].sum(), law[at <= 1 - one_eps + 1e-12].sum()
            assert max(upper, lower) <= np.exp(-r * rate(one_eps)) * (1 + 1e-9)


def test_the_steps_of_the_proof():
    t = np.linspace(-12, 12, 2001)
    for values, chances in ENTRIES.values():
        values, chances = np.array(values), np.array(chances)
        assert np.isclose(chances @ values**2, 1) and np.isclose(chances @ values, 0)
        assert np.all(np.log(np.exp(np.outer(t, values)) @ chances) <= t**2 / 2 + 1e-12)  # strictly sub-Gaussian
    sparse = np.sqrt(4.0) * np.arange(-1.0, 2.0)  # of density ¼: not
    assert np.any(np.log(np.exp(np.outer(t, sparse)) @ [1 / 8, 3 / 4, 1 / 8]) > t**2 / 2)
    eps = np.linspace(1e-3, 1, 2000)
    # upper tail: h = ε/(2(1+ε)) in (1-2h)^(-1/2) exp(-h(1+ε))
    h = eps / (2 * (1 + eps))
    assert np.all(0.5 * np.log1p(-2 * h) + h * (1 + eps) >= rate(eps))
    # lower tail: h = ε/2 in (1 - h + 3h²/2) exp(h(1-ε))
    h = eps / 2
    assert np.all(-np.log1p(-h + 1.5 * h**2) - h * (1 - eps) >= rate(eps))
    v = h - 1.5 * h**2
    assert np.all(v + v**2 / 2 + v**3 / 3 - h * (1 - eps) >= rate(eps))


def test_which_families_are_covered():
    assert SUBGAUSSIAN_FAMILIES == ("gaussian", "sign", "achlioptas")
    # the others fail Lemma 10 with many components, for these vectors
    r, eps = 400, 0.999
    # CountSketch: two equal features in one column, with opposite signs: 0
    assert 1 / (2 * r) > np.exp(-r * rate(eps))
    # OSNAP, four entries in four groups: the same in all of them
    assert (2 / r) ** 4 > np.exp(-r * rate(eps))
    # very sparse signs, one feature of 10,000: no entry in any column
    assert binom.pmf(0, r, 0.01) > np.exp(-r * rate(eps))
    # SRHT with replacement, eight equal features: signs like a row of the Hadamard matrix with probability 1/16, and
    # then only one in eight samples is not 0
    assert binom.cdf(0.5 * r / 8, r, 1 / 8) / 16 > np.exp(-r * rate(0.5))


@pytest.mark.parametrize("family, x", [("cw", [1, 1]), ("srht with replacement", [1] * 8)])
def test_families_that_are_not_covered_fail_as_said(family, x, rng):
    d, trials = 64, 4000
    r = 12 if family == "cw" else 60
    x = np.append(x, np.zeros(d - len(x))) / np.sqrt(len(x))
    least = 0.0 if family == "cw" else 0.5
    squares = [
        np.sum(projection(family, d, r, int(seed)).apply(x[None])[0] ** 2) for seed in rng.integers(2**62, size=trials)
    ]
    chance = 1 / (2 * r) if family == "cw" else binom.cdf(0.5 * r / 8, r, 1 / 8) / 16
    low = np.mean(np.array(squares) <= least + 1e-6)
    assert (
        low > 0.4 * chance
    )  # 27 to 170 expected: below 0.4 of that with a probability below 1e-6, up to the other signs


def drawn(family, rng, *shape):
    """Return √r R for many draws."""
    return (
        rng.standard_normal(shape)
        if family == "gaussian"
        else rng.choice(ENTRIES[family][0], shape, p=ENTRIES[family][1])
    )


def unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


#: Vectors whose projections are least Gaussian: few features, equal ones, one that stands out.
PLACES = ("axes", "pairs", "spread")


def placed(place, X, rng):
    """Return points of few dimensions among the features of R."""
    k, d = X.shape[-1], FEATURES
    basis = np.zeros((k, d))
    if place == "axes":
        basis[np.arange(k), np.arange(k)] = 1
    elif place == "pairs":
        basis[np.arange(k), 2 * np.arange(k)] = basis[np.arange(k), 2 * np.arange(k) + 1] = np.sqrt(0.5)
    else:
        basis = np.linalg.qr(rng.standard_normal((d, k)))[0].T
    return X @ basis


@pytest.mark.parametrize("family, place", list(itertools.product(["gaussian", *ENTRIES], PLACES)))
def test_angles_and_binary_margins(family, place, rng):
    m, r, trials = 8, 60, 2000
    for gamma in (0.9, 0.4, -0.5):
        u, X = points_at(gamma, "axes", m, m, rng, scales=False)
        rotated = placed(place, np.vstack([u, X]), rng)
        R = drawn(family, rng, trials, FEATURES, r)
        Z = unit(rotated @ R)
        after = np.einsum("tr,tnr->tn", Z[:, 0], Z[:, 1:])
        angle = get("shi2012.5.subgaussian")
        lower, upper = angle.guarantee(angle.eps(r, DELTA), cosine=gamma)
        assert_fails_at_most(np.sum((after[:, 0] < lower) | (after[:, 0] > upper)), trials, DELTA)
        if gamma > 0:
            margin = get("shi2012.6.subgaussian")
            lower = margin.guarantee(margin.eps(r, DELTA, points=m), margin=gamma).lower
            assert_fails_at_most(np.sum(after.min(axis=1) < lower), trials, DELTA)


def leads(scores, labels):
    """Return the score of the own class less that of each other one; scores of shape (…, points, classes)."""
    own = np.eye(scores.shape[-1], dtype=bool)[labels]
    others = scores[..., ~own].reshape(*scores.shape[:-1], -1)
    return scores[..., own][..., None] - others


@pytest.mark.parametrize("family, place", list(itertools.product(["gaussian", *ENTRIES], PLACES)))
def test_multiclass_margins(family, place, rng):
    classes, r, trials = 3, 150, 1000
    U = np.eye(3, 6) + 0.3 * np.eye(3, 6, 3)
    U[2] = -U[0] + 0.4 * U[1]  # a rival behind
    X = np.vstack([U, 3.0 * U + 0.1 * rng.standard_normal(U.shape)])
    labels = np.tile(np.arange(classes), 2)
    U, X = placed(place, U, np.random.default_rng(1)), placed(place, X, np.random.default_rng(1))
    R = drawn(family, rng, trials, FEATURES, r) / np.sqrt(r)
    sizes = {"points": len(X), "classes": classes}
    gamma = leads(unit(X) @ unit(U).T, labels).min()
    assert gamma > 0.5
    normalised = get("shi2012.8.subgaussian")
    lower = normalised.guarantee(normalised.eps(r, DELTA, **sizes), multiclass_margin=gamma).lower
    after = leads(unit(X @ R) @ unit(U @ R).transpose(0, 2, 1), labels).min(axis=(1, 2))
    assert_fails_at_most(np.sum(after < lower), trials, DELTA)
    one = get("shi2012.9.subgaussian")
    lower = one.guarantee(one.eps(r, DELTA, **sizes), multiclass_margin=gamma, classes=classes).lower
    some = trials // 4
    own = np.stack([drawn(family, rng, some, FEATURES, r) for _ in range(classes)], axis=1)
    v = unit(np.einsum("cd,tcdr->tr", unit(U), own))
    Z = np.einsum("nd,tcdr->tncr", X, own)
    apart = leads(Z.transpose(0, 3, 1, 2), labels).transpose(0, 2, 3, 1)  # R_yᵀx - R_y'ᵀx
    assert_fails_at_most(np.sum(np.einsum("tr,tnkr->tnk", v, unit(apart)).min(axis=(1, 2)) < lower), some, DELTA)


@pytest.mark.parametrize("family, place", list(itertools.product(["gaussian", *ENTRIES], PLACES)))
@pytest.mark.parametrize("kind", ["two", "three", "far"])
def test_crammer_singer_margins(family, place, kind, rng):
    """Attack the unnormalised margin: rivals in opposite directions, long points that are nearly on the boundary."""
    bound, r, trials = get("shi2012.8.unnormalised"), 250, 1000
    if kind == "three":
        U = np.array([[1.0, 0, 0], [-0.5, np.sqrt(0.75), 0], [-0.5, -np.sqrt(0.75), 0]]) / np.sqrt(3)
        X, labels = 2.0 * U, np.arange(3)
    else:
        U = np.array([[1.0, 0, 0], [-1.0, 0, 0]]) / np.sqrt(2)
        side = 30.0 if kind == "far" else 0.1
        X, labels = np.array([[1.0, side, 0], [1, -side, 0], [-1, 0, side], [-1, 0, -side]]), np.array([0, 0, 1, 1])
    gamma, B = leads(X @ U.T, labels).min(), np.linalg.norm(X, axis=1).max()
    found = geometry.multiclass_margin(X, labels, normalised=False)
    assert np.linalg.norm(U) == pytest.approx(1) and found.value == pytest.approx(gamma, rel=1e-5)
    U, X = placed(place, U, np.random.default_rng(1)), placed(place, X, np.random.default_rng(1))
    R = drawn(family, rng, trials, FEATURES, r) / np.sqrt(r)
    eps = bound.eps(r, DELTA, points=len(X), classes=len(U))
    lower = bound.guarantee(eps, crammer_singer_margin=gamma, radius=B).lower
    after = leads((X @ R) @ (U @ R).transpose(0, 2, 1), labels).min(axis=(1, 2))
    after /= np.linalg.norm(U @ R, axis=(1, 2))
    assert_fails_at_most(np.sum(after < lower), trials, DELTA)
    # what a point loses is what the proof says: without √2 B, ε alone would be passed
    if kind == "far":
        assert lower < 0 < gamma and np.mean(after < gamma * (1 - eps)) > 0.1


@pytest.mark.parametrize("eps", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("cosine", [0.1, 0.5, 0.9])
def test_the_loss_of_the_crammer_singer_margin_is_attained(eps, cosine):
    """Two classes at ±x: both events of the proof are equalities, and u_y - u_y' is as long as it can be, √2."""
    B, bound = 3.0, get("shi2012.8.unnormalised")
    a, x = np.array([1.0, 0.0]), np.array([cosine, np.sqrt(1 - cosine**2)])
    plus, minus = unit(a + x), unit(a - x)
    M = (1 - eps) * np.outer(plus, plus) + (1 + eps) * np.outer(minus, minus)  # RRᵀ
    gamma = np.sqrt(2) * B * (a @ x)
    after = np.sqrt(2) * B * (a @ M @ x)
    lower = bound.guarantee(eps, crammer_singer_margin=gamma, radius=B).lower
    assert after == pytest.approx(lower * np.sqrt(1 + eps))
    if after > 0:
        assert after / np.sqrt(a @ M @ a) >= lower  # with vectors of norm 1 in all


def test_the_tails_of_matrices(rng):
    """‖RᵀU‖² of a matrix of norm 1 is nowhere less concentrated than that of a vector: exact laws and draws."""
    r, trials = 20, 20_000
    for family in ("gaussian", "sign", "achlioptas"):
        for weights in ([1.0], [0.5, 0.5], [0.9, 0.1], [0.25] * 4):
            U = np.sqrt(weights)[:, None] * np.eye(len(weights), 4)
            squares = np.sum((U @ drawn(family, rng, trials, 4, r)) ** 2, axis=(1, 2)) / r
            for eps in (0.3, 0.6, 0.9):
                assert_fails_at_most(np.sum(squares >= 1 + eps), trials, np.exp(-r * rate(eps)))
                assert_fails_at_most(np.sum(squares <= 1 - eps), trials, np.exp(-r * rate(eps)))


def test_dimensions_beside_those_of_the_printed_theorems():
    sizes = {"6": {"points": 100}, "8": {"points": 100, "classes": 5}, "9": {"points": 100, "classes": 5}}
    for number, given in sizes.items():
        ours = BOUNDS[f"shi2012.{number}.subgaussian"].dimension(0.3, 0.05, **given)
        assert ours < BOUNDS[f"shi2012.{number}"].dimension(0.3, 0.05, **given)  # fewer tails, the same rate
    assert BOUNDS["shi2012.5.subgaussian"].dimension(0.3, 0.05) == BOUNDS["shi2012.5.sharp"].dimension(0.3, 0.05)
