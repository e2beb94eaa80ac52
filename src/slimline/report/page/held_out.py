"""Section: how good on rows that the model never saw."""

from __future__ import annotations

from slimline.report.fit_record import FitReport
from slimline.report.page.confusion import confusion_part
from slimline.report.page.curves import curves_part
from slimline.report.page.html import joined
from slimline.report.page.proved import proved
from slimline.report.page.section import Section, paragraph
from slimline.report.page.summary import accuracy_words
from slimline.report.page.words import counted, percent


def held_out_section(report: FitReport) -> Section | None:
    """Return what was measured on rows that were held out.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    section : Section or None
        None where none were.
    """
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
