"""Tests of errata: the printed statement or step fails, the repaired one holds (theory sheet, §6)."""

import mpmath
import numpy as np
import pytest

from slimline.bounds import BOUNDS, get, multiclass_margin_failure
from slimline.bounds._embeddings import LARGEST_EPS
from slimline.laws import cosine, inner_product, norm, norm_failure
from tests.bounds.attack import assert_fails_at_most, cosines_after, gaussians, points_at, projection
from tests.bounds.exact_geometry import box_dual_balanced, hard_margin_squared
from tests.refusals import refuses


@pytest.fixture
def rng(global_random_seed):
    return np.random.default_rng(global_random_seed)


def spectral_error(rng, rank, r):
    A = rng.standard_normal((rank, r))
    return np.abs(np.linalg.eigvalsh(A @ A.T / r) - 1).max()


def test_1_corollary_2_is_quadratic_in_eps(rng):
    printed = get("vaswani2013.c2", "printed").dimension(0.1, rank=100)
    assert printed == 3000
    errors = [spectral_error(rng, 100, printed) for _ in range(5)]
    # not 0.1: it has the Tracy-Widom law, here of scale 0.011, so that these fail with a probability below 1e-7
    assert min(errors) > 0.3 and max(errors) < 0.5 and abs(np.median(errors) - 0.39) < 0.04
    # what the limit says is what is seen, and the repaired statements hold
    limit = BOUNDS["vaswani2013.3"].dimension(0.1, rank=100)
    assert abs(spectral_error(rng, 100, limit) - 0.1) < 0.02  # of scale 0.0024
    assert spectral_error(rng, 100, BOUNDS["vaswani2013.c2"].dimension(0.1, 1e-6, rank=100)) <= 0.1
    assert BOUNDS["vaswani2013.c2.algebra"].dimension(0.1, rank=100) == 90_000 > limit > 13 * printed
    # so the error at fixed r is a square-root law in the rank, not a line: the limit inverted
    at_900 = BOUNDS["vaswani2013.3"].eps(900, rank=[10, 40])
    y = np.sqrt(np.array([10, 40]) / 900)
    np.testing.assert_allclose(at_900, y**2 + 2 * y, rtol=1e-12)
    assert at_900[1] < 2.2 * at_900[0]


def test_2_obtuse_angles_are_kept_like_acute_ones():
    def rejected(c, r=30, eps=0.3):
        """Return the probability of a relative error above eps, as in Fig. 2."""
        ends = np.sort([(1 - eps) * c, (1 + eps) * c])
        return cosine.cdf(ends[0], r, c) + cosine.sf(ends[1], r, c)

    np.testing.assert_allclose(rejected(0.827), 0.0026, atol=5e-5)
    np.testing.assert_allclose(rejected(-0.827), rejected(0.827), rtol=1e-10)
    for c in (0.062, 0.0165):  # what Fig. 2 calls obtuse is as bad where it is acute
        np.testing.assert_allclose(rejected(-c, 300), rejected(c, 300), rtol=1e-10)
        assert rejected(c, 300) > 0.7
    # the theorem itself holds for obtuse angles, by the exact law
    bound = BOUNDS["shi2012.5"]
    c = -np.linspace(0.01, 0.99, 25)[:, None]
    for delta in (0.5, 1e-3, 1e-9):
        r = np.array([50, 200, 1000, 10_000])
        eps = bound.eps(r, delta)
        told = ~np.isnan(eps)
        lower, upper = bound.guarantee(eps[told], cosine=c)
        assert np.all(cosine.cdf(lower, r[told], c) + cosine.sf(upper, r[told], c) <= delta)


def soft_machine(A, C):
    """Return the objective, ‖w*‖² and Σα of the soft margin with intercept; A holds yᵢxᵢ, classes by turns."""
    y = np.where(np.arange(len(A)) % 2, 1.0, -1.0)
    alpha = box_dual_balanced(A @ A.T, y, C)
    squared = np.sum((alpha @ A) ** 2)
    return alpha.sum() - squared / 2, squared, alpha.sum()


