"""Accuracy of the laws: 1e-10 relative down to a probability of 1e-20, then 1e-6 relative in its logarithm."""

import numpy as np
import numpy.typing as npt


def assert_accurate(logarithm: npt.ArrayLike, expected: npt.ArrayLike) -> None:
    """Compare logarithms of probabilities."""
    logarithm, expected = np.atleast_1d(np.asarray(logarithm, float)), np.atleast_1d(np.asarray(expected, float))
    deep = expected < np.log(1e-20)
    np.testing.assert_allclose(np.expm1(logarithm - expected)[~deep], 0, atol=1e-10)
    np.testing.assert_allclose(logarithm[deep], expected[deep], rtol=1e-6)
