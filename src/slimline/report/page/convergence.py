"""Section: how the certified error fell, pass by pass."""

from __future__ import annotations

import math

from slimline.report.fit_record import FitReport
from slimline.report.page.axis import log_axis, whole_axis
from slimline.report.page.chart import Key, Mark, chart
from slimline.report.page.drawing import SIDE, box, dot, path
from slimline.report.page.html import Html, joined, named
from slimline.report.page.proved import proved
from slimline.report.page.section import Column, Section, paragraph, table, unfolding
from slimline.report.page.words import at_most, counted, number, time_taken


def convergence_section(report: FitReport) -> Section | None:
    """Return the certified error against passes over the data.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    section : Section or None
        None where no steps were recorded.
    """
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
