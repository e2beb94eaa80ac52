"""How far a pass is: told to a function, or shown as a bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slimline.data.keeping import PassKeeper


@dataclass(frozen=True, slots=True)
class PassProgress:
    """Where a pass over the data stands.

    Parameters
    ----------
    number : int
        Number of the pass, from 1.
    operation : str
        What it computes: "sketch", "dot", "tdot", …
    fraction : float
        How much of the data has gone by, 0 to 1.
    source : str
        Name of the data.
    """

    number: int
    operation: str
    fraction: float
    source: str


#: Is told after every block.
Listener = Callable[[PassProgress], None]


class PassCounter:
    """How many times the data went by; the views of a matrix share it."""

    def __init__(self) -> None:
        self.count = 0
        self.listener: Listener | None = None
        self.keeper: PassKeeper | None = None

    def __getstate__(self) -> dict[str, Any]:
        # who listens stays here: another process has a screen of its own, and few functions can be sent to it
        return {"count": self.count, "listener": None, "keeper": None}


class ProgressBar:
    """A listener that draws one bar a pass on the terminal (standard error), and nothing where there is none."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._number = 0

    def __call__(self, now: PassProgress) -> None:
        """Draw the bar; at the end of a pass it stays on the screen."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        if self._bar is None or now.number != self._number:
            self.close()
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            console = Console(stderr=True)
            self._bar = Progress(*columns, console=console, disable=not console.is_terminal)
            self._bar.start()
            self._task = self._bar.add_task(f"pass {now.number}: {now.operation} of {now.source}", total=1.0)
            self._number = now.number
        self._bar.update(self._task, completed=now.fraction)
        if now.fraction >= 1.0:
            self.close()

    def close(self) -> None:
        """Take the bar off; a pass that was interrupted leaves it standing until then."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
