"""The margin with errors allowed against its definition, in rational arithmetic."""

from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline import open_matrix
from slimline.errors import DataError, InvalidParameterError, NonFiniteError
from slimline.geometry import Points, error_allowed_margin, margin
from tests.learning.real_sets import real_set
from tests.refusals import refuses


def root(fraction):
    """Return a square root to 60 digits."""
    getcontext().prec = 60
    return (Decimal(fraction.numerator) / Decimal(fraction.denominator)).sqrt()


def by_definition(X, y, u, errors, normalised, intercept=0):
    """Return the largest γ such that at least (1 - ρ)m points have a margin of γ or more, for whole numbers."""
    last = max(y)
    length = root(Fraction(sum(int(c) ** 2 for c in u)))
    values = []
    for x, label in zip(X.tolist(), y, strict=True):
        product = Decimal(sum(int(a) * int(b) for a, b in zip(x, u, strict=True)))
        if normalised:
            product /= root(Fraction(sum(int(a) ** 2 for a in x)))
        values.append((1 if label == last else -1) * (product + Decimal(intercept)) / length)
    wanted = (1 - Fraction(errors)) * len(values)
    return max(gamma for gamma in values if sum(v >= gamma for v in values) >= wanted), values


def check(X, y, u, errors, normalised, intercept=0, given=None):
    """Compare with the definition, look at bracket, short points and boundary, and return the record."""
    found = error_allowed_margin(
        X if given is None else given, y, u, errors=float(Fraction(errors)), normalised=normalised, intercept=intercept
    )
    exact, values = by_definition(X, y, u, errors, normalised, intercept)
    assert Decimal(found.lower) <= exact <= Decimal(found.upper)
    scale = 1.0 if normalised else float(np.linalg.norm(X, axis=1).max())
    assert found.upper - found.lower < 1e-12 * (scale + abs(intercept))
    assert found.lower <= found.value <= found.upper
    assert float(values[found.boundary]) == pytest.approx(found.value, abs=1e-13 * (scale + abs(intercept)))
    assert len(found.short) <= Fraction(errors) * len(y)
    # points that are level with the boundary may be rounded to either side of it
    level = Decimal(1e-13 * (scale + abs(intercept)))
    short = set(found.short.tolist())
    assert {i for i, v in enumerate(values) if v < exact - level} <= short
    assert short <= {i for i, v in enumerate(values) if v < exact + level}
    return found


