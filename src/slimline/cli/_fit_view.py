"""Progress and summary of a fit in the terminal."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from slimline._base.text import clock, rounded_down, rounded_up

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

    from slimline.data import PassProgress
    from slimline.learning import Step
    from slimline.report import FitReport
    from slimline.report._held_out_records import HeldOutTarget
    from slimline.report._records import Feature

#: Features whose places are counted, and that are shown.
_TOP, _SHOWN = 20, 5
_PROVED = "Proved: equal to what training on everything, to the end, would give; not that it causes anything."


def fit_view(report: FitReport) -> RenderableType:
    """Return the summary."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from slimline.report._held_out import WHAT_MAY_HELP, no_better_words
    from slimline.report._held_out_targets import WHAT_MAY_HELP as WHAT_MAY_HELP_TARGETS
    from slimline.report._held_out_targets import no_better_target_words

    lines = Table.grid(padding=(0, 2))
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column()
    for name, words in _lines(report):
        lines.add_row(name, Text(words))
    parts: list[RenderableType] = [Text(_heading(report), "bold"), lines, _features(report)]
    if report.covariate_effects:
        parts.append(_effects(report))
    if report.held_out is not None and report.held_out.worse_than_majority:
        parts.append(Text(f"Warning: {no_better_words(report.held_out)} {WHAT_MAY_HELP}", "bold yellow"))
    worse = [held for held in report.held_out_targets if held.worse_than_baseline]
    if worse:
        parts.append(Text(f"Warning: {no_better_target_words(worse)} {WHAT_MAY_HELP_TARGETS}", "bold yellow"))
    parts += [Text(f"Note: {note}", "yellow") for note in report.notes]
    parts.append(Text(_PROVED, "dim"))
    return Group(*parts)


def _heading(report: FitReport) -> str:
    data = report.data
    learnt = f"{len(data.classes)} classes"
    if data.targets:
        learnt = f"target {data.targets[0].name}".strip() if len(data.targets) == 1 else f"{len(data.targets)} targets"
    said = f"{data.name}: {data.n_rows:,} rows × {data.n_features:,} columns, {learnt}"
    without = "target" if data.targets else "label"
    return f"{said}; {data.left_out:,} rows without a {without} left out" if data.left_out else said


def _lines(report: FitReport) -> list[tuple[str, str]]:
    held, error = report.held_out, report.relative_error
    found = []
    if held is not None:
        right = f"{_percent(held.accuracy)} of {held.n_rows:,} right ({_percent(held.low)} to {_percent(held.high)})"
        always = f"always {held.majority_label!r}: {_percent(held.majority_rate)}"
        found.append(("held-out rows", f"{right}; {always}; {_percent(held.proved)} of the labels proved"))
        found += [("calibration error", words) for words in _calibration(report)]
    targets = report.held_out_targets
    found += [line for one in targets[:_SHOWN] for line in _target_lines(one, len(targets) > 1)]
    trained = [one.trained_rows for one in (held, *targets) if one is not None]
    if trained and trained[0] < report.data.n_rows:
        found.append(("trained on", f"{trained[0]:,} rows for that measurement, then on all of them"))
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


def _calibration(report: FitReport) -> list[str]:
    """Return the calibration error of two classes, or the largest of several."""
    if report.held_out is None or not report.held_out.calibration:
        return []
    worst = max(report.held_out.calibration, key=lambda one: one.error)
    of = f" (of {worst.label}, the largest)" if len(report.held_out.calibration) > 1 else ""
    at = "" if report.prevalence is None else f", at a prevalence of {_percent(report.prevalence.prevalence)}"
    return [f"{_percent(worst.error)}{of}{at}"]


def _target_lines(held: HeldOutTarget, several: bool) -> list[tuple[str, str]]:
    name = held.name if several else "held-out rows"
    if held.coverage is not None:
        share = f"{_percent(held.coverage.share)} of {held.n_rows:,} at or below the quantile"
        between = f"{_percent(held.coverage.low)} to {_percent(held.coverage.high)}"
        loss = f"mean quantile loss {held.loss:.4g}, {held.baseline}: {held.baseline_loss:.4g}"
        return [(name, f"{share} ({between}; asked: {_percent(held.coverage.quantile)}); {loss}")]
    lines = []
    for what, score in (("R²", held.r2), ("correlation", held.correlation)):
        if score is not None:
            ends = f"{rounded_down(score.lower, 4)} to {rounded_up(score.upper, 4)}"
            lines.append(f"{what} {score.value:.3g} (exact: {ends}, proved)")
    if held.r2 is not None and held.baseline_r2 is not None:
        lines[0] += f" on {held.n_rows:,} rows; {held.baseline}: {held.baseline_r2:.3g}"
    null = held.baseline_mean_absolute_error
    lines.append(f"mean absolute error {held.mean_absolute_error:.4g}; {held.baseline}: {null:.4g}")
    return [(name if k == 0 else "", words) for k, words in enumerate(lines)]


def _effects(report: FitReport) -> RenderableType:
    """Return the first effects; the page has all."""
    from rich.markup import escape
    from rich.table import Table

    several = len({effect.label for effect in report.effects}) > 1
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("covariate")
    for name in ("effect", "exact effect, proved"):
        table.add_column(name, justify="right", no_wrap=True)
    if several:
        table.add_column("target" if report.data.targets else "class")
    for effect in report.covariate_effects[:_SHOWN]:
        between = f"{rounded_down(effect.lower, 4)} to {rounded_up(effect.upper, 4)}" if effect.known else "left out"
        cells = [effect.name, f"{effect.effect:.4g}" if effect.known else "", between]
        table.add_row(*(escape(cell) for cell in [*cells, *([effect.label] if several else [])]))
    return table


