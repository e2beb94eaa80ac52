"""An audit as plain text."""

from __future__ import annotations

import numpy as np

from slimline.auditing.records import Audit, Kept
from slimline.auditing.words import counted

_OUTCOMES = {"kept": "KEPT", "shrunk": "SHRUNK", "lost": "LOST"}


def audit_text(audit: Audit) -> str:
    """Return an audit as lines of text.

    Parameters
    ----------
    audit : Audit
        What was found.

    Returns
    -------
    text : str
        Verdict first, then a table, then notes.
    """
    of = f"{audit.n_rows:,} of " if audit.n_rows < audit.n_samples else ""
    rows = of + counted(audit.n_samples, "row")
    head = (
        f"{audit.data}: {rows} × {counted(audit.n_features, 'feature')}, {audit.family} projection to "
        f"{counted(audit.n_components, 'dimension')}, {counted(audit.repeats, 'draw')}"
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


def _line(kept: Kept) -> str:
    within = "" if kept.within is None else f"{kept.within.held:>7} of {kept.within.draws:<3}"
    return f"{kept.name:36}{kept.before:12.4g}{_numbers(kept.after)}{within}"


def _numbers(values: tuple[float, ...]) -> str:
    return f"{min(values):14.4g}{float(np.median(values)):12.4g}{max(values):12.4g}"
