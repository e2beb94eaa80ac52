"""`slimline fit`, from a file to a certified model and a page."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from slimline.cli._fit_samples import LabelSource, Samples, samples_of, stored_bytes
from slimline.cli._fit_settings import OPTIONS, FitSettings, Outputs, job_key, resume_folder
from slimline.cli._options import DataFileOptions, said_in_options
from slimline.errors import InvalidParameterError
from slimline.model_files._checkpoints import CheckpointFolder

if TYPE_CHECKING:
    from slimline.cli._fit_view import FitDisplay
    from slimline.data import ColumnStats, Matrix
    from slimline.estimators import CertifiedClassifier
    from slimline.estimators._alignment import Alignment
    from slimline.estimators._decisions import Decisions
    from slimline.model_files import PassFiles, StoredModel
    from slimline.report import FitReport, Phase, Told

#: Phase in which the model is fitted that is tried on the rows held out, if another one is fitted to all rows later.
WITHOUT = "fit without the held-out rows"


@dataclass(frozen=True)
class Finished:
    """What a fit has come to."""

    #: All that there is to tell.
    report: FitReport
    #: Whether the certified error that was asked for was reached.
    converged: bool


@dataclass(frozen=True)
class FitJob:
    """What is to be fitted."""

    #: The data.
    source: DataFileOptions
    #: Their labels.
    labels: LabelSource
    #: How.
    settings: FitSettings
    #: Where results go.
    outputs: Outputs
    #: Rows to hold out, in a file of their own.
    test: DataFileOptions | None = None
    #: Names of the columns, one a line, where the data have none.
    feature_names: Path | None = None
    #: How it was asked for.
    command: str = ""
    #: Whether the report says what a projection does to the data.
    measure_projection: bool = False
    #: Whether what passes add up is kept, so that a run that was stopped can go on.
    resumable: bool = True

    def opened(self, source: DataFileOptions) -> Matrix:
        """Return the data, their columns named."""
        from slimline.cli._labels import text_of
        from slimline.data._views import NamedColumns

        matrix = source.open()
        if self.feature_names is None:
            return matrix
        names = text_of(self.feature_names).splitlines()
        return NamedColumns(matrix, names, f"--feature-names {self.feature_names}")


def run_fit(task: FitJob, display: FitDisplay) -> Finished:
    """Open the data, fit, measure the model on rows that it did not see, fit to all rows, write model and page."""
    from slimline._base.system import MemoryMeter
    from slimline.report import Told
    from slimline.report._measure_fit import penalty_of, search_facts
    from slimline.report._records import FIT

    meter = MemoryMeter()
    work = _Work(task, display)
    with work.phase("opening"):
        data = task.opened(task.source)
        test = None if task.test is None else task.opened(task.test)
        samples = samples_of(data, task.labels, task.settings.holdout, task.settings.seed, test)
    standardize = _standardised(task.settings, data)
    data.listen(display.on_pass)
    key = job_key(task.source.path, samples, {**task.settings.__dict__, "standardize": standardize})
    task.outputs.check(key)
    keeper = _keeper(task, key, display)
    data.keep(keeper)
    work.data, work.standardize = data, standardize
    if keeper is not None and keeper.replaced:
        work.notes.append("an earlier run had other data or settings, or another version: this one began anew.")
    if test is not None and samples.not_new:
        work.notes.append(
            f"{samples.not_new:,} rows of {test.name} are rows of {data.name}, or have their names: they are trained "
            "on, and not counted as held out."
        )
    measured, settings = samples, task.settings
    refit = settings.refit and not samples.all_trained_on
    fit = work.fit(settings, samples, WITHOUT if refit else FIT)
    decisions = work.decide(fit, samples)
    search = search_facts(fit.model)
    if refit:
        settings, samples = replace(settings, C=penalty_of(fit.model)), samples.whole()
        del fit  # its weights and intervals take as much memory as those of the final model
        fit = work.fit(settings, samples, FIT)
    if task.outputs.model is not None:
        _make_way(task, key, keeper)
        fit.stored.write(task.outputs.model, overwrite=True)
        _note_result(keeper, task.outputs.model)
    told = Told(
        labels=samples.labels,
        left_out=samples.left_out,
        held_out=samples.held_out,
        measured_rows=len(measured.y),
        search=search,
        nbytes=stored_bytes(task.source.path),
        command=task.command,
        python=_python(task),
        seed=task.settings.seed,
        phases=tuple(work.phases),
        peak_bytes=meter.peak,
        resumed=keeper is not None and bool(keeper.passes_found or keeper.blocks_found),
        notes=tuple(work.notes),
    )
    report = _report(task, fit, samples, decisions, told, display)
    _write_page(task, report)
    _note_result(keeper, task.outputs.report)
    if keeper is not None:
        keeper.remove()
    elif task.outputs.model is not None:
        CheckpointFolder(resume_folder(task.outputs.model)).remove()  # of an earlier run, which nobody goes on with
    return Finished(report, report.relative_error <= task.settings.tol)


@dataclass(frozen=True)
class _Fitted:
    """A fitted classifier, as it is written, with the statistics of the columns where they took a pass."""

    model: CertifiedClassifier
    stored: StoredModel
    stats: ColumnStats | None


class _Work:
    """Does the parts of the work; counts their time and passes, and takes down what is to be known of them."""

    def __init__(self, task: FitJob, display: FitDisplay) -> None:
        self._task, self._display = task, display
        self.data: Matrix | None = None
        self.standardize = False
        self.phases: list[Phase] = []
        self.notes: list[str] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        from slimline.data._passes import give_back
        from slimline.report import Phase

        self._display.phase(name)
        start, before = time.perf_counter(), 0 if self.data is None else self.data.passes_of_this_thread
        yield
        passes = 0 if self.data is None else self.data.passes_of_this_thread - before
        give_back()  # vectors as long as the data are wide, which the next phase might not find room in
        self.phases.append(Phase(name, passes, time.perf_counter() - start))

    def fit(self, settings: FitSettings, samples: Samples, phase: str) -> _Fitted:
        """Fit a classifier to the training rows."""
        model = settings.classifier(self.standardize, samples.smallest_class).watch(self._display.on_step)
        with self.phase(phase), _noted(self.notes, final=phase != WITHOUT):
            model.fit(samples.train, samples.y)
        stats = None
        if not self.standardize:
            with self.phase("means of the columns"):
                stats = samples.train.column_stats()
        return _Fitted(model, _stored(self._task, model, samples, stats), stats)

    def decide(self, fit: _Fitted, samples: Samples) -> Decisions | None:
        """Return what a model says of the rows held out."""
        from slimline.estimators import aligned_decisions

        if samples.test is None:
            return None
        with self.phase("held-out rows"):
            decisions, alignment = aligned_decisions(fit.stored, samples.test)
        self.notes += _differences(alignment)
        return decisions


def _report(
    task: FitJob, fit: _Fitted, samples: Samples, decisions: Decisions | None, told: Told, display: FitDisplay
) -> FitReport:
    from slimline.errors import AccuracyWarning
    from slimline.report import fit_report

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # summary and page say it by themselves
        return fit_report(
            fit.model,
            samples.train,
            samples.y,
            decisions=decisions,
            y_test=samples.y_test,
            measure_projection=task.measure_projection,
            stats=fit.stats,
            progress=display.phase,
            told=told,
        )


@contextmanager
def _noted(notes: list[str], final: bool) -> Iterator[None]:
    """Take warnings down, in the words of options, instead of printing them into the display.

    That a fit did not reach `tol` matters for the final model only.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not final:
            warnings.simplefilter("ignore", ConvergenceWarning)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        notes.append(said_in_options(text, OPTIONS))


