"""The margins of several classes against Clarabel, brute force over unit vectors, and what must not change them."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline import open_matrix
from slimline.errors import DataError, NonFiniteError
from slimline.geometry import Points, margin, multiclass_margin
from slimline.geometry import _multiclass as multiclass
from tests.geometry.cones import crammer_singer, least_lead, relaxed_margin, unit_rows
from tests.geometry.several_classes import clusters, least_lead_of_angles, real_classes, residual, search_angles
from tests.refusals import refuses

seeds = st.integers(0, 2**32 - 1)


def attained(X, codes, found):
    """Return what the separators attain, and see that they have the norms that they are to have."""
    U = found.separators
    if found.normalised:
        assert np.linalg.norm(U, axis=1) == pytest.approx(np.ones(len(U)), abs=1e-12)
        return least_lead(unit_rows(X), codes, U / np.linalg.norm(U, axis=1)[:, None])
    assert np.linalg.norm(U) == pytest.approx(1.0, abs=1e-12)
    return least_lead(X, codes, U / np.linalg.norm(U))


def check(X, y, given=None, tol=1e-8, both_ends=None):
    """Compare both margins with Clarabel's; return the records and the larger relative error."""
    X = np.asarray(X, dtype=np.float64)
    names, codes = np.unique(y, return_inverse=True)
    given = X if given is None else given
    plain = multiclass_margin(given, y, normalised=False, tol=tol)
    exact = crammer_singer(X, codes, len(names))
    errors = [abs(plain.value / exact - 1.0), abs(plain.upper / exact - 1.0)]
    found = multiclass_margin(given, y)
    exact = relaxed_margin(X, codes, len(names))
    errors.append(abs(found.upper / exact - 1.0))
    assert max(errors) < 1e-6
    for record in (plain, found):
        assert record.separable and record.value == record.lower <= attained(X, codes, record) <= record.upper
        assert attained(X, codes, record) == pytest.approx(record.lower, rel=1e-9)
        assert residual(X, codes, record) == pytest.approx(record.upper, rel=1e-9)
        assert record.classes == tuple(names.tolist())
    assert plain.relative_gap <= tol
    if X.shape[0] < X.shape[1] if both_ends is None else both_ends:
        assert found.relative_gap <= 1e-6
    return plain, found, max(errors)


@pytest.mark.parametrize(
    "n,d,n_classes",
    [(3, 3, 3), (6, 6, 6), (9, 4, 3), (12, 3, 3), (40, 10, 3), (30, 50, 4), (60, 200, 5), (7, 8, 7), (20, 21, 2)],
)
def test_both_margins_against_clarabel(n, d, n_classes, global_random_seed):
    check(*clusters(n, d, n_classes, global_random_seed))


@pytest.mark.parametrize("name,rows", [("orlraws10P", 60), ("pixraw10P", 60), ("digits", 50), ("newsgroups", 48)])
@pytest.mark.data
def test_real_sets_against_clarabel(data_dir, name, rows, record_property):
    X, y = real_classes(data_dir, name, rows)
    _, _, error = check(X.toarray() if sp.issparse(X) else X, y, X, both_ends=True)
    record_property("worst relative error", error)


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 6), st.integers(1, 40))
def test_two_classes_are_twice_and_root_two_times_the_margin(seed, d, n):
    X, y = clusters(n + 2, d, 2, seed)
    for normalised, factor in ((True, 2.0), (False, math.sqrt(2.0))):
        found = multiclass_margin(X, y, normalised=normalised)
        binary = margin(X, y, normalised=normalised)
        assert found.separable == binary.separable
        if binary.separable:
            assert found.value == pytest.approx(factor * binary.value, rel=2e-6)
            assert found.lower <= factor * binary.upper and factor * binary.lower <= found.upper
        else:
            assert found.upper < 1e-6 * np.linalg.norm(X, axis=1).max()


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(3, 4))
def test_in_the_plane_the_bracket_holds_the_best_of_all_angles(seed, n_classes):
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.uniform(0.0, 2.0 * np.pi, n_classes))
    widths = np.diff(np.append(ends, ends[0] + 2.0 * np.pi))
    codes = np.arange(2 * n_classes) % n_classes
    angles = ends[codes] + widths[codes] * rng.uniform(0.1, 0.9, len(codes))
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * rng.uniform(0.1, 10.0, (len(codes), 1))
    found = multiclass_margin(X, codes)
    best, step = search_angles(angles, codes, n_classes)
    # a lead changes by no more than two of the angles do, and each is within half a step of the grid
    assert found.lower - step <= max(best, 0.0) <= found.upper + 1e-12
    if found.separable:
        own = np.arctan2(found.separators[:, 1], found.separators[:, 0])
        assert least_lead_of_angles(own, angles, codes) == pytest.approx(found.lower, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(3, 5), st.integers(2, 5), st.integers(0, 12))
