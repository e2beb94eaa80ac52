"""`slimline audit`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from slimline._base.text import amount, counted, duration, short_percent
from slimline.auditing._records import Audit, Frequency, PairsKept, Preservation, Promise
from slimline.auditing._verdict import judged_margin
from slimline.cli import _options as options
from slimline.cli._output import FittedTable
from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from slimline.cli._labels import Labels
    from slimline.cli._options import DataFileOptions

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
    """Return an audit for the terminal."""
    draws = counted(audit.repeats, "draw")
    parts: list[RenderableType] = [
        _verdict(audit),
        _heading("Data and settings"),
        Padding(_known(audit, labels, standardised), _ROOM),
        _heading(f"Before, and after {draws}"),
        Padding(_numbers(audit), _ROOM),
        _heading(f"All pairs of points, after {draws}"),
        Padding(_pairs(audit), _ROOM),
        _heading(f"Guarantees of theorems and predictions of laws at r = {audit.n_components:,}, δ = {audit.delta:g}"),
        Padding(_promises(audit), _ROOM),
    ]
    if audit.brackets:
        parts += [_heading("Bounds from the embedding error"), Padding(_brackets(audit), _ROOM)]
    if audit.notes:
        parts += [_heading("Notes"), Padding(_points(audit.notes), _ROOM)]
    return Group(*parts)


def audit_code(opened: str, settings: dict[str, Any], standardised: bool, carries_labels: bool) -> str:
    """Return the Python that makes the same audit."""
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


def _heading(text: str) -> RenderableType:
    return Padding(Rule(Text(text, style="bold magenta"), align="left", style="magenta"), (1, 0, 1, 0))


def _verdict(audit: Audit) -> Panel:
    colour = _COLOURS[audit.outcome]
    word = Text.assemble((f" {audit.outcome.upper()} ", f"bold reverse {colour}"), ("  " + _projection(audit), "bold"))
    body = Group(word, Text(""), _points(audit.verdict))
    return Panel(body, title="Verdict", title_align="left", border_style=colour, padding=(1, 2))


def _projection(audit: Audit) -> str:
    features, components = counted(audit.n_features, "feature"), counted(audit.n_components, "component")
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
    said = f"\nIn 1 ± {audit.eps:g}: draws that left it within {short_percent(audit.eps)} of what it was; for the "
    said += f"embedding error, at most {audit.eps:g}. Chance: Clopper and Pearson's interval."
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
    law = _NONE if pairs.predicted is None else short_percent(pairs.predicted)
    most = [amount(value) for value in _least_median_most(pairs.largest)]
    return [short_percent(share), law, *most, *_held(pairs.all_within)]


def _counted(pairs: Sequence[PairsKept]) -> str:
    counts = {one.n_pairs for one in pairs}
    return " to ".join(f"{count:,}" for count in sorted({min(counts), max(counts)}))


def _promises(audit: Audit) -> RenderableType:
    table = _table(
        ("about", ""), ("\nguarantee", "bold"), ("with a\nchance", ""), ("by the\nlaw", "cyan"), ("it\nheld", ""),
        ("chance,\n95% sure", "dim"),
    )  # fmt: skip
    spoken = [(name, promise) for name, promise in _all_promises(audit) if not _silence(name, promise, audit)]
    for name, promise in spoken:
        chance = f"≥{short_percent(1.0 - promise.delta)}" if promise.kind == "theorem" else _NONE
        about = f"{name}, {promise.bound}{'*' if promise.note else ''}"
        table.add_row(about, _ends(promise), chance, _predicted(promise), *_held(promise.frequency))
    said = []
    if any(promise.predicted is not None for _, promise in spoken):
        said.append("By the law: the exact law of each point, added up over the points: a chance of at least that.")
    said += [f"* {note}." for note in sorted({promise.note for _, promise in spoken if promise.note})]
    if not _all_promises(audit):
        said.append("No guarantee applies to these numbers.")
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
    with_ = f"with {counted(audit.n_components, 'component')}"
    if promise.kind == "theorem" and promise.high is None and promise.low is not None and promise.low <= 0.0:
        return f"guarantees no margin above 0 {with_}"
    if name == "change of angles" and promise.high is not None and promise.high >= _MOST_COSINE:
        return f"guarantees nothing {with_}"
    return ""


def _predicted(promise: Promise) -> Text:
    if promise.predicted is None:
        return Text(_NONE)
    share = 1.0 - promise.predicted
    if share > _NEARLY_ALL:
        return Text(_MORE)
    return Text(f"≥{short_percent(max(share, 0.0))}", style="" if share > 0.0 else "dim")


def _all_promises(audit: Audit) -> list[tuple[str, Promise]]:
    numbers: tuple[Preservation | PairsKept, ...] = (*audit.margins, audit.ball, audit.embedding)
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


EXAMPLES = """[bold]Examples[/bold]

slimline audit words.svm --components 1024

slimline audit cohort.bed --labels cohort.labels.tsv --target population --standardize --projection osnap --rows 300

