"""ROC and precision-recall curves of the held-out rows; among many classes one is picked out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from slimline.report.fit_facts import Curve, HeldOut
from slimline.report.page.axis import share_axis
from slimline.report.page.chart import Key, chart
from slimline.report.page.drawing import SIDE, Point, path, thinned
from slimline.report.page.html import Html, element, joined, named
from slimline.report.page.section import Column, table, unfolding
from slimline.report.page.words import percent


def curves_part(held_out: HeldOut) -> Html | None:
    """Return ROC and precision-recall curves with their areas.

    Parameters
    ----------
    held_out : HeldOut
        What was measured.

    Returns
    -------
    markup : Html or None
        None where there are no curves.
    """
    curves = held_out.curves
    if not curves:
        return None
    chosen = _hardest(curves)
    figures = element("div", _roc(curves, chosen), _precision(curves, chosen), class_="pair")
    if len(curves) == 1:
        return figures
    return joined(_picker(curves, chosen), figures, unfolding("All classes as a table", _table(curves)))


def _hardest(curves: Sequence[Curve]) -> int:
    return min(range(len(curves)), key=lambda place: curves[place].area)


def _picker(curves: Sequence[Curve], chosen: int) -> Html:
    options = [
        element("option", f"{curve.label} (area {_area(curve.area)})", value=place, selected=place == chosen)
        for place, curve in enumerate(curves)
    ]
    return element(
        "p",
        element("label", "Class to pick out ", for_="curve-class"),
        element("select", options, id="curve-class"),
        class_="picker",
        hidden=True,
    )


def _roc(curves: Sequence[Curve], chosen: int) -> Html:
    x, y = share_axis("rows of other classes that are called it"), share_axis("rows of the class that are found")
    lines = [
        [(x.along(a), y.down(b)) for a, b in zip(curve.false_positive, curve.true_positive, strict=True)]
        for curve in curves
    ]
    shapes = [path([(0.0, SIDE), (SIDE, 0.0)], "line grey dashed"), *_lines(lines, chosen)]
    one = curves[chosen]
    areas = [curve.area for curve in curves]
    if len(curves) == 1:
        says = f"ROC curve of {one.label}: area {_area(one.area)}; guessing has 0.5."
        caption = joined("Area under the curve for ", named(one.label), f": {_area(one.area)}; guessing has 0.5.")
    else:
        span = f"{_area(min(areas))} to {_area(max(areas))}; guessing has 0.5."
        says = f"ROC curves of {len(curves)} classes: areas from {span}"
        caption = joined(
            f"Areas under the curves: {span} Picked out: ",
            _picked(curves, chosen, "area"),
        )
    return chart(x, y, shapes, says, "Found against falsely called (ROC)", caption, key=_key(curves), square=True)


def _precision(curves: Sequence[Curve], chosen: int) -> Html:
    x, y = share_axis("rows of the class that are found"), share_axis("rows called it that are it")
    lines = [[(x.along(a), y.down(b)) for a, b in zip(curve.recall, curve.precision, strict=True)] for curve in curves]
    shapes = list(_lines(lines, chosen))
    one = curves[chosen]
    means = [curve.average_precision for curve in curves]
    if len(curves) == 1:
        level = y.down(one.share)
        shapes.insert(0, path([(0.0, level), (SIDE, level)], "line grey dashed"))
        said = f"{_area(one.average_precision)}; guessing has {percent(one.share)}."
        says = f"Precision-recall curve of {one.label}: mean precision {said}"
        caption = joined("Mean precision for ", named(one.label), f": {said}")
    else:
        span = f"{_area(min(means))} to {_area(max(means))}."
        says = f"Precision-recall curves of {len(curves)} classes: mean precision from {span}"
        caption = joined(
            f"Mean precision: {span} Picked out: ",
            _picked(curves, chosen, "precision"),
        )
    return chart(x, y, shapes, says, "Precision against recall", caption, key=_key(curves), square=True)


def _lines(lines: Sequence[Sequence[Point]], chosen: int) -> list[Html]:
    if len(lines) == 1:
        return [path(thinned(lines[0]), "line blue thick curve")]
    undermost_first = sorted(range(len(lines)), key=lambda place: place == chosen)
    return [
        path(thinned(lines[k]), f"line curve {'picked' if k == chosen else 'other'}", data_curve=k)
        for k in undermost_first
    ]


def _picked(curves: Sequence[Curve], chosen: int, what: str) -> Html:
    """Return the name and the figure of the class that is picked out; the script shows those of another."""
    shown = [
        element(
            "span",
            named(curve.label),
            f", {_area(curve.area if what == 'area' else curve.average_precision)}",
            data_curve=place,
            class_="picked-name",
            hidden=place != chosen,
        )
        for place, curve in enumerate(curves)
    ]
    return joined(shown)


def _key(curves: Sequence[Curve]) -> list[Key]:
    guessing = Key("line", "grey dashed", "guessing")
    if len(curves) == 1:
        return [Key("line", "blue", "this model"), guessing]
    return [Key("line", "picked", "the class picked out (at first the hardest)"), Key("line", "other", "other classes")]


def _table(curves: Sequence[Curve]) -> Html:
    columns = [
        Column("class"),
        Column("share of the rows", numeric=True),
        Column("area under ROC", numeric=True),
        Column("mean precision", numeric=True),
    ]
    rows = [
        [named(curve.label), percent(curve.share), _area(curve.area), _area(curve.average_precision)]
        for curve in sorted(curves, key=lambda curve: curve.area)
    ]
    return table("How well each class is told from the others, the hardest first", columns, rows)


def _area(value: float) -> str:
    """Return an area with three digits; 1 only where it is."""
    if math.isnan(value):
        return "not known"
    return "1" if value == 1.0 else "0.999…" if value > 0.9995 else f"{value:.3f}"
