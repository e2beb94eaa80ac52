"""Theorems 1 and 2 on data of low rank."""

import numpy as np
import pytest

from papers.tests.doctored import judged, where_changed
from papers.tests.replayed import replayed
from slimline_papers.vaswani2013.theorems import low_rank


def test_low_rank():
    X = np.random.default_rng(0).standard_normal((8, 30))
    near = low_rank(X, 3)
    assert np.linalg.matrix_rank(near) == 3
    assert np.linalg.norm(near, axis=1).mean() == pytest.approx(1)
    left, values, right = np.linalg.svd(X, full_matrices=False)
    scale = np.linalg.norm(near) / np.linalg.norm(values[:3])
    assert near == pytest.approx(scale * (left[:, :3] * values[:3]) @ right[:3])


@pytest.mark.slow
@pytest.mark.data
def test_naive_errors_are_above_the_bound(data_dir):
    table, findings = replayed("vaswani2013.theorem1")
    assert [finding.holds for finding in findings] == [True, True]
    for row in table.where(premise=True, rank=2).rows:
        values = dict(zip(table.columns, row, strict=True))
        assert values["naive"] > 0.5 * np.sqrt((10_000 - 2) / values["r"]) * (1 - 0.3 * np.sqrt(2.6) / 0.7)
    low = where_changed(table, "naive", lambda error: error / 8, loss="hinge")
    assert [finding.holds for finding in judged("vaswani2013.theorem1", low)] == [True, False]


@pytest.mark.data
def test_dual_errors_are_below_the_bound(data_dir):
    table, findings = replayed("vaswani2013.theorem2")
    assert [finding.holds for finding in findings] == [True, True, True]
    eps = table["embedding_error"]
    assert eps.max() < 0.5 and np.all(table["dual"] <= eps / (1 - eps) + table["slack"])
    assert table["slack"].max() < 1e-4
    high = where_changed(table, "dual", lambda error: 30 * error, loss="hinge")
    assert [finding.holds for finding in judged("vaswani2013.theorem2", high)] == [True, False, False]