def _features(report: FitReport) -> RenderableType:
    from rich.markup import escape
    from rich.table import Table

    from slimline.cli._output import UNBROKEN

    several = len(report.model.relative_error) > 1
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    rows = [_cells(feature, several) for feature in report.features[:_SHOWN]]
    table.add_column("feature", min_width=min(max(len(row[0]) for row in rows), UNBROKEN))
    for name in ("weight", "exact weight, proved", "place"):  # in a narrow terminal the names give way
        table.add_column(name, justify="right", no_wrap=True)
    if several:
        table.add_column("target" if report.data.targets else "class")
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


#: What a pass is for, in words, by the operation that it computes.
_PASSES = {
    "sketch": "projecting",
    "gram": "products of all rows",
    "normal": "weights and their proof",
    "tdot": "weights and their proof",
    "dot": "values of all rows",
    "column_stats": "means and deviations",
    "row_norms": "lengths of the rows",
    "copy": "reading",
}
#: Errors that are shown, the latest last.
_SHOWN_STEPS = 4


def seconds_left(steps: Sequence[tuple[float, float]], tol: float) -> float | None:
    """Guess how long it takes until an error is small enough, from how it fell."""
    known = [(seconds, error) for seconds, error in steps if 0.0 < error < math.inf]
    if not known or known[-1][1] <= tol:
        return 0.0 if known else None
    if len(known) < 2 or known[-1][1] >= known[-2][1]:
        return None
    (before, larger), (now, smaller) = known[-2:]
    return (now - before) * math.log(smaller / tol) / math.log(larger / smaller)


class FitDisplay:
    """Shows where a fit stands; on a terminal it moves, elsewhere there is a line a step."""

    def __init__(self, console: Console, name: str, nbytes: int | None, tol: float) -> None:
        self._console, self._name, self._nbytes, self._tol = console, name, nbytes, tol
        self._start = time.monotonic()
        self._phase, self._pass, self._fraction, self._number = "opening", "", 0.0, 0
        self._pass_start = self._start
        self._speed: float | None = None
        self._steps: list[tuple[float, float]] = []
        self._passes = 0
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            from rich.live import Live

            self._live = Live(get_renderable=self._drawn, console=self._console, transient=True, refresh_per_second=8)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def phase(self, words: str) -> None:
        """Show what is done from now on."""
        self._phase, self._pass, self._fraction = words, "", 0.0
        if self._live is None:
            self._console.print(f"{self._elapsed():6.1f} s  {words}", soft_wrap=True)

    def say(self, words: str) -> None:
        """Print a line that stays."""
        self._console.print(words, soft_wrap=True, markup=False)

    def on_pass(self, now: PassProgress) -> None:
        """Show how far a pass is."""
        if now.number != self._number and now.fraction < 1.0:
            self._number, self._pass_start = now.number, time.monotonic()
        self._pass, self._fraction = _PASSES.get(now.operation, now.operation), now.fraction
        seconds = time.monotonic() - self._pass_start
        if self._nbytes is not None and now.fraction > 0.0 and seconds > 0.05:
            self._speed = self._nbytes * now.fraction / seconds

    def on_step(self, step: Step) -> None:
        """Show what is proved after a step."""
        if step.passes < self._passes:  # of the next fit
            self._steps.clear()
        self._passes = step.passes
        self._steps.append((self._elapsed(), max(step.relative_error)))
        if self._live is None:
            proved = _short_percent(self._steps[-1][1])
            self._console.print(
                f"{self._elapsed():6.1f} s  {step.passes} passes: certified error {proved}", soft_wrap=True
            )

    def _elapsed(self) -> float:
        return time.monotonic() - self._start

    def _drawn(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        head = Text.assemble((f"{self._phase} ", "bold"), f"{self._name}   ", (clock(self._elapsed()), "dim"))
        row = Table.grid(padding=(0, 2))
        at_work = self._fraction if self._fraction < 1.0 and self._pass else None
        if at_work is None:
            row.add_row(Text("  between two passes" if self._steps or self._number else "  reading names", "dim"))
        else:
            speed = "" if self._speed is None else f"{self._speed / 1e9:.2f} GB/s"
            bar = ProgressBar(total=1.0, completed=at_work, width=24)
            row.add_row(f"  pass {self._number}: {self._pass}", bar, f"{at_work:4.0%}", speed)
        return Group(head, row, Text(f"  {self._errors()}"))

    def _errors(self) -> str:
        if not self._steps:
            return f"certified error: not yet   (asked: {_short_percent(self._tol)})"
        shown = [_short_percent(error) for _, error in self._steps[-_SHOWN_STEPS:]]
        trail = " → ".join(shown if len(shown) == len(self._steps) else ["…", *shown])
        left = seconds_left(self._steps, self._tol)
        soon = "" if left is None else f"   about {clock(left)} left" if left > 0.0 else "   reached"
        return f"certified error: {trail}   (asked: {_short_percent(self._tol)}){soon}"


def _short_percent(part: float) -> str:
    return f"{100.0 * part:.2g} %" if part < math.inf else "none yet"
