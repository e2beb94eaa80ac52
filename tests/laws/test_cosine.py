"""The law of a projected cosine: special cases by other formulas, limits, simulation."""

import math

import numpy as np
import pytest
from scipy import special, stats

from slimline import GaussianProjection
from slimline.laws import cosine
from slimline.projections import Gaussian
from tests.laws import references
from tests.laws.accuracy import assert_accurate

INSIDE = np.array([-1 + 1e-12, -0.9, -0.3, 0.0, 0.3, 0.9, 1 - 1e-12])


@pytest.mark.parametrize("r", [2, 3, 4, 5, 11, 24, 25, 60, 400])
def test_zero_is_student_t(r):
    # P(cos' ≤ 0) = F_t(-√r c/√(1-c²)), Student's t with r degrees of freedom, = ½ (1 - I_{c²}(½, r/2)) for c ≥ 0
    c = np.array([0.0, 1e-8, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
    expected = special.betaincc(0.5, r / 2, c**2) / 2
    seen = expected > 1e-290
    assert_accurate(cosine.logcdf(0.0, r, c)[seen], np.log(expected[seen]))
    assert_accurate(cosine.logsf(0.0, r, -c)[seen], np.log(expected[seen]))
    np.testing.assert_allclose(cosine.cdf(0.0, r, c), stats.t.cdf(-math.sqrt(r) * c / np.sqrt(1 - c**2), r), atol=1e-12)


def test_the_printed_example():
    # theory sheet: γ = 0.3, m = 10,000 points, δ = 0.05 need r = 208
    assert cosine.dimension(0.0, 0.05 / 10_000, 0.3) == 208
    assert 10_000 * cosine.cdf(0.0, 208, 0.3) <= 0.05 < 10_000 * cosine.cdf(0.0, 207, 0.3)


def test_orthogonal_vectors_make_uniform_directions():
    # c = 0: cos' is the cosine of a uniform direction; r = 2 arc sine law, r = 3 uniform on (-1, 1), else beta
    t = np.concatenate((INSIDE, np.linspace(-0.999, 0.999, 50)))
    np.testing.assert_allclose(cosine.cdf(t, 3, 0.0), (1 + t) / 2, rtol=1e-12)
    np.testing.assert_allclose(cosine.sf(t, 3, 0.0), (1 - t) / 2, rtol=1e-12)
    np.testing.assert_allclose(cosine.cdf(t, 2, 0.0), 1 - np.arccos(t) / np.pi, rtol=1e-9)
    np.testing.assert_allclose(cosine.sf(t, 2, 0.0), np.arccos(t) / np.pi, rtol=1e-11)
    for r in (4, 7, 31, 200):
        expected = special.betainc((r - 1) / 2, (r - 1) / 2, (1 + t) / 2)
        seen = expected > 1e-290
        assert_accurate(cosine.logcdf(t, r, 0.0)[seen], np.log(expected[seen]))


def test_two_columns_by_the_phase_of_a_complex_pair():
    # r = 2: the angle between two plane vectors; its density is known from the phase of correlated complex normals
    for c in (-0.95, -0.2, 0.4, 0.999):
        for t in (-0.99, -0.3, 0.2, 0.9, 0.9995):
            nodes, weights = np.polynomial.legendre.leggauss(600)
            first = math.acos(t)
            angle = first + (math.pi - first) * (nodes + 1) / 2
            beta = c * np.cos(angle)
            root = np.sqrt(1 - beta**2)
            density = (1 - c**2) / np.pi * (beta * (np.arcsin(beta) + np.pi / 2) / root**3 + 1 / root**2)
            expected = (math.pi - first) / 2 * density @ weights
            assert cosine.cdf(t, 2, c) == pytest.approx(expected, rel=1e-10)


def test_one_column_is_plus_or_minus_one():
    c = np.array([-1 + 1e-12, -0.7, 0.0, 0.3, 1 - 1e-12])
    minus = np.arccos(c) / np.pi
    for t in (-1.0, -0.999, 0.0, 0.3, 0.999):
        np.testing.assert_allclose(cosine.cdf(t, 1, c), minus, rtol=1e-13)
        np.testing.assert_allclose(cosine.sf(t, 1, c), np.arccos(-c) / np.pi, rtol=1e-13)
        # nearly certain: the logarithm is minus what is left
        np.testing.assert_allclose(cosine.logcdf(t, 1, c[0]), np.log1p(-np.arccos(-c[0]) / np.pi), rtol=1e-13)
        np.testing.assert_allclose(cosine.logsf(t, 1, c[-1]), np.log1p(-minus[-1]), rtol=1e-13)
    assert np.all(cosine.cdf(-1.0000001, 1, c) == 0) and np.all(cosine.sf(-1.0000001, 1, c) == 1)
    assert np.all(cosine.cdf(1.0, 1, c) == 1) and np.all(cosine.sf(1.0, 1, c) == 0)


@pytest.mark.parametrize("r", [1, 2, 50, 10**6])
def test_parallel_vectors_stay_parallel(r):
    for c in (-1.0, 1.0):
        assert cosine.cdf(c, r, c) == 1 and cosine.sf(c, r, c) == 0
        before, after = np.nextafter(c, -2), np.nextafter(c, 2)
        assert cosine.cdf(before, r, c) == 0 and cosine.sf(before, r, c) == 1
        assert cosine.cdf(after, r, c) == 1 and cosine.sf(after, r, c) == 0
        assert cosine.logcdf(before, r, c) == -np.inf and cosine.logsf(before, r, c) == 0


@pytest.mark.parametrize("r", [2, 3, 50, 10**6])
def test_nothing_is_outside(r):
    c = np.array([-0.9, 0.0, 0.5, 1 - 1e-12])
    for t in (-np.inf, -5.0, -1.0):
        assert np.all(cosine.cdf(t, r, c) == 0) and np.all(cosine.sf(t, r, c) == 1)
        assert np.all(cosine.logcdf(t, r, c) == -np.inf) and np.all(cosine.logsf(t, r, c) == 0)
    for t in (1.0, 5.0, np.inf):
        assert np.all(cosine.cdf(t, r, c) == 1) and np.all(cosine.sf(t, r, c) == 0)


@pytest.mark.parametrize("c", [-0.9, 0.0, 0.4, 0.999])
def test_many_columns_make_fisher_normal(c):
    # √r (artanh cos' - artanh c) tends to a normal variable, at the rate 1/√r
    z = np.linspace(-4, 4, 33)
    for r in (10**4, 10**6, 10**8):
        t = np.tanh(np.arctanh(c) + z / math.sqrt(r))
        np.testing.assert_allclose(cosine.cdf(t, r, c), stats.norm.cdf(z), atol=0.3 / math.sqrt(r))


@pytest.mark.slow
def test_beyond_the_table(global_random_seed):
    # every r up to 40, r up to 10¹², c to the last float below 1, t to the last float above -1
    rng = np.random.default_rng(global_random_seed)
    for _ in range(12):
        r = int(rng.integers(2, 41)) if rng.random() < 0.7 else int(10 ** rng.uniform(2, 12))
        c = float(rng.choice([-1, 1]) * (1 - max(2.0**-53, 10 ** rng.uniform(-17, 0))))
        deep = np.tanh(np.arctanh(c) - 10 ** rng.uniform(-2, 1.3) / math.sqrt(r))
        t = float(min(c, deep if rng.random() < 0.7 else -1 + max(2.0**-53, 10 ** rng.uniform(-16, -2))))
        if t > -1:
            assert_accurate(cosine.logcdf(t, r, c), references.log_cosine(t, r, c))


def test_far_below_the_smallest_float():
    assert cosine.cdf(0.0, 10**5, 0.9) == 0
    assert_accurate(cosine.logcdf(0.0, 10**5, 0.9), references.log_cosine(0.0, 10**5, 0.9))
    assert_accurate(cosine.logcdf(-0.5, 10**9, 0.99), references.log_cosine(-0.5, 10**9, 0.99))


@pytest.mark.parametrize("r", [2, 3, 5, 20])
@pytest.mark.parametrize("c", [-0.8, 0.0, 0.3, 0.98])
def test_against_simulation(r, c, global_random_seed):
    # Groups of r columns of one wide projection are projections to r dimensions of their own. Largest distance of the
    # empirical law from the true one: Dvoretzky-Kiefer-Wolfowitz-Massart, fails a right law with probability 1e-9.
    draws = 30_000
    columns = Gaussian(2, draws * r, global_random_seed).apply(np.array([[1.0, 0.0], [c, math.sqrt(1 - c**2)]]))
    w, x = columns.reshape(2, draws, r)
    seen = np.sort(np.sum(w * x, axis=1) / np.sqrt(np.sum(w**2, axis=1) * np.sum(x**2, axis=1)))
    law = cosine.cdf(seen, r, c)
    distance = max(np.max(np.arange(1, draws + 1) / draws - law), np.max(law - np.arange(draws) / draws))
    assert distance < math.sqrt(math.log(2 / 1e-9) / (2 * draws))


def test_one_column_against_simulation(global_random_seed):
    # a binomial test, fails a right law with probability 1e-9
    columns = Gaussian(2, 30_000, global_random_seed).apply(np.array([[1.0, 0.0], [0.6, 0.8]]))
    opposite = int(np.sum(columns[0] * columns[1] < 0))
    assert stats.binomtest(opposite, 30_000, cosine.cdf(0.0, 1, 0.6)).pvalue > 1e-9


def test_margin_of_a_fitted_projection(global_random_seed):
    # 1,500 projections of their own seed, of dense vectors; a binomial test, fails a right law with probability 1e-9
    rng = np.random.default_rng(global_random_seed)
    pair = rng.normal(size=(2, 40))
    pair[1] += 0.4 * pair[0]
    c = pair[0] @ pair[1] / np.linalg.norm(pair[0]) / np.linalg.norm(pair[1])
    passed = 0
    for seed in range(1500):
        w, x = GaussianProjection(n_components=8, random_state=1500 * global_random_seed + seed).fit_transform(pair)
        passed += w @ x <= 0.2 * np.linalg.norm(w) * np.linalg.norm(x)
    assert stats.binomtest(int(passed), 1500, cosine.cdf(0.2, 8, c)).pvalue > 1e-9
