"""Section: what it cost."""

from __future__ import annotations

from slimline.report.fit_record import FitReport
from slimline.report.page.drawing import SIDE, box, drawn
from slimline.report.page.html import Content, Html, element, joined
from slimline.report.page.section import Column, Section, paragraph, table
from slimline.report.page.words import counted, memory, percent, time_taken


def cost_section(report: FitReport) -> Section:
    """Return time, passes and memory.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    section : Section
        With a table.
    """
    cost = report.cost
    columns = [
        Column("what was done"),
        Column("passes", numeric=True),
        Column("time", numeric=True),
        Column("share of the time"),
    ]
    whole = cost.seconds
    rows: list[list[Content]] = [
        [
            phase.name,
            f"{phase.passes:,}",
            time_taken(phase.seconds),
            _bar(phase.seconds / whole if whole > 0.0 else 0.0),
        ]
        for phase in cost.phases
    ]
    rows.append(["all", f"{cost.passes:,}", time_taken(whole), ""])
    room = (
        "The system did not tell how much memory that took"
        if cost.peak_bytes is None
        else f"At most {memory(cost.peak_bytes)} of memory"
    )
    beside = "" if report.data.nbytes is None else f", for data of {memory(report.data.nbytes)}"
    said = f"{room}{beside}; {counted(cost.threads, 'thread')}."
    if cost.resumed:
        said += " The run went on from where an earlier one had stopped: times and passes are those of the rest."
    body = joined(table("Passes over the data and time", columns, rows, total=True), paragraph(said))
    return Section("cost", "What it cost", "Cost", body)


def _bar(share: float) -> Html:
    return element(
        "span",
        drawn(box(0.0, 0.0, SIDE * share, 10.0, "fill blue solid"), height=10.0),
        element("span", percent(share), class_="visually-hidden"),
        class_="share-bar",
    )