def test_no_unit_vectors_do_better_than_the_upper_end(seed, n_classes, d, more):
    X, y = clusters(n_classes + more, d, n_classes, seed)
    found = multiclass_margin(X, y)
    rng, V = np.random.default_rng(seed), unit_rows(X)
    start = found.separators if found.separable else rng.standard_normal((n_classes, d))
    best = unit_rows(start)
    value = least_lead(V, y, best)
    step = 1.0
    for _ in range(400):
        tried = unit_rows(best + step * rng.standard_normal(best.shape))
        lead = least_lead(V, y, tried)
        best, value, step = (tried, lead, 1.5 * step) if lead > value else (best, value, max(0.9 * step, 1e-6))
    assert value <= found.upper + 1e-12
    if d > len(y):
        assert value <= found.lower + 1e-6


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(2, 4), st.booleans())
def test_what_must_not_change_it(seed, n_classes, normalised):
    X, y = clusters(4 * n_classes, 20, n_classes, seed)
    rng = np.random.default_rng(seed)
    expected = multiclass_margin(X, y, normalised=normalised)
    order = rng.permutation(len(y))
    names = rng.permutation(n_classes)
    turn = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    changed = [
        (X @ turn, y, 1.0),
        (X[order], y[order], 1.0),
        (X, names[y], 1.0),
        (np.concatenate([X, X[:5]]), np.concatenate([y, y[:5]]), 1.0),
        (1e3 * X, y, 1.0 if normalised else 1e3),
        (X * rng.uniform(1.0, 9.0, (len(y), 1)), y, 1.0) if normalised else (-X, y, 1.0),
        (np.column_stack([X, np.zeros((len(y), 3))]), y, 1.0),
    ]
    for other, labels, factor in changed:
        found = multiclass_margin(other, labels, normalised=normalised)
        assert found.upper == pytest.approx(factor * expected.upper, rel=1.1e-6)
        assert found.lower == pytest.approx(factor * expected.lower, rel=1.1e-6)
    renamed = multiclass_margin(X, names[y], normalised=normalised).separators[names]
    assert least_lead(unit_rows(X) if normalised else X, y, renamed) == pytest.approx(expected.lower, rel=1.1e-6)


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("n,d", [(8, 30), (30, 5)])
def test_contradictory_duplicates_are_proved_not_to_be_separable(n, d, normalised):
    X, y = clusters(n, d, 3, 0)
    X, y = np.concatenate([X, X[:1]]), np.append(y, (y[0] + 1) % 3)
    found = multiclass_margin(X, y, normalised=normalised)
    assert found.separable is False and found.value == found.lower == 0.0
    size = 1.0 if normalised else float(np.linalg.norm(X, axis=1).max())
    assert residual(X, y, found) <= found.upper <= 1e-7 * math.sqrt(2.0) * size
    assert found.multipliers.sum() == pytest.approx(1.0, abs=1e-12) and (found.multipliers > 0.0).all()
    assert (found.rivals != y[found.support]).all()


