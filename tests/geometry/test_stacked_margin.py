"""The one-parameter margin before any projection."""

import numpy as np
import pytest

from slimline.geometry import margin, one_parameter_margin
from slimline.geometry._multiclass import stacked_margin
from slimline.projections import Gaussian
from tests.geometry.exact import clarabel_margin


def stacked_pairs(X, y):
    """Return (x, -x)/(√2‖x‖) in the places of the own class and of each rival, written out."""
    classes, d = int(y.max()) + 1, X.shape[1]
    rows = []
    for x, own in zip(X / np.linalg.norm(X, axis=1)[:, None], y, strict=True):
        for rival in set(range(classes)) - {own}:
            row = np.zeros((classes, d))
            row[own], row[rival] = x, -x
            rows.append(row.ravel() / np.sqrt(2.0))
    return np.array(rows)


@pytest.mark.parametrize("n_classes, n, d", [(2, 12, 20), (3, 15, 20), (3, 30, 8), (5, 20, 12)])
def test_against_the_pairs_written_out(n_classes, n, d):
    rng = np.random.default_rng(n)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, d)) + 6.0 * rng.standard_normal((n_classes, d))[y]
    found = stacked_margin(X, y)
    rows = stacked_pairs(X, y)
    exact = clarabel_margin(rows, np.ones(len(rows)), False)
    assert exact > 0.01
    assert found.value == pytest.approx(exact, rel=1e-8) and found.relative_gap <= 1e-8
    assert found.lower <= exact * (1.0 + 1e-10) and exact <= found.upper * (1.0 + 1e-10)


def test_two_classes_have_the_normalised_margin():
    rng = np.random.default_rng(1)
    y = np.arange(10) % 2
    X = rng.standard_normal((10, 30))
    assert stacked_margin(X, y).value == pytest.approx(margin(X, y, normalised=True).value, rel=1e-8)


def test_many_components_come_to_it():
    rng = np.random.default_rng(2)
    y = np.arange(9) % 3
    X = rng.standard_normal((9, 15)) + 3.0 * rng.standard_normal((3, 15))[y]
    near = one_parameter_margin(X, y, Gaussian(15, 100_000, 1)).value
    # every cosine is off by some 1/300; by 0.05 with a chance far below 1e-6 (18 pairs)
    assert near == pytest.approx(stacked_margin(X, y).value, abs=0.05)


def test_nothing_separates():
    X = np.random.default_rng(3).standard_normal((6, 10))
    found = stacked_margin(np.r_[X, X[:1]], [0, 1, 2, 0, 1, 2, 1])
    assert found.value == found.lower == 0.0 and found.upper < 1e-7
