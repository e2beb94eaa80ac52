"""Margins against exact faces, Clarabel and LIBSVM; brackets that hold, and proofs that can be checked."""

import sys

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.svm import LinearSVC

from slimline.errors import DataError, NonFiniteError
from slimline.geometry import Points, margin, multiclass_margin
from slimline.geometry import _convex as convex
from slimline.geometry import _points as points
from tests.geometry.checks import MARGINS, assert_proof, assert_witness, separable_data
from tests.geometry.exact import clarabel_margin, exact_margin
from tests.refusals import refuses

#: The module: its name in the package is that of the function.
margin_module = sys.modules["slimline.geometry._margin"]


def assert_bracket(X, y, found):
    """The exact margin, of rational numbers or 60 digits, lies between the ends."""
    exact = exact_margin(X, y, found.with_intercept, found.normalised)
    with mpmath.workdps(60):
        assert exact <= found.upper
        assert found.separable is False or found.lower <= exact
    size = 1.0 if found.normalised else float(np.linalg.norm(X, axis=1).max())
    assert found.separable is not True or exact > 0
    assert found.separable is not False or float(exact) <= 1e-7 * size
    return float(exact), size


@st.composite
def small_data(draw):
    n, d = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (n, d), elements=st.integers(-5, 5).map(float)))
    y = np.where(draw(arrays(np.bool_, n)), 1.0, -1.0)
    y[0] = -y[1]
    kind = draw(st.sampled_from(["plain", "columns", "rows", "far", "repeated"]))
    powers = st.integers(-20, 20)
    if kind == "columns":
        X *= 2.0 ** draw(arrays(np.int64, (1, d), elements=powers))
    if kind == "rows":
        X *= 2.0 ** draw(arrays(np.int64, (n, 1), elements=powers))
    if kind == "far":
        X += draw(st.sampled_from([1e3, 1e6, 1e8]))
    if kind == "repeated":
        X[-1] = X[0]
    return X, y


@pytest.mark.parametrize("normalised, intercept", MARGINS)
@given(data=small_data())
@example(data=(np.array([[0.0], [0.0], [0.0], [0.0], [3.0], [1.0]]), np.array([1.0, -1.0, -1.0, -1.0, -1.0, -1.0])))
@example(
    data=(np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 4096.0], [1.0, 0.0], [0.0, -1.0]]), np.array([1.0, -1, -1, -1, -1]))
)
@settings(max_examples=40, deadline=None)
def test_brackets_hold_the_exact_margin(normalised, intercept, data):
    X, y = data
    assume(not normalised or np.linalg.norm(X, axis=1).min() > 0.0)
    found = margin(X, y, normalised=normalised, intercept=intercept)
    exact, size = assert_bracket(X, y, found)
    # what float64 sums of such points can tell
    limit = 1e-8 + 2e-14 * (size / exact) ** 2 if exact else 1.0
    assert not found.separable or found.relative_gap <= limit
    if found.separable is None:  # below what sums with the largest point can tell, and the others are far smaller
        assert found.lower == 0.0 and found.upper <= 1e-10 * size
        assert np.median(np.linalg.norm(X, axis=1)) < 1e-3 * size
        return
    assert_witness(X, y, found) if found.separable else assert_proof(X, y, found)


