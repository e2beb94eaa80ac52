"""The live display of a fit: what is being done, how fast the data go by, how the certified error falls."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

    from slimline.data import PassProgress
    from slimline.recovery import Step

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
_SHOWN = 4


def seconds_left(steps: Sequence[tuple[float, float]], tol: float) -> float | None:
    """Guess how long it takes until an error is small enough, from how it fell.

    Parameters
    ----------
    steps : sequence of (float, float)
        Seconds and error after each step.
    tol : float
        Error to stop at.

    Returns
    -------
    seconds : float or None
        None where it is too early to say.
    """
    known = [(seconds, error) for seconds, error in steps if 0.0 < error < math.inf]
    if not known or known[-1][1] <= tol:
        return 0.0 if known else None
    if len(known) < 2 or known[-1][1] >= known[-2][1]:
        return None
    (before, larger), (now, smaller) = known[-2:]
    return (now - before) * math.log(smaller / tol) / math.log(larger / smaller)


class FitDisplay:
    """Shows where a fit stands; on a terminal it moves, elsewhere there is a line a step.

    Parameters
    ----------
    console : Console
        Where it is drawn.
    name : str
        Of the data.
    nbytes : int or None
        Bytes that a pass reads, where that is known.
    tol : float
        Certified error that was asked for.
    """

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
        """Show what is done from now on.

        Parameters
        ----------
        words : str
            In words.
        """
        self._phase, self._pass, self._fraction = words, "", 0.0
        if self._live is None:
            self._console.print(f"{self._elapsed():6.1f} s  {words}", soft_wrap=True)

    def say(self, words: str) -> None:
        """Print a line that stays.

        Parameters
        ----------
        words : str
            In words.
        """
        self._console.print(words, soft_wrap=True, markup=False)

    def on_pass(self, now: PassProgress) -> None:
        """Show how far a pass is.

        Parameters
        ----------
        now : PassProgress
            Told by the data.
        """
        if now.number != self._number and now.fraction < 1.0:
            self._number, self._pass_start = now.number, time.monotonic()
        self._pass, self._fraction = _PASSES.get(now.operation, now.operation), now.fraction
        seconds = time.monotonic() - self._pass_start
        if self._nbytes is not None and now.fraction > 0.0 and seconds > 0.05:
            self._speed = self._nbytes * now.fraction / seconds

    def on_step(self, step: Step) -> None:
        """Show what is proved after a step.

        Parameters
        ----------
        step : Step
            Told by the classifier.
        """
        if step.passes < self._passes:  # of the next fit
            self._steps.clear()
        self._passes = step.passes
        self._steps.append((self._elapsed(), max(step.relative_error)))
        if self._live is None:
            proved = _percent(self._steps[-1][1])
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

        head = Text.assemble((f"{self._phase} ", "bold"), f"{self._name}   ", (_clock(self._elapsed()), "dim"))
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
            return f"certified error: not yet   (asked: {_percent(self._tol)})"
        shown = [_percent(error) for _, error in self._steps[-_SHOWN:]]
        trail = " → ".join(shown if len(shown) == len(self._steps) else ["…", *shown])
        left = seconds_left(self._steps, self._tol)
        soon = "" if left is None else f"   about {_clock(left)} left" if left > 0.0 else "   reached"
        return f"certified error: {trail}   (asked: {_percent(self._tol)}){soon}"


def _percent(part: float) -> str:
    return f"{100.0 * part:.2g} %" if part < math.inf else "none yet"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}" if whole >= 60 else f"{whole} s"
