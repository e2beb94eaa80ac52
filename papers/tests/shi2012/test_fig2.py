"""Fig. 2: rejected angles and inner products, as printed and with matched cosines."""

import numpy as np
import pytest

from papers.tests.doctored import doctored, judged
from papers.tests.replayed import replayed
from slimline_papers.shi2012.angles import ANGLE, COSINES, INNER_PRODUCT, pairs_of_vectors, rejection


def test_the_figure_is_as_printed():
    _, findings = replayed("shi2012.fig2")
    assert [finding.holds for finding in findings] == 6 * [True]


def test_its_reading_is_not():
    _, findings = replayed("shi2012.fig2_matched")
    assert [finding.holds for finding in findings] == [False, False]
    assert [finding.corrected_holds for finding in findings] == [True, True]


def test_vectors_have_their_cosines_in_planes_at_right_angles():
    w, x = pairs_of_vectors(3)
    vectors = np.vstack([w, x])
    k = len(COSINES)
    expected = np.eye(2 * k)
    expected[np.arange(k), np.arange(k) + k] = expected[np.arange(k) + k, np.arange(k)] = COSINES
    np.testing.assert_allclose(vectors @ vectors.T, expected, atol=1e-12)


@pytest.mark.parametrize("c", [0.527, -0.527, -0.062])
@pytest.mark.parametrize("quantity", [ANGLE, INNER_PRODUCT])
def test_the_law_is_that_of_normal_pairs(quantity, c):
    # 20,000 pairs of Gaussian samples of length 40: 5.4 standard deviations, a failure probability below 1e-7 each
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 20_000, 40))
    b = c * a + np.sqrt(1 - c * c) * b
    after = np.sum(a * b, axis=1) / 40
    if quantity == ANGLE:
        after = 40 * after / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    p = rejection(quantity, 40, c, 0.3)
    assert abs(np.mean(np.abs(after / c - 1) > 0.3) - p) < 5.4 * np.sqrt(p * (1 - p) / 20_000)


def test_other_frequencies_are_found_out():
    table, _ = replayed("shi2012.fig2")
    rising = doctored(table, rejected=lambda row: row["matrices"] * row["n"] // 4000)
    assert not any(finding.holds for finding in judged("shi2012.fig2", rising))


def test_if_obtuse_angles_were_lost_it_would_be_said():
    table, _ = replayed("shi2012.fig2_matched")
    lost = doctored(table, rejected=lambda row: row["rejected"] if row["cosine"] > 0 else row["matrices"])
    matched, shrinks = judged("shi2012.fig2_matched", lost)
    assert (matched.holds, matched.corrected_holds) == (True, False)
    assert (shrinks.holds, shrinks.corrected_holds) == (True, False)
