"""The best margin with errors allowed: its bracket against brute force, and against planes that try to pass it."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from slimline.errors import DataError
from slimline.geometry import Points, best_error_allowed_margin, error_allowed_margin, margin
from slimline.geometry._allowance import _Search
from slimline.geometry._margin import SignedPoints
from tests.learning.real_sets import real_set
from tests.refusals import refuses


@pytest.fixture
def rng(global_random_seed):
    return np.random.default_rng(global_random_seed)


def signed(X, y, normalised):
    Z = np.where(np.asarray(y) == max(y), 1.0, -1.0)[:, None] * np.asarray(X, float)
    return Z / np.linalg.norm(Z, axis=1)[:, None] if normalised else Z


def directions(Z):
    """Return every direction that can be best: it has one value for the d points or fewer that hold it."""
    n, d = Z.shape
    for size in range(1, d + 1):
        for held in itertools.combinations(range(n), size):
            u = np.linalg.lstsq(Z[list(held)], np.ones(size), rcond=None)[0]
            if np.linalg.norm(u) > 1e-9:
                yield u / np.linalg.norm(u)


def by_force(Z, allowed):
    """Return the largest (k+1)-th smallest value, if it is positive; at least 0."""
    return max(0.0, *(np.sort(Z @ u)[allowed] for u in directions(Z)))


def cloud(kind, n, d, rng):
    """Return points and labels that may be hard for the search."""
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    if kind == "shifted":
        X += np.where(y == 1, 0.8, -0.8)[:, None] * np.eye(1, d)
    elif kind == "outliers":  # far on the wrong side
        X[:, 0] = np.where(y == 1, 1.0, -1.0) * np.abs(X[:, 0])
        X[:2] *= -20
    elif kind == "equal":  # the same points again, some with another label
        X = X[np.arange(n) // 3]
    elif kind == "opposite":
        X = np.repeat(X[: (n + 1) // 2], 2, axis=0)[:n] * np.where(rng.random(n) < 0.3, -1, 1)[:, None]
    elif kind == "one label but for a point":
        y = (np.arange(n) > 0).astype(int)
    elif kind == "lengths":
        X *= 10.0 ** rng.uniform(-3, 3, n)[:, None]
    return X, y


KINDS = ("any", "shifted", "outliers", "equal", "opposite", "one label but for a point", "lengths")


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_brute_force(kind, normalised, rng):
    for d, allowed, most in itertools.product([1, 2, 3], [0, 1, 2, 4], [0, 2, 5000]):
        n = 9
        X, y = cloud(kind, n, d, rng)
        Z = signed(X, y, normalised)
        exact, scale = by_force(Z, allowed), np.linalg.norm(Z, axis=1).max()
        found = best_error_allowed_margin(X, y, errors=allowed / n, normalised=normalised, max_nodes=most)
        assert found.lower <= exact + 1e-12 * scale and exact <= found.upper
        assert np.sort(Z @ found.separator)[allowed] >= found.lower - 1e-14 * scale
        assert np.linalg.norm(found.separator) == pytest.approx(1) and len(found.short) <= allowed
        if most == 5000:
            assert found.complete
            if exact > 1e-5 * scale:
                assert found.upper - found.lower <= 1e-6 * found.upper
            else:
                assert found.upper <= 2e-5 * scale


def test_without_errors_it_is_the_hard_margin(rng):
    X, y = cloud("shifted", 40, 60, rng)
    for normalised in (True, False):
        hard = margin(X, y, normalised=normalised)
        found = best_error_allowed_margin(X, y, errors=0.0, normalised=normalised)
        assert found.complete and found.short.size == 0
        assert found.lower <= hard.upper and hard.lower <= found.upper
        assert found.upper - found.lower < 1e-6 * hard.value


@pytest.mark.parametrize("gamma", [0.1, 0.4])
def test_how_far_a_point_may_fall_short(gamma):
    """One point is opposite to what the others share, and beside each of them it looks harmless: products of -γ."""
    others = 8
    Z = np.vstack([-np.eye(1, others + 1), np.column_stack([np.full(others, gamma), np.zeros((others, others))])])
    Z[np.arange(1, others + 1), np.arange(1, others + 1)] = np.sqrt(1 - gamma**2)
    search = _Search(SignedPoints(Points(Z), np.ones(others + 1), normalised=True, intercept=False), 1)
    search.relax()
    best = Z[1:].sum(axis=0) / np.linalg.norm(Z[1:].sum(axis=0))  # of the hard margin without the first point
    assert search.lower == pytest.approx((Z[1:] @ best).min())
    assert np.all(Z @ best >= -search._least())
    assert -(Z @ best)[0] == pytest.approx(search._least()[0])


@pytest.mark.slow
def test_no_plane_passes_the_upper_end(rng):
    """Look for better planes from the one that was found, and from any other; beside the plane that was used so far."""
    n, d = 60, 20
    for kind in ("any", "shifted", "outliers", "lengths"):
        X, y = cloud(kind, n, d, rng)
        for errors in (0.02, 0.1, 0.3):
            found = best_error_allowed_margin(X, y, errors=errors, max_nodes=50)
            allowed = int(errors * n + 1e-9)
            Z = signed(X, y, True)
            best, u = -1.0, found.separator
            for step in range(3000):
                other = u + rng.standard_normal(d) * (3.0 if step % 10 == 0 else 0.02)
                other /= np.linalg.norm(other)
                value = np.sort(Z @ other)[allowed]
                if value > best:
                    best, u = value, other
            assert best <= found.upper
            assert best <= 0 or best < 1.05 * found.lower  # what was found is nearly a local optimum
            before = error_allowed_margin(X, y, errors=errors)
            assert before.value <= found.upper and (before.value <= 0 or found.lower >= 0.99 * before.value)


@pytest.mark.slow
def test_more_nodes_narrow_the_bracket(rng):
    X, y = cloud("shifted", 40, 45, rng)  # more features than points: some plane separates them
    brackets = [best_error_allowed_margin(X, y, errors=0.05, max_nodes=most) for most in (0, 20, 400, 20_000)]
    for wide, narrow in itertools.pairwise(brackets):
        assert wide.lower <= narrow.lower + 1e-12 and narrow.upper <= wide.upper + 1e-12
    assert not brackets[0].complete and brackets[-1].complete
    assert brackets[-1].relative_gap < 1e-6 < brackets[0].relative_gap


def test_scale_order_and_storage_change_nothing(rng):
    X, y = cloud("shifted", 30, 35, rng)
    X = X.astype(np.float32)
    found = best_error_allowed_margin(X, y, errors=0.05, normalised=False)
    assert found.complete
    order = rng.permutation(30)
    for other, factor in (
        (best_error_allowed_margin(X[order], y[order], errors=0.05, normalised=False), 1.0),
        (best_error_allowed_margin(np.float32(1024) * X, y, errors=0.05, normalised=False), 1024.0),
        (best_error_allowed_margin(sp.csr_array(X), y, errors=0.05, normalised=False), 1.0),
        (best_error_allowed_margin(Points(X), 1 - y, errors=0.05, normalised=False), 1.0),
    ):
        assert other.complete == found.complete
        assert [other.lower, other.upper] == pytest.approx([factor * found.lower, factor * found.upper], rel=1e-6)


def test_what_is_refused():
    X = np.eye(4)
    with refuses("errors"):
        best_error_allowed_margin(X, [0, 1, 0, 1], errors=1.0)
    with refuses("max_nodes"):
        best_error_allowed_margin(X, [0, 1, 0, 1], max_nodes=-1)
    with pytest.raises(DataError):
        best_error_allowed_margin(X, [0, 1, 2, 1])
    with pytest.raises(DataError):  # a row without a direction
        best_error_allowed_margin(X * [0, 1, 1, 1], [0, 1, 0, 1])
    with pytest.raises(DataError):
        best_error_allowed_margin(np.ones((4001, 1)), np.arange(4001) % 2)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["arcene", "golub"])
def test_one_error_on_real_data_is_the_best_of_all_margins_without_a_point(name, data_dir):
    X, y = real_set(data_dir, name)
    found = best_error_allowed_margin(X, y, errors=1 / len(y))
    assert found.complete and found.relative_gap < 1e-6
    without = [margin(np.delete(X, i, axis=0), np.delete(y, i), normalised=True) for i in range(len(y))]
    best = int(np.argmax([one.lower for one in without]))
    assert found.lower <= without[best].upper and without[best].lower <= found.upper
    assert found.short.tolist() == [best] and found.lower > margin(X, y, normalised=True).upper
