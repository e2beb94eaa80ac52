"""`fit_report`: what the page of a fitted classifier shows, measured."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from slimline.data import ColumnStats, Matrix
from slimline.data._labels import class_labels
from slimline.errors import AccuracyWarning, DataError
from slimline.estimators import CertifiedClassifier
from slimline.estimators._decisions import Decisions
from slimline.estimators._validation import as_matrix
from slimline.planning._route import default_components
from slimline.projections import Projection
from slimline.projections._families import frozen_projection
from slimline.report._figures import versions
from slimline.report._held_out import WHAT_MAY_HELP, held_out, no_better_words
from slimline.report._leading import Leading, features_with_neighbours, leading_features, standardised
from slimline.report._records import (
    FIT,
    CostFacts,
    DataFacts,
    FitReport,
    HeldOut,
    ModelFacts,
    Phase,
    Phases,
    Reproduction,
    Search,
    StepFacts,
)

if TYPE_CHECKING:
    from slimline.auditing import Audit
    from slimline.planning import Plan

#: Features that the page shows.
TOP = 50
#: Samples of the audit, times the other classes; and its draws.
_AUDITED, _DRAWS = 400, 3


@dataclass(frozen=True)
class Told:
    """Provenance supplied by the caller.

    Parameters
    ----------
    title : str
        Heading; the name of the data unless given.
    labels : str
        Source of the labels, in words.
    left_out : int
        Samples that were left out because they have no label.
    held_out : str
        Which samples were held out, in words.
    nbytes : int, optional
        Size of the data as they are stored.
    command, python : str
        Command line and Python code that reproduce the fit.
    measured_rows : int, optional
        Training samples of the model that was tried on the held-out samples, unless it is the model itself.
    search : Search, optional
        Search over C, unless the model itself chose C.
    seed : int, optional
        Seed of the projection and of the held-out samples.
    phases : tuple of Phase
        Earlier phases; by default that of the fit, from its history.
    peak_bytes : callable, optional
        Returns the peak memory.
    resumed : bool
        Whether the job resumed an earlier one.
    notes : tuple of str
        Notes for the reader, such as warnings.
    """

    title: str = ""
    labels: str = ""
    left_out: int = 0
    held_out: str = "rows that were given"
    measured_rows: int | None = None
    search: Search | None = None
    nbytes: int | None = None
    command: str = ""
    python: str = ""
    seed: int | None = None
    phases: tuple[Phase, ...] = ()
    peak_bytes: Callable[[], int | None] | None = None
    resumed: bool = False
    notes: tuple[str, ...] = ()


def fit_report(
    model: CertifiedClassifier,
    X: Any,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    top: int = TOP,
    measure_projection: bool = True,
    decisions: Decisions | None = None,
    stats: ColumnStats | None = None,
    told: Told | None = None,
    progress: Callable[[str], None] | None = None,
) -> FitReport:
    """Measure everything that the page of a fit shows.

    This takes one pass over the held-out samples, two for features that are nearly the same as those of the largest
    weights, and one for the audit.

    Parameters
    ----------
    model : CertifiedClassifier
        Fitted to `X` and `y`.
    X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,), optional
        Labels; may be left out for a `Matrix` that carries them.
    X_test, y_test : as X and y, optional
        Held-out samples and their labels: both, or neither.
    top : int
        Most features that are shown.
    measure_projection : bool
        Whether to measure margins and distances before and after a projection (an audit of some hundred samples), and
        to compare the fit with a plan.
    decisions : Decisions, optional
        Decisions of the model about the held-out samples, if they are known; `X_test` is not needed then.
    stats : ColumnStats, optional
        Statistics of the features of `X`, if they are known.
    told : Told, optional
        Provenance that cannot be measured.
    progress : callable, optional
        Called with the name of each phase.

    Returns
    -------
    report : FitReport
        A record; `slimline.report.write_fit_page` writes it as a page.
    """
    told = told or Told()
    check_is_fitted(model)
    if y_test is None and isinstance(X_test, Matrix):
        y_test = X_test.labels
    if (y_test is None) != (X_test is None and decisions is None):
        raise DataError("held-out rows and their labels belong together: give X_test and y_test, or neither.")
    matrix = as_matrix(model, X, reset=False, finite=bool(model.standardize)).counted()
    if y is None and isinstance(X, Matrix):
        y = X.labels
    _classes(model, matrix, y)  # refused before any pass
    phases = Phases(progress, told.phases or [Phase(FIT, model.n_passes_, model.history_[-1].seconds)])
    phases.matrices = [matrix]
    if y_test is not None and decisions is None:
        if isinstance(X_test, Matrix):
            X_test = X_test.counted()
            phases.matrices.append(X_test)
        with phases("held-out rows"):
            decisions = model.decide(X_test)
    with phases("largest weights"):
        leading = leading_features(model, matrix, top, stats)
    return build_report(
        model, matrix, y, leading=leading, decisions=decisions, y_test=y_test, told=told, phases=phases,
        measure_projection=measure_projection,
    )  # fmt: skip


def build_report(
    model: CertifiedClassifier,
    matrix: Matrix,
    y: Any,
    *,
    leading: Leading,
    decisions: Decisions | None,
    y_test: NDArray[Any] | None,
    told: Told,
    phases: Phases,
    measure_projection: bool,
) -> FitReport:
    """Return the report of a model whose largest weights have been read and that has decided about held-out samples."""
    classes, codes = _classes(model, matrix, y)
    counts, notes = np.bincount(codes, minlength=len(classes)), list(told.notes)
    held = None
    if y_test is not None and decisions is not None:
        held = _held_out(model, len(codes), np.asarray(y_test), decisions, classes[counts.argmax()], told, notes)
    seen = standardised(model, matrix)
    with phases("near-duplicate features"):
        features = features_with_neighbours(seen, leading, model._feature_names)
    audited, planned = None, None
    if measure_projection:
        with phases("projection audit"):
            audited = _audited(model, seen, classes[codes], told.seed, notes)
        planned = _plan(model, matrix, audited)
    return FitReport(
        title=told.title or matrix.name,
        data=DataFacts(
            name=matrix.name,
            n_rows=matrix.shape[0],
            n_features=matrix.shape[1],
            classes=tuple((str(label), int(count)) for label, count in zip(classes, counts, strict=True)),
            left_out=told.left_out,
            labels=told.labels,
            standardised=bool(model.standardize),
            fingerprint=matrix.fingerprint,
            nbytes=told.nbytes,
        ),
        model=_model_facts(model),
        history=tuple(StepFacts(step.passes, step.seconds, max(step.relative_error)) for step in model.history_),
        features=features,
        held_out=held,
        search=told.search or search_facts(model),
        audit=audited,
        plan=planned,
        cost=CostFacts(
            phases=tuple(phases.done),
            peak_bytes=None if told.peak_bytes is None else told.peak_bytes(),
            threads=_threads(),
            resumed=told.resumed,
        ),
        reproduction=Reproduction(
            command=told.command,
            python=told.python,
            seed=told.seed,
            versions=versions(),
            made=datetime.now(UTC).isoformat(timespec="seconds"),
        ),
        notes=tuple(notes),
    )


def _classes(model: CertifiedClassifier, matrix: Matrix, y: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes and the number of each sample's, which must be those of the fit."""
    classes, codes = class_labels(y, matrix.shape[0])
    if not np.array_equal(classes, model.classes_):
        raise DataError(f"the model was fitted to the classes {model.classes_.tolist()}, and y has {classes.tolist()}.")
    return classes, codes