def test_more_classes_than_a_line_can_tell_apart():
    found = multiclass_margin(np.array([[1.0], [-1.0], [2.0]]), ["a", "b", "c"])
    assert found.separable is False and found.upper < 1e-7 and found.classes == ("a", "b", "c")


@pytest.mark.parametrize("size", [1e-130, 1e-3, 1.0, 1e150])
def test_two_points_on_a_line(size):
    X = np.array([[size], [-3.0 * size]])
    assert multiclass_margin(X, [0, 1]).value == pytest.approx(2.0, rel=1e-12)
    assert multiclass_margin(X, [0, 1], normalised=False).value == pytest.approx(math.sqrt(2.0) * size, rel=1e-12)


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("size", [2.0**-460, 2.0**500])
def test_far_scales(size, normalised):
    """Weights of the classes below 1 must not make large products larger."""
    X = np.array([[3.0, 1.0, 0.0], [4.0, -2.0, 1.0], [-1.0, 2.0, -3.0], [-2.0, 3.0, -2.0], [5.0, 3.0, 2.0]])
    usual = multiclass_margin(X, [0, 1, 2, 2, 0], normalised=normalised)
    found = multiclass_margin(size * X, [0, 1, 2, 2, 0], normalised=normalised)
    assert usual.separable
    for end, here in ((found.lower, usual.lower), (found.upper, usual.upper)):
        assert end / (1.0 if normalised else size) == pytest.approx(here, rel=1e-9)


def test_squares_that_vanish_prove_nothing():
    with pytest.raises(DataError):
        multiclass_margin(1e-170 * np.eye(3), [0, 1, 2], normalised=False)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 60])
def test_points_at_right_angles(n_classes):
    """By symmetry u_y is x_y - Σ x/L, scaled to norm 1: every lead is √(L/(L - 1))."""
    found = multiclass_margin(np.eye(n_classes), np.arange(n_classes))
    exact = math.sqrt(n_classes / (n_classes - 1.0))
    assert found.lower <= exact <= found.upper and found.value == pytest.approx(exact, rel=1e-6)
    # W = a(I - 11ᵀ/L) has ‖W‖² = a²(L - 1), and every lead is a
    plain = multiclass_margin(np.eye(n_classes), np.arange(n_classes), normalised=False)
    assert plain.value == pytest.approx(1.0 / math.sqrt(n_classes - 1.0), rel=1e-6)


def test_a_class_of_one_point():
    X, y = clusters(25, 30, 3, 1)
    y = np.where(np.arange(25) == 7, 5, y % 2)
    check(X, y)


def test_a_class_between_two_others_is_bracketed():
    """The relaxed vector of the class in the middle has norm √2 - 1 only, and needs none of its points for a proof."""
    angles = np.radians([-45.0, 0.0, 45.0])
    found = multiclass_margin(np.column_stack([np.cos(angles), np.sin(angles)]), [0, 1, 2])
    assert found.upper == pytest.approx(math.sqrt(2.0) - 1.0, rel=1e-6)
    assert found.separable and found.value == pytest.approx(1.0 - math.sqrt(0.5), rel=1e-3)  # u_y = x_y


@pytest.mark.parametrize("seed", range(6))
def test_where_the_relaxation_is_not_attained_the_search_over_unit_vectors_finds_the_best(seed):
    """The same classes on arcs, so narrow that the vectors of some have to be shorter than 1 in the relaxation."""
    rng = np.random.default_rng(seed)
    codes = np.arange(9) % 3
    angles = (0.6 * codes + rng.uniform(0.0, 0.3, 9)) % (2.0 * np.pi)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    found = multiclass_margin(X, codes)
    best, _ = search_angles(angles, codes, 3)
    assert found.separable and found.upper > 1.01 * best and found.lower > 0.99 * best