def test_3_the_proof_of_paul2013_theorem_1_needs_slacks_to_vanish(rng):
    y = np.where(np.arange(10) % 2, 1.0, -1.0)
    X = rng.standard_normal((10, 3))
    A = y[:, None] * X
    value, squared, total = soft_machine(A, 0.5)
    assert abs(squared - total) > 0.1 * total  # “‖w*‖² = Σα”
    assert abs(value - squared / 2) > 0.1 * value  # eq. (11)
    separated = y[:, None] * (X + 4 * y[:, None] * np.eye(3)[0])
    _, squared, total = soft_machine(separated, 1e6)
    np.testing.assert_allclose(squared, total, rtol=1e-8)  # true without slacks
    # the proof ends at 1 - e/(1-e), which says nothing from e = ½ on; the statement's 1 - e is right, and attained
    separable, e = y[:, None] * separated, 0.6
    normal = separable[y > 0].mean(axis=0) - separable[y < 0].mean(axis=0)
    kept = []
    for direction in [normal, *rng.standard_normal((20, 3))]:
        q = np.linalg.qr(np.column_stack([direction, rng.standard_normal((3, 2))]))[0]
        M = (q * np.sqrt([1 - e, 1 + e, 1 + e])) @ q.T
        kept.append(hard_margin_squared(separable @ M, y) / hard_margin_squared(separable, y))
    assert 1 - e / (1 - e) < 0 < 1 - e <= min(kept) + 1e-9
    np.testing.assert_allclose(
        hard_margin_squared(np.sqrt(1 - e) * separable, y), (1 - e) * hard_margin_squared(separable, y)
    )
    # with slacks too, though by another proof
    for C in (0.05, 0.5, 5.0):
        before = soft_machine(A, C)[1]
        for _ in range(10):
            q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
            after = soft_machine(A @ (q * np.sqrt(1 + e * rng.choice([-1, 1], 3))), C)[1]
            assert (1 - e) * (1 - 1e-6) <= before / after <= (1 + 1e-6) / (1 - e)


def test_5_theorem_8_needs_rivals_in_front():
    # x = e₁, its class at a right angle, its rival behind: γ = 0 - (-1) = 1. All that the proof's events ask for is
    # that norms of x, u and the differences of unit vectors change by at most 1 ± ε; this map does no more.
    eps = 0.1
    gram = np.array([[1 - eps, -2 * eps], [-2 * eps, 1 - eps]])
    R = np.linalg.cholesky(gram).T
    x, own, rival = R @ [1.0, 0.0], R @ [0.0, 1.0], R @ [-1.0, 0.0]
    unit = {"x": [1.0, 0.0], "own": [0.0, 1.0], "rival": [-1.0, 0.0]}
    vectors = [*unit.values(), np.subtract(unit["x"], unit["own"]), np.subtract(unit["x"], unit["rival"])]
    for vector in [np.asarray(v) for v in vectors]:
        ratio = np.sum((R @ vector) ** 2) / np.sum(vector**2)
        assert 1 - eps - 1e-12 <= ratio <= 1 + eps + 1e-12

    def cos(a, b):
        return a @ b / np.linalg.norm(a) / np.linalg.norm(b)

    after = cos(own, x) - cos(rival, x)
    printed = get("shi2012.8", "printed").guarantee(eps, multiclass_margin=1.0).lower
    assert after < printed - 0.03
    np.testing.assert_allclose(after, BOUNDS["shi2012.8"].guarantee(eps, multiclass_margin=1.0).lower)  # attained
    # Beyond γ = 1, where the document stops, the printed margin can be more than there is: above 2
    assert get("shi2012.8", "printed").guarantee(0.9, multiclass_margin=1.5).lower > 2
    assert BOUNDS["shi2012.8"].guarantee(0.9, multiclass_margin=1.5).lower < 1.5
    # It is the proof that fails here: at its r the event itself is rare, so that γ ≤ 1 gives no counter-example
    r = BOUNDS["shi2012.8"].dimension(eps, 0.5, points=1, classes=2)
    assert cosine.cdf(printed - 1, r, 0.0) < 1e-6


