"""The largest weights with their intervals, and a slider over k: which are proved to be among the k largest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from slimline.report.fit_facts import Feature
from slimline.report.fit_record import FitReport
from slimline.report.page.axis import Axis, linear_axis
from slimline.report.page.drawing import SIDE, box, dot, drawn, path
from slimline.report.page.feature_words import default_top, near_duplicates, speaks_for, variant
from slimline.report.page.html import Html, element, joined, named
from slimline.report.page.proved import MEANING, proved
from slimline.report.page.weights import WeightText, weight_text
from slimline.report.page.words import counted, places

#: Height of a row's drawing, and its middle.
_HEIGHT, _MIDDLE = 20.0, 10.0
#: Intervals are drawn up to so many times the largest weight; what goes on is cut off there.
_FARTHEST = 2.5
#: What a place among the k largest can be.
STATES = {
    "proved": "proved",
    "possible": "possible",
    "out": "not in it",
}


def state_of(feature: Feature, k: int) -> str:
    """Return what is known of a column's place among the k largest weights of the exact model.

    Parameters
    ----------
    feature : Feature
        The column.
    k : int
        How many.

    Returns
    -------
    state : str
        "proved" to be there, "possible", or proved to be "out".
    """
    if feature.worst_rank <= k:
        return "proved"
    return "possible" if feature.best_rank <= k else "out"


def count_sentence(features: Sequence[Feature], k: int) -> str:
    """Return how many of the k largest are proved; the script of the page says the same.

    Parameters
    ----------
    features : sequence of Feature
        Those that are shown.
    k : int
        How many.

    Returns
    -------
    text : str
        A sentence.
    """
    states = [state_of(feature, k) for feature in features]
    sure, maybe = states.count("proved"), states.count("possible")
    said = f"{sure} of the top {k} {'is' if sure == 1 else 'are'} proved"
    return (
        f"{said}; {maybe} more of the columns shown {'is' if maybe == 1 else 'are'} possible." if maybe else f"{said}."
    )


def feature_chart(report: FitReport) -> Html:
    """Return the chart of the largest weights with its slider.

    Parameters
    ----------
    report : FitReport
        With at least one feature.

    Returns
    -------
    markup : Html
        A `figure` element; it can be read without the script, which moves the slider.
    """
    features, k = report.features, default_top(report)
    text = weight_text(features)
    axis = _axis(features, text)
    rows = [_row(report, feature, place, k, axis, text) for place, feature in enumerate(features, 1)]
    return element(
        "figure",
        _slider(report, k),
        _key(),
        element(
            "div",
            element("span", "column", class_="head-who"),
            _ticks(axis),
            element("span", f"weight{text.unit}", class_="head-weight"),
            element("span", "top k?", class_="head-badge"),
            class_="ticks-row",
            aria_hidden="true",
        ),
        element("ol", rows, class_="features", id="features-list"),
        element("div", _ticks(axis), class_="ticks-row", aria_hidden="true"),
        element(
            "figcaption",
            "Dot: weight. Line: the interval that the exact weight is ",
            proved("proved"),
            " to lie in; where it is hardly wider than the dot you see only the dot. Point at a column, or move to it "
            "with the tab and arrow keys, for its numbers.",
        ),
        class_="feature-chart",
        aria_label=f"The {counted(len(features), 'column')} of largest weight, with their intervals",
    )


def _slider(report: FitReport, k: int) -> Html:
    most = len(report.features)
    control = element(
        "div",
        element("label", "How many of the largest weights? Top ", element("output", str(k), id="k-shown"), for_="k"),
        element("input", type="range", id="k", min=1, max=most, value=k, step=1, aria_describedby="k-count"),
        class_="slider",
        hidden=True,
    )
    said = element("p", count_sentence(report.features, k), id="k-count", class_="count", aria_live="polite")
    return element("div", control, said, class_="slider-box")


def _key() -> Html:
    words = (
        ("proved", "proved to be among the top k of the exact model"),
        ("possible", "may be among them"),
        ("out", "proved not to be"),
    )
    items = [element("li", element("span", class_=f"state {state}", aria_hidden="true"), said) for state, said in words]
    return element("ul", items, class_="key", title=MEANING)


def _axis(features: Sequence[Feature], text: WeightText) -> Axis:
    largest = max((abs(feature.weight) for feature in features if math.isfinite(feature.weight)), default=0.0)
    limit = _FARTHEST * largest if largest > 0.0 else 1.0
    ends = [end for feature in features for end in (feature.lower, feature.upper, feature.weight)]
    # numbers are written in the unit of the weights
    shown = [min(max(end, -limit), limit) / 10.0**text.power for end in ends if not math.isnan(end)]
    return linear_axis("weight", [0.0, *shown], most=4, room=0.03)


def _ticks(axis: Axis) -> Html:
    spans = [element("span", said, style=f"left:{100 * axis.share(at):.2f}%") for at, said in axis.ticks]
    return element("div", spans, class_="x-ticks")


def _row(report: FitReport, feature: Feature, place: int, k: int, axis: Axis, text: WeightText) -> Html:
    state = state_of(feature, k)
    where = variant(feature)
    same = near_duplicates(feature, most=1)
    under = [
        element("span", where, class_="where") if where else None,
        element("span", speaks_for(report, feature), class_="for"),
        element("span", "nearly the same: ", same, class_="same") if same is not None else None,
    ]
    return element(
        "li",
        element("span", f"{place}", class_="place"),
        element(
            "div",
            element("div", named(feature.name), class_="name"),
            element("div", under, class_="under"),
            class_="who",
        ),
        element("div", _track(feature, axis, text), class_="track"),
        element("span", text.weight(feature.weight), class_="weight"),
        element("span", STATES[state], class_="badge"),
        _tip(report, feature, text),
        class_=f"feature {state}{' last' if place == k else ''}",
        data_best=feature.best_rank,
        data_worst=feature.worst_rank,
    )


def _track(feature: Feature, axis: Axis, text: WeightText) -> Html:
    def at(value: float) -> float:
        return axis.along(value / 10.0**text.power)

    zero, weight, low, high = at(0.0), at(feature.weight), at(feature.lower), at(feature.upper)
    shapes = [path([(axis.along(tick), 0.0), (axis.along(tick), _HEIGHT)], "grid") for tick, _ in axis.ticks if tick]
    shapes.append(path([(zero, 0.0), (zero, _HEIGHT)], "zero"))
    shapes.append(box(min(zero, weight), _MIDDLE - 2.5, max(zero, weight), _MIDDLE + 2.5, "bar"))
    shapes.append(path([(low, _MIDDLE), (high, _MIDDLE)], "interval"))
    for end, open_end in ((low, low <= 0.0), (high, high >= SIDE)):
        if not open_end:
            shapes.append(path([(end, _MIDDLE - 4.5), (end, _MIDDLE + 4.5)], "interval"))
    shapes += [dot(weight, _MIDDLE, "weight-dot"), dot(weight, _MIDDLE, "hole")]
    return drawn(shapes, height=_HEIGHT)


def _tip(report: FitReport, feature: Feature, text: WeightText) -> Html:
    where = variant(feature)
    same = near_duplicates(feature)
    lines: list[tuple[str, Html | str]] = [
        ("weight", joined(f"{text.weight(feature.weight)}{text.unit}, ", speaks_for(report, feature))),
        ("exact weight", f"{text.lower(feature.lower)} to {text.upper(feature.upper)}{text.unit}, proved"),
        ("exact place", f"{places(feature.best_rank, feature.worst_rank)} of {report.data.n_features:,}, proved"),
        ("column", f"number {feature.index:,}, counted from 0"),
    ]
    if where:
        lines.insert(0, ("variant", where))
    if same is not None:
        lines.append(("nearly the same", same))
    pairs = [element("div", element("dt", name), element("dd", said)) for name, said in lines]
    return element(
        "div", element("p", named(feature.name), class_="tip-name"), element("dl", pairs), class_="tip", role="tooltip"
    )
