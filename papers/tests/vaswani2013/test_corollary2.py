"""Corollary 2: as printed it fails, as corrected it holds."""

import numpy as np

from papers.tests.replayed import replayed
from papers.tests.vaswani2013.changed import changed, verdicts
from slimline.projections import Gaussian
from slimline_papers import Study, find_items
from slimline_papers.vaswani2013.corollary2 import error_in_the_limit

_NAME = "vaswani2013.corollary2"


def test_only_what_is_linear_in_the_rank_holds():
    _, findings = replayed(_NAME)
    assert [finding.holds for finding in findings] == [False, True, False, True]
    assert [finding.corrected_holds for finding in findings] == [True, None, True, None]


def test_at_the_printed_size_the_error_is_four_times_what_is_promised():
    table, _ = replayed(_NAME)
    cell = table.where(family="Gaussian", rank=100, eps=0.1, rule="printed")
    assert set(cell["r"]) == {3000}
    # 0.386 on average, with fluctuations of 0.0135: 6 standard deviations
    assert np.all(np.abs(cell["error"] - 0.386) < 0.081)


def test_errors_are_those_of_the_matrix():
    table, _ = replayed(_NAME)
    (item,) = find_items([_NAME])
    study = Study(size="miniature")
    row = next(iter(item.experiment.measure(study, ("Gaussian", 25, 0.5))))
    A = Gaussian(25, 150, study.seed_of(_NAME, "Gaussian", 25, 150, 0)).rows(0, 25) * np.sqrt(150)
    assert row[4] == 150
    np.testing.assert_allclose(row[-1], np.linalg.norm(A @ A.T / 150 - np.eye(25), 2), rtol=1e-10)
    np.testing.assert_allclose(table.where(family="Gaussian", rank=25, eps=0.5, rule="printed")["error"][0], row[-1])


def test_errors_as_the_corollary_prints_them_would_turn_every_verdict():
    table, _ = replayed(_NAME)
    as_printed = changed(table, "error", lambda row: 0.99 * 3 * row["rank"] / row["r"])
    assert verdicts(_NAME, as_printed) == [True, False, True, False]


def test_a_correction_that_fails_is_seen():
    table, _ = replayed(_NAME)
    larger = changed(table, "error", lambda row: 1.6 * row["error"])
    (item,) = find_items([_NAME])
    assert item.judge(larger)[0].corrected_holds is False


def test_the_limit_is_the_upper_edge():
    assert error_in_the_limit(1, 4) == (1 + 0.5) ** 2 - 1