def test_6_second_tail_of_lemma_10():
    printed = get("shi2012.10", "printed")
    for r, eps in ((10, 0.3), (100, 0.3), (1000, 0.1)):
        said = np.exp(-r / 2 * (eps**2 / 2 - eps**3 / 3))
        assert norm.cdf(1 + eps, r) > 0.5
        assert norm.sf(1 + eps, r) <= said  # with ≥ for ≤
    assert norm.cdf(1.3, 100) > np.exp(-50 * (0.045 - 0.009)) and "≤ (1+ε)" in printed.statement


def test_6_first_step_of_equation_9_is_false_and_the_combination_true(rng):
    eps = 0.3

    def sides(a, b, cos):
        """Return the first, second and third member of (9) for squared norms a, b after the projection."""
        first = a + b - 2 * np.sqrt(a * b) * cos
        second = 2 - 2 * np.sqrt(1 - eps**2) * cos
        third = (1 + eps) * (2 - 2 * cos) + 2 - 2 * np.sqrt(1 - eps**2)
        return first, second, third

    for cos in (0.2, 0.0, -0.7):  # acute ones too
        first, second, third = sides(1 + eps, 1 + eps, cos)
        assert first > second and first <= third + 1e-12
    a, b = rng.uniform(1 - eps, 1 + eps, (2, 100_000))
    first, second, third = sides(a, b, rng.uniform(-1, 1, 100_000))
    assert np.all(first <= third + 1e-12) and np.all(second <= third + 1e-12)
    assert 0.2 < np.mean(first > second) < 0.8


def test_6_definitions_without_the_largest_u():
    # eqs. (1) and (5) take a minimum over the data for some u: the largest over u is meant
    X, y = np.array([[2.0, 1.0], [-1.0, 1.0], [0.5, -1.0]]), np.array([1.0, 1.0, -1.0])
    for_u = {u: (y * (X @ np.array(u))).min() for u in ((0.0, 1.0), (1.0, 0.0))}
    assert for_u[(0.0, 1.0)] == 1.0 and for_u[(1.0, 0.0)] == -1.0


def test_6_a_share_below_one_point_is_none(rng):
    m, gamma, delta = 12, 0.6, 0.3
    bound = BOUNDS["balcan2006"]
    share = 0.99 / m
    r = bound.exact_dimension(share, delta, margin=gamma)
    assert r <= bound.dimension(share, delta, margin=gamma) < 200  # not infinitely many
    u, X = points_at(gamma, "axes", m, m, rng)
    after = cosines_after(gaussians(rng, 4000, m + 1, r), u, X)
    assert_fails_at_most(np.sum(after.min(axis=1) < gamma / 2), 4000, delta)


def test_6_no_less_than_is_said_of_a_failure():
    # as a probability of success, what is printed would be above 1 for few dimensions and go to 0 for many
    D, k, eps = 100, 5, 0.5
    said = (4 * D + 2) * np.exp(-np.array([10, 10_000, 100_000]) * eps**2 / (48 * k))
    assert said[0] > 1 and said[2] < 1e-40
    np.testing.assert_allclose(BOUNDS["fard2012.2"].delta(10_000, eps, features=D, sparsity=k), said[1], rtol=1e-9)
    assert BOUNDS["fard2012.2"].delta(10, eps, features=D, sparsity=k) == 1.0


