"""An audit for the terminal: the verdict, what was measured, promises and laws beside it, and the code."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from slimline.auditing.records import Audit, Frequency, Kept, PairsKept, Promise
from slimline.auditing.verdict import judged_margin
from slimline.auditing.words import counted
from slimline.cli.narrow import FittedTable
from slimline.planning.advice import duration

_COLOURS = {"kept": "green", "shrunk": "yellow", "lost": "red"}
_CODE_WIDTH = 76
#: Stands where there is no number.
_NONE = "–"
#: A share above the first is written as the second, unless it is all.
_NEARLY_ALL, _MORE = 0.9995, ">99.9%"
#: Cosines cannot change by more.
_MOST_COSINE = 2.0
#: Least width of the names of numbers.
_NAMES = 14
#: Room around a section: above, right, below, left.
_ROOM = (0, 0, 0, 2)


def audit_view(audit: Audit, labels: str, standardised: bool = False) -> RenderableType:
    """Return an audit for the terminal.

    Parameters
    ----------
    audit : Audit
        What to show.
    labels : str
        Where the labels come from, in words.
    standardised : bool
        Whether the columns were standardised.

    Returns
    -------
    view : renderable
        For `rich`.
    """
    draws = counted(audit.repeats, "draw")
    parts: list[RenderableType] = [
        _verdict(audit),
        _heading("What was measured"),
        Padding(_known(audit, labels, standardised), _ROOM),
        _heading(f"Before, and after {draws}"),
        Padding(_numbers(audit), _ROOM),
        _heading(f"All pairs of points, after {draws}"),
        Padding(_pairs(audit), _ROOM),
        _heading(f"What theorems promise and laws foretell at r = {audit.n_components:,}, δ = {audit.delta:g}"),
        Padding(_promises(audit), _ROOM),
    ]
    if audit.brackets:
        parts += [_heading("What the embedding error makes certain"), Padding(_brackets(audit), _ROOM)]
    if audit.notes:
        parts += [_heading("Notes"), Padding(_points(audit.notes), _ROOM)]
    return Group(*parts)


def audit_code(opened: str, settings: dict[str, Any], standardised: bool, carries_labels: bool) -> str:
    """Return the Python that makes the same audit.

    Parameters
    ----------
    opened : str
        Expression that opens the data.
    settings : dict
        Parameters of `slimline.audit`; those that are None and have another default must not be there.
    standardised : bool
        Whether the columns are standardised.
    carries_labels : bool
        Whether the data carry the labels, or there are none.

    Returns
    -------
    code : str
        A few lines; the last one prints the audit.
    """
    view = '.standardised("mean", "std", "mean")' if standardised else ""
    given = ["X" if carries_labels else "X, y"]
    for name, value in settings.items():
        if name != "n_components" or value is not None:
            given.append(f'{name}="{value}"' if isinstance(value, str) else f"{name}={value!r}")
    call = f"found = audit({', '.join(given)})"
    if len(call) > _CODE_WIDTH:
        inside = fill(", ".join(given) + ",", _CODE_WIDTH, initial_indent="    ", subsequent_indent="    ")
        call = f"found = audit(\n{inside}\n)"
    call += "" if carries_labels else "  # y: the label of each row"
    return "\n".join(["from slimline import audit, open_matrix", "", f"X = {opened}{view}", call, "print(found)"])


def amount(value: float) -> str:
    """Return a number in three digits or so: whole from 1,000 on, 0 for 0."""
    if 1_000 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    shown = f"{value:.3g}"
    return "0" if shown in ("0", "-0") else shown


def percent(share: float) -> str:
    """Return a share in percent, 100 and 0 only where it is all or nothing."""
    if _NEARLY_ALL < share < 1.0:
        return _MORE
    if 0.0 < share < 0.0005:
        return "<0.1%"
    return f"{100.0 * share:.3g}%"


def _heading(text: str) -> RenderableType:
    return Padding(Rule(Text(text, style="bold magenta"), align="left", style="magenta"), (1, 0, 1, 0))


def _verdict(audit: Audit) -> Panel:
    colour = _COLOURS[audit.outcome]
    word = Text.assemble((f" {audit.outcome.upper()} ", f"bold reverse {colour}"), ("  " + _projection(audit), "bold"))
    body = Group(word, Text(""), _points(audit.verdict))
    return Panel(body, title="Verdict", title_align="left", border_style=colour, padding=(1, 2))


def _projection(audit: Audit) -> str:
    features, components = counted(audit.n_features, "feature"), counted(audit.n_components, "dimension")
    return f"{audit.family} projection of {features} to {components}"


def _points(sentences: Sequence[str], style: str = "") -> Table:
    table = Table.grid(padding=(0, 1))
    for sentence in sentences:
        table.add_row("•", Text(sentence.replace(" %", "%")), style=style)  # no line ends between a number and its sign
    return table


def _known(audit: Audit, labels: str, standardised: bool) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    scaled = ", standardised" if standardised else ""
    sizes = f"{counted(audit.n_samples, 'sample')} × {counted(audit.n_features, 'feature')}{scaled}"
    which = f"{audit.n_rows:,} of them measured, which span" if audit.n_rows < audit.n_samples else "spanning"
    table.add_row("data", Text(f"{audit.data}: {sizes}, {which} {counted(audit.rank, 'dimension')}"))
    table.add_row("classes" if audit.n_classes else "labels", Text(_classes(audit, labels)))
    table.add_row("kept means", _meaning(audit))
    table.add_row("this audit", f"{audit.passes} passes over the data; {duration(audit.seconds)}")
    return table


def _meaning(audit: Audit) -> str:
    judged = judged_margin(audit.margins)
    if judged is not None:
        least = f"{1.0 - audit.eps:g} of what it was"
        return f"the classes stay separable in every draw, and the median {judged.name} is at least {least}"
    return f"95% of the squared distances stay within 1 ± {audit.eps:g} of what they were, in the median draw"


def _classes(audit: Audit, labels: str) -> str:
    return f"{audit.n_classes} ({labels})" if audit.n_classes else labels


def _table(*columns: tuple[str, str]) -> Table:
    """Return a table whose first column takes what room is left, and goes on in the next line."""
    table = FittedTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for k, (name, style) in enumerate(columns):
        least = None if k else _NAMES
        table.add_column(name, justify="right" if k else "left", style=style, no_wrap=k > 0, min_width=least)
    return table


def _numbers(audit: Audit) -> RenderableType:
    within = f"in\n1 ± {audit.eps:g}"
    table = _table(
        ("", ""), ("\nbefore", "bold"), ("after:\nleast", ""), ("\nmedian", "bold"), ("\nmost", ""),
        ("median\nratio", "cyan"), (within, ""), ("chance,\n95% sure", "dim"),
    )  # fmt: skip
    for kept in (*audit.margins, audit.ball, audit.embedding):
        ratio = float(np.median(kept.ratios))
        table.add_row(
            kept.name,
            amount(kept.before),
            *(amount(value) for value in _least_median_most(kept.after)),
            f"{ratio:.2f}" if np.isfinite(ratio) else _NONE,
            *_held(kept.within),
        )
    said = f"\nIn 1 ± {audit.eps:g}: draws that left it within {percent(audit.eps)} of what it was; for the embedding "
    said += f"error, at most {audit.eps:g}. Chance: Clopper and Pearson's interval."
    return Group(table, Text(said, style="dim"))


def _pairs(audit: Audit) -> RenderableType:
    if not any(pairs.n_pairs for pairs in audit.pairs):
        return Text("There is no pair of different points.")
    band = f"±{audit.eps:g}"
    table = _table(
        ("", ""), (f"share in\n{band}", "bold"), ("exact\nlaw", "cyan"), ("largest:\nleast", ""), ("\nmedian", ""),
        ("\nmost", ""), (f"all in\n{band}", ""), ("chance,\n95% sure", "dim"),
    )  # fmt: skip
    for pairs in audit.pairs:
        if pairs.n_pairs:
            table.add_row(pairs.name, *_of_pairs(pairs))
    formulas = Table.grid(padding=(0, 2))
    for pairs in audit.pairs:
        formulas.add_row(pairs.name, Text(pairs.about), style="dim")
    return Group(table, Text(f"\nChanges that are counted, of {_counted(audit.pairs)} pairs:", style="dim"), formulas)


def _of_pairs(pairs: PairsKept) -> list[Any]:
    share = float(np.mean(pairs.share_within))
    law = _NONE if pairs.predicted is None else percent(pairs.predicted)
    most = [amount(value) for value in _least_median_most(pairs.largest)]
    return [percent(share), law, *most, *_held(pairs.all_within)]


def _counted(pairs: Sequence[PairsKept]) -> str:
    counts = {one.n_pairs for one in pairs}
    return " to ".join(f"{count:,}" for count in sorted({min(counts), max(counts)}))


def _promises(audit: Audit) -> RenderableType:
    table = _table(
        ("about", ""), ("\npromised", "bold"), ("with a\nchance", ""), ("by the\nlaw", "cyan"), ("it\nheld", ""),
        ("chance,\n95% sure", "dim"),
    )  # fmt: skip
    spoken = [(name, promise) for name, promise in _all_promises(audit) if not _silence(name, promise, audit)]
    for name, promise in spoken:
        chance = f"≥{percent(1.0 - promise.delta)}" if promise.kind == "theorem" else _NONE
        about = f"{name}, {promise.bound}{'*' if promise.note else ''}"
        table.add_row(about, _ends(promise), chance, _foretold(promise), *_held(promise.frequency))
    said = []
    if any(promise.predicted is not None for _, promise in spoken):
        said.append("By the law: the exact law of each point, added up over the points: a chance of at least that.")
    said += [f"* {note}." for note in sorted({promise.note for _, promise in spoken if promise.note})]
    if not _all_promises(audit):
        said.append("They speak of none of these numbers.")
    silent: dict[str, list[str]] = {}
    for name, promise in _all_promises(audit):
        if words := _silence(name, promise, audit):
            silent.setdefault(f"{promise.bound} {words}", []).append(name)
    shown: list[RenderableType] = [table, Text("")] if spoken else []
    shown += [Text(words, style="dim") for words in said]
    return Group(*shown, _points([f"{words}: {'; '.join(names)}." for words, names in silent.items()], "dim"))


def _silence(name: str, promise: Promise, audit: Audit) -> str:
    """Return how a theorem says nothing at this dimension; "" where it says something."""
    if promise.frequency is None:
        return promise.note
    with_ = f"with {counted(audit.n_components, 'dimension')}"
    if promise.kind == "theorem" and promise.high is None and promise.low is not None and promise.low <= 0.0:
        return f"promises no margin above 0 {with_}"
    if name == "change of angles" and promise.high is not None and promise.high >= _MOST_COSINE:
        return f"promises nothing {with_}"
    return ""


def _foretold(promise: Promise) -> Text:
    if promise.predicted is None:
        return Text(_NONE)
    share = 1.0 - promise.predicted
    if share > _NEARLY_ALL:
        return Text(_MORE)
    return Text(f"≥{percent(max(share, 0.0))}", style="" if share > 0.0 else "dim")


def _all_promises(audit: Audit) -> list[tuple[str, Promise]]:
    numbers: tuple[Kept | PairsKept, ...] = (*audit.margins, audit.ball, audit.embedding)
    found = [(kept.name, promise) for kept in numbers for promise in kept.promises]
    return found + [(f"change of {pairs.name}", promise) for pairs in audit.pairs for promise in pairs.promises]


def _ends(promise: Promise) -> Text:
    low, high = promise.low, promise.high
    if low is not None and high is not None:
        return Text(f"{amount(low)} to {amount(high)}")
    if low is not None:
        return Text(f"≥ {amount(low)}" if low else "> 0")
    return Text(f"≤ {amount(high)}") if high is not None else Text(_NONE, style="dim")


def _brackets(audit: Audit) -> RenderableType:
    table = _table(("about", ""), ("held", ""), ("lower end\nabove 0", ""), ("nearest to\nan end", ""))
    for check in audit.brackets:
        held = Text(f"{check.held} of {check.draws}", style="green" if check.held == check.draws else "bold red")
        about = f"{check.about}, {check.bound}"
        table.add_row(about, held, f"{check.ends_used} of {check.draws}", f"{check.nearest:.2f}")
    said = "\nSquared, each lies within 1 ± the embedding error of that draw; 1 is at an end, above 1 beyond it."
    return Group(table, Text(said, style="dim"))


def _held(found: Frequency | None) -> tuple[str, str]:
    if found is None:
        return _NONE, _NONE
    return f"{found.held} of {found.draws}", f"{100.0 * found.low:.0f}–{100.0 * found.high:.0f}%"


def _least_median_most(values: Sequence[float]) -> tuple[float, float, float]:
    return min(values), float(np.median(values)), max(values)
