"""Theorems 8 and 9: as printed, as repaired, as measured."""

import numpy as np
import pytest

from papers.tests.doctored import doctored, judged
from papers.tests.replayed import replayed
from slimline import geometry
from slimline_papers.shi2012.theorem8 import data_of_margin, left_by_the_proof


def _verdicts(findings):
    return [(finding.holds, finding.corrected_holds) for finding in findings]


@pytest.mark.parametrize(("classes", "c", "margin"), [(2, 0.5, 1.0), (2, 1.0, 2.0), (3, 0.66, 0.99)])
def test_data_have_the_margin_of_their_simplex(classes, c, margin):
    X, y = data_of_margin(classes, c)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    found = geometry.multiclass_margin(X, y)
    assert found.lower == pytest.approx(margin, abs=1e-5) and found.upper == pytest.approx(margin, abs=1e-5)


def test_what_the_proof_leaves_is_equation_4():
    eps, own, other = 0.3, np.array([0.5]), np.array([-0.5])
    lower = (1 + eps) / (1 - eps) * own - 2 * eps / (1 - eps)
    upper = 1 - np.sqrt(1 - eps**2) / (1 + eps) + eps / (1 + eps) + (1 - eps) / (1 + eps) * other
    np.testing.assert_allclose(left_by_the_proof(own, other), lower - upper)


def test_theorem_8_holds_in_its_range_and_not_beyond():
    _, findings = replayed("shi2012.theorem8")
    assert [finding.beyond for finding in findings] == [False, True, False]  # γ > 1 is outside the printed range
    assert _verdicts(findings) == [(True, None), (True, None), (False, True)]


def test_other_margins_would_change_the_verdict_on_theorem_8():
    table, _ = replayed("shi2012.theorem8")
    lost = judged("shi2012.theorem8", doctored(table, after=lambda row: -2.0))
    assert _verdicts(lost) == [(False, None), (False, None), (False, False)]
    assert judged("shi2012.theorem8", doctored(table, after=lambda row: 3.0))[1].holds is False


@pytest.mark.slow
def test_theorem_9_holds_with_the_cosine():
    _, findings = replayed("shi2012.theorem9")
    assert _verdicts(findings) == [(True, None), (True, None)]
    assert [finding.beyond for finding in findings] == [False, True]


def test_other_margins_would_change_the_verdict_on_theorem_9():
    table, _ = replayed("shi2012.theorem9")
    lost = judged("shi2012.theorem9", doctored(table, printed=lambda row: -1.0, cosine=lambda row: -1.0))
    assert _verdicts(lost) == [(False, None), (False, None)]
    assert judged("shi2012.theorem9", doctored(table, printed=lambda row: 1.0))[1].holds is False
    assert judged("shi2012.theorem9", doctored(table, cosine=lambda row: -1.0))[1].holds is False


def test_the_printed_quotient_is_the_cosine_times_the_ratio_of_the_denominators():
    # γ = 2: all differences R₁x - R₂x are one vector, so that the best cosine is 1
    table, _ = replayed("shi2012.theorem9")
    widest = table.where(margin=max(table.values("margin")))
    np.testing.assert_allclose(widest["cosine"], 1, atol=1e-6)
    assert np.all(widest["printed"] <= np.sqrt(2) + 1e-6) and np.ptp(widest["printed"]) > 0.05


def test_a_vector_named_first_guesses():
    table, (finding,) = replayed("shi2012.theorem9_order")
    assert (finding.holds, finding.corrected_holds) == (False, True)
    knowing = doctored(table, named_right=lambda row: row["draws"] * row["classes"], made_right=lambda row: 0)
    (finding,) = judged("shi2012.theorem9_order", knowing)
    assert (finding.holds, finding.corrected_holds) == (True, False)
