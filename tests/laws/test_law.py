"""Tests of every law: shapes, types, errors, tails that fit together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slimline.errors import InvalidParameterError
from slimline.laws import cosine, inner_product, norm

LAWS = pytest.mark.parametrize("law", [cosine, inner_product], ids=["cosine", "inner_product"])
QUESTIONS = ("cdf", "sf", "logcdf", "logsf")

dimensions = st.integers(1, 10**6)
near_one = st.floats(1e-16, 1.0).map(lambda gap: 1 - gap)
cosines = st.floats(-1, 1) | near_one | near_one.map(lambda c: -c)
values = st.floats(-1, 1) | st.floats(-40, 40) | near_one | near_one.map(lambda t: -t)


@LAWS
@pytest.mark.parametrize("question", QUESTIONS)
def test_arguments_broadcast(law, question):
    ask = getattr(law, question)
    value, r, c = np.array([-0.5, 0.1, 0.4, 0.99]), np.array([[1], [2], [30]]), 0.4
    answer = ask(value, r, c)
    assert answer.shape == (3, 4) and answer.dtype == np.float64
    for i in range(3):
        for j in range(4):
            # a sum of more terms, or one of fewer, may be taken of it alone
            assert answer[i, j] == pytest.approx(ask(value[j], int(r[i, 0]), c), rel=1e-12)
    assert ask([], 5, 0.3).shape == (0,)
    assert ask(np.zeros((2, 1, 3)), [[4], [5]], 0.3).shape == (2, 2, 3)


@LAWS
@pytest.mark.parametrize("question", QUESTIONS)
def test_scalars_of_any_kind_give_a_float(law, question):
    ask = getattr(law, question)
    expected = ask(0.0, 5, 0.25)
    for value, r, c in ((0, 5, 0.25), (np.float32(0), np.int32(5), np.float32(0.25)), (np.array(0.0), 5.0, 0.25)):
        answer = ask(value, r, c)
        assert type(answer) is float and answer == expected
    assert ask([0.0, 0], (5, 5), 0.25).tolist() == pytest.approx([expected, expected], rel=1e-13)


def test_arguments_are_left_alone():
    value, r, c = np.linspace(-1, 1, 5), np.arange(1, 6), np.linspace(1, -1, 5)
    before = value.copy(), r.copy(), c.copy()
    for law in (cosine, inner_product):
        for question in QUESTIONS:
            getattr(law, question)(value, r, c)
    for now, then in zip((value, r, c), before, strict=True):
        np.testing.assert_array_equal(now, then)


@LAWS
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "value, r, c, parameter, wrong",
    [
        (0.1, 0, 0.3, "r", 0.0),
        (0.1, -3, 0.3, "r", -3.0),
        (0.1, 1.5, 0.3, "r", 1.5),
        (0.1, [3, float("nan")], 0.3, "r", float("nan")),
        (0.1, float("inf"), 0.3, "r", float("inf")),
        (0.1, 5, 1.0000001, "c", 1.0000001),
        (0.1, 5, [0.3, -2], "c", -2.0),
        (0.1, 5, float("nan"), "c", float("nan")),
        (float("nan"), 5, 0.3, "value", float("nan")),
    ],
)
def test_impossible_arguments(law, question, value, r, c, parameter, wrong):
    with pytest.raises(InvalidParameterError) as caught:
        getattr(law, question)(value, r, c)
    assert caught.value.parameter == parameter
    np.testing.assert_equal(caught.value.value, wrong)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_norm_has_no_other_cosine(question):
    with pytest.raises(InvalidParameterError) as caught:
        getattr(norm, question)(0.9, 5, 0.5)
    assert caught.value.parameter == "c"


@LAWS
@given(values, dimensions, cosines)
def test_the_tails_fit_together(law, value, r, c):
    below, above = law.cdf(value, r, c), law.sf(value, r, c)
    assert 0 <= below <= 1 and 0 <= above <= 1
    assert below + above == pytest.approx(1, abs=1e-11)
    assert np.exp(law.logcdf(value, r, c)) == below
    assert np.exp(law.logsf(value, r, c)) == above


@LAWS
@given(values, dimensions, cosines)
def test_the_mirror_image(law, value, r, c):
    # -x in the place of x; without the atoms of the cosine, that is
    if law is cosine and (r == 1 or abs(c) == 1):
        return
    assert law.logcdf(value, r, c) == law.logsf(-value, r, -c)


@LAWS
@given(values, values, dimensions, cosines)
def test_monotone_in_the_value(law, one, another, r, c):
    low, high = sorted((one, another))
    assert law.logcdf(low, r, c) <= law.logcdf(high, r, c) + 1e-11
    assert law.logsf(low, r, c) >= law.logsf(high, r, c) - 1e-11


@LAWS
@given(values, dimensions, cosines, cosines)
def test_a_larger_cosine_gives_larger_results(law, value, r, one, another):
    # both laws are increasing functions of c for every fixed R
    low, high = sorted((one, another))
    assert law.logcdf(value, r, high) <= law.logcdf(value, r, low) + 1e-11
    assert law.logsf(value, r, high) >= law.logsf(value, r, low) - 1e-11


@LAWS
@given(values, st.integers(1, 10**12), cosines)
def test_no_tail_is_too_deep(law, value, r, c):
    # beyond 1e150 a value counts as infinite; what can happen has a finite logarithm
    below, above = law.logcdf(value, r, c), law.logsf(value, r, c)
    assert below <= 0 and above <= 0
    if abs(c) < 1 and (law is inner_product or (r > 1 and abs(value) < 1)):
        assert np.isfinite(below) and np.isfinite(above)
