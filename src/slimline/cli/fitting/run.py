"""`slimline fit`, from a file to a certified model and a page."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from slimline.cli.data_file import DataFileOptions
from slimline.cli.fitting.files import stored_bytes
from slimline.cli.fitting.resume import pass_files, resume_folder
from slimline.cli.fitting.samples import LabelSource, Samples, samples_of
from slimline.cli.fitting.settings import OPTIONS, FitSettings, Outputs
from slimline.cli.options import said_in_options

if TYPE_CHECKING:
    from slimline.cli.fitting.display import FitDisplay
    from slimline.data import ColumnStats, Matrix
    from slimline.estimators import CertifiedClassifier
    from slimline.estimators.alignment import Alignment
    from slimline.model_files import PassFiles, StoredModel
    from slimline.report import FitReport, Phase


@dataclass(frozen=True)
class Finished:
    """What a fit has come to.

    Parameters
    ----------
    report : FitReport
        All that there is to tell.
    converged : bool
        Whether the certified error that was asked for was reached.
    """

    report: FitReport
    converged: bool


@dataclass(frozen=True)
class Task:
    """What is to be fitted.

    Parameters
    ----------
    source : DataFileOptions
        The data.
    labels : LabelSource
        Their labels.
    settings : FitSettings
        How.
    outputs : Outputs
        Where results go.
    test : DataFileOptions or None
        Rows to hold out, in a file of their own.
    feature_names : Path or None
        Names of the columns, one a line, where the data have none.
    command : str
        How it was asked for.
    measure_projection : bool
        Whether the report says what a projection does to the data.
    resumable : bool
        Whether what passes add up is kept, so that a run that was stopped can go on.
    """

    source: DataFileOptions
    labels: LabelSource
    settings: FitSettings
    outputs: Outputs
    test: DataFileOptions | None = None
    feature_names: Path | None = None
    command: str = ""
    measure_projection: bool = True
    resumable: bool = True

    def opened(self, source: DataFileOptions) -> Matrix:
        """Return the data, their columns named.

        Parameters
        ----------
        source : DataFileOptions
            What is to be opened.

        Returns
        -------
        matrix : Matrix
            Opened.
        """
        from slimline.cli.labels import text_of
        from slimline.data.named_columns import NamedColumns

        matrix = source.open()
        if self.feature_names is None:
            return matrix
        names = text_of(self.feature_names).splitlines()
        return NamedColumns(matrix, names, f"--feature-names {self.feature_names}")


def run_fit(task: Task, display: FitDisplay) -> Finished:
    """Open the data, fit, hold the model against rows that it did not see, write model and page.

    Parameters
    ----------
    task : Task
        What is asked for.
    display : FitDisplay
        What shows where it stands.

    Returns
    -------
    finished : Finished
        What there is to tell.
    """
    from slimline.bench.memory import MemoryMeter
    from slimline.estimators import aligned_decisions
    from slimline.report import Told, fit_report
    from slimline.report.fit_facts import FIT

    meter = MemoryMeter()
    work = _Work(display)
    with work.phase("opening"):
        data = task.opened(task.source)
        test = None if task.test is None else task.opened(task.test)
        samples = samples_of(data, task.labels, task.settings.holdout, task.settings.seed, test)
    standardize = _standardised(task.settings, data)
    data.listen(display.on_pass)
    keeper = _keeper(task, samples, standardize, display)
    data.keep(keeper)
    model = task.settings.classifier(standardize, samples.smallest_class).watch(display.on_step)
    notes: list[str] = []
    if keeper is not None and keeper.replaced:
        notes.append("an earlier run had other data or settings, or another version: this one began anew.")
    with work.phase(FIT, data), _noted(notes):
        model.fit(samples.train, samples.y)
    stats = None
    if not standardize:
        with work.phase("means of the columns", data):
            stats = samples.train.column_stats()
    stored = _stored(task, model, samples, stats)
    if task.outputs.model is not None:
        stored.write(task.outputs.model, overwrite=True)  # whether it may was looked at before the work
    decisions = None
    if samples.test is not None:
        with work.phase("held-out rows", data):
            decisions, alignment = aligned_decisions(stored, samples.test)
        notes += _differences(alignment)
    report = fit_report(
        model,
        samples.train,
        samples.y,
        decisions=decisions,
        y_test=samples.y_test,
        measure_projection=task.measure_projection,
        stats=stats,
        progress=display.phase,
        told=Told(
            labels=samples.labels,
            left_out=samples.left_out,
            held_out=samples.held_out,
            nbytes=stored_bytes(task.source.path),
            command=task.command,
            python=_python(task),
            seed=task.settings.seed,
            phases=tuple(work.phases),
            peak_bytes=meter.peak,
            resumed=keeper is not None and bool(keeper.passes_found or keeper.blocks_found),
            notes=tuple(notes),
        ),
    )
    _write_page(task, report)
    if keeper is not None:
        keeper.remove()
    elif task.outputs.model is not None:
        rmtree(resume_folder(task.outputs.model), ignore_errors=True)  # of an earlier run, which nobody goes on with
    return Finished(report, report.relative_error <= task.settings.tol)


class _Work:
    """Counts time and passes of what is done."""

    def __init__(self, display: FitDisplay) -> None:
        self._display = display
        self.phases: list[Phase] = []

    @contextmanager
    def phase(self, name: str, data: Matrix | None = None) -> Iterator[None]:
        from slimline.report import Phase

        self._display.phase(name)
        start, before = time.perf_counter(), 0 if data is None else data.passes
        yield
        passes = 0 if data is None else data.passes - before
        self.phases.append(Phase(name, passes, time.perf_counter() - start))


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    """Take warnings down, in the words of options, instead of printing them into the display."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        notes.append(said_in_options(text, OPTIONS))


