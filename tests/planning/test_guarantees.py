"""Every bound is asked, with the sizes that it means, and says what the bounds room says."""

import numpy as np
import pytest

from slimline import bounds
from slimline.planning._guarantees import curves, guarantees

TWO = {"points": 500, "features": 20_000, "classes": 2, "rank": 300, "sparsity": 40, "margin": 0.4, "cosine": 0.4}
MANY = {"points": 500, "features": 20_000, "classes": 5, "rank": 300, "multiclass_margin": 0.8}


#: A plan knows the effective dimension as an estimate only.
ASKED = {name for name, bound in bounds.BOUNDS.items() if "effective_dimension" not in bound.needs}


def rows_of(name, eps=0.1, sizes=TWO):
    return [row for row in guarantees(sizes, eps, 0.05) if row.name == name]


#: Bounds on margins of several classes.
SEVERAL = {"shi2012.8", "shi2012.8.subgaussian", "shi2012.8.unnormalised", "shi2012.9", "shi2012.9.subgaussian"}


def test_every_bound_is_there():
    two, many = ({row.name for row in guarantees(sizes, 0.1, 0.05)} for sizes in (TWO, MANY))
    assert two | many == ASKED
    margins = {"shi2012.6", "shi2012.6.sharp", "shi2012.6.subgaussian"}
    assert two - many == {*margins, "balcan2006", "fard2012.2"}
    assert many - two == SEVERAL


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("uml2014.23.4", {"vectors": 500 * 499 // 2}),
        ("fard2012.1", {"vectors": 500}),
        ("fard2012.2", {"features": 20_000, "sparsity": 40}),
        ("shi2012.6", {"points": 500}),
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


def test_several_classes():
    (row,) = rows_of("shi2012.8", sizes=MANY)
    assert row.dimension == bounds.get("shi2012.8").dimension(0.1, 0.05, points=500, classes=5)
    (row,) = rows_of("shi2012.9", sizes=MANY)
    assert row.exact < row.dimension


@pytest.mark.parametrize("margin", [0.1, 0.3])
def test_a_margin_of_which_nothing_is_left_is_no_use(margin):
    lower = bounds.get("shi2012.6").guarantee(0.1, margin=margin).lower  # 0.1 - 2/9 < 0 < 0.3 - 2/9
    (row,) = rows_of("shi2012.6", sizes=TWO | {"margin": margin})
    assert row.below_features == (lower > 0)
    assert (f"leaves {lower:.2g}" if lower > 0 else "leaves nothing") in row.note
    (curve,) = [curve for curve in curves(TWO | {"margin": margin}, 0.1, 0.05) if curve.name == "shi2012.6"]
    assert bounds.get("shi2012.6").guarantee(max(curve.eps), margin=margin).lower > 0


def test_a_bound_that_does_not_speak_says_so():
    (row,) = rows_of("vaswani2013.1", eps=0.4)
    assert row.dimension is None and not row.below_features and "0.333" in row.note


def test_what_is_not_known_is_not_asked():
    few = {name: value for name, value in TWO.items() if name not in ("margin", "cosine", "sparsity")}
    names = {row.name for row in guarantees(few, 0.1, 0.05)}
    assert ASKED - names == {"fard2012.2", "balcan2006", *SEVERAL}
    assert rows_of("shi2012.6", sizes=few)[0].note == ""


def test_what_no_dimension_meets_is_left_out():
    drawn = curves(TWO, 1e-9, 0.05)
    assert drawn and not any(curve.kind == "exact" and "distances" in curve.name for curve in drawn)


def test_curves_fall_and_pass_through_the_rows():
    drawn = {curve.name: curve for curve in curves(TWO, 0.1, 0.05)}
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
