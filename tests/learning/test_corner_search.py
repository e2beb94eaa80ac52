"""The line search along hinges with rounded corners, and Newton steps on corners sharper than rounding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline.learning import Rows
from slimline.learning.line_search import smallest_along, smallest_among_corners
from slimline.learning.losses import SmoothedHinge
from slimline.learning.problem import BinaryProblem
from slimline.learning.solve_features import solve_smooth_rows


@settings(deadline=None, max_examples=300)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 30),
    width=st.floats(-6, 0),
    start=st.floats(-3, 3),
    growth=st.floats(-3, 3),
    sizes=st.tuples(st.floats(-3, 1), st.floats(-3, 2)),
)
def test_agrees_with_the_search_by_signs(seed, n, width, start, growth, sizes):
    rng = np.random.default_rng(seed)
    weight = 10.0 ** rng.uniform(-4, 3, n)
    short = rng.standard_normal(n) * 10 ** sizes[0]
    rise = rng.standard_normal(n) * 10 ** sizes[1] * (rng.random(n) < 0.9)
    loss = SmoothedHinge(10**width)
    first, growth = rng.choice([-1, 1]) * 10**start, 10**growth

    def slope(t):
        return first + t * growth - float((weight * rise) @ loss.dual(1 - short + t * rise))

    found = smallest_among_corners(first, growth, weight, short, rise, loss.width, 4.0)
    expected = smallest_along(slope, 4.0, iterations=300)
    size = abs(first) + 4 * growth + float(np.abs(weight * rise).sum())
    assert 0.0 <= found <= 4.0
    # where the derivative is nearly flat two steps far apart are equally good
    assert abs(found - expected) <= 1e-9 * max(expected, 1e-3) or abs(slope(found)) <= 1e-9 * size


@pytest.mark.parametrize(
    ("start", "growth", "weight", "short", "rise", "step"),
    [
        (1.0, 1.0, [1.0], [-5.0], [1.0], 0.0),  # rises at once
        (-1.0, 1.0, [], [], [], 1.0),  # no hinge
        (-1.0, 1.0, [2.0], [3.0], [0.0], 1.0),  # none that moves
        (-9.0, 1.0, [1.0], [-5.0], [1.0], 4.0),  # falls to the end
        (0.0, 1.0, [10.0], [1.0], [1.0], 1.0),  # stops in the corner of a hinge, at the margin 1
    ],
)
def test_known_steps(start, growth, weight, short, rise, step):
    found = smallest_among_corners(start, growth, np.array(weight), np.array(short), np.array(rise), 1e-9, 4.0)
    assert found == pytest.approx(step, abs=1e-8)


def test_corners_sharper_than_rounding_do_not_take_all_steps():
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 200)
    features = np.ascontiguousarray(np.stack([y * (1 + 0.1 * rng.random(200)), rng.standard_normal(200)], axis=1))
    problem = BinaryProblem(SmoothedHinge(1e-13), y, np.ones(200), 1e-3, np.zeros(200))
    found = solve_smooth_rows(Rows(features), problem)
    assert found.iterations < 60
    # the largest margin that one direction gives: margins of 1 at λ → 0
    assert np.min(y * found.values) == pytest.approx(1.0, abs=1e-6)
