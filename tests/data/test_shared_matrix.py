"""Jobs that share a Matrix neither count each other's passes nor read each other's rounding bounds."""

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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_inside_the_callback_of_another_is_counted_apart():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 600))
    y = X[:, 0] > 0
    alone = CertifiedClassifier(0.1, **SETTINGS).fit(X, y)
    matrix, inner = open_matrix(X), []

    def fit_another(step):
        inner.append(CertifiedClassifier(1e-3, **SETTINGS).fit(matrix, y).n_passes_)

    outer = CertifiedClassifier(0.1, **SETTINGS).watch(fit_another).fit(matrix, y)
    assert inner
    assert outer.n_passes_ == alone.n_passes_
    assert [step.passes for step in outer.history_] == [step.passes for step in alone.history_]
    assert matrix.passes == outer.n_passes_ + sum(inner)


def test_jobs_on_one_thread_whose_passes_lie_between_each_other():
    matrix = open_matrix(np.ones((4, 3)))
    one, other = matrix.counted(), matrix.rows([0, 1]).counted()
    for parts in zip(one.tdot_parts(np.ones((4, 1))), other.tdot_parts(np.ones((2, 1))), strict=True):
        assert [float(part[1][0, 0]) for part in parts] == [4.0, 2.0]
    other.dot(np.ones(3))
    assert (one.passes, other.passes, matrix.passes) == (1, 2, 3)


def test_a_job_counts_the_passes_of_all_its_threads_and_views():
    matrix = open_matrix(np.random.default_rng(2).standard_normal((4, 3)))
    job, told = matrix.standardised().counted(), []
    job.listen(lambda progress: told.append(progress.number))
    with ThreadPoolExecutor(4) as pool:
        views = [job, job.rows([0, 2]), job.columns([1]), job.rows([1]).columns([0])]
        list(pool.map(lambda view: view.row_norms(), views))
    assert job.passes == matrix.passes == 5  # one for the statistics, which whole columns need for rows
    assert max(told) == 5
    matrix.gram()
    assert (job.passes, matrix.passes, max(told)) == (5, 6, 5)


def test_statistics_that_a_job_computes_are_known_to_all():
    matrix = open_matrix(np.random.default_rng(3).standard_normal((4, 3))).standardised()
    job = matrix.counted()
    expected = job.normal(np.ones(4))[0]
    np.testing.assert_array_equal(matrix.tdot(np.ones(4)), expected)
    assert (job.passes, matrix.passes) == (1, 2)
