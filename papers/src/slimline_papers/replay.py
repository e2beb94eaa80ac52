"""A replay from end to end: what is measured, what is kept, what is left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from slimline._base.system import describe_machine
from slimline._kernels.threads import available_cpus
from slimline.errors import DataError, MissingDataSetError
from slimline_papers.catalogue import ITEMS
from slimline_papers.folder import ResultFolder
from slimline_papers.item import Experiment, Item
from slimline_papers.result import Measured, Result
from slimline_papers.result_page import ResultPage
from slimline_papers.study import Study
from slimline_papers.table import table_of


@dataclass(frozen=True)
class Progress:
    """Progress of a replay.

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

    What the folder holds already is not measured again, and an interrupted run goes on where it stopped. Figures and
    page are written after each experiment, so that whatever stops a run leaves those of what is finished.

    Parameters
    ----------
    items : sequence of Item
        From `find_items`.
    out : str or path
        Folder of the results.
    study : Study, optional
        Size, seed and data.
    force : bool
        Whether to measure again what is there. It is dropped before the first measurement, so that an interrupted run
        goes on without `force`; what cannot be measured again stays.
    listener : callable, optional
        Is told before and after every piece.

    Returns
    -------
    results : tuple of Result
        One for each item.

    Examples
    --------
    >>> import tempfile
    >>> from slimline_papers import Study, find_items, reproduce
    >>> with tempfile.TemporaryDirectory() as out:
    ...     (result,) = reproduce(find_items(["shi2012.fig1"]), out, Study("miniature"))
    >>> [finding.holds for finding in result.findings]
    [True, True, True]
    """
    study = Study() if study is None else replace(study)  # each run looks anew for what was not at hand
    folder = ResultFolder(Path(out))
    folder.require_usable()
    experiments = list(dict.fromkeys(item.experiment for item in items))
    if force:
        _forget(experiments, folder, study)
    page = ResultPage(folder, ITEMS)
    if force:
        page.write()  # what was dropped is no longer on it, whatever comes
    results: dict[str, Result] = {}
    for number, experiment in enumerate(experiments):

        def told(part: int, parts: int, name: str = experiment.name, number: int = number) -> None:
            if listener is not None:
                listener(Progress(name, part, parts, number, len(experiments)))

        measured: Measured | str
        try:
            measured = _measured(experiment, folder, study, force, told)
        except _LEFT_OUT as error:
            measured = str(error)
        for item in items:
            if item.experiment == experiment:
                results[item.name] = page.add(item, measured)
        page.write()
    return tuple(results[item.name] for item in items)


class _DamagedDataError(Exception):
    """A data set that is at hand and cannot be used."""


#: What leaves out an experiment, and no other.
_LEFT_OUT = (MissingDataSetError, _DamagedDataError)


def _measured(
    experiment: Experiment, folder: ResultFolder, study: Study, force: bool, told: Callable[[int, int], None]
) -> Measured:
    known = None if force else _kept(experiment, folder, study)
    if known is not None:
        return known
    sources = _load(experiment, study)  # before any work is done: it may not be at hand
    pieces = folder.pieces(experiment, study, sources)
    parts = experiment.parts(study)
    rows: list[tuple[object, ...]] = []
    seconds = 0.0
    for number, part in enumerate(parts):
        told(number, len(parts))
        piece = pieces.read(number)
        if piece is None:
            start = time.perf_counter()
            table = table_of(experiment.columns, experiment.measure(study, part))
            piece = table, time.perf_counter() - start
            pieces.write(number, *piece)
        rows += piece[0].rows
        seconds += piece[1]
    told(len(parts), len(parts))
    table = table_of(experiment.columns, rows)
    folder.write(experiment, Measured(table, study.size, study.seed, seconds, _machine(), sources))
    known = folder.read(experiment, study)
    assert known is not None  # what is judged is what the CSV says
    return known


def _kept(experiment: Experiment, folder: ResultFolder, study: Study) -> Measured | None:
    """Return what the folder holds, unless it was measured on stand-ins and the document's own data are at hand."""
    known = folder.read(experiment, study)
    own = (experiment.own_source,)
    if known is None or known.sources == own or _sources(experiment, study) != own:
        return known
    return None


def _sources(experiment: Experiment, study: Study) -> tuple[str, ...]:
    """Return the data sets that would be measured on now: the document's own, once they are read, or stand-ins."""
    if experiment.own_source:
        try:
            _read(experiment.own_source, study)
        except MissingDataSetError:
            pass  # others stand in
        else:
            return (experiment.own_source,)
    return experiment.sources


def _load(experiment: Experiment, study: Study) -> tuple[str, ...]:
    sources = _sources(experiment, study)
    for source in sources:
        _read(source, study)
    return sources


def _read(source: str, study: Study) -> None:
    try:
        study.load(source)
    except (DataError, OSError) as error:
        raise _DamagedDataError(str(error)) from error


def _forget(experiments: Sequence[Experiment], folder: ResultFolder, study: Study) -> None:
    for experiment in experiments:
        try:
            _load(experiment, study)
        except _LEFT_OUT:
            continue  # nothing would come in its place
        folder.forget(experiment)


def _machine() -> str:
    known = describe_machine(available_cpus())
    return f"{known['cpu']}, {known['cpus']} cores, {known['instruction_set']}"