@pytest.mark.parametrize("normalised, intercept", MARGINS)
@pytest.mark.parametrize("thin", [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
def test_thin_margins(thin, normalised, intercept):
    for seed in range(4):
        X, y = separable_data(6, 3, thin, seed)
        found = margin(X, y, normalised=normalised, intercept=intercept)
        exact, size = assert_bracket(X, y, found)
        assert found.relative_gap <= 1e-8 + 1e-14 * (size / exact) ** 2
        # neither is proved, or what is proved is right: a margin of 1e-7 of the norms is not called none
        assert found.separable in ((True,) if exact > 1e-6 * size else (True, False, None))


@pytest.mark.parametrize("normalised, intercept", MARGINS)
@pytest.mark.parametrize("n, d", [(30, 4), (50, 80), (150, 20), (40, 400)])
def test_against_clarabel(n, d, normalised, intercept):
    X, y = separable_data(n, d, 0.1, n + d)
    found = margin(X, y, normalised=normalised, intercept=intercept)
    Z = X / np.linalg.norm(X, axis=1)[:, None] if normalised else X
    assert found.value == pytest.approx(clarabel_margin(Z, y, intercept), rel=1e-8)
    assert found.separable and found.relative_gap <= 1e-8
    assert_witness(X, y, found)


@pytest.mark.parametrize("normalised, intercept", MARGINS)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_what_changes_nothing(normalised, intercept, seed):
    rng = np.random.default_rng(seed)
    X, y = separable_data(20, 6, 0.2, seed)
    kind = {"normalised": normalised, "intercept": intercept}
    value = margin(X, y, **kind).value
    rotation, order = np.linalg.qr(rng.standard_normal((6, 6)))[0], rng.permutation(20)
    close = {"rel": 3e-8}
    assert margin(X @ rotation, y, **kind).value == pytest.approx(value, **close)
    assert margin(X[order], y[order], **kind).value == pytest.approx(value, **close)
    assert margin(X[:, rng.permutation(6)], y, **kind).value == pytest.approx(value, **close)
    assert margin(np.vstack([X, X[:7]]), np.append(y, y[:7]), **kind).value == pytest.approx(value, **close)
    assert margin(np.column_stack([X, np.zeros(20)]), y, **kind).value == pytest.approx(value, **close)
    flipped = margin(X, -y, **kind)
    assert flipped.value == pytest.approx(value, **close)
    assert flipped.classes == (-1.0, 1.0)
    assert margin(1e5 * X, y, **kind).value == pytest.approx(value * (1 if normalised else 1e5), **close)
    if intercept and not normalised:
        assert margin(X + 30.0 * rng.standard_normal(6), y, **kind).value == pytest.approx(value, **close)
        assert margin(np.column_stack([X, np.full(20, 7.0)]), y, **kind).value == pytest.approx(value, **close)
    if normalised and not intercept:
        assert margin(X * rng.uniform(0.1, 9.0, (20, 1)), y, **kind).value == pytest.approx(value, **close)


def test_far_from_the_origin():
    X, y = separable_data(30, 5, 0.3, 0)
    near = margin(X, y, intercept=True)
    far = margin(X + 1e6, y, intercept=True)
    assert far.value == pytest.approx(near.value, rel=1e-6)
    assert_witness(X + 1e6, y, far)


@pytest.mark.parametrize("scale", [1e-130, 1e-100, 1e-30, 1e30, 1e150])
@pytest.mark.parametrize("normalised, intercept", MARGINS)
def test_far_scales(scale, normalised, intercept):
    X, y = separable_data(20, 5, 0.3, 1)
    here = margin(X, y, normalised=normalised, intercept=intercept).value
    there = margin(scale * X, y, normalised=normalised, intercept=intercept)
    assert there.value / (1.0 if normalised else scale) == pytest.approx(here, rel=1e-7)


XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, 1.0, -1.0, -1.0])
CONTRARY = np.array([[1.0, 2.0], [3.0, 1.0], [1.0, 2.0], [-2.0, 0.5]]), np.array([1.0, 1.0, -1.0, -1.0])
ALIKE = np.full((6, 1), 2.0), np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
RANDOM = np.random.default_rng(2).standard_normal((200, 5)), np.random.default_rng(3).choice([-1.0, 1.0], 200)


@pytest.mark.parametrize("X, y", [XOR, CONTRARY, ALIKE, RANDOM], ids=["xor", "contrary", "alike", "random"])
@pytest.mark.parametrize("normalised, intercept", MARGINS)
def test_no_plane_separates(X, y, normalised, intercept):
    found = margin(X, y, normalised=normalised, intercept=intercept)
    assert found.separable is False and found.value == found.lower == 0.0
    assert found.residual <= 1e-7 * np.linalg.norm(X, axis=1).max()
    assert np.all(np.isfinite(found.separator)) and np.isfinite(found.intercept)
    assert found.violators.size > 0
    assert_proof(X, y, found)


@pytest.mark.parametrize("far", [1e10, 1e16, 1e40])
def test_a_point_that_is_far_off_makes_no_proof_of_the_others(far):
    """A residual of the size of the other points proves nothing, though it is small beside that one."""
    for seed in range(10):
        X = np.random.default_rng(seed).standard_normal((6, 6))
        X[0] *= far
        found = margin(X, [0, 1, 0, 1, 0, 1], intercept=True)  # six points in general position are separable
        assert found.separable is not False
        assert found.lower <= exact_margin(X, [-1, 1, -1, 1, -1, 1], True) <= found.upper
        assert multiclass_margin(X, [0, 1, 2, 0, 1, 2], normalised=False).separable is not False


@pytest.mark.parametrize("offset", [0.0, 7.0, 1e6])
def test_alike_points_anywhere(offset):
    found = margin(np.full((5, 3), offset), [0, 1, 0, 1, 1], intercept=True)
    assert found.separable is False
    assert found.upper <= 1e-12 * max(offset, 1.0)


def test_points_at_the_origin():
    """0 is on no side of a plane through the origin, and on one side of another."""
    X, y = np.array([[3.0], [3.0], [0.0], [0.0]]), np.array([1, 1, 0, 0])
    assert margin(X, y).separable is False
    assert margin(X, y, intercept=True).value == pytest.approx(1.5, rel=1e-8)


@pytest.mark.parametrize("intercept, value", [(False, 1.0), (True, 2.0)])
def test_two_points_on_a_line(intercept, value):
    found = margin([[3.0], [-1.0]], [1, 0], intercept=intercept)
    assert found.value == pytest.approx(value, rel=1e-10)
    assert found.support.tolist() == ([0, 1] if intercept else [1])


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("separable", [True, False])
def test_working_sets_of_many_points(intercept, separable):
    X, y = separable_data(6000, 20, 0.2, 4)
    if not separable:
        y[:60] *= -1
    assert not Points(X).at_once
    found = margin(X, y, intercept=intercept)
    assert found.separable is separable and " of 6,000 points" in found.reached
    if separable:
        assert found.relative_gap <= 1e-8
        assert_witness(X, y, found)
    else:
        assert_proof(X, y, found)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("most, reaches", [(400, True), (60, True), (6, False)])