def test_6_projections_without_their_scaling(rng):
    # paul2013, §2: what is printed stretches every squared length by r, or by r/√d
    d, r, trials = 400, 64, 300
    x = rng.standard_normal(d)
    x /= np.linalg.norm(x)
    few = 0.5 / np.sqrt(d)
    for values, chances, scale in (
        ([-1.0, 1.0], [0.5, 0.5], 1 / np.sqrt(r)),
        ([-1.0, 0.0, 1.0], [few, 1 - 2 * few, few], np.sqrt(np.sqrt(d) / r)),
    ):
        squares = [np.sum((x @ rng.choice(values, (d, r), p=chances)) ** 2) for _ in range(trials)]
        # a mean of `trials` squared norms, each with a relative variance of 2/r, or less than twice that: seven sigmas
        assert abs(scale**2 * np.mean(squares) - 1) < 7 * np.sqrt(4 / (r * trials))
        assert np.mean(squares) > 3
        entries = projection("sign" if len(values) == 2 else "very_sparse", d, r, 0).apply(np.eye(d))
        np.testing.assert_allclose(np.abs(entries[entries != 0]), scale, rtol=1e-6)  # slimline scales them


def test_6_one_vector_for_all_classes_has_no_multiclass_margin(rng):
    # shi2012, before Theorem 8: with u_y = u_y' the cosines of a point are the same for all classes
    X, labels = rng.standard_normal((20, 6)), np.arange(20) % 4
    cosines = np.repeat(X[:, :1] / np.linalg.norm(X, axis=1)[:, None], 4, axis=1)
    own = np.eye(4, dtype=bool)[labels]
    assert np.all(cosines[own] - np.where(own, -np.inf, cosines).max(axis=1) <= 0)
    # and no projection makes one: the failure is certain
    assert multiclass_margin_failure(cosines, labels, 10_000) == 1.0


def test_13_dual_variables_are_biased(rng):
    # vaswani2013, §2.3: not α* on average. The mean of an inverse Wishart matrix, λ → 0; any unbiased R, any λ > 0
    n, d, r, trials = 6, 40, 30, 4000
    X = rng.standard_normal((n, d))
    K, one = X @ X.T, np.ones(n)

    def duals(R, penalty):
        return np.array([np.linalg.solve(Z @ Z.T + penalty * np.eye(n), one) for Z in X @ R])

    gauss = gaussians(rng, trials, d, r)
    found, exact = duals(gauss, 0.0) @ one, one @ np.linalg.solve(K, one)
    # vᵀĜ⁻¹v/vᵀG⁻¹v is r over a χ² with r - n + 1 degrees of freedom
    free = r - n + 1
    mean, deviation = r / (free - 2), r * np.sqrt(2 / ((free - 2) ** 2 * (free - 4)))
    assert abs(found.mean() / exact - mean) < 7 * deviation / np.sqrt(trials) < 0.2 * (mean - 1)
    signs = rng.choice([-1.0, 1.0], (trials, d, r)) / np.sqrt(r)
    for R, penalty in ((gauss, 10.0), (signs, 1e-3), (signs, 10.0)):
        found, exact = duals(R, penalty) @ one, one @ np.linalg.solve(K + penalty * np.eye(n), one)
        assert found.mean() - exact > 7 * found.std() / np.sqrt(trials)


def test_fard_fails_for_large_eps():
    printed, repaired = get("fard2012.1", "printed"), BOUNDS["fard2012.1"]
    for r, eps in ((2, 30.0), (10, 25.0), (50, 22.0)):
        exact = inner_product.sf(1 + eps, r, 1.0)
        assert exact > printed.delta(r, eps, vectors=1) > 0
    # where ε - ln(1+ε) = ε²/24 the exact rate of the tail meets the printed one; below, and so up to 1, it holds
    meet = float(mpmath.findroot(lambda eps: eps - mpmath.log(1 + eps) - eps**2 / 24, 20))
    assert 20 < meet < 21
    r = np.array([1, 2, 3, 5, 10, 100, 1000, 100_000])[:, None]
    for c in (0.0, 0.5, 1.0):
        eps = np.linspace(0.01, 1.0, 40)
        failure = inner_product.cdf(c - eps, r, c) + inner_product.sf(c + eps, r, c)
        assert np.all(failure <= repaired.delta(r, eps, vectors=1))