def _standardised(settings: FitSettings, data: Matrix) -> bool:
    """Say whether columns are standardised: genotypes are, unless somebody says otherwise."""
    return data.variants is not None if settings.standardize is None else settings.standardize


def _keeper(task: FitJob, key: str, display: FitDisplay) -> PassFiles | None:
    from slimline.model_files import PassFiles

    if task.outputs.model is None or not task.resumable:
        return None
    try:
        keeper = PassFiles(resume_folder(task.outputs.model), key, tell=display.say)
    except InvalidParameterError as error:
        display.say(f"No checkpoint is kept, and if this fit is stopped it begins anew. {error}")
        return None
    if keeper.goes_on:
        display.say("Going on from where an earlier run was stopped.")
    elif keeper.replaced:
        display.say("An earlier run was stopped; data, labels, settings or threads are others now: beginning anew.")
    return keeper


def _make_way(task: FitJob, key: str, keeper: PassFiles | None) -> None:
    """Refuse to replace what came while the fit ran; where the disk is full, the model gets the checkpoint's room."""
    task.outputs.check(key)
    if keeper is not None and keeper.gave_up:
        keeper.remove()


def _note_result(keeper: PassFiles | None, path: Path | None) -> None:
    if keeper is not None and path is not None:
        keeper.note_result(path)


def _stored(task: FitJob, model: CertifiedClassifier, samples: Samples, stats: ColumnStats | None) -> StoredModel:
    from slimline import __version__
    from slimline.estimators._aligned import TrainingSamples
    from slimline.estimators._alignment import column_facts, source_details
    from slimline.estimators._persistence import stored_model

    details = {
        "slimline": __version__,
        "command": task.command,
        "data": {"name": samples.data.name, "rows": samples.train.shape[0], "fingerprint": samples.train.fingerprint},
        "labels": samples.labels,
        **source_details(samples.data),
    }
    facts = column_facts(model, samples.train, stats) | TrainingSamples.of(samples.train).fields()
    return stored_model(model, details, **facts)


def _differences(alignment: Alignment) -> Iterator[str]:
    """Yield how the columns of a file of held-out rows are not those of training."""
    for count, words in (
        (alignment.swapped, "count the other allele, and are counted the other way"),
        (alignment.filled, "are absent or have other alleles, and are filled with their means in training"),
        (alignment.ignored, "are not of the model, and are not looked at"),
    ):
        if count:
            yield f"held-out rows: {count:,} columns {words}."


def _write_page(task: FitJob, report: FitReport) -> None:
    if task.outputs.report is None:
        return
    from slimline.report import write_fit_page

    write_fit_page(report, task.outputs.report)


def _python(task: FitJob) -> str:
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