def _standardised(settings: FitSettings, data: Matrix) -> bool:
    """Say whether columns are standardised: genotypes are, unless somebody says otherwise."""
    return data.variants is not None if settings.standardize is None else settings.standardize


def _keeper(task: Task, samples: Samples, standardize: bool, display: FitDisplay) -> PassFiles | None:
    if task.outputs.model is None or not task.resumable:
        return None
    settings: dict[str, Any] = {**task.settings.__dict__, "standardize": standardize}
    keeper = pass_files(task.outputs.model, task.source.path, samples, settings)
    if keeper.goes_on:
        display.say("Going on from where an earlier run was stopped.")
    elif keeper.replaced:
        display.say("An earlier run was stopped; data, labels, settings or threads are others now: beginning anew.")
    return keeper


def _stored(task: Task, model: CertifiedClassifier, samples: Samples, stats: ColumnStats | None) -> StoredModel:
    from slimline import __version__
    from slimline.estimators.column_facts import column_facts, source_details
    from slimline.estimators.saving import stored_model

    details = {
        "slimline": __version__,
        "command": task.command,
        "data": {"name": samples.data.name, "rows": samples.train.shape[0], "fingerprint": samples.train.fingerprint},
        "labels": samples.labels,
        **source_details(samples.data),
    }
    return stored_model(model, details, **column_facts(model, samples.train, stats))


def _differences(alignment: Alignment) -> Iterator[str]:
    """Yield how the columns of a file of held-out rows are not those of training."""
    for count, words in (
        (alignment.swapped, "count the other allele, and are counted the other way"),
        (alignment.filled, "are absent or have other alleles, and are filled with their means in training"),
        (alignment.ignored, "are not of the model, and are not looked at"),
    ):
        if count:
            yield f"held-out rows: {count:,} columns {words}."


def _write_page(task: Task, report: FitReport) -> None:
    if task.outputs.report is None:
        return
    from slimline.report import write_fit_page

    write_fit_page(report, task.outputs.report)


def _python(task: Task) -> str:
    """Return how the model is used from Python, in lines that can be run as they are."""
    if task.outputs.model is None:
        return ""
    return "\n".join(
        (
            "from slimline import CertifiedClassifier, open_matrix",
            f"X = {task.source.code()}",
            f"model = CertifiedClassifier.load({str(task.outputs.model)!r})",
            "print(model.top_features(20))",
            "decisions = model.decide(X)  # labels, scores, and which labels are proved",
        )
    )
