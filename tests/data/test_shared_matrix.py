"""Threads that share a Matrix neither count each other's passes nor read each other's rounding bounds."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from slimline import CertifiedClassifier, open_matrix

SETTINGS = {"method": "sketch", "n_components": 16, "tol": 1e-6, "random_state": 0, "max_passes": 9}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # nine passes are enough to compare
def test_fits_in_two_threads_are_those_of_one_thread():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 600))
    labels = [X[:, 0] > 0, X[:, 1] + X[:, 2] > 0.3]
    penalties = [1e-3, 1e-1]
    alone = [CertifiedClassifier(C, **SETTINGS).fit(X, y) for C, y in zip(penalties, labels, strict=True)]
    matrix, together = open_matrix(X), Barrier(2)

    def fit(C, y):
        def wait(step):
            if step.passes < 3:  # so that the passes of the two fits lie between each other's
                together.wait(timeout=60)

        return CertifiedClassifier(C, **SETTINGS).watch(wait).fit(matrix, y)

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(fit, penalties, labels))
    for one, other in zip(alone, found, strict=True):
        assert other.n_passes_ == one.n_passes_
        assert [step.passes for step in other.history_] == [step.passes for step in one.history_]
        np.testing.assert_array_equal(other.certificate_.radius, one.certificate_.radius)
        np.testing.assert_array_equal(other.coef_, one.coef_)
    assert matrix.passes == sum(model.n_passes_ for model in found)
