"""Numbers and results of an audit in words."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_UP, Context

import numpy as np
from numpy.typing import NDArray

from slimline._base.text import counted, percent
from slimline.auditing._records import Audit, Frequency, Preservation

_OUTCOMES = {"kept": "KEPT", "shrunk": "SHRUNK", "lost": "LOST"}


def audit_text(audit: Audit) -> str:
    """Return an audit as lines of text."""
    of = f"{audit.n_rows:,} of " if audit.n_rows < audit.n_samples else ""
    rows = of + counted(audit.n_samples, "row")
    head = (
        f"{audit.data}: {rows} × {counted(audit.n_features, 'feature')}, {audit.family} projection to "
        f"{counted(audit.n_components, 'component')}, {counted(audit.repeats, 'draw')}"
    )
    lines = [head, "", f"Verdict: {_OUTCOMES[audit.outcome]}", *(f"- {sentence}" for sentence in audit.verdict), ""]
    within = f"in 1 ± {audit.eps:g}"
    lines.append(f"{'':36}{'before':>12}{'after, least':>14}{'median':>12}{'most':>12}{within:>14}")
    lines += [_line(kept) for kept in (*audit.margins, audit.ball, audit.embedding)]
    for pairs in audit.pairs:
        name, held = f"largest change of {pairs.name}", pairs.all_within
        lines.append(f"{name:36}{'':12}{_numbers(pairs.largest)}{held.held:>7} of {held.draws:<3}")
    if audit.notes:
        lines += ["", *(f"Note: {note}" for note in audit.notes)]
    return "\n".join(line.rstrip() for line in lines)


def _line(kept: Preservation) -> str:
    within = "" if kept.within is None else f"{kept.within.held:>7} of {kept.within.draws:<3}"
    return f"{kept.name:36}{kept.before:12.4g}{_numbers(kept.after)}{within}"


def _numbers(values: tuple[float, ...]) -> str:
    return f"{min(values):14.4g}{float(np.median(values)):12.4g}{max(values):12.4g}"


def times(found: Frequency) -> str:
    """Return how often something held, with the interval of its chance: to go after "in"."""
    share = f"a chance of {percent(found.low)} to {percent(found.high)}, at 95 % confidence"
    if found.draws == 1:
        return f"the one draw ({share})" if found.held else f"no draw (of one; {share})"
    if not found.held:
        return f"none of {found.draws} draws ({share})"
    every = f"all {found.draws}" if found.held == found.draws else f"{found.held} of {found.draws}"
    return f"{every} draws ({share})"


def only_times(found: Frequency) -> str:
    """Return the same, with "only" where it was not always."""
    return f"only {times(found)}" if 0 < found.held < found.draws else times(found)


def at_most(number: float) -> str:
    """Return a number in one digit, rounded up: what is ruled out above the number is ruled out above that."""
    return f"{float(Context(prec=1, rounding=ROUND_UP).create_decimal_from_float(number)):.3g}"


def values(numbers: Sequence[float]) -> str:
    """Return the least and the most of some numbers, or the one that they are."""
    low, high = min(numbers), max(numbers)
    return f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g}"


def ratios(numbers: NDArray[np.float64]) -> str:
    """Return the least, the most and the median of some ratios, in percent."""
    low, high, middle = float(numbers.min()), float(numbers.max()), float(np.median(numbers))
    least, most = f"{100.0 * low:.0f} %", f"{100.0 * high:.0f} %"
    return least if least == most else f"{least} to {most} (median {100.0 * middle:.0f} %)"
