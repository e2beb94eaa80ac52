"""paul2013's statements, draw by draw."""

from dataclasses import replace

import numpy as np
import pytest

from slimline import audit
from slimline.auditing._guarantees import bracket_checks
from slimline.auditing._measures import Labels, draws_of, measure_original, measure_projected
from slimline.data import open_matrix
from slimline.projections import Gaussian
from tests.auditing.clouds import clouds, several
from tests.families import FAMILIES


def looked(X, codes, r=24, repeats=3):
    labels = Labels(codes, int(codes.max()) + 1)
    before = measure_original(open_matrix(X), labels, errors=0.0, n_components=r)
    return before, list(measure_projected(before, draws_of(Gaussian(X.shape[1], r, 5), repeats), 0.2))


@pytest.mark.filterwarnings("ignore:The number of components is higher")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_they_hold_for_every_family(family, n_classes):
    X, y = several(12, n_classes, 40, seed=1)
    found = audit(X, y, projection=FAMILIES[family](40, 32, 3), repeats=4)
    about = ["margin", "margin with intercept"] if n_classes == 2 else ["Crammer-Singer margin"]
    assert [(check.about, check.bound) for check in found.brackets] == [
        *((name, "paul2013.1") for name in about), ("enclosing ball", "paul2013.2"),
    ]  # fmt: skip
    measured = {kept.name: kept for kept in (*found.margins, found.ball)}
    errors = np.array(found.embedding.after)
    for check in found.brackets:
        off = np.abs(measured[check.about].ratios ** 2 - 1.0)
        assert np.all(off <= errors * (1.0 + 1e-6))
        assert (check.held, check.draws, check.ends_used) == (4, 4, int(np.sum(errors < 1.0)))
        assert check.nearest == pytest.approx((off / errors).max(), rel=1e-4) and check.nearest <= 1.0 + 1e-6


def test_a_violation_is_seen():
    before, draws = looked(*clouds(10, 60, 5.0, seed=2))
    assert all(check.held == 3 and check.nearest < 1.0 for check in bracket_checks(before, draws))
    # the same draw, said to be far nearer to an isometry than it is
    claimed = replace(draws[1].embedding, upper=1e-3)
    for check in bracket_checks(before, [draws[0], replace(draws[1], embedding=claimed), draws[2]]):
        assert check.held == 2 and check.nearest > 1.0


@pytest.mark.parametrize("square, held", [(0.69, 2), (0.71, 3), (1.29, 3), (1.31, 2)])
def test_both_ends_are_looked_at(square, held):
    before, draws = looked(*clouds(10, 60, 5.0, seed=2))
    radius = before.ball.value * np.sqrt(square)
    ball = replace(draws[1].ball, value=radius, lower=radius, upper=radius)
    draws[1] = replace(draws[1], ball=ball, embedding=replace(draws[1].embedding, upper=0.3))
    assert bracket_checks(before, draws)[-1].held == held


def test_what_was_nothing_before_has_no_bracket():
    X, y = clouds(10, 60, 5.0, seed=2)
    before, draws = looked(np.r_[X, X[:1]], np.r_[y, 1 - y[:1]])
    assert [check.about for check in bracket_checks(before, draws)] == ["enclosing ball"]
    before, draws = looked(np.ones((4, 60)), np.arange(4) % 2)
    assert bracket_checks(before, draws) == ()
    assert audit(X, n_components=9, repeats=1).brackets[0].about == "enclosing ball"  # no labels


def test_a_projection_cannot_make_classes_separable():
    X, y = clouds(10, 60, 5.0, seed=2)
    X, y = np.r_[X, X[:1] + X[2:3]], np.r_[y, 1 - y[0]]  # a sum of two points with the other label
    for r in (1, 5, 50):
        found = audit(X, y, n_components=r, repeats=5)
        plain = next(kept for kept in found.margins if kept.name == "margin")
        assert plain.before == 0.0 and plain.after == (0.0,) * 5