def _held_out(
    model: CertifiedClassifier,
    n_rows: int,
    y: NDArray[Any],
    found: Decisions,
    majority: Any,
    told: Told,
    notes: list[str],
) -> HeldOut | None:
    if y.shape != found.labels.shape:
        raise DataError(f"y_test has the shape {y.shape}, and there are {len(found.labels):,} held-out rows.")
    known = np.isin(y, model.classes_)
    if not known.all():
        strange = sorted({str(label) for label in y[~known]})
        shown = ", ".join(strange[:5]) + (", …" if len(strange) > 5 else "")
        notes.append(f"{(~known).sum():,} held-out rows are of classes that training has not ({shown}); left out.")
        found = Decisions(found.labels[known], found.scores[known], found.proved[known])
        y = y[known]
    if not len(y):
        return None
    search = told.search or search_facts(model)
    held = held_out(
        model.classes_,
        found,
        y,
        majority,
        source=told.held_out,
        trained_rows=n_rows if told.measured_rows is None else told.measured_rows,
        balanced=search is not None and search.scoring == "balanced_accuracy",
    )
    if held.worse_than_majority:
        warnings.warn(f"{no_better_words(held)} {WHAT_MAY_HELP}", AccuracyWarning, stacklevel=3)
    return held


def _audited(
    model: CertifiedClassifier, seen: Matrix, labels: NDArray[Any], seed: int | None, notes: list[str]
) -> Audit | None:
    from slimline.auditing import audit

    used = [Projection.from_json(line) for line in model.projections_]
    projection: Projection | None = used[0] if used else _would_be(model, seen)
    if projection is None:
        notes.append("no projection was used or measured: the data are too small for one.")
        return None
    classes = len(model.classes_)
    rows = max(2 * classes, _AUDITED // (classes - 1))
    return audit(seen, labels, projection=projection, repeats=_DRAWS, rows=rows, random_state=seed or 0)


def _would_be(model: CertifiedClassifier, seen: Matrix) -> Projection | None:
    """Return the projection that a sketch would have been made with; None where it has no fewer columns."""
    components = default_components(seen, float(seen.shape[0]), model.loss)
    if components >= seen.shape[1]:
        return None
    return frozen_projection("auto", seen.shape[1], components, seed=0)


def _plan(model: CertifiedClassifier, matrix: Matrix, measured: Audit | None) -> Plan:
    from slimline.auditing._measures import NORMALISED
    from slimline.planning import plan

    known = () if measured is None else measured.margins
    margins = [kept.before_lower for kept in known if kept.name == NORMALISED and kept.before_lower > 0.0]
    return plan(
        n_samples=matrix.shape[0],
        n_features=matrix.shape[1],
        n_classes=len(model.classes_),
        density=matrix.density,
        dtype=matrix.dtype,
        C=penalty_of(model),
        loss=model.loss,
        tol=model.tol,
        fit_intercept=model.fit_intercept,
        standardize=bool(model.standardize),
        margin=margins[0] if margins else None,
    )


def penalty_of(model: CertifiedClassifier) -> float:
    """Return C, given or chosen."""
    return float(getattr(model, "C_", None) or model.C)


def _model_facts(model: CertifiedClassifier) -> ModelFacts:
    claim, route = model.certificate_, model.route_
    sketched = route.method == "sketch" and bool(model.projections_)
    return ModelFacts(
        loss=model.loss,
        C=penalty_of(model),
        tol=float(model.tol),
        method=route.method,
        reason=route.reason,
        projection=_in_words(Projection.from_json(model.projections_[-1])) if sketched else "",
        n_components=Projection.from_json(model.projections_[-1]).n_components if sketched else 0,
        relative_error=tuple(claim.relative_error.tolist()),
        radius=tuple(claim.radius.tolist()),
        intercept=bool(model.fit_intercept),
        class_weight="" if model.class_weight is None else str(model.class_weight),
    )


def _in_words(projection: Projection) -> str:
    from slimline.auditing._measures import family_name

    return f"{family_name(projection)}, seed {projection.seed}"


def search_facts(model: CertifiedClassifier) -> Search | None:
    """Return how a model chose C; None if C was given."""
    scores = getattr(model, "scores_", None)
    if scores is None:
        return None
    scoring = getattr(model, "scoring", None)
    return Search(
        penalties=tuple(model.Cs_.tolist()),
        scores=tuple(scores.mean(axis=0).tolist()),
        deviations=tuple(scores.std(axis=0).tolist()),
        folds=len(scores),
        scoring=scoring if isinstance(scoring, str) else "accuracy" if scoring is None else "score",
    )


def _threads() -> int:
    from slimline._kernels import thread_count

    return int(thread_count())
