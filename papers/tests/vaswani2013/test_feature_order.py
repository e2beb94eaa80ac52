"""The order of the features."""

import numpy as np
import pytest

from papers.tests.replayed import replayed
from papers.tests.vaswani2013.changed import changed, verdicts
from slimline_papers.vaswani2013.feature_order import _among

_NAME = "vaswani2013.feature_order"


def test_ties_with_the_last_are_among_the_largest():
    assert _among(np.array([3.0, 1.0, 2.0, 2.0]), 2).tolist() == [True, False, True, True]


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_the_order_is_recovered_and_proved():
    table, findings = replayed(_NAME)
    assert [finding.holds for finding in findings] == [True, True, True]
    assert np.all(table["proved"] <= table["among"])  # a feature that is proved is one of them


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_more_passes_prove_more():
    table, _ = replayed(_NAME)
    for scaling in ("unit", "raw"):
        proved = table.where(scaling=scaling, k=100)["proved"]
        assert proved[-1] > proved[0]
        assert np.all(np.diff(proved) >= 0)


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_false_proofs_and_lost_orders_are_seen():
    table, _ = replayed(_NAME)
    assert verdicts(_NAME, changed(table, "correlation", lambda row: 0.5)) == [False, True, True]
    assert verdicts(_NAME, changed(table, "false", lambda row: 1)) == [True, False, True]
    assert verdicts(_NAME, changed(table, "outside", lambda row: 1)) == [True, False, True]
    assert verdicts(_NAME, changed(table, "proved", lambda row: 0)) == [True, False, False]
