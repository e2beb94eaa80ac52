"""Numbers in words, and that rounding never claims too much."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slimline._base.text import counted
from slimline.report._charts import (
    count_axis,
    line,
    linear_axis,
    log_axis,
    points,
    rise,
    share_axis,
    small_share_axis,
    spans,
)
from slimline.report._records import Feature
from slimline.report._text import (
    at_most,
    count_sentence,
    interval_text,
    number,
    number_up,
    percent,
    places,
    score,
    tidy,
    weight_text,
)

FEATURE = Feature(0, "x0", "ill", 0.0, 0.0, 0.0, 1, 1)


@pytest.mark.parametrize(
    "share, said",
    [
        (0.931, "93.1 %"), (0.12, "12.0 %"), (1.0, "100 %"), (0.0, "0 %"), (0.9996, "99.96 %"), (0.99999, "99.999 %"),
        (0.9999999, "more than 99.999 %"), (1e-9, "less than 0.001 %"), (0.0004, "0.04 %"), (float("nan"), "not known"),
    ],
)  # fmt: skip
def test_percent(share, said):
    assert percent(share).replace("\u00a0", " ") == said


@pytest.mark.parametrize(
    "error, said",
    [
        (0.001, "0.1 %"), (0.00514, "0.52 %"), (0.01, "1 %"), (1.5, "150 %"), (1e-12, "0.001 %"), (0.0, "0.001 %"),
        (float("inf"), "not bounded"), (12.34, "1,300 %"),
    ],
)  # fmt: skip
def test_certified_errors(error, said):
    assert at_most(error).replace("\u00a0", " ") == said


@given(st.floats(0.0, 1e6))
def test_a_certified_error_is_never_rounded_down(error):
    assert Decimal(at_most(error).split("\u00a0")[0].replace(",", "")) >= 100 * Decimal(repr(error))


@pytest.mark.parametrize(
    "error, said",
    [(3.21e-13, "3.3 × 10⁻¹¹ %"), (1e-15, "1 × 10⁻¹³ %"), (9.99e-9, "1 × 10⁻⁶ %"), (0.00514, "0.52 %"), (0.0, "0 %")],
)
def test_small_certified_errors_can_be_told_apart(error, said):
    assert at_most(error, exactly=True).replace("\u00a0", " ") == said


@pytest.mark.parametrize(
    "value, said",
    [
        (0.0, "0"), (0.01234, "0.0123"), (1234.0, "1,234"), (-0.5, "−0.5"), (1.2345e-7, "1.23 × 10⁻⁷"),
        (1e6, "1 × 10⁶"),        (float("inf"), "∞"), (float("nan"), "not known"), (0.99999, "1"), (1e-4, "0.0001"),
    ],
)  # fmt: skip
def test_numbers(value, said):
    assert number(value).replace("\u00a0", " ") == said


def test_places_and_counts():
    assert [places(1, 1), places(2, 11), places(3, 112), places(21, 1013)] == [
        "1st", "2nd to 11th", "3rd to 112th", "21st to 1,013th",
    ]  # fmt: skip
    assert counted(1, "pass", "passes") == "1 pass" and counted(2000, "row") == "2,000 rows"
    assert tidy("all 5 % of it") == "All 5\u00a0% of it" and tidy("shi2012.6 says") == "shi2012.6 says"


def _value(text, unit):
    return Decimal(text.replace("−", "-").replace(",", "")).scaleb(unit)


@given(
    st.lists(
        st.tuples(st.floats(-1e3, 1e3).filter(lambda w: w == 0 or abs(w) > 1e-12), st.floats(0, 10), st.floats(0, 10)),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([1e-9, 1e-3, 1.0, 1e7]),
)
def test_intervals_are_rounded_outwards(drawn, scale):
    features = [replace(FEATURE, weight=w * scale, lower=(w - a) * scale, upper=(w + b) * scale) for w, a, b in drawn]
    text = weight_text(features)
    for f in features:
        assert _value(text.lower(f.lower), text.power) <= Decimal(f.lower)
        assert _value(text.upper(f.upper), text.power) >= Decimal(f.upper)
        nearest = Decimal(1).scaleb(text.power - text.decimals)
        assert abs(_value(text.weight(f.weight), text.power) - Decimal(f.weight)) <= nearest / 2 * Decimal("1.0000001")


def test_units_of_weights():
    small = [replace(FEATURE, weight=1.2345e-5, lower=1.2344e-5, upper=1.2346e-5)]
    text = weight_text(small)
    assert text.unit.replace("\u00a0", " ") == " × 10⁻⁵"
    assert text.weight(small[0].weight).startswith("1.234")
    assert weight_text([replace(FEATURE, weight=0.019, lower=0.018, upper=0.02)]).unit == ""


def test_the_count_is_what_the_ranks_say():
    ranks = [(1, 1), (2, 3), (2, 3), (4, 9), (4, 9)]
    features = [replace(FEATURE, best_rank=best, worst_rank=worst) for best, worst in ranks]
    assert count_sentence(features, 1) == "1 of the top 1 is proved."
    assert count_sentence(features, 2) == "1 of the top 2 is proved; 2 more of the features shown are possible."
    assert count_sentence(features, 3) == "3 of the top 3 are proved."
    assert count_sentence(features, 4) == "3 of the top 4 are proved; 2 more of the features shown are possible."


@given(st.lists(st.floats(-1e9, 1e9), max_size=6))
def test_linear_axes_have_room_and_ticks(values):
    axis = linear_axis("x", values)
    assert all(axis.low <= v <= axis.high for v in values)
    assert 1 <= len(axis.ticks) <= 7 and all(-1e-9 <= axis.share(at) <= 1 + 1e-9 for at, _ in axis.ticks)
    assert len({said for _, said in axis.ticks}) == len(axis.ticks) or axis.high - axis.low < 1e-2 * abs(axis.high)


@given(st.lists(st.floats(1e-18, 1e12), max_size=6))
def test_logarithmic_axes_have_room_and_ticks(values):
    axis = log_axis("x", values, percents=True)
    assert all(axis.low * 0.999999 <= v <= axis.high * 1.000001 for v in values)
    assert 2 <= len(axis.ticks) <= 7 and len({said for _, said in axis.ticks}) == len(axis.ticks)


@given(st.integers(0, 100_000))
def test_axes_of_counts_are_whole(high):
    axis = count_axis("passes", high)
    assert 2 <= len(axis.ticks) <= 9 and all(float(at).is_integer() for at, _ in axis.ticks)


def test_lines_leave_out_what_cannot_be_seen():
    axis = share_axis("share")
    assert line(axis, axis, [0.0, 0.0, 0.00001, 0.5, 1.0], [0.0, 0.2, 0.2, 0.8, 1.0]) == "M0 1000 0 800 500 200 1000 0"
    x = np.sort(np.random.default_rng(0).random(20_000))
    path = line(axis, axis, x, x**0.2)
    points = np.array(path[1:].split(), dtype=float).reshape(-1, 2)
    away = np.abs(np.interp(1000 * x, *points.T) - 1000 * (1 - x**0.2))
    assert len(points) < 2500 and away[x > 0.01].max() < 5  # half a unit sideways, where the slope is at most 8


def test_the_rise_of_shares_reaches_each_value_at_its_place():
    axis = linear_axis("x", [0.0, 10.0])
    assert rise(axis, [7.0, 2.0, 2.0, 5.0]) == "M0 1000H200V500H500V250H700V0H1000"


def _read(text):
    mantissa, _, power = text.replace("−", "-").replace(",", "").partition("\u00a0×\u00a010")
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    return Decimal(mantissa).scaleb(int(power.translate(digits) or 0))


@given(st.floats(-1e200, 1e200), st.floats(0.0, 1e100), st.floats(0.0, 1e100))
def test_intervals_of_effects_are_rounded_outwards(value, below, above):
    lower, upper = value - below, value + above
    said = interval_text(value, lower, upper)
    assert _read(said[1]) <= max(Decimal(lower), Decimal(repr(lower)))
    assert _read(said[2]) >= min(Decimal(upper), Decimal(repr(upper)))


def test_intervals_of_effects():
    assert interval_text(161.1456, 161.14558, 161.14561) == ("161.146", "161.145", "161.146")
    assert interval_text(0.0, -1e26, 1.234e26)[1:] == ("−1\u00a0×\u00a010²⁶", "1.24\u00a0×\u00a010²⁶")
    assert interval_text(-1.5e-7, -2e-7, float("inf"))[2] == "∞"
    assert interval_text(float("nan"), float("nan"), float("nan")) == ("not known",) * 3


@given(st.floats(1e-300, 1e300))
def test_bounds_are_rounded_up(bound):
    assert _read(number_up(bound)) >= Decimal(repr(bound))


def test_scores_are_1_only_if_they_are():
    assert (
        score(1.0) == "1.000"
        and score(0.99999) == "0.999…"
        and score(0.6) == "0.600"
        and score(-1e9) == "−1\u00a0×\u00a010⁹"
    )


def test_large_and_small_numbers_at_ticks_have_a_common_factor():
    axis = linear_axis("income", [0.0, 4e7])
    assert axis.title == "income, ×\u00a010⁷" and [words for _, words in axis.ticks] == ["0", "1", "2", "3", "4"]
    assert [at for at, _ in axis.ticks] == pytest.approx([0, 1e7, 2e7, 3e7, 4e7])
    for most in (999_999.0, 1.0, 1e-3):
        assert linear_axis("height", [0.0, most]).unit == ""
    assert linear_axis("mass", [-1e-200, 0.0]).unit == "×\u00a010⁻²⁰⁰"


def test_axes_of_small_shares():
    axis = small_share_axis("share", 0.02)
    assert axis.low == 0.0 and 0.02 < axis.high < 0.03 and axis.ticks[1][1].replace("\u00a0", " ") == "0.5 %"
    assert small_share_axis("share", 1.0).high == 1.0 and small_share_axis("share", 0.0).high == 1.0


def test_points_and_spans():
    x, y = linear_axis("x", [0.0, 10.0]), linear_axis("y", [0.0, 1.0])
    assert points(x, y, [0.0, 5.0, 5.0], [0.0, 0.5, 0.5]) == "M0 1000h.01M500 500h.01"
    assert spans(x, y, [5.0], [0.05], [0.5]) == ""
    assert spans(x, y, [5.0, 1.0], [1.0, float("inf")], [0.5, 1.0]) == "M400.0 500.0H600.0M0.0 0.0H1000.0"
