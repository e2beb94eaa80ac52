"""Theorem 1: inner products with the vectors of a finite set."""

import numpy as np
import pytest

from papers.tests.doctored import with_column
from papers.tests.replayed import replayed
from slimline import GaussianProjection, laws
from slimline_papers.fard2012 import theorem1
from slimline_papers.fard2012.errors import error_of_products, union_eps


def test_the_claims_hold():
    _, findings = replayed("fard2012.theorem1")
    assert [finding.holds for finding in findings] == [True, True]


def test_the_error_is_a_linear_functional():
    random = np.random.default_rng(1)
    w, X = random.standard_normal(40), random.standard_normal((10, 40))
    projection = GaussianProjection(7, random_state=5).fit(X)
    kept = projection.transform(X) @ projection.transform(w[None, :])[0]
    assert X @ error_of_products(w, 7, projection.projection_.seed) == pytest.approx(kept - X @ w)


def test_the_sets_have_the_angles_that_the_law_is_told():
    w, *sets = theorem1._vectors(seed=4)
    for S in sets:
        assert np.linalg.norm(S, axis=1) == pytest.approx(np.ones(len(S)))
        assert S @ w[0] == pytest.approx(np.linspace(-1, 1, len(S)))


def test_the_union_for_one_vector_with_itself():
    assert laws.norm_failure(64, union_eps(64, np.array([1.0]))) == pytest.approx(0.05, rel=1e-5)


def test_the_printed_promise():
    table, _ = replayed("fard2012.theorem1")
    expected = np.sqrt(48 * np.log((4 * table["vectors"] + 2) / 0.05) / table["r"])
    assert table["printed_eps"] == pytest.approx(expected)


@pytest.mark.parametrize("column, which", [("beyond_printed", 0), ("beyond_exact", 1)])
def test_larger_errors_are_noticed(column, which):
    table, _ = replayed("fard2012.theorem1")
    worse = with_column(table, column, lambda row: row["matrices"] // 3)
    assert not theorem1.THEOREM1.judge(worse)[which].holds
