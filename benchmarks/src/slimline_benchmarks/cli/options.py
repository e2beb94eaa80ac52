"""Options that all suites have, and the choice of cases."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slimline_benchmarks import Case

#: `--case NAME`
Cases = Annotated[
    list[str] | None,
    typer.Option("--case", metavar="NAME", help="Only these cases (* and ? allowed); may be repeated."),
]
Threads = Annotated[str, typer.Option(metavar="N|all", help="Threads that everyone is allowed.")]
Repeats = Annotated[int, typer.Option(min=1, help="Timed runs of each contender, at least; the best counts.")]
Budget = Annotated[float, typer.Option(min=0.001, help="Seconds that one contender may take in one case.")]
Quick = Annotated[bool, typer.Option("--quick", help="Small sizes, for a quick look; no targets.")]
Json = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write machine, settings and all times as JSON; - for stdout.")
]
List = Annotated[bool, typer.Option("--list", help="Show the cases and stop.")]


def chosen(cases: Sequence[Case], patterns: Sequence[str]) -> list[Case]:
    """Return the cases whose names match one of the patterns; all of them without patterns.

    Parameters
    ----------
    cases : sequence of Case
        All there are.
    patterns : sequence of str
        Names, with * and ? as in a shell.

    Returns
    -------
    cases : list of Case
        Those that match, in their own order.
    """
    for pattern in patterns:
        if not any(fnmatchcase(case.name, pattern) for case in cases):
            raise InvalidParameterError(
                f"--case {pattern}: there is none. Choose from {', '.join(c.name for c in cases)}."
            )
    return [case for case in cases if not patterns or any(fnmatchcase(case.name, pattern) for pattern in patterns)]
