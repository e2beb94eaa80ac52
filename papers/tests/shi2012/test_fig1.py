"""Fig. 1: how often a line keeps four points apart."""

import numpy as np

from papers.tests.replayed import replayed


def test_the_claims_hold():
    _, findings = replayed("shi2012.fig1")
    assert [finding.holds for finding in findings] == [True, True, True]


def test_frequencies_follow_the_angle():
    # 200 matrices for each of 8 spreads: 5.4 standard deviations, a failure probability below 1e-6 in all
    table, _ = replayed("shi2012.fig1")
    angle = np.array([2 * np.arctan2(1.0, a) / np.pi for a in table["spread"]])
    error = np.abs(table["separable"] / table["matrices"] - angle)
    assert np.all(error < 5.4 * np.sqrt(angle * (1 - angle) / table["matrices"]))
