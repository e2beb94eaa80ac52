"""Fig. 4: one weight vector for all classes."""

import numpy as np
import pytest

from papers.tests.doctored import doctored, judged
from papers.tests.replayed import replayed

ONE, ALL = "one parameter", "Crammer-Singer"


@pytest.fixture
def table(data_dir, monkeypatch):
    monkeypatch.setenv("SLIMLINE_DATA", str(data_dir))
    return replayed("shi2012.fig4")[0]


@pytest.mark.slow
@pytest.mark.data
def test_both_choose_from_as_many_settings_and_never_on_the_test_set(table):
    for model, classes, r in {(row[0], row[1], row[3]) for row in table.rows}:
        rows = table.where(model=model, classes=classes, r=r)
        tried, tested = rows.where(stage="validation"), rows.where(stage="test")
        assert tried.values("C") == table.where(model=ALL, classes=10, stage="validation").values("C")
        assert np.all(tried["shown"] + tried["trained"] == tested["trained"][0])
        best = tried.values("C")[int(np.argmax(tried["right"]))]
        assert set(tested.values("C")) == {best}  # chosen before the test digits are seen


@pytest.mark.slow
@pytest.mark.data
def test_more_dimensions_come_near_the_multiclass_machine(table):
    accurate, _, rises, memory = judged("shi2012.fig4", table)
    assert accurate.holds is None and "MNIST stands in" in accurate.reason
    assert rises.holds is None and rises.beyond and memory.holds  # at r = 64 the model underfits
    # 8,192 numbers of eight bytes, and what else a model has
    stored = table.where(model=ONE, r=8192, stage="test")["bytes"]
    assert np.all((stored > 65_536) & (stored < 67_500))
    better = doctored(table, right=lambda row: row["right"] + 0.3 * (row["model"] == ONE))
    assert "higher, beyond chance" in judged("shi2012.fig4", better)[0].ours
    flat = doctored(table, right=lambda row: 0.5, train=lambda row: 0.5, bytes=lambda row: 99 * row["classes"])
    assert not any(finding.holds for finding in judged("shi2012.fig4", flat))


@pytest.mark.slow
@pytest.mark.data
def test_nothing_is_read_off_models_that_underfit(table):
    """A model that is right for few digits, training and test alike, has a small gap and little memory."""

    def underfitted(row):
        return 0.6 if row["model"] == ONE else row["right"]

    poor = doctored(table, right=underfitted, train=lambda row: 0.6 if row["model"] == ONE else 1.0)
    _, capacity, rises, memory = judged("shi2012.fig4", poor)
    assert capacity.holds is None and "underfits" in capacity.reason
    assert memory.holds is None and rises.holds is None and "fewer than two" in rises.reason
    # with as good a fit, a smaller gap counts, and an equal one does not
    for gap, holds in ((0.0, True), (0.3, False)):
        after = {ONE: 0.6 + gap, ALL: 0.9}
        fitted = doctored(table, right=lambda row: 0.6, train=lambda row, after=after: after[row["model"]])
        assert judged("shi2012.fig4", fitted)[1].holds is holds
    # where both dimensions fit, accuracy is compared
    for more, holds in ((0.2, True), (0.0, False)):
        rising = doctored(table, train=lambda row: 1.0, right=lambda row, more=more: 0.6 + more * (row["r"] == 8192))
        assert judged("shi2012.fig4", rising)[2].holds is holds


@pytest.mark.slow
@pytest.mark.data
def test_a_setting_at_the_edge_of_those_tried_is_told(table):
    for C, told in ((0.3, True), (0.03, False)):
        finding = judged("shi2012.fig4", doctored(table, C=lambda row, C=C: C))[0]
        assert ("a larger one might be better" in finding.ours) is told