def test_small_working_sets(monkeypatch, intercept, most, reaches):
    """They grow and are trimmed; where the largest is too small, the bracket is wide and right."""
    X, y = separable_data(400, 12, 0.05, 5)
    exact = margin(X, y, intercept=intercept)
    assert exact.support.size > 6
    monkeypatch.setattr(points, "_FEW", 10)
    monkeypatch.setattr(points, "MOST_POINTS", most if most < 400 else 399)
    monkeypatch.setattr(margin_module, "MOST_POINTS", most)
    monkeypatch.setattr(margin_module, "FIRST", 4)
    monkeypatch.setattr(convex, "_FEWEST", 5)
    found = margin(X, y, intercept=intercept)
    assert found.lower <= exact.upper and exact.lower <= found.upper
    assert (found.relative_gap <= 1e-8) is reaches
    if found.separable:
        assert_witness(X, y, found)
    assert "all 400" not in found.reached


def test_kept_points_are_shared_and_left_alone():
    X, y = separable_data(30, 50, 0.2, 6)
    kept = Points(X)
    for normalised, intercept in [*MARGINS, *MARGINS]:
        kind = {"normalised": normalised, "intercept": intercept}
        assert margin(kept, y, **kind).value == pytest.approx(margin(X, y, **kind).value, rel=3e-8)
    np.testing.assert_allclose(kept.gram(), X @ X.T, rtol=1e-12, atol=1e-12)


def test_violators_of_many_points_are_those_of_a_machine_that_learned_from_all():
    """The points that the search for a proof takes are mostly mislabelled: a machine of these has twice as many."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 60))
    y = X[:, 0] > 0.0
    wrong = rng.choice(8000, 100, replace=False)
    y[wrong] = ~y[wrong]
    found = margin(X, y)
    size = np.sqrt(np.mean(np.sum(np.square(X), axis=1)))
    model = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, max_iter=20_000, random_state=0).fit(X / size, y)
    others = np.flatnonzero(model.predict(X) != y)
    assert found.separable is False and not Points(X).at_once
    assert found.violators.size <= 1.5 * others.size
    assert np.isin(wrong, found.violators).mean() >= 0.9


def test_labels_are_named():
    X, y = separable_data(20, 3, 0.2, 7)
    found = margin(X, np.where(y > 0, "tumour", "normal"))
    assert found.classes == ("normal", "tumour")
    assert found.value == pytest.approx(margin(X, y).value, rel=1e-12)
    np.testing.assert_allclose(found.separator, margin(X, y).separator, atol=1e-12)


GOOD = np.array([[1.0, 2.0], [0.0, 0.0], [-1.0, -2.0]])


@pytest.mark.parametrize(
    "X, y, options, error, place",
    [
        (GOOD, [1, 1, 1], {}, DataError, None),
        (GOOD, [1, 2, 3], {}, DataError, None),
        (GOOD, [0, 1, np.nan], {}, DataError, None),
        (GOOD, [0, 1, 1], {"normalised": True}, DataError, "row 1 "),
        (GOOD * [[1], [0], [0]], [0, 1, 1], {"normalised": True}, DataError, "rows 1, 2 "),
        (GOOD * 1e-160 + 1e-160, [0, 1, 1], {"normalised": True}, DataError, "rows 0, 1, 2 "),
        (GOOD * 1e-200 + 1e-200, [0, 1, 1], {"normalised": True}, DataError, "rows 0, 1, 2 "),
        (GOOD * 1e-170, [0, 1, 1], {}, DataError, "below"),
        (GOOD * 1e-170, [0, 1, 1], {"intercept": True}, DataError, "below"),
        (GOOD * 1e153, [0, 1, 1], {}, DataError, "above"),
        (np.array([[1.0], [np.nan]]), [0, 1], {}, NonFiniteError, "row 1, column 0"),
        (np.array([[1.0], [np.inf]]), [0, 1], {}, NonFiniteError, "row 1, column 0"),
        (np.zeros((0, 3)), [], {}, DataError, None),
        (np.zeros((3, 0)), [0, 1, 1], {}, DataError, None),
    ],
)
def test_bad_data(X, y, options, error, place):
    for storage in (np.asarray, sp.csr_array):
        with pytest.raises(error, match=place):
            margin(storage(X), y, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"y": [0, 1]},
        {"y": [0.1, 0.7, 0.3]},
        *({"tol": tol} for tol in (0.0, 0.6, np.nan, "1")),
        *({"C": C} for C in (0.0, np.inf)),
    ],
    ids=str,
)
def test_bad_parameters(options):
    with refuses(next(iter(options))):
        margin(GOOD, **({"y": [0, 1, 1]} | options))
