"""Descent by pairs against its NumPy twin: the same steps in the same order, to the last bit."""

import signal

import numpy as np
import pytest

from slimline._kernels import _native
from tests.reference import simplex as reference


def problem(n, groups, seed, rank=None, spread=0):
    """Return Q in a view of longer rows, the groups, weights of which some are 0, and the gradient."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, rank or n + 3))
    memory = np.full((n, n + spread), np.nan)
    memory[:, :n] = points @ points.T
    group = (np.arange(n) % groups).astype(np.uint8)
    rng.shuffle(group)
    a = rng.uniform(0.1, 1.0, n) * (rng.random(n) < 0.6)
    c = rng.standard_normal(n)
    for s in range(groups):
        members = np.flatnonzero(group == s)
        a[members[0]] += 1e-3
        a[members] /= a[members].sum()
    return memory[:, :n], group, a, memory[:, :n] @ a - c


def both(q, group, a, gradient, max_steps, tolerance):
    results = []
    for run in (_native.descend_simplex, reference.descend_simplex):
        weights, slopes = a.copy(), gradient.copy()
        results.append((weights, slopes, *run(q, group, weights, slopes, max_steps, tolerance)))
    return results


def assert_same(mine, twin):
    np.testing.assert_array_equal(mine[0], twin[0])
    np.testing.assert_array_equal(mine[1], twin[1])
    assert mine[2:] == twin[2:]


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_every_size_takes_the_steps_of_the_twin(groups):
    for n in range(groups, 71):
        mine, twin = both(*problem(n, groups, n, spread=n % 4), 40, 1e-9)
        assert_same(mine, twin)


@pytest.mark.parametrize("n, rank", [(96, 5), (131, 200), (300, 20)])
@pytest.mark.parametrize("max_steps, tolerance", [(0, 0.0), (1, 0.0), (3000, 1e-6), (3000, 0.0)])
def test_long_descents(n, rank, max_steps, tolerance):
    mine, twin = both(*problem(n, 2, n, rank), max_steps, tolerance)
    assert_same(mine, twin)
    assert mine[2] <= max_steps
    assert mine[2] == max_steps or mine[3] <= tolerance or tolerance == 0.0


@pytest.mark.parametrize("scale", [1e-150, 1e-12, 1e12, 1e150])
def test_far_scales(scale):
    """Squares of slopes under- and overflow: the steps are still those of the twin, and weights stay weights."""
    q, group, a, gradient = problem(70, 2, 5)
    mine, twin = both(q * scale, group, a, gradient * scale, 500, 0.0)
    assert_same(mine, twin)
    assert mine[0].min() >= 0.0
    np.testing.assert_allclose(np.bincount(group, mine[0]), 1.0, rtol=1e-13)


def test_flat_matrices_move_everything_to_the_corner():
    """Without curvature the problem is linear: each group ends at its smallest gradient."""
    group = np.array([0, 0, 1, 1, 1], dtype=np.uint8)
    gradient = np.array([1.0, 2.0, 3.0, 1.0, 2.0])
    a = np.array([0.5, 0.5, 0.4, 0.3, 0.3])
    steps, violation = _native.descend_simplex(np.zeros((5, 5)), group, a, gradient.copy(), 100, 0.0)
    np.testing.assert_allclose(a, [1.0, 0.0, 0.0, 1.0, 0.0], rtol=1e-15)
    assert (steps, violation) == (3, 0.0)


def test_ties_and_duplicates():
    points = np.repeat(np.random.default_rng(1).integers(-3, 4, (12, 4)).astype(float), 4, axis=0)
    q, group = points @ points.T, (np.arange(48) % 2).astype(np.uint8)
    a = np.full(48, 1 / 24)
    assert_same(*both(q, group, a, q @ a, 400, 1e-12))


def test_every_step_lowers_the_objective_and_keeps_the_sums():
    q, group, a, gradient = problem(50, 3, 8, rank=10)
    c = q @ a - gradient
    before = 0.5 * a @ q @ a - c @ a
    for _ in range(60):
        done, _ = _native.descend_simplex(q, group, a, gradient, 1, 0.0)
        after = 0.5 * a @ q @ a - c @ a
        assert after <= before + 1e-14 * abs(before)
        assert a.min() >= 0.0
        before = after
        if not done:
            break
    np.testing.assert_allclose(np.bincount(group, a), 1.0, rtol=1e-14)
    np.testing.assert_allclose(gradient, q @ a - c, atol=1e-12 * np.abs(q).max())


def test_a_group_without_weight_or_without_members_stays_as_it_is():
    q, group, a, gradient = problem(40, 3, 9)
    a[group == 1] = 0.0
    mine, twin = both(q, group, a, gradient, 200, 1e-10)
    assert_same(mine, twin)
    assert not mine[0][group == 1].any()
    group[group == 1] = 7
    assert_same(*both(q, group, a, gradient, 200, 1e-10))


@pytest.mark.parametrize(
    "change",
    [
        {"q": np.eye(3, dtype=np.float32)},
        {"q": np.eye(3, dtype=np.int64)},
        {"q": np.asfortranarray(np.arange(9.0).reshape(3, 3))},
        {"q": np.zeros((6, 6))[::2, ::2]},
        {"q": np.eye(4)},
        {"q": np.zeros((3, 2))},
        {"q": np.ones(3)},
        {"q": np.zeros((0, 0)), "group": np.zeros(0, np.uint8), "a": np.zeros(0), "gradient": np.zeros(0)},
        {"group": np.zeros(2, dtype=np.uint8)},
        {"group": np.zeros(3, dtype=np.int64)},
        {"group": np.zeros(6, dtype=np.uint8)[::2]},
        {"a": np.ones(2)},
        {"a": np.ones(3, dtype=np.float32)},
        {"a": np.ones(6)[::2]},
        {"a": np.array([0.5, -1e-300, 0.5])},
        {"a": np.array([0.5, np.nan, 0.5])},
        {"a": np.array([0.5, np.inf, 0.5])},
        {"gradient": np.ones(4)},
        {"gradient": np.array([0.0, np.nan, 0.0])},
        {"gradient": np.array([0.0, -np.inf, 0.0])},
        {"tolerance": -1.0},
        {"tolerance": np.nan},
        {"max_steps": -1},
    ],
)
def test_wrong_arguments_are_refused(change):
    right = {"q": np.eye(3), "group": np.zeros(3, dtype=np.uint8), "a": np.array([0.0, 0.5, 0.5])}
    right |= {"gradient": np.array([0.0, 0.5, 0.5]), "max_steps": 5, "tolerance": 0.1}
    _native.descend_simplex(**{name: getattr(part, "copy", lambda p=part: p)() for name, part in right.items()})
    with pytest.raises((ValueError, TypeError)):
        _native.descend_simplex(**(right | change))


@pytest.mark.parametrize("name", ["a", "gradient"])
def test_read_only_weights_are_refused(name):
    parts = {"a": np.array([0.5, 0.5]), "gradient": np.array([0.0, 1.0])}
    parts[name].flags.writeable = False
    with pytest.raises((ValueError, TypeError)):
        _native.descend_simplex(np.eye(2), np.zeros(2, dtype=np.uint8), **parts, max_steps=5, tolerance=0.1)


def test_a_matrix_that_may_not_be_written_is_left_alone():
    q, group, a, gradient = problem(20, 1, 3)
    q = q.copy()
    q.flags.writeable = False
    before = q.copy()
    assert _native.descend_simplex(q, group, a, gradient, 50, 0.0)[0] > 0
    np.testing.assert_array_equal(q, before)


def test_a_matrix_that_is_not_finite_ends():
    """The result is of no use, but the solver returns, and weights never turn negative."""
    for value in (np.nan, np.inf, -np.inf):
        q, group, a, gradient = problem(40, 2, 4)
        q[3, :] = q[:, 3] = value
        steps, _ = _native.descend_simplex(q, group, a, gradient, 1000, 0.0)
        assert steps <= 1000


def test_a_long_descent_can_be_interrupted():
    """The exception of an alarm comes through, early in a descent of many seconds: the centre of a ball, ill-scaled."""

    def ring(number, frame):
        raise TimeoutError

    n = 2000
    points = np.random.default_rng(0).standard_normal((n, 1500)) * np.geomspace(1, 1e-2, 1500)
    points /= np.linalg.norm(points, axis=1)[:, None]
    q = points @ points.T
    a = np.full(n, 1.0 / n)
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError):
            _native.descend_simplex(q, np.zeros(n, dtype=np.uint8), a, q @ a, 10**12, 0.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert a.min() >= 0.0
