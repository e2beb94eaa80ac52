"""Section: how the penalty was chosen."""

from __future__ import annotations

import math

from slimline.report.fit_facts import Search
from slimline.report.fit_record import FitReport
from slimline.report.page.axis import linear_axis, log_axis
from slimline.report.page.chart import Key, Mark, chart
from slimline.report.page.drawing import SIDE, dot, path
from slimline.report.page.html import Content, Html, joined
from slimline.report.page.section import Column, Section, paragraph, table, unfolding
from slimline.report.page.words import counted, number, penalty


def search_section(report: FitReport) -> Section | None:
    """Return the score against C.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    section : Section or None
        None where C was given.
    """
    search = report.search
    if search is None or not search.penalties:
        return None
    chosen = report.model.C
    intro = paragraph(
        f"C says how closely the model follows the training rows: the larger, the closer. "
        f"{counted(len(search.penalties), 'value')} were tried by cross-validation in {counted(search.folds, 'fold')}, "
        f"compared by {search.scoring}. Chosen was {penalty(chosen)}.",
    )
    rows: list[list[Content]] = [
        [joined(number(C), " (chosen)" if chosen == C else None), number(score, 4), number(deviation, 2)]
        for C, score, deviation in zip(search.penalties, search.scores, search.deviations, strict=True)
    ]
    columns = [Column("C"), Column(f"mean {search.scoring}", numeric=True), Column("deviation", numeric=True)]
    whole = unfolding(
        "The scores as a table", table("Mean score over the folds, and its standard deviation", columns, rows)
    )
    return Section("penalty", "How the penalty was chosen", "Penalty", joined(intro, _figure(search, chosen), whole))


def _figure(search: Search, chosen: float) -> Html:
    tried = list(zip(search.penalties, search.scores, search.deviations, strict=True))
    ends = [end for _, score, deviation in tried for end in (score - deviation, score + deviation)]
    x = log_axis("C (log scale)", [*search.penalties, chosen])
    shares = all(0.0 <= score <= 1.0 for score in search.scores)  # as nearly all scores are
    y = linear_axis(f"mean {search.scoring}", ends, room=0.08, within=(0.0, 1.0) if shares else None)
    line = x.along(chosen)
    shapes = [path([(line, 0.0), (line, SIDE)], "line orange dashed")]
    finite = [(C, score, deviation) for C, score, deviation in tried if math.isfinite(score)]
    shapes += [
        path([(x.along(C), y.down(score - deviation)), (x.along(C), y.down(score + deviation))], "line blue faint wide")
        for C, score, deviation in finite
        if math.isfinite(deviation)
    ]
    if len(finite) > 1:
        shapes.append(path([(x.along(C), y.down(score)) for C, score, _ in finite], "line blue"))
    shapes += [dot(x.along(C), y.down(score), "blue") for C, score, _ in finite]
    best = max((score for _, score, _ in finite), default=math.nan)
    says = (
        f"Mean {search.scoring} against C, on a logarithmic scale from {number(search.penalties[0])} to "
        f"{number(search.penalties[-1])}. The best is {number(best)}; chosen was {penalty(chosen)}."
    )
    side = "left" if x.share(chosen) > 0.6 else "right"
    marks = [Mark(chosen, y.low, f"chosen: {number(chosen)}", f"{side} low", "orange strong")]
    key = [Key("line", "blue", "mean score"), Key("area", "blue faint", "± one standard deviation over the folds")]
    return chart(x, y, shapes, says, "Score against C", marks=marks, key=key)
