"""Margins, balls and objectives given the error relative to K + μI, without probability; then its probability.

Each inequality is held against exact solvers of its own, on data and errors chosen against it, and is attained.
"""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from slimline.bounds import get
from tests.bounds.attack import assert_fails_at_most, gaussians, orthonormal, projection
from tests.bounds.exact_geometry import ball_radius_squared, box_dual, box_dual_balanced, hard_margin_squared
from tests.bounds.test_learning_guarantees import FAMILIES, KINDS, inside, separable

SLACK = 1e-7  # of the solvers, relative
LOSSES = {
    "squared": (1.0, lambda m: 0.5 * (1 - m) ** 2, lambda m: m - 1),
    "squared hinge": (2.0, lambda m: np.maximum(0, 1 - m) ** 2, lambda m: -2 * np.maximum(0, 1 - m)),
    "logistic": (0.25, lambda m: np.logaddexp(0, -m), lambda m: -1 / (1 + np.exp(np.minimum(m, 700)))),
}


@pytest.fixture
def rng(global_random_seed):
    return np.random.default_rng(global_random_seed)


def root(K):
    """Return F with F Fᵀ = K."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def relative_error(K, sketched, mu):
    """Return ‖(K + μI)^(-½) (K̃ - K) (K + μI)^(-½)‖₂."""
    values, vectors = np.linalg.eigh(K)
    half = vectors / np.sqrt(np.maximum(values, 0.0) + mu)
    return float(np.abs(np.linalg.eigvalsh(half.T @ (sketched - K) @ half)).max())


def sketches(X, mu, rng):
    """Return sketches of X with their errors, below 1: errors of ±ε in every direction, and all families."""
    K, n = X @ X.T, len(X)
    values, vectors = np.linalg.eigh(K)
    half = (vectors * np.sqrt(np.maximum(values, 0.0) + mu)) @ vectors.T
    for e in (0.05, 0.4, 0.9):
        for _ in range(4):
            Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
            sketched = half @ (np.eye(n) + (Q * rng.choice([-e, e], n)) @ Q.T) @ half - mu * np.eye(n)
            values = np.linalg.eigvalsh(sketched)
            if values[0] < 0:  # no sketch has it: lift it, and measure the error again
                sketched = root(sketched) @ root(sketched).T
            if (found := relative_error(K, sketched, mu)) < 1 - 1e-9:
                yield root(sketched), inside(found)
    for family in FAMILIES:
        for r in (2, 5, 16):
            Z = projection(family, X.shape[1], r, int(rng.integers(2**32))).apply(X)
            if (found := relative_error(K, Z @ Z.T, mu)) < 1 - 1e-9:
                yield Z, inside(found)


@pytest.mark.parametrize("kind", KINDS)
def test_hard_margin(kind, rng):
    bound, seen = get("paul2013.1.effective"), 0
    X, y = separable(kind, rng)
    before = hard_margin_squared(X, y)
    for Z, e in sketches(X, before, rng):
        if 2 * e < 1:
            lower, upper = bound.guarantee(2 * e)  # the dimension is that of ε/2
            assert lower - SLACK <= hard_margin_squared(Z, y) / before <= upper + SLACK, e
            seen += 1
    assert seen >= 8


def test_hard_margin_with_any_penalty(rng):
    """For any μ the margins through the origin are within (1 ± ε)γ² ± εμ; one support vector attains both ends."""
    for mu in (1e-3, 0.1, 10.0):
        for _ in range(20):
            A = np.abs(rng.standard_normal((4, 16))) + 0.1  # signed data that a hyperplane separates
            before = _through_origin(A)
            for Z, e in sketches(A, mu, rng):
                after = _through_origin(Z)
                assert (1 - e) * before - e * mu - SLACK <= after <= (1 + e) * before + e * mu + SLACK
    K, mu, e = np.array([[2.0]]), 0.5, 0.3
    for sign in (-1, 1):
        sketched = K + sign * e * (K + mu)
        assert relative_error(K, sketched, mu) == pytest.approx(e)
        assert _through_origin(np.sqrt(sketched)) == pytest.approx((1 + sign * e) * 2.0 + sign * e * mu)


def _through_origin(A):
    """Return min ‖Aᵀp‖² over the simplex, as `hard_margin_squared` does."""
    scale = max(np.abs(A).max(), 1e-300)
    p, _ = nnls(np.vstack([A.T / scale, np.ones(len(A))]), np.append(np.zeros(A.shape[1]), 1.0))
    return float(np.sum(np.square(p @ A / p.sum())))


@pytest.mark.parametrize("kind", KINDS)
def test_ball(kind, rng):
    bound, seen = get("paul2013.2.effective"), 0
    X, _ = separable(kind, rng, n=6)
    before = ball_radius_squared(X)
    for shift in (0.0, X.mean(axis=0)):
        for Z, e in sketches(X - shift, before, rng):
            if 2 * e < 1:
                lower, upper = bound.guarantee(2 * e)
                assert lower - SLACK <= ball_radius_squared(Z) / before <= upper + SLACK, e
                seen += 1
    assert seen >= 16


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_smooth_losses(loss, kind, rng):
    bound, seen = get("paul2013.1.effective.soft"), 0
    smoothness, value, slope = LOSSES[loss]
    X, y = separable(kind, rng)
    X[:, 0] -= 2 * y if kind == "ordinary" else 0.0
    X /= np.abs(X).max()
    for C in (0.03, 1.0, 30.0):

        def objective(Z, C=C):
            A = y[:, None] * Z

            def both(w):
                m = A @ w
                return 0.5 * w @ w + C * value(m).sum(), w + C * A.T @ slope(m)

            found = minimize(both, np.zeros(Z.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-10})
            return found.fun

        before = objective(X)
        for Z, e in sketches(X, 1 / (smoothness * C), rng):
            lower, upper = bound.guarantee(e)
            assert lower * (1 - SLACK) <= objective(Z) / before <= upper * (1 + SLACK), (C, e)
            seen += 1
    assert seen >= 30


@pytest.mark.parametrize("e", [0.05, 0.4, 0.9])
def test_smooth_losses_attain_both_ends(e):
    """For the squared loss Z = ½yᵀ(K + I/C)⁻¹y."""
    K, y, C = np.diag([0.3, 2.0, 7.0]), np.array([1.0, -1.0, 1.0]), 2.0
    inverse = np.linalg.inv(K + np.eye(3) / C)
    for factor, end in zip((1 + e, 1 - e), get("paul2013.1.effective.soft").guarantee(e), strict=True):
        assert y @ (inverse / factor) @ y / (y @ inverse @ y) == pytest.approx(end)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [False, True], ids=["origin", "intercept"])
def test_hinge(kind, intercept, rng):
    bound, seen = get("paul2013.1.effective.hinge"), 0
    X, y = separable(kind, rng)
    X[:, 0] -= 1.5 * y if kind not in ("axes", "touching") else 0.0
    X /= np.abs(X).max()
    for C in (0.03, 1.0, 30.0):

        def objective(Z, C=C):
            K = np.outer(y, y) * (Z @ Z.T)
            alpha = box_dual_balanced(K, y, C) if intercept else box_dual(K + 1e-12 * np.eye(len(K)), C, 20_000)
            return alpha.sum() - 0.5 * alpha @ K @ alpha

        before = objective(X)
        for Z, e in sketches(X, 1 / C, rng):
            lower, upper = bound.guarantee(e)
            assert lower * (1 - SLACK) <= objective(Z) / before <= upper * (1 + SLACK), (C, e)
            seen += 1
    assert seen >= 30


@pytest.mark.parametrize("loss", [*LOSSES, "hinge"])
def test_sample_weights(loss, rng):
    """The largest weight multiplies C in μ; with a free intercept for the smooth losses."""
    X, y = separable("ordinary", rng)
    X[:, 0] -= 2 * y
    X, s = X / np.abs(X).max(), 10.0 ** rng.uniform(-1, 1, len(y))
    name = "paul2013.1.effective.hinge" if loss == "hinge" else "paul2013.1.effective.soft"
    smoothness, value, slope = LOSSES.get(loss, (1.0, None, None))

    def objective(Z):
        A = y[:, None] * Z
        if loss == "hinge":

            def dual(alpha):
                return 0.5 * np.sum((alpha @ A) ** 2) - alpha.sum(), A @ (alpha @ A) - 1

            options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000}
            return -minimize(dual, 0.5 * s, jac=True, bounds=[(0, t) for t in s], options=options).fun

        def primal(w):
            m = A @ w[:-1] + y * w[-1]
            pull = s * slope(m)
            return 0.5 * w[:-1] @ w[:-1] + s @ value(m), np.append(w[:-1] + A.T @ pull, pull @ y)

        return minimize(primal, np.zeros(Z.shape[1] + 1), jac=True, method="BFGS", options={"gtol": 1e-10}).fun

    before = objective(X)
    for Z, e in sketches(X, 1 / (smoothness * s.max()), rng):
        lower, upper = get(name).guarantee(e)
        assert lower * (1 - SLACK) <= objective(Z) / before <= upper * (1 + SLACK), e


@pytest.mark.parametrize("e", [0.05, 0.4, 0.9])
def test_hinge_attains_both_ends(e):
    """One point, C = 1: Z = 1 - k/2 for k ≤ 1, with the slack at its end, and 1/(2k) beyond, without slack."""

    def objective(k):
        return 1 - k / 2 if k <= 1 else 1 / (2 * k)

    lower, upper = get("paul2013.1.effective.hinge").guarantee(e)
    k = 1 - e / (2 * (1 + e))
    assert objective(k + e * (k + 1)) / objective(k) == pytest.approx(lower)
    after = 1 - e / 2
    k = (after + e) / (1 - e)
    assert after == pytest.approx(k - e * (k + 1))
    assert objective(after) / objective(k) == pytest.approx(upper)


SPECTRA = {
    "equal": np.full(12, 1.0),
    "one": np.append(1e6, np.full(11, 1e-2)),
    "falling": 10.0 ** np.linspace(3, -5, 12),
    "tiny": np.full(12, 1e-3),
}


def shrunk(values, mu=1.0):
    """Return √(σ/(σ + μ)): singular values of (K + μI)^(-½)X."""
    return np.sqrt(values / (values + mu))


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("family", FAMILIES)
def test_as_many_dimensions_as_are_asked_for(family, spectrum, rng):
    bound, d, delta, trials = get("embedding.effective"), 64, 0.45, 60
    size = shrunk(SPECTRA[spectrum])
    for kind in ("axes", "spread", "pairs"):
        V = orthonormal(kind, d, 12, rng)
        r = bound.dimension(0.9, delta, family=family, effective_dimension=float(size @ size), features=d)
        failures = 0
        for seed in rng.integers(2**32, size=trials):
            drawn = "srht with replacement" if family == "srht" else family
            Z = projection(drawn, d, r, int(seed)).apply(np.ascontiguousarray((V * size).T))
            failures += np.linalg.norm(Z @ Z.T - np.diag(size**2), 2) > 0.9
        assert_fails_at_most(failures, trials, delta)


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("eps, delta", [(0.9, 0.9), (0.3, 0.5), (0.3, 1e-2)])
def test_gaussian_with_little_to_spare(spectrum, eps, delta, rng):
    size, trials = shrunk(SPECTRA[spectrum]), 400
    sizes = {"family": "gaussian", "effective_dimension": float(size @ size), "features": 64}
    r = get("embedding.effective").dimension(eps, delta, **sizes)
    failures = 0
    for _ in range(4):
        A = size[:, None] * gaussians(rng, trials // 4, len(size), r)
        errors = np.abs(np.linalg.eigvalsh(A @ A.transpose(0, 2, 1) - np.diag(size**2))).max(axis=1)
        failures += int(np.sum(errors > eps))
    assert_fails_at_most(failures, trials, delta)


def test_never_more_than_by_the_rank_but_for_half_a_component():
    """d_μ ≤ ρ: for μ → 0 the sizes are those of the rank."""
    for family in FAMILIES:
        by_rank = get("paul2013.1.soft").required(0.3, 0.05, family=family, rank=40, features=4096)
        sizes = {"family": family, "effective_dimension": 40.0, "features": 4096}
        effective = get("paul2013.1.effective.soft").required(0.3, 0.05, **sizes)
        if family == "gaussian":
            assert effective == pytest.approx(by_rank, rel=0.15) and effective > by_rank
        elif family not in ("sign", "achlioptas", "srht"):  # which have sharper bounds by rank
            assert effective == pytest.approx(by_rank)
