"""The special functions against mpmath."""

import mpmath
import numpy as np

from slimline.laws._laws import half_gamma_ratio, hypergeometric, log_cosh_of


def test_log_cosh():
    x = np.concatenate((np.geomspace(1e-100, 900, 300), [0.0, 1.0, np.nextafter(1, 0)]))
    with mpmath.workdps(60):
        expected = [float(mpmath.log1p(2 * mpmath.sinh(mpmath.mpf(v) / 2) ** 2)) for v in x]
    np.testing.assert_allclose(log_cosh_of(x), expected, rtol=4e-15)
    np.testing.assert_array_equal(log_cosh_of(-x), log_cosh_of(x))


def test_ratio_of_gamma_functions():
    r = np.concatenate((np.arange(1.0, 200), np.geomspace(200, 1e12, 50)))
    with mpmath.workdps(60):
        expected = [float(mpmath.gammaprod([mpmath.mpf(v) + 0.5], [mpmath.mpf(v)])) for v in r]
    np.testing.assert_allclose(half_gamma_ratio(r[:, None])[:, 0], expected, rtol=1e-13)


def test_hypergeometric_function():
    # on both sides of 24, where the recurrence gives way to the series, together and apart
    one_less = np.concatenate((np.geomspace(1e-30, 0.9, 12), [0.99, 1.0]))
    y, one_less_y = np.concatenate((1 - one_less, -(1 - one_less))), np.concatenate((one_less, one_less))
    r = np.array([2.0, 3, 4, 5, 10, 17, 23, 24, 25, 26, 40, 1000, 1e6])
    half = mpmath.mpf(1) / 2
    with mpmath.workdps(50):
        z = [1 - mpmath.mpf(v) / 2 for v in one_less] + [mpmath.mpf(v) / 2 for v in one_less]
        expected = np.array([[float(mpmath.hyp2f1(half, half, int(n) + half, v)) for v in z] for n in r])
    together = hypergeometric(r[:, None], np.tile(y, (r.size, 1)), np.tile(one_less_y, (r.size, 1)))
    np.testing.assert_allclose(together, expected, rtol=1e-13)
    for i in range(r.size):
        alone = hypergeometric(r[i : i + 1, None], y[None, :], one_less_y[None, :])
        np.testing.assert_allclose(alone[0], expected[i], rtol=1e-13)