whole_data = st.tuples(st.integers(2, 9), st.integers(1, 4)).flatmap(
    lambda size: st.tuples(
        st.lists(
            st.lists(st.integers(-9, 9), min_size=size[1], max_size=size[1]).filter(any),
            min_size=size[0],
            max_size=size[0],
        ),
        st.lists(st.integers(-9, 9), min_size=size[1], max_size=size[1]).filter(any),
        st.lists(st.integers(0, 1), min_size=size[0], max_size=size[0]).filter(lambda y: len(set(y)) == 2),
    )
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(whole_data, st.integers(0, 99), st.booleans(), st.integers(-5, 5))
def test_equals_the_definition_on_whole_numbers(data, percent, normalised, intercept):
    X, u, y = data
    check(np.array(X, dtype=np.int64), y, u, f"{percent}/100", normalised, intercept)


@pytest.mark.parametrize("m", [3, 7, 10, 49, 100])
def test_a_share_that_is_a_number_of_points_allows_that_many(m):
    """k/m as a float may be just below: 0.29 · 100 < 29."""
    X = np.arange(1.0, m + 1.0)[:, None]
    y = [1] * (m - 1) + [0]
    for k in range(m):
        found = error_allowed_margin(X, y, [1.0], errors=k / m, normalised=False)
        assert found.value == (-m if k == 0 else k)
        assert len(found.short) == k


@pytest.mark.parametrize("errors", [1.0 - 1e-13, np.nextafter(1.0, 0.0), 0.999])
def test_a_share_near_one_leaves_the_best_point(errors):
    found = error_allowed_margin(np.array([[3.0], [5.0], [-4.0]]), [1, 1, 0], [1.0], errors=errors, normalised=False)
    assert found.value == 5.0 and found.short.tolist() == [0, 2] and found.boundary == 1


def test_ties_are_not_short():
    X = np.array([[1.0, 5.0], [1.0, -5.0], [1.0, 0.0], [2.0, 0.0], [-1.0, 7.0]])
    found = error_allowed_margin(X, [1, 1, 1, 1, 0], [1.0, 0.0], errors=0.6, normalised=False)
    assert found.value == 1.0 and found.short.size == 0
    found = error_allowed_margin(X, [1, 1, 1, 1, 0], [1.0, 0.0], errors=0.8, normalised=False)
    assert found.value == 2.0 and found.short.tolist() == [0, 1, 2, 4]


def test_more_wrong_points_than_the_share_are_a_negative_margin():
    X = np.array([[1, 0], [2, 0], [3, 0], [4, 0]])
    found = check(X, [1, 0, 0, 0], [2, 0], "1/2", False)
    assert found.value == -2.0 and found.short.tolist() == [2, 3]


@pytest.mark.parametrize("length", [5e-324, 1e-300, 1e-30, 1.0, 1e30, 1e300])
@pytest.mark.parametrize("normalised", [False, True])
def test_the_length_of_the_separator_does_not_matter(length, normalised):
    X = np.random.default_rng(0).standard_normal((20, 4))
    y = np.arange(20) % 2
    u = np.array([1.0, -2.0, 0.0, 1.0]) if length > 5e-324 else np.array([1.0, -2.0, 0.0, 4.0])
    expected = error_allowed_margin(X, y, u, errors=0.1, normalised=normalised)
    found = error_allowed_margin(X, y, u * length, errors=0.1, normalised=normalised)
    assert found.value == pytest.approx(expected.value, rel=1e-14)
    assert found.boundary == expected.boundary


def test_the_intercept_is_scaled_with_the_separator():
    X, y = np.random.default_rng(1).standard_normal((20, 4)), np.arange(20) % 2
    one = error_allowed_margin(X, y, [1.0, 1.0, 0.0, 0.0], intercept=0.25, normalised=False)
    other = error_allowed_margin(X, y, [8.0, 8.0, 0.0, 0.0], intercept=2.0, normalised=False)
    assert one.value == pytest.approx(other.value, rel=1e-14)


def test_an_intercept_that_cancels_is_within_the_bracket():
    """Products near 10⁹ and an intercept that takes all but their last digits."""
    rng = np.random.default_rng(2)
    X = 10**7 + rng.integers(-3, 4, (30, 50))
    check(X, (np.arange(30) % 2).tolist(), [3] * 50, "1/10", False, -150 * 10**7)
    check(X, (np.arange(30) % 2).tolist(), [3] * 50, "1/10", True, -int(3 * np.sqrt(50)))


@pytest.mark.parametrize("normalised", [False, True])
def test_without_errors_it_is_the_hard_margin_of_the_best_plane(normalised):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 60)) * rng.uniform(0.1, 10.0, (30, 1))
    y = np.arange(30) % 2
    hard = margin(X, y, normalised=normalised)
    for separator in (None, hard.separator):
        found = error_allowed_margin(X, y, separator, errors=0.0, normalised=normalised)
        assert found.value == pytest.approx(hard.value, rel=1e-8)
        assert hard.lower <= found.upper and found.lower <= hard.upper
        assert found.short.size == 0
    assert "hard-margin" in error_allowed_margin(X, y, normalised=normalised).reached
    assert "given plane" in found.reached
    # more errors, more margin
    several = [error_allowed_margin(X, y, errors=share, normalised=normalised).value for share in (0.0, 0.3, 0.6, 0.9)]
    assert several == sorted(several)


def test_where_nothing_separates_the_plane_is_that_of_the_soft_margin():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 3)) + 2.0 * np.where(np.arange(60) % 2, 1.0, -1.0)[:, None]
    y = np.arange(60) % 2
    X[:2], y[:2] = X[2], [0, 1]  # the same point under both labels
    hard = margin(X, y, normalised=True)
    assert hard.separable is False
    found = error_allowed_margin(X, y, errors=0.2)
    assert "soft-margin" in found.reached and found.value > 0.0
    assert error_allowed_margin(X, y, hard.separator, errors=0.2).value == found.value
    assert error_allowed_margin(X, y, errors=0.0).value < 0.0


