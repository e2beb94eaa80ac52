"""Sections on held-out samples and on convergence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from slimline.report._records import Curve, FitReport, HeldOut
from slimline.report.page._charts import (
    SIDE,
    Key,
    Mark,
    Point,
    box,
    chart,
    dot,
    log_axis,
    path,
    share_axis,
    thinned,
    whole_axis,
)
from slimline.report.page._html import (
    Column,
    Html,
    Section,
    element,
    joined,
    named,
    paragraph,
    proved,
    scrolling,
    table,
    unfolding,
)
from slimline.report.page._summary import accuracy_words
from slimline.report.page._words import at_most, counted, number, percent, time_taken


def curves_part(held_out: HeldOut) -> Html | None:
    """Return ROC and precision-recall curves with their areas."""
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


def convergence_section(report: FitReport) -> Section | None:
    """Return the certified error against passes over the data."""
    if not report.history:
        return None
    proved_steps = [step for step in report.history if math.isfinite(step.relative_error)]
    tol = report.model.tol
    if proved_steps:
        reached = report.relative_error <= tol
        asked = f"Asked for were {at_most(tol)}: {'reached' if reached else 'not reached'}."
        intro = paragraph(
            "How far the weights can be from the exact model’s, relative to their size: that is ",
            proved("certified"),
            f" after each step, from calculations alone, whatever the data are. {asked}",
        )
        body = joined(intro, _figure(report) if len(report.history) > 1 else _one_step(report))
    else:
        body = paragraph(
            f"After {counted(report.history[-1].passes, 'pass', 'passes')} no bound on the error of the weights as a "
            "whole was ",
            proved(),
            f"; asked for were {at_most(tol)}. There is no curve to draw.",
        )
    return Section("certified", "How the certified error fell", "Certified error", joined(body, _tables(report)))


def _one_step(report: FitReport) -> Html:
    step = report.history[0]
    return paragraph(
        f"It took one step: at most {at_most(step.relative_error, exactly=True)} after "
        f"{counted(step.passes, 'pass', 'passes')}.",
    )


def _figure(report: FitReport) -> Html:
    steps = [step for step in report.history if math.isfinite(step.relative_error)]
    tol = report.model.tol
    # what is exact to the last bit has no place on a logarithmic axis
    least = min((step.relative_error for step in steps if step.relative_error > 0.0), default=tol) / 10.0
    errors = [max(step.relative_error, least) for step in steps]
    x = whole_axis("passes over the data", report.history[-1].passes)
    y = log_axis("certified relative error (log scale)", [*errors, tol], percents=True)
    points = [(x.along(step.passes), y.down(error)) for step, error in zip(steps, errors, strict=True)]
    shapes = []
    first = steps[0].passes
    open_until = max((step.passes for step in report.history if not math.isfinite(step.relative_error)), default=0)
    if open_until:
        shapes.append(box(0.0, 0.0, x.along(open_until), SIDE, "shade"))
    shapes.append(path([(0.0, y.down(tol)), (SIDE, y.down(tol))], "line orange dashed"))
    if len(points) > 1:
        shapes.append(path(points, "line blue thick"))
    shapes += [dot(*point, "blue") for point in points]
    last = errors[-1]
    side = "below-left" if y.share(last) > 0.15 else "above-left"
    marks = [Mark(float(steps[-1].passes), last, at_most(steps[-1].relative_error, exactly=True), side, "blue strong")]
    says = (
        "Certified relative error against passes over the data, on a logarithmic scale: "
        f"{at_most(steps[0].relative_error, exactly=True)} after {counted(first, 'pass', 'passes')}, "
        f"{at_most(steps[-1].relative_error, exactly=True)} after {steps[-1].passes}. Asked for were {at_most(tol)}."
    )
    key = [Key("line", "blue", "certified error"), Key("line", "orange dashed", f"asked for: {at_most(tol)}")]
    if open_until:
        key.append(Key("area", "grey", "nothing certified yet"))
    return chart(x, y, shapes, says, "Certified error after each step", marks=marks, key=key)


def _tables(report: FitReport) -> Html:
    steps = [
        [f"{step.passes:,}", time_taken(step.seconds), at_most(step.relative_error, exactly=True)]
        for step in report.history
    ]
    columns = [
        Column("passes"),
        Column("time so far", numeric=True),
        Column("certified error, at most", numeric=True),
    ]
    parts = [unfolding("The steps as a table", table("Certified relative error after each step", columns, steps))]
    if len(report.model.relative_error) > 1:
        parts.append(unfolding("Each class by itself", _classes(report)))
    return joined(parts)


def _classes(report: FitReport) -> Html:
    columns = [
        Column("class against the rest"),
        Column("certified error, at most", numeric=True),
        Column("distance from the exact weights, at most", numeric=True),
    ]
    model = report.model
    rows = [
        [named(label), at_most(error, exactly=True), number(radius)]
        for (label, _), error, radius in zip(report.data.classes, model.relative_error, model.radius, strict=True)
    ]
    return table("What is certified of each class", columns, rows)


#: Up to so many classes the whole table is shown, else the mistakes that were made most.
_WHOLE = 30
#: Mistakes that are listed.
_LISTED = 20
_HOW = (
    "One line a class, one column a label that the model gave; on the diagonal are the right ones, and · is none. The "
    "darker, the larger the share of the line."
)


def confusion_part(labels: Sequence[str], confusion: Sequence[Sequence[int]]) -> Html:
    """Return which classes were taken for which."""
    title = element("h3", "What was taken for what")
    mistakes = _mistakes(labels, confusion)
    words = element("p", _sentence(mistakes))
    how = element("p", _HOW, class_="aside small")
    if len(labels) <= _WHOLE:
        return element("div", title, words, how, _matrix(labels, confusion), class_="confusion-part")
    columns = [
        Column("class"),
        Column("taken for"),
        Column("rows", numeric=True),
        Column("share of the class", numeric=True),
    ]
    rows = [[named(a), named(b), f"{count:,}", percent(share)] for count, a, b, share in mistakes[:_LISTED]]
    if not rows:
        return element("div", title, words)
    said = f"The most common mistakes among {len(labels)} classes"
    return element("div", title, words, table(said, columns, rows))


Mistake = tuple[int, str, str, float]


def _mistakes(labels: Sequence[str], confusion: Sequence[Sequence[int]]) -> list[Mistake]:
    found = [
        (count, labels[i], labels[j], count / sum(row))
        for i, row in enumerate(confusion)
        for j, count in enumerate(row)
        if i != j and count
    ]
    return sorted(found, key=lambda mistake: -mistake[0])


def _sentence(mistakes: Sequence[Mistake]) -> Html:
    if not mistakes:
        return joined("No mistake was made.")
    count, was, called, _ = mistakes[0]
    total = sum(mistake[0] for mistake in mistakes)
    if count == 1 < total:
        return joined(f"{total} mistakes in all, none of them twice.")
    return joined(
        f"{counted(total, 'mistake')} in all; most often, {counted(count, 'time')}, ‘",
        named(was),
        "’ was called ‘",
        named(called),
        "’.",
    )


def _matrix(labels: Sequence[str], confusion: Sequence[Sequence[int]]) -> Html:
    heads = [element("th", element("span", named(label), title=label), scope="col") for label in labels]
    lines = []
    for place, (label, row) in enumerate(zip(labels, confusion, strict=True)):
        total = sum(row)
        cells = [_cell(count, total, other == place) for other, count in enumerate(row)]
        right = percent(row[place] / total) if total else "no rows"
        lines.append(
            element(
                "tr",
                element("th", named(label), scope="row", title=label),
                cells,
                element("td", right, class_="number"),
            )
        )
    size = "many" if len(labels) > 8 else "few"
    inner = element(
        "table",
        element("caption", "Rows by class and by the label they were given", class_="visually-hidden"),
        element(
            "thead",
            element(
                "tr",
                element("th", "class", scope="col", class_="corner"),
                heads,
                element("th", "right", scope="col", class_="number"),
            ),
        ),
        element("tbody", lines),
        class_=f"confusion {size}",
    )
    return scrolling(inner, "What was taken for what")


def _cell(count: int, total: int, right: bool) -> Html:
    if not count:
        return element("td", "·", class_="none")
    return element("td", f"{count:,}", class_="right" if right else "wrong", style=f"--s:{count / total:.3f}")


def held_out_section(report: FitReport) -> Section | None:
    """Return what was measured on rows that were held out."""
    held_out = report.held_out
    if held_out is None:
        return None
    intro = paragraph(
        accuracy_words(held_out),
        f" The first figure lies between {percent(held_out.low)} and {percent(held_out.high)} with 95\u00a0% confidence"
        f". Averaged over the classes, so that each counts the same, {percent(held_out.balanced_accuracy)} are right. "
        f"The labels of {percent(held_out.proved)} of these rows are ",
        proved("proved equal to the exact model’s"),
        ", right or wrong.",
    )
    rows = paragraph("These rows: ", held_out.source.rstrip("."), ".") if held_out.source else None
    refit = None
    if held_out.trained_rows < report.data.n_rows:
        refit = paragraph(
            f"All of this was measured with a model trained on the other {counted(held_out.trained_rows, 'row')}; "
            "“exact model” here means the exact model of these rows. The model that was written, which the rest of "
            f"this page describes, was then trained on all {report.data.n_rows:,} rows with the same C."
        )
    labels = [label for label, _ in report.data.classes]
    body = joined(intro, rows, refit, curves_part(held_out), confusion_part(labels, held_out.confusion))
    return Section("held-out", "How good it is on rows it never saw", "New rows", body)
