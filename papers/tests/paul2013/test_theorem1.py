"""Theorem 1: margins stay within their brackets, and reach both ends."""

import numpy as np
import pytest

from papers.tests.doctored import with_column
from papers.tests.replayed import replayed
from slimline import geometry
from slimline_papers import find_items
from slimline_papers.paul2013 import clouds
from slimline_papers.paul2013.synthetic import METHODS, projection


def _holds(table):
    (item,) = find_items(["paul2013.theorem1"])
    return [(finding.holds, finding.corrected_holds) for finding in item.judge(table)]


@pytest.mark.slow
def test_the_theorem_is_true_and_its_proof_is_not():
    table, _ = replayed("paul2013.theorem1")
    assert _holds(table) == [(True, True), (True, None), (True, True), (False, True), (True, None), (True, None)]


def test_brackets_hold_row_by_row():
    table, _ = replayed("paul2013.theorem1")
    for row in table.rows:
        of = dict(zip(table.columns, row, strict=True))
        if of["e"] < 1:
            top = 1 + of["e"] if of["C"] == np.inf else 1 / (1 - of["e"])
            assert (1 - of["e"]) * 0.999 < of["margin_ratio"] < top * 1.001
            assert of["C"] == np.inf or 0.999 / (1 + of["e"]) < of["objective"] < 1.001 / (1 - of["e"])


def test_what_is_false_is_found_false():
    table, _ = replayed("paul2013.theorem1")
    smaller = with_column(table, "margin_ratio", lambda row: 0.99 * row["margin_ratio"])
    holds = _holds(smaller)
    assert holds[0] == (False, False)
    assert holds[1] == (False, None)
    assert holds[2] == (False, False)
    assert _holds(with_column(table, "margin_ratio", lambda row: 1.01 * row["margin_ratio"]))[0] == (True, False)
    assert _holds(with_column(table, "objective", lambda row: 1.01 * row["objective"]))[4] == (False, None)
    assert _holds(with_column(table, "alpha_ratio", lambda row: 1.0))[3] == (True, True)
    assert _holds(with_column(table, "e", lambda row: row["e"] / 2))[0] == (False, False)


@pytest.mark.parametrize("method", METHODS)
def test_the_worst_direction_is_the_worst(method):
    X, _ = clouds.two_clouds(np.random.default_rng(0), 8, 8.0)
    fitted = projection(method, 64, 1).fit(X)
    v, rest = clouds.worst_direction(X, fitted)
    components = fitted.components_
    R = np.asarray(components.toarray() if hasattr(components, "toarray") else components).T
    _, _, basis = np.linalg.svd(X, full_matrices=False)
    V = basis[:8].T
    error = np.linalg.norm(np.eye(8) - V.T @ R @ R.T @ V, 2)
    assert np.linalg.norm(v) == pytest.approx(1)
    assert abs(1 - np.linalg.norm(R.T @ v) ** 2) == pytest.approx(error)
    assert np.abs(rest @ v).max() < 1e-9
    assert np.abs(rest @ R @ (R.T @ v)).max() < 1e-9


def test_clouds_have_their_rank_and_are_separable():
    X, y = clouds.two_clouds(np.random.default_rng(2), 8, 8.0)
    assert np.linalg.matrix_rank(X) == 8
    # clipped at three deviations, centres eight apart: a margin of at least one
    assert geometry.margin(X, y, intercept=True).lower > 0.999