@pytest.mark.parametrize("kind", ["csr", "csc", "float32", "int8", "columns", "memory map", "path", "view", "points"])
def test_every_storage(kind, tmp_path):
    X, y = clusters(24, 30, 3, 2)
    X = np.round(20.0 * X).clip(-100, 100).astype(np.int8)
    np.save(tmp_path / "x.npy", X)
    given = {
        "csr": lambda: sp.csr_array(X.astype(float)),
        "csc": lambda: sp.csc_array(X),
        "float32": lambda: X.astype(np.float32),
        "int8": lambda: X,
        "columns": lambda: np.asfortranarray(X, dtype=float),
        "memory map": lambda: np.load(tmp_path / "x.npy", mmap_mode="r"),
        "path": lambda: tmp_path / "x.npy",
        "view": lambda: open_matrix(np.concatenate([X, X])[::-1]).rows(np.arange(23, -1, -1)),
        "points": lambda: Points(X),
    }[kind]()
    check(X, y, given)


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("few,first,most", [(0, 5, 12_000), (0, 20, 60), (10, 3, 200)])
def test_working_sets_prove_the_same(few, first, most, normalised, monkeypatch):
    X, y = clusters(150, 12, 4, 3)
    whole = multiclass_margin(X, y, normalised=normalised)
    monkeypatch.setattr(multiclass, "_FEW_PAIRS", few)
    monkeypatch.setattr(multiclass, "FIRST", first)
    monkeypatch.setattr(multiclass, "_MOST_PAIRS", most)
    found = multiclass_margin(X, y, normalised=normalised)
    assert found.lower <= whole.upper and whole.lower <= found.upper
    assert found.upper == pytest.approx(whole.upper, rel=1e-5)
    assert attained(X, y, found) >= found.lower > 0.0
    assert residual(X, y, found) <= found.upper
    assert "of 450 pairs" in found.reached and "all 450" not in found.reached


def test_a_working_set_that_is_too_small_still_proves_a_bracket(monkeypatch):
    X, y = clusters(60, 40, 4, 4)
    whole = multiclass_margin(X, y, normalised=False)
    monkeypatch.setattr(multiclass, "_FEW_PAIRS", 0)
    monkeypatch.setattr(multiclass, "FIRST", 4)
    monkeypatch.setattr(multiclass, "_MOST_PAIRS", 8)  # the proof needs more
    assert len(whole.support) > 8
    found = multiclass_margin(X, y, normalised=False)
    assert found.lower <= whole.upper and whole.lower <= found.upper


def test_without_the_whole_gram_matrix(monkeypatch):
    X, y = clusters(150, 12, 4, 3)
    whole = multiclass_margin(X, y)
    monkeypatch.setattr(Points, "at_once", False)
    found = multiclass_margin(X, y)
    assert found.upper == pytest.approx(whole.upper, rel=2e-6) and found.lower == pytest.approx(whole.lower, rel=1e-4)


def test_bad_input_is_refused():
    with pytest.raises(DataError):
        multiclass_margin(np.eye(3), [1, 1, 1])
    with refuses("y"):
        multiclass_margin(np.eye(3), [1, 2])
    with pytest.raises(DataError, match=r"rows 1, 3 of .* no angle"):
        multiclass_margin(np.diag([1.0, 0.0, 1.0, 0.0]), [0, 1, 2, 2])
    with pytest.raises(NonFiniteError, match="row 1, column 1"):
        multiclass_margin(np.diag([1.0, np.nan, 1.0]), [0, 1, 2])
    with pytest.raises(DataError):
        multiclass_margin(np.eye(3), [0.0, 1.0, np.nan])
    with refuses("y"):
        multiclass_margin(np.eye(3), [0.5, 1.0, 2.0])
    with pytest.raises(DataError):
        multiclass_margin(np.zeros((0, 3)), [])
    for tol in (0.0, -1.0, 0.6, np.nan, "a", True):
        with refuses("tol"):
            multiclass_margin(np.eye(3), [0, 1, 2], tol=tol)


def test_a_zero_row_has_no_lead():
    found = multiclass_margin(np.diag([1.0, 0.0, 1.0]), [0, 1, 2], normalised=False)
    assert found.separable is False and 1 in found.support
    assert multiclass_margin(np.zeros((3, 2)), [0, 1, 2], normalised=False).separable is False
