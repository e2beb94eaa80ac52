"""`slimline fit`, from a file to a certified model and a page."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from slimline.cli._fit_samples import CovariateSource, LabelSource, Samples, samples_of, stored_bytes
from slimline.cli._fit_settings import FitSettings, Outputs, job_key, resume_folder
from slimline.cli._options import DataFileOptions
from slimline.cli._tables import penalty_factors_in_file
from slimline.errors import InvalidParameterError
from slimline.model_files._checkpoints import CheckpointFolder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slimline.cli._fit_view import FitDisplay
    from slimline.data import Matrix
    from slimline.estimators import CertifiedClassifier, CertifiedPredictions, CertifiedRegressor
    from slimline.estimators._alignment import Alignment
    from slimline.estimators._decisions import Decisions
    from slimline.model_files import PassFiles, StoredModel
    from slimline.report import FitReport, Told
    from slimline.report._leading import Leading
    from slimline.report._records import Phases

    Model = CertifiedClassifier | CertifiedRegressor
    #: What a model says of held-out rows.
    Answers = Decisions | CertifiedPredictions

#: Phase in which the model is fitted that is tried on the rows held out, if another one is fitted to all rows later.
WITHOUT = "fit without the held-out rows"


@dataclass(frozen=True)
class Finished:
    """Result of a fit."""

    #: All that there is to tell.
    report: FitReport
    #: Whether the certified error that was asked for was reached.
    converged: bool


@dataclass(frozen=True)
class FitJob:
    """Input of a fit: data, labels, settings and outputs."""

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
    #: Covariates of the rows.
    covariates: CovariateSource | None = None
    #: Factors of the penalties of some features.
    penalty_factors: Path | None = None
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
        from slimline.cli._tables import text_of
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
    from slimline.report._build import penalty_of, search_facts
    from slimline.report._records import FIT

    meter = MemoryMeter()
    work = _Work(display)
    with work.phases("opening"):
        data = task.opened(task.source)
        factors = None if task.penalty_factors is None else penalty_factors_in_file(task.penalty_factors, data)
        test = None if task.test is None else task.opened(task.test)
        samples = samples_of(data, task.labels, task.settings.holdout, task.settings.seed, test, task.covariates)
        task.settings.check(samples)
    standardize = _standardised(task.settings, data)
    data.listen(display.on_pass)
    decisive = {**task.settings.__dict__, "standardize": standardize, "penalty_factor": factors}
    key = job_key(task.source.path, samples, decisive)
    task.outputs.check(key)
    keeper = _keeper(task, key, display)
    data.set_checkpoint(keeper)
    work.phases.matrices, work.standardize, work.penalty_factor = [data], standardize, factors
    if keeper is not None and keeper.replaced:
        work.notes.append("an earlier run had other data or settings, or another version: this one began anew.")
    work.notes += samples.notes
    if test is not None and samples.not_new:
        work.notes.append(
            f"{samples.not_new:,} rows of {test.name} are rows of {data.name}, or have their names: they are trained "
            "on, and not counted as held out."
        )
    measured, settings = samples, task.settings
    refit = settings.refit and not samples.all_trained_on
    model = work.fit(settings, samples, WITHOUT if refit else FIT)
    answers = None if test is not None else work.answer(model, samples)
    search = search_facts(model)
    if refit:
        settings, samples = replace(settings, C=penalty_of(model)), samples.whole()
        del model  # its weights and intervals take as much memory as those of the final model
        model = work.fit(settings, samples, FIT)
    leading = work.read_leading(model, samples)
    stored = _stored(task, model, samples, leading)
    if test is not None:
        answers = work.answer_aligned(stored, samples)
    if task.outputs.model is not None:
        _make_way(task, key, keeper)
        stored.write(task.outputs.model, overwrite=True)
        _note_result(keeper, task.outputs.model)
    told = Told(
        labels=samples.labels,
        targets=(samples.target,) if samples.is_regression else (),
        prevalence=task.settings.prevalence,
        left_out=samples.left_out,
        held_out=samples.held_out,
        measured_rows=len(measured.y),
        search=search,
        nbytes=stored_bytes(task.source.path),
        command=task.command,
        python=_python(task, samples),
        seed=task.settings.seed,
        peak_bytes=meter.peak,
        resumed=keeper is not None and bool(keeper.passes_found or keeper.blocks_found),
        notes=tuple(work.notes),
    )
    report = _report(task, model, samples, leading, answers, _baseline(model, measured), told, work.phases)
    _write_page(task, report)
    _note_result(keeper, task.outputs.report)
    if keeper is not None:
        keeper.remove()
    elif task.outputs.model is not None:
        CheckpointFolder(resume_folder(task.outputs.model)).remove()  # of an earlier run, which nobody goes on with
    return Finished(report, report.relative_error <= task.settings.tol)


class _Work:
    """Does the parts of the work that go through the data, each in a phase, and collects notes for the reader."""

    def __init__(self, display: FitDisplay) -> None:
        from slimline.report._records import Phases

        self._display = display
        self.standardize = False
        self.penalty_factor: Mapping[str, float] | None = None
        self.phases = Phases(display.phase)
        self.notes: list[str] = []

    def fit(self, settings: FitSettings, samples: Samples, phase: str) -> Model:
        """Fit a classifier, or a regression, to the training rows."""
        is_regression = samples.is_regression
        model = settings.estimator(
            self.standardize,
            samples.smallest_class,
            is_regression=is_regression,
            penalty_factor=self.penalty_factor,
        )
        model.watch(self._display.on_step)
        with self.phases(phase), _noted(self.notes, final=phase != WITHOUT):
            return model.fit(samples.train, samples.y, covariates=samples.covariates)

    def answer(self, model: Any, samples: Samples) -> Answers | None:
        """Return what a model says of held-out rows of the same data, in one pass."""
        if samples.test is None:
            return None
        with self.phases("held-out rows"):
            answer = model.certified_predictions if samples.is_regression else model.decide
            return cast("Answers", answer(samples.test, samples.covariates_test))

    def answer_aligned(self, stored: StoredModel, samples: Samples) -> Answers:
        """Return what a model says of rows of another file, whose columns may be in another order, in one pass."""
        from slimline import estimators

        answer = estimators.aligned_predictions if samples.is_regression else estimators.aligned_decisions
        with self.phases("held-out rows"):
            answers, alignment = answer(stored, samples.test, samples.covariates_test)
        self.notes += _differences(alignment)
        return answers

    def read_leading(self, model: Model, samples: Samples) -> Leading:
        """Read the features of the largest weights, and the means that the model file needs, in one pass."""
        from slimline.report._build import TOP
        from slimline.report._leading import leading_features

        with self.phases("largest weights"):
            return leading_features(model, samples.train, TOP)


def _report(
    task: FitJob,
    model: Model,
    samples: Samples,
    leading: Leading,
    answers: Answers | None,
    baseline: NDArray[np.float64] | None,
    told: Told,
    phases: Phases,
) -> FitReport:
    from slimline.errors import AccuracyWarning
    from slimline.report._build import build_report

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # summary and page say it by themselves
        return build_report(
            model,
            samples.train,
            samples.y,
            leading=leading,
            covariates=samples.covariates,
            covariates_test=samples.covariates_test,
            baseline=baseline,
            decisions=answers,
            y_test=samples.y_test,
            told=told,
            phases=phases,
            measure_projection=task.measure_projection,
        )


def _baseline(model: Any, measured: Samples) -> NDArray[np.float64] | None:
    """Return what the rows that were trained on for the measurement predict without features, of a regression."""
    if not measured.is_regression or measured.y_test is None:
        return None
    from slimline.report._held_out_targets import null_predictions

    train, test = (None if table is None else table.values for table in (measured.covariates, measured.covariates_test))
    n_test = len(measured.y_test)
    return null_predictions(measured.y, train, test, n_test, loss=model.loss, quantile=model.quantile)


@contextmanager
def _noted(notes: list[str], final: bool) -> Iterator[None]:
    """Keep warnings as notes instead of printing them into the display.

    That a fit did not reach `tol` matters for the final model only.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not final:
            warnings.simplefilter("ignore", ConvergenceWarning)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        if text not in notes:  # of the fit without the held-out rows
            notes.append(text)