@pytest.mark.parametrize("kind", ["csr", "float32", "int8", "memory map", "view", "points", "path"])
def test_every_storage(kind, tmp_path):
    rng = np.random.default_rng(5)
    X = rng.integers(-4, 5, (20, 15)).astype(np.int8)
    X[:, 0] = 5
    y = (np.arange(20) % 2).tolist()
    np.save(tmp_path / "x.npy", X)
    given = {
        "csr": lambda: sp.csr_array(X),
        "float32": lambda: X.astype(np.float32),
        "int8": lambda: X,
        "memory map": lambda: np.load(tmp_path / "x.npy", mmap_mode="r"),
        "view": lambda: open_matrix(np.concatenate([X, X])[::-1]).rows(np.arange(19, -1, -1)),
        "points": lambda: Points(X),
        "path": lambda: tmp_path / "x.npy",
    }[kind]()
    for normalised in (False, True):
        check(X, y, list(range(15)), "3/20", normalised, 1, given)


@pytest.mark.parametrize("errors", [-0.1, 1.0, 1, 2.0, np.nan, np.inf, "0.1", None, True, False, 0.1j, [0.1]])
def test_a_share_that_is_none_is_refused(errors):
    with refuses("errors"):
        error_allowed_margin(np.eye(2), [0, 1], [1.0, 0.0], errors=errors)


@pytest.mark.parametrize(
    "separator", [[0.0, 0.0], [1.0], [1.0, 0.0, 0.0], [[1.0, 0.0]], [np.nan, 1.0], [np.inf, 1.0], 1.0, ["a", "b"], []]
)
def test_a_separator_that_is_none_is_refused(separator):
    with refuses("separator"):
        error_allowed_margin(np.eye(2), [0, 1], separator)


def test_bad_input_is_refused():
    with refuses("intercept"):
        error_allowed_margin(np.eye(2), [0, 1], [1.0, 0.0], intercept=np.inf)
    with pytest.raises(InvalidParameterError):
        error_allowed_margin(np.eye(2), [0, 1], [1e-310, 0.0], intercept=1.0)
    with pytest.raises(DataError):
        error_allowed_margin(np.eye(3), [0, 1, 2], [1.0, 0.0, 0.0])
    with pytest.raises(DataError):
        error_allowed_margin(np.eye(3), [1, 1, 1], [1.0, 0.0, 0.0])
    with pytest.raises(DataError, match="row 1 of"):
        error_allowed_margin(np.diag([1.0, 0.0, 1.0]), [0, 1, 1], [1.0, 0.0, 0.0])
    with pytest.raises(NonFiniteError, match="row 1, column 1"):
        error_allowed_margin(np.diag([1.0, np.nan]), [0, 1], [1.0, 0.0])
    zero = error_allowed_margin(np.diag([1.0, 0.0, 1.0]), [1, 1, 0], [1.0, 0.0, 0.0], errors=0.0, normalised=False)
    assert zero.value == 0.0


@pytest.mark.data
@pytest.mark.parametrize("name", ["golub", "arcene", "newsgroups"])
def test_real_sets_against_a_sort(data_dir, name):
    X, y = real_set(data_dir, name)
    dense = (X.toarray() if sp.issparse(X) else np.asarray(X)).astype(np.float64)
    norms = np.linalg.norm(dense, axis=1)
    X, y, dense = X[norms > 0], y[norms > 0], dense[norms > 0] / norms[norms > 0, None]
    u = dense[y > 0].mean(axis=0) - dense[y < 0].mean(axis=0)
    values = np.sort(y * (dense @ (u / np.linalg.norm(u))))
    for errors in (0.0, 0.05, 0.25):
        found = error_allowed_margin(X, y, u, errors=errors)
        expected = values[int(errors * len(y) + 1e-9)]
        assert found.value == pytest.approx(expected, abs=1e-14)
        assert found.lower <= expected <= found.upper