slimline audit data.npy --labels labels.npy --rows all --repeats 50 --json audit.json --figure audit.png

No data at hand? [bold]slimline simulate cohort[/bold] writes those of the second."""

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1
#: `--rows` for as many as are quick and for every row, and the most that it can be: all pairs of them are measured.
_AUTO, _ALL, _MOST_ROWS = "auto", "all", 10_000


def audit(
    data: options.DataPath,
    labels: options.LabelFile = None,
    target: options.Target = None,
    id: options.IdColumn = None,
    format: options.FormatName = None,
    dataset: options.Dataset = None,
    missing: options.Missing = None,
    standardize: options.Standardize = False,
    rows: Annotated[
        str,
        typer.Option(
            metavar="N|auto|all",
            help="Samples to measure, drawn at random; auto: up to 2,000, at most 10,000.",
            rich_help_panel=options.DATA,
        ),
    ] = "auto",
    projection: Annotated[
        options.Family, typer.Option(help="Family of projections.", rich_help_panel=options.MODEL)
    ] = options.Family.gaussian,
    components: Annotated[
        int | None,
        typer.Option(min=1, help="Components of the sketch.", show_default="256", rich_help_panel=options.MODEL),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Independent draws.", rich_help_panel=options.MODEL)] = 20,
    seed: options.Seed = 0,
    eps: options.Eps = 0.2,
    delta: options.Delta = 0.05,
    errors: Annotated[
        float,
        typer.Option(
            help="Share of points that may fall short of a margin, in [0, 1).", rich_help_panel=options.GUARANTEES
        ),
    ] = 0.05,
    json: options.JsonFile = None,
    figure: options.FigureFile = None,
) -> None:
    """Measure how well a random projection preserves margins, angles, distances and the enclosing ball of the data.

    Each is measured before and after repeated draws, and compared with theorems and exact laws.
    """
    from json import dumps

    from rich.markup import escape

    from slimline._base.checks import chance
    from slimline.cli._options import DataFileOptions
    from slimline.cli._output import check_json_path, require_different, tables, write_json
    from slimline.report import audit_figure, check_figure_path, save_figure

    check_json_path(json)
    require_different({"--figure": figure, "--json": json})
    if figure is not None:
        check_figure_path(figure)
    chance("eps", eps)
    chance("delta", delta)
    source = DataFileOptions(data, format, target if labels is None else None, id, missing, dataset)
    settings: dict[str, Any] = {
        "projection": projection.value,
        "n_components": components,
        "repeats": repeats,
        "eps": eps,
        "delta": delta,
        "errors": errors,
        "rows": _rows(rows),
        "random_state": seed,
    }
    made, known = _made(source, labels, target, standardize, settings)
    console = tables(json)
    console.print(audit_view(made, _words(known), standardize))
    if figure is not None:
        save_figure(audit_figure(made), figure)
        console.print(f"\n[dim]Figure:[/dim] {escape(str(figure))}", soft_wrap=True)
    console.print("\n[dim]The same in Python:[/dim]")
    carried = known is None or (labels is None and known.complete)
    console.print(audit_code(source.code(), settings, standardize, carried), markup=False, soft_wrap=True)
    record = {
        "layout": _LAYOUT,
        "audit": made.to_dict(),
        "labels": None if known is None else known.source,
        "standardize": standardize,
    }
    write_json(json, dumps(record, indent=1))


def _made(
    source: DataFileOptions, path: Path | None, target: str | None, standardize: bool, settings: dict[str, Any]
) -> tuple[Audit, Labels | None]:
    """Return the audit, and the labels that it was made with."""
    import warnings

    from sklearn.exceptions import DataDimensionalityWarning

    from slimline.auditing import audit as make_audit
    from slimline.cli._labels import known_labels
    from slimline.cli._output import progress

    with progress() as bar:
        task = bar.add_task(f"opening {source.path.name}", total=None)

        def drawn(done: int, total: int) -> None:
            bar.update(task, description=f"{done} of {total} draws", completed=done, total=total)

        matrix = source.open()
        if path is not None:
            bar.update(task, description=f"reading {path.name}")
        labels = known_labels(matrix, path, target)
        if labels is not None and not labels.complete:
            matrix = matrix.rows(labels.rows)
        if standardize:
            matrix = matrix.standardised("mean", "std", "mean")
        bar.update(task, description="measuring the data before the projection")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataDimensionalityWarning)  # a note of the audit says it
            return make_audit(matrix, None if labels is None else labels.values, progress=drawn, **settings), labels


def _words(labels: Labels | None) -> str:
    return "none known, so no margins: add --labels FILE --target COLUMN" if labels is None else labels.source


def _rows(text: str) -> int | str | None:
    if text == _ALL:
        return None
    if text == _AUTO:
        return text
    if not text.isdecimal() or not 2 <= int(text) <= _MOST_ROWS:
        raise InvalidParameterError(
            f"must be a whole number from 2 to {_MOST_ROWS:,}, {_AUTO} or {_ALL}; got {text}.", "--rows", text
        )
    return int(text)
