"""Probes: what the documentation says, and what the data can."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from papers.tests.doctored import doctored, judged
from papers.tests.replayed import replayed
from slimline_papers.vaswani2013.probes import count_p_values


def test_p_values_of_independent_features_are_even():
    # 20,000 sparse features that know nothing of the label: each of ten bins within 5.4 standard deviations
    rng = np.random.default_rng(2)
    X = csr_array((rng.random((300, 20_000)) < 0.02).astype(float))
    y = np.where(np.arange(300) < 40, 1.0, -1.0)
    counts, _ = np.histogram(count_p_values(X, y, seed=3), 10, (0, 1))
    assert np.abs(counts - 2000).max() < 5.4 * np.sqrt(2000 * 0.9)


def test_a_feature_that_is_the_label_is_found():
    y = np.where(np.arange(300) < 40, 1.0, -1.0)
    X = csr_array(np.column_stack([y > 0, y < 0, np.zeros(300)]).astype(float))
    first, second, none = count_p_values(X, y, seed=0)
    assert first < 1e-12 and second < 1e-12 and 0 <= none <= 1


@pytest.mark.slow
@pytest.mark.data
def test_the_data_do_not_tell_how_many_are_probes(data_dir):
    table, findings = replayed("vaswani2013.probes")
    assert [finding.holds for finding in findings] == [None, None]
    assert "3,000 of 10,000" in findings[0].reason and "50,000 of 100,000" in findings[1].reason
    assert findings[0].corrected == "30%, as documented" and findings[0].corrected_holds is None
    assert "39 of them constant" in findings[0].ours and "8,402 of them constant" in findings[1].ours
    for name, features in (("ARCENE", 10_000), ("DOROTHEA", 100_000)):
        assert table.where(set=name)["count"].sum() == features
    # were fewer than a quarter of the p-values above ½, half of the features could not be probes
    related = doctored(table, count=lambda row: row["count"] * (0.5 if row["from"] > 0.49 else 2))
    assert [finding.holds for finding in judged("vaswani2013.probes", related)] == [False, False]


@pytest.mark.data
def test_p_values_allow_the_documented_probes(data_dir):
    """Probes have even p-values, so that no bin may hold fewer features than their share of it."""
    table, _ = replayed("vaswani2013.probes")
    for name, probes in (("ARCENE", 3_000), ("DOROTHEA", 50_000)):
        assert table.where(set=name)["count"].min() > probes / 20