def _standardised(settings: FitSettings, data: Matrix) -> bool:
    """Return whether to standardise the features: by default, genotypes are."""
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


def _stored(task: FitJob, model: Model, samples: Samples, leading: Leading) -> StoredModel:
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
    if samples.covariates is not None:
        details["covariates"] = samples.covariates.details()
    if task.settings.prevalence is not None:
        details["prevalence"] = task.settings.prevalence
    facts = column_facts(model, samples.train, leading.stats) | TrainingSamples.of(samples.train).fields()
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


def _python(task: FitJob, samples: Samples) -> str:
    """Return how the model is used from Python, in lines that can be run as they are."""
    if task.outputs.model is None:
        return ""
    kind = "CertifiedRegressor" if samples.is_regression else "CertifiedClassifier"
    names, opened, last = f"{kind}, open_matrix", [f"X = {task.source.code()}"], ""
    if task.covariates is not None:
        names, opened, last = kind, [], "print(model.covariate_effects())"
    elif samples.is_regression:
        last = "predictions = model.certified_predictions(X)  # and bounds of those of the exact model"
    else:
        last = "decisions = model.decide(X)  # labels, scores, and which labels are proved"
    load = f"model = {kind}.load({str(task.outputs.model)!r})"
    return "\n".join([f"from slimline import {names}", *opened, load, "print(model.top_features(20))", last])
