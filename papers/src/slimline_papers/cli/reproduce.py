"""`slimline reproduce`: five documents, replayed beside what they print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from slimline_papers import Item, Result, Study

EXAMPLES = """[bold]Examples[/bold]

slimline reproduce --list

slimline reproduce shi2012.fig1

slimline reproduce paul2013 vaswani2013 --data /data/public --out replayed

slimline reproduce all --full

What OUT holds already is not measured again, and an interrupted run goes on where it stopped."""

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1


def reproduce(
    items: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ITEM]…", help="all, a document (shi2012), or an item (shi2012.fig2).", show_default="all"
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the public data sets.", show_default="SLIMLINE_DATA, or fetched"),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="As much as in the documents, or nearly: hours.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="In miniature: to see that it runs, not to conclude.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of CSV, figures and page.")] = Path("reproduced"),
    seed: Annotated[int, typer.Option(min=0, help="Of all randomness.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Measure again what OUT holds.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Say what there is to reproduce, and exit.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the findings as JSON; - for stdout.")] = None,
) -> None:
    """Replay the experiments of five documents, and show which printed claims hold.

    Each item leaves CSV, PNG and SVG in OUT, and its part of the page OUT/index.html: our figure, what is printed,
    whether they agree, and why not.
    """
    from json import dumps

    from rich.markup import escape

    from slimline.cli._output import check_json_path, tables, write_json
    from slimline_papers import Study, find_items
    from slimline_papers.cli.reproduce_view import list_view, results_record, results_view

    check_json_path(json)
    if full and quick:
        raise InvalidParameterError("--full and --quick exclude each other.")
    if data is not None and not data.is_dir():
        raise InvalidParameterError(f"--data {data}: there is no such folder.")
    chosen = find_items(items or ["all"])
    console = tables(json)
    if list_:
        console.print(list_view(chosen))
        return
    study = Study("full" if full else "miniature" if quick else "default", seed, data)
    results = _replayed(chosen, out, study, force)
    console.print(results_view(results))
    console.print(f"\n[dim]Page:[/dim] {escape(str(out / 'index.html'))}", soft_wrap=True)
    write_json(json, dumps({"layout": _LAYOUT, "items": results_record(results)}, indent=1))
    if any(result.measured is None for result in results):
        raise typer.Exit(1)


def _replayed(items: tuple[Item, ...], out: Path, study: Study, force: bool) -> tuple[Result, ...]:
    from slimline.cli._output import progress
    from slimline_papers.replay import Progress
    from slimline_papers.replay import reproduce as replay

    with progress() as bar:
        task = bar.add_task("reading", total=None)

        def told(now: Progress) -> None:
            words = f"{now.experiment}, {now.part} of {now.parts} pieces"
            done = now.number + now.part / max(now.parts, 1)
            bar.update(task, description=words, completed=done, total=now.experiments)

        try:
            return replay(items, out, study, force, told)
        except KeyboardInterrupt:
            how = "The same command without --force" if force else "The same command"
            raise KeyboardInterrupt(f"stopped. {how} goes on from what {out} holds.") from None
