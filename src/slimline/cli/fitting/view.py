"""The short summary that `slimline fit` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from slimline.cli.rounding import rounded_down, rounded_up

if TYPE_CHECKING:
    from rich.console import RenderableType

    from slimline.report import FitReport
    from slimline.report.fit_facts import Feature

#: Features whose places are counted, and that are shown.
_TOP, _SHOWN = 20, 5
_PROVED = "Proved: equal to what training on everything, to the end, would give; not that it causes anything."


def fit_view(report: FitReport) -> RenderableType:
    """Return the summary.

    Parameters
    ----------
    report : FitReport
        What there is to tell.

    Returns
    -------
    view : RenderableType
        For a console.
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from slimline.report.held_out import WHAT_MAY_HELP, no_better_words

    lines = Table.grid(padding=(0, 2))
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column()
    for name, words in _lines(report):
        lines.add_row(name, Text(words))
    parts: list[RenderableType] = [Text(_heading(report), "bold"), lines, _features(report)]
    if report.held_out is not None and report.held_out.worse_than_majority:
        parts.append(Text(f"Warning: {no_better_words(report.held_out)} {WHAT_MAY_HELP}", "bold yellow"))
    parts += [Text(f"Note: {note}", "yellow") for note in report.notes]
    parts.append(Text(_PROVED, "dim"))
    return Group(*parts)


def _heading(report: FitReport) -> str:
    data = report.data
    said = f"{data.name}: {data.n_rows:,} rows × {data.n_features:,} columns, {len(data.classes)} classes"
    return f"{said}; {data.left_out:,} rows without a label left out" if data.left_out else said


def _lines(report: FitReport) -> list[tuple[str, str]]:
    held, error = report.held_out, report.relative_error
    found = []
    if held is not None:
        right = f"{_percent(held.accuracy)} of {held.n_rows:,} right ({_percent(held.low)} to {_percent(held.high)})"
        always = f"always {held.majority_label!r}: {_percent(held.majority_rate)}"
        found.append(("held-out rows", f"{right}; {always}; {_percent(held.proved)} of the labels proved"))
        if held.trained_rows < report.data.n_rows:
            found.append(("trained on", f"{held.trained_rows:,} rows for that measurement, then on all of them"))
    proved = f"{rounded_up(100 * error, 2)} %" if error < math.inf else "none"
    found.append(("certified error", f"{proved} (asked: {100 * report.model.tol:.2g} %), C = {report.model.C:.3g}"))
    k = min(_TOP, report.data.n_features)
    found.append(("top features", f"{len(report.proved_among(k))} proved to be among the {k} largest"))
    cost = report.cost
    memory = "" if cost.peak_bytes is None else f", {cost.peak_bytes / 1e6:,.0f} MB of memory"
    again = ", going on from an earlier run" if cost.resumed else ""
    whole = f"{cost.seconds:.1f} s and {cost.passes} passes"
    took = (
        whole if cost.fit is None else f"{cost.fit.seconds:.1f} s and {cost.fit.passes} passes; with the report {whole}"
    )
    found.append(("took", f"{took}{memory}{again}"))
    return found


def _features(report: FitReport) -> RenderableType:
    from rich.markup import escape
    from rich.table import Table

    from slimline.cli.narrow import UNBROKEN

    several = len(report.data.classes) > 2
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    rows = [_cells(feature, several) for feature in report.features[:_SHOWN]]
    table.add_column("feature", min_width=min(max(len(row[0]) for row in rows), UNBROKEN))
    for name in ("weight", "exact weight, proved", "place"):  # in a narrow terminal the names give way
        table.add_column(name, justify="right", no_wrap=True)
    if several:
        table.add_column("class")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    return table


def _cells(feature: Feature, several: bool) -> list[str]:
    best, worst = feature.best_rank, feature.worst_rank
    places = f"{best:,}" if best == worst else f"{best:,}–{worst:,}"
    between = f"{rounded_down(feature.lower, 4)} to {rounded_up(feature.upper, 4)}"
    return [_name(feature), f"{feature.weight:.4g}", between, places, *([feature.label] if several else [])]


def _name(feature: Feature) -> str:
    if feature.chromosome is None:
        return feature.name
    return f"{feature.name} ({feature.chromosome}:{feature.position:,} {feature.allele1}/{feature.allele2})"


def _percent(part: float) -> str:
    return f"{100.0 * part:.1f} %"
