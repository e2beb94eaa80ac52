"""Measuring, drawing, judging: a replay from end to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from slimline._kernels.threads import available_cpus
from slimline.bench.machine import describe_machine
from slimline.errors import DataError, MissingDataSetError
from slimline.papers.catalogue import ITEMS
from slimline.papers.folder import ResultFolder
from slimline.papers.item import Experiment, Item
from slimline.papers.page import replay_page
from slimline.papers.result import Measured, Result
from slimline.papers.study import Study
from slimline.papers.table import Table, table_of
from slimline.report.figure_files import save_figure


@dataclass(frozen=True)
class Progress:
    """Where a replay stands.

    Parameters
    ----------
    experiment : str
        What is being measured.
    part, parts : int
        Pieces of it that are done, of how many.
    number, experiments : int
        Experiments that are done, of how many.
    """

    experiment: str
    part: int
    parts: int
    number: int
    experiments: int


#: Is told before and after every piece.
Listener = Callable[[Progress], None]


def reproduce(
    items: Sequence[Item],
    out: str | Path,
    study: Study | None = None,
    force: bool = False,
    listener: Listener | None = None,
) -> tuple[Result, ...]:
    """Replay items, and write CSV, figures and one page of all that the folder holds.

    What the folder holds already is not measured again, and an interrupted run goes on where it stopped.

    Parameters
    ----------
    items : sequence of Item
        From `find_items`.
    out : str or path
        Folder of the results.
    study : Study, optional
        Size, seed and data.
    force : bool
        Whether to measure again what is there.
    listener : callable, optional
        Is told before and after every piece.

    Returns
    -------
    results : tuple of Result
        One for each item.

    Examples
    --------
    >>> import tempfile
    >>> from slimline.papers import Study, find_items, reproduce
    >>> with tempfile.TemporaryDirectory() as out:
    ...     (result,) = reproduce(find_items(["shi2012.fig1"]), out, Study("miniature"))
    >>> [finding.holds for finding in result.findings]
    [True, True, True]
    """
    study = Study() if study is None else study
    folder = ResultFolder(Path(out))
    folder.require_usable()
    experiments = list(dict.fromkeys(item.experiment for item in items))
    measured: dict[str, Measured | str] = {}
    for number, experiment in enumerate(experiments):

        def told(part: int, parts: int, name: str = experiment.name, number: int = number) -> None:
            if listener is not None:
                listener(Progress(name, part, parts, number, len(experiments)))

        try:
            measured[experiment.name] = _measured(experiment, folder, study, force, told)
        except MissingDataSetError as error:
            measured[experiment.name] = str(error)
    results = tuple(_result(item, measured[item.experiment.name]) for item in items)
    for result in results:
        _draw(result, folder)
    _write_page(results, folder)
    return results


def _measured(
    experiment: Experiment, folder: ResultFolder, study: Study, force: bool, told: Callable[[int, int], None]
) -> Measured:
    if force:
        folder.forget(experiment)
    elif (known := folder.read(experiment, study)) is not None:
        return known
    _load(experiment, study)  # before any work is done: it may not be at hand
    parts = experiment.parts(study)
    rows: list[tuple[object, ...]] = []
    seconds = 0.0
    for number, part in enumerate(parts):
        told(number, len(parts))
        kept = folder.read_part(experiment, study, number)
        if kept is None:
            start = time.perf_counter()
            table = table_of(experiment.columns, experiment.measure(study, part))
            kept = table, time.perf_counter() - start
            folder.write_part(experiment, study, number, *kept)
        rows += kept[0].rows
        seconds += kept[1]
    told(len(parts), len(parts))
    measured = Measured(table_of(experiment.columns, rows), study.size, study.seed, seconds, _machine())
    folder.write(experiment, measured)
    known = folder.read(experiment, study)
    assert known is not None  # what is judged is what the CSV says
    return known


def _load(experiment: Experiment, study: Study) -> None:
    if experiment.own_source:
        try:
            study.load(experiment.own_source)
        except MissingDataSetError:
            pass  # others stand in
        else:
            return
    for source in experiment.sources:
        try:
            study.load(source)
        except DataError as error:  # damaged: what needs other data is measured all the same
            raise MissingDataSetError(str(error)) from None


def _result(item: Item, measured: Measured | str) -> Result:
    if isinstance(measured, str):
        return Result(item, None, missing=measured)
    return Result(item, measured, tuple(item.judge(measured.table)))


def _draw(result: Result, folder: ResultFolder) -> None:
    if result.measured is not None:
        figure = result.item.draw(result.measured.table)
        for ending in (".png", ".svg"):
            save_figure(figure, folder.figure(result.item, ending))


def _write_page(results: Sequence[Result], folder: ResultFolder) -> None:
    """Write the page: these results, and those of other items that the folder holds."""
    shown = list(results)
    for item in ITEMS:
        if all(item.name != result.item.name for result in results):
            measured = folder.read(item.experiment)
            if measured is not None and folder.figure(item, ".png").is_file():
                shown.append(_result(item, measured))
    order = {item.name: number for number, item in enumerate(ITEMS)}
    shown.sort(key=lambda result: order.get(result.item.name, len(order)))
    pictures = {result.item.name: _picture(result, folder) for result in shown if result.measured is not None}
    folder.write_files(
        {
            folder.page: replay_page(shown, pictures).encode(),
            folder.findings: findings_table(shown).to_csv().encode(),
        }
    )


def _picture(result: Result, folder: ResultFolder) -> bytes:
    path = folder.figure(result.item, ".png")
    try:
        return _for_the_page(path)
    except (OSError, SyntaxError):  # what Pillow says of a damaged file of an earlier run
        _draw(result, folder)
        return _for_the_page(path)


def _for_the_page(path: Path) -> bytes:
    """Return a figure in 64 colours, which lines and letters do with: a third of its size."""
    from PIL import Image

    smaller = BytesIO()
    with Image.open(path) as image:
        image.quantize(64, dither=Image.Dither.NONE).save(smaller, format="png", optimize=True)
    return smaller.getvalue()


def findings_table(results: Sequence[Result]) -> Table:
    """Return all findings as a table.

    Parameters
    ----------
    results : sequence of Result
        From `reproduce`.

    Returns
    -------
    table : Table
        A row for each claim.
    """
    return table_of(
        ("item", "size", "whose", "claim", "printed", "measured", "verdict", "reason", "corrected", "correction"),
        [
            (
                result.item.name, result.measured.size, "ours" if found.beyond else "the document's", found.claim,
                found.printed, found.ours, found.verdict, found.reason, found.corrected, found.correction,
            )
            for result in results if result.measured is not None
            for found in result.findings
        ],
    )  # fmt: skip


def _machine() -> str:
    known = describe_machine(available_cpus())
    return f"{known['cpu']}, {known['cpus']} cores, {known['instruction_set']}"
