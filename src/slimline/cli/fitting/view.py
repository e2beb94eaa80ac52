"""The short summary that `slimline fit` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from slimline.report import FitReport
    from slimline.report.fit_record import Feature

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

    lines = Table.grid(padding=(0, 2))
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column()
    for name, words in _lines(report):
        lines.add_row(name, Text(words))
    parts: list[RenderableType] = [Text(_heading(report), "bold"), lines, _features(report)]
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
    proved = f"{100 * error:.2g} %" if error < math.inf else "none"
    found.append(("certified error", f"{proved} (asked: {100 * report.model.tol:.2g} %), C = {report.model.C:.3g}"))
    k = min(_TOP, report.data.n_features)
    found.append(("top features", f"{len(report.proved_among(k))} proved to be among the {k} largest"))
    cost = report.cost
    memory = "" if cost.peak_bytes is None else f", {cost.peak_bytes / 1e6:,.0f} MB of memory"
    again = ", going on from an earlier run" if cost.resumed else ""
    fit = sum(phase.passes for phase in cost.phases if phase.name == "fitting")
    found.append(("took", f"{cost.seconds:.1f} s, {cost.passes} passes ({fit} of the fit){memory}{again}"))
    return found


def _features(report: FitReport) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), header_style="dim")
    for name in ("", "feature", "weight", "from", "to", "place", "speaks for"):
        table.add_column(name, justify="left" if name in ("feature", "speaks for") else "right", overflow="fold")
    for place, feature in enumerate(report.features[:_SHOWN], 1):
        numbers = (f"{value:.4g}" for value in (feature.weight, feature.lower, feature.upper))
        best, worst = feature.best_rank, feature.worst_rank
        ranks = f"{best:,}" if best == worst else f"{best:,}–{worst:,}"
        table.add_row(str(place), _name(feature), *numbers, ranks, feature.label)
    return table


def _name(feature: Feature) -> str:
    from rich.markup import escape

    where = f" ({feature.chromosome}:{feature.position:,} {feature.allele1}/{feature.allele2})"
    return escape(feature.name if feature.chromosome is None else feature.name + where)


def _percent(part: float) -> str:
    return f"{100.0 * part:.1f} %"