def test_9_lemma_23_3_fails_for_large_eps():
    printed = get("uml2014.23.3", "printed").delta(16, 2.0)
    np.testing.assert_allclose(norm_failure(16, 2.0), 4.75e-5, rtol=2e-3)
    np.testing.assert_allclose(printed, 4.66e-5, rtol=2e-3)
    assert norm_failure(16, 2.0) > printed
    set_printed = get("uml2014.23.4", "printed")
    assert 3 * norm_failure(16, 2.0) > set_printed.delta(16, 2.0, vectors=3)


def test_9_the_end_of_what_holds():
    with mpmath.workdps(40):
        root = mpmath.findroot(lambda eps: (eps - mpmath.log(1 + eps)) / 2 - eps**2 / 6, mpmath.mpf("0.787"))
        assert mpmath.nstr(root, 4) == "0.7871" and mpmath.floor(root * 10**4) == 7870
        assert 0 <= root - mpmath.mpf(LARGEST_EPS) < mpmath.mpf(10) ** -15  # the last float that is not above it
    bound = BOUNDS["uml2014.23.3"]
    r = np.array([1, 2, 3, 5, 10, 30, 100, 1000, 10_000, 1_000_000])[:, None]
    eps = np.append(np.linspace(0.01, 0.78, 30), LARGEST_EPS)
    both = np.logaddexp(norm.logcdf(1 - eps, r), norm.logsf(1 + eps, r))
    assert np.all(both <= np.log(2) - eps**2 * r / 6)
    assert bound.eps_below == LARGEST_EPS
    for beyond, r in ((0.79, 200_000), (0.9, 2000), (1.5, 60)):  # just beyond it fails, in enough dimensions
        assert norm.logsf(1 + beyond, r) > np.log(2) - beyond**2 * r / 6


def test_shi2012_9_denominator():
    # The proof bounds the cosine of v and R_yᵀx - R_y'ᵀx. Two long projections that nearly agree have a short
    # difference, and the printed quotient is as much smaller than the cosine as it likes.
    eps, classes, gamma = 0.05, 2, 1.0
    one = BOUNDS["shi2012.9"]
    promised = one.guarantee(eps, multiclass_margin=gamma, classes=classes).lower
    assert promised == get("shi2012.9", "printed").guarantee(eps, multiclass_margin=gamma, classes=classes).lower
    along, aside, far = np.eye(3)
    apart = promised * along + np.sqrt(1 - promised**2) * aside  # the least cosine with v = along
    first, second = 5 * far + apart / np.sqrt(2), 5 * far - apart / np.sqrt(2)
    difference = first - second
    np.testing.assert_allclose(np.sum(difference**2), 2.0)  # as E‖R_yᵀx - R_y'ᵀx‖² is for a unit x
    np.testing.assert_allclose(along @ difference / np.linalg.norm(difference), promised)
    quotient = along @ difference / np.sqrt(np.sum(first**2) + np.sum(second**2))
    assert quotient < 0.25 * promised
    # the cosine statement by the exact law, in as many dimensions as the theorem asks for
    for delta in (0.5, 1e-6):
        r = one.dimension(eps, delta, points=10, classes=classes)
        assert 10 * cosine.cdf(promised, r, gamma / np.sqrt(2 * classes)) <= delta


def test_shi2012_9_at_the_printed_end():
    # ε in (0, 1] is printed: the dimension is finite there, and the margin is a negative number divided by 0
    printed = get("shi2012.9", "printed")
    assert printed.dimension(1.0, 0.05, points=100, classes=3) == np.ceil(12 * np.log(6 * 100 * 2 / 0.05))
    assert printed.guarantee(1.0, multiclass_margin=1.0, classes=3).lower == -np.inf
    assert printed.guarantee(1 - 1e-12, multiclass_margin=1.0, classes=3).lower < -1e11
    with refuses("eps"):
        BOUNDS["shi2012.9"].dimension(1.0, 0.05, points=100, classes=3)
