"""Every bound is asked, with the sizes that it means, and says what the bounds room says."""

import numpy as np
import pytest

from slimline import bounds
from slimline.planning.guarantees import curves, guarantees

SIZES = {
    "points": 500, "features": 20_000, "classes": 5, "rank": 300, "sparsity": 40, "margin": 0.2, "cosine": 0.2,
}  # fmt: skip


def rows_of(name, eps=0.1):
    return [row for row in guarantees(SIZES, eps, 0.05) if row.name == name]


def test_every_bound_is_there():
    assert {row.name for row in guarantees(SIZES, 0.1, 0.05)} == set(bounds.BOUNDS)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("uml2014.23.4", {"vectors": 500 * 499 // 2}),
        ("fard2012.1", {"vectors": 500}),
        ("fard2012.2", {"features": 20_000, "sparsity": 40}),
        ("shi2012.6", {"points": 500}),
        ("shi2012.8", {"points": 500, "classes": 5}),
        ("paul2013.srht", {"rank": 300, "features": 20_000}),
        ("vaswani2013.2", {"rank": 300}),
    ],
)
def test_dimensions_are_those_of_the_bounds(name, sizes):
    (row,) = rows_of(name)
    assert row.dimension == bounds.get(name).dimension(0.1, 0.05, **sizes)
    assert row.below_features == (row.dimension < 20_000)


def test_printed_and_exact_stand_beside():
    (row,) = rows_of("vaswani2013.c2")
    assert row.printed == 9000 < row.dimension
    (row,) = rows_of("shi2012.6")
    assert row.printed is None and row.exact < row.dimension / 10
    (row,) = rows_of("paul2013.cw")
    assert "O(·)" in row.note and row.printed > row.dimension
    assert rows_of("vaswani2013.3")[0].kind == "limit"


def test_a_bound_that_does_not_speak_says_so():
    (row,) = rows_of("vaswani2013.1", eps=0.4)
    assert row.dimension is None and not row.below_features and "0.333" in row.note


def test_what_is_not_known_is_not_asked():
    few = {name: value for name, value in SIZES.items() if name not in ("margin", "cosine", "sparsity")} | {
        "classes": 2
    }
    names = {row.name for row in guarantees(few, 0.1, 0.05)}
    assert set(bounds.BOUNDS) - names == {"fard2012.2", "balcan2006", "shi2012.8", "shi2012.9"}


def test_curves_fall_and_pass_through_the_rows():
    drawn = {curve.name: curve for curve in curves(SIZES, 0.1, 0.05)}
    for curve in drawn.values():
        assert np.all(np.diff(curve.eps) > 0) and np.all(np.diff(curve.dimension) <= 0)
        assert min(curve.dimension) >= 1
    for name in ("uml2014.23.4", "shi2012.6", "vaswani2013.c2"):
        (row,) = rows_of(name)
        at = np.exp(np.interp(np.log(0.1), np.log(drawn[name].eps), np.log(drawn[name].dimension)))
        assert at == pytest.approx(row.dimension, rel=0.01)
    assert drawn["vaswani2013.c2, printed"].kind == "printed"
    assert drawn["paul2013.srht, printed"].kind == "order"
    assert sum(curve.kind == "exact" for curve in drawn.values()) == 2
    assert {"paul2013.1 (gaussian)", "paul2013.1 (srht)", "paul2013.1 (osnap)"} <= set(drawn)
