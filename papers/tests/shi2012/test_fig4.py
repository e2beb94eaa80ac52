"""Fig. 4: one weight vector for all classes."""

import numpy as np
import pytest

from papers.tests.doctored import doctored, judged
from papers.tests.replayed import replayed


@pytest.mark.slow
@pytest.mark.data
def test_more_dimensions_come_near_the_multiclass_machine(data_dir, monkeypatch):
    monkeypatch.setenv("SLIMLINE_DATA", str(data_dir))
    table, (accurate, capacity, rises, memory) = replayed("shi2012.fig4")
    assert accurate.holds is None and "MNIST stands in" in accurate.reason
    assert capacity.holds and rises.holds and memory.holds
    # 512 numbers of eight bytes, and what else a model has
    stored = table.where(model="one parameter", r=512)["bytes"]
    assert np.all((stored > 4096) & (stored < 6000))
    better = doctored(table, test=lambda row: row["test"] + 0.3 * (row["model"] == "one parameter"))
    assert "higher, beyond chance" in judged("shi2012.fig4", better)[0].ours
    flat = doctored(table, test=lambda row: 0.5, train=lambda row: 0.5, bytes=lambda row: 99 * row["classes"])
    assert not any(finding.holds for finding in judged("shi2012.fig4", flat))
