"""Section 2.3: the dual variables of a sketch are biased."""

import numpy as np

from papers.tests.doctored import doctored, judged
from papers.tests.replayed import replayed

_NAME = "vaswani2013.expectation"


def test_the_mean_is_that_of_an_inverse_wishart_matrix():
    table, (finding,) = replayed(_NAME)
    assert not finding.holds and finding.corrected_holds
    small = table.where(penalty=1e-6)
    assert np.all(np.abs(small["mean"] - small["r"] / (small["r"] - 21)) < 6 * small["error"])
    # on the scale of the data it depends less on the sketch
    assert np.all(table.where(penalty=1.0)["mean"] - 1 < 0.7 * (small["mean"] - 1))


def test_unbiased_dual_variables_would_turn_the_verdict():
    table, _ = replayed(_NAME)
    (finding,) = judged(_NAME, doctored(table, mean=lambda row: 1.0))
    assert finding.holds and not finding.corrected_holds
    (finding,) = judged(_NAME, doctored(table, mean=lambda row: 0.5))
    assert not finding.holds and not finding.corrected_holds
