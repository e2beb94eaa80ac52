"""The laws against a table in 50 digits, r from 1 to 10⁶ and |c| up to 1 - 1e-12; and the table against its maker."""

import json

import mpmath
import numpy as np
import pytest
from scipy import special

from slimline.laws import cosine, inner_product, norm
from tests.laws import make_reference, references
from tests.laws.accuracy import assert_accurate

TABLE = {name: np.array(rows) for name, rows in json.loads(make_reference.TABLE.read_text()).items()}
MAKERS = {
    "cosine": references.log_cosine,
    "inner_product": references.log_inner_product,
    "norm_below": lambda q, r, c: references.log_norm(q, r),
    "norm_above": lambda q, r, c: references.log_norm_upper(q, r),
}


def both(law, value, r, c):
    """Return the tail away from c and the other one, each in every way that the law tells it."""
    near, far = [], []
    for sign, tail, other in ((1, "cdf", "sf"), (-1, "sf", "cdf")):
        if law is norm:
            tail, other = ("cdf", "sf") if np.all(value <= 1) else ("sf", "cdf")
            sign = 1
        near += [getattr(law, "log" + tail)(sign * value, r, sign * c), getattr(law, tail)(sign * value, r, sign * c)]
        far += [getattr(law, "log" + other)(sign * value, r, sign * c), getattr(law, other)(sign * value, r, sign * c)]
    return near, far


@pytest.mark.parametrize(
    "name, law", [("cosine", cosine), ("inner_product", inner_product), ("norm_below", norm), ("norm_above", norm)]
)
def test_every_entry_of_the_table(name, law):
    value, r, c, expected = TABLE[name].T
    rest = np.array([float(references.log_complement(mpmath.mpf(x))) for x in expected])
    (log, p, log_mirrored, p_mirrored), (log_rest, q, log_rest_mirrored, q_mirrored) = both(law, value, r, c)
    assert_accurate(log, expected)
    assert_accurate(log_rest, rest)
    # where the rest is nearly certain its logarithm is minus the tail: as exact as that
    np.testing.assert_allclose(log_rest, rest, rtol=1e-10, atol=1e-20)
    big = expected > np.log(1e-20)
    np.testing.assert_allclose(p[big], np.exp(expected[big]), rtol=1e-10)
    np.testing.assert_allclose(q, np.exp(rest), rtol=1e-10)
    for plain, mirrored in ((log, log_mirrored), (p, p_mirrored), (log_rest, log_rest_mirrored), (q, q_mirrored)):
        np.testing.assert_array_equal(plain, mirrored)


def test_the_table_spans_what_is_promised():
    for name in ("cosine", "inner_product"):
        _, r, c, expected = TABLE[name].T
        for rows in (c > 0, c < 0):
            assert r[rows].min() == 1 and r[rows].max() == 10**6 and np.abs(c[rows]).max() == 1 - 1e-12
            assert np.sum(expected[rows] < np.log(1e-299)) > 20 and np.sum(expected[rows] > -1.5) > 30
    for name in ("norm_below", "norm_above"):
        assert TABLE[name][:, 3].min() < np.log(1e-299)


@pytest.mark.parametrize("name", TABLE)
def test_the_table_is_what_its_maker_makes(name, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for row in rng.choice(TABLE[name], 5, replace=False):
        value, r, c, stored = map(float, row)
        assert float(MAKERS[name](value, int(r), c)) == pytest.approx(stored, rel=1e-15)


# The references themselves, each against a third way


def test_the_cosine_of_the_references_at_zero_is_student_t():
    # P(cos' ≤ 0) = F_t(-√r c/√(1-c²)) = ½ I_{1-c²}(r/2, ½)
    with mpmath.workdps(40):
        for r, c in ((2, 0.3), (7, 0.999), (40, 0.9), (1500, 0.05)):
            half = mpmath.betainc(mpmath.mpf(r) / 2, 0.5, 0, 1 - mpmath.mpf(c) ** 2, regularized=True) / 2
            assert abs(references.log_cosine(0.0, r, c) - mpmath.log(half)) < 1e-25


@pytest.mark.parametrize("t, r, c", [(0.1, 2, 0.3), (-0.6, 3, 0.5), (0.85, 9, 0.9), (-0.95, 30, -0.8), (0.5, 6, 0.2)])
def test_the_cosine_of_the_references_is_a_plain_double_integral(t, r, c):
    # Rᵀw = g e₁ and Rᵀx = c g e₁ + √(1-c²) (v e₁ + h e₂) with v normal, g and h of the laws χ_r and χ_{r-1}:
    # cos' ≤ t iff v ≤ t/√(1-t²) h - c/√(1-c²) g. The trapezoidal rule in log g and log h converges geometrically.
    v = np.linspace(-22, 4, 1500)
    g = np.exp(v)
    weight = [
        np.exp(k * v - g**2 / 2 - (k / 2 - 1) * np.log(2) - special.gammaln(k / 2)) * (v[1] - v[0]) for k in (r, r - 1)
    ]
    inner = special.ndtr(t / np.sqrt(1 - t**2) * g[None, :] - c / np.sqrt(1 - c**2) * g[:, None])
    assert weight[0] @ inner @ weight[1] == pytest.approx(float(mpmath.exp(references.log_cosine(t, r, c))), rel=1e-8)


@pytest.mark.parametrize("s, c", [(-0.5, 0.3), (-1e-9, 1 - 1e-12), (-300.0, -0.9), (-1e-3, 0.0)])
def test_the_inner_product_of_the_references_at_two_columns_is_laplace(s, c):
    # 2S = (1+c)E - (1-c)E' with E, E' exponential
    with mpmath.workdps(40):
        expected = mpmath.log((1 - mpmath.mpf(c)) / 2) + 2 * mpmath.mpf(s) / (1 - mpmath.mpf(c))
        assert abs(references.log_inner_product(s, 2, c) / expected - 1) < 1e-25


@pytest.mark.parametrize("q, r", [(1e-9, 1), (0.5, 2), (0.9, 37), (1.2, 37), (4.0, 3), (1.01, 1000)])
def test_the_norm_of_the_references_is_an_incomplete_gamma_function(q, r):
    with mpmath.workdps(40):
        half = mpmath.mpf(r) / 2
        lower = mpmath.gammainc(half, 0, half * mpmath.mpf(q), regularized=True)
        upper = mpmath.gammainc(half, half * mpmath.mpf(q), regularized=True)
        assert abs(references.log_norm(q, r) - mpmath.log(lower)) < 1e-25
        assert abs(references.log_norm_upper(q, r) - mpmath.log(upper)) < 1e-25
