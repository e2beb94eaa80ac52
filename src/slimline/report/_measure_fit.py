"""`fit_report`: everything that there is to tell of a fitted classifier, measured."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from slimline.auditing import Audit, audit
from slimline.auditing._measures import NORMALISED, family_name
from slimline.data import ColumnStats, Matrix
from slimline.errors import AccuracyWarning, DataError
from slimline.estimators import CertifiedClassifier
from slimline.estimators._decisions import Decisions
from slimline.estimators._validation import as_matrix, class_labels
from slimline.planning import Plan, plan
from slimline.planning._route import default_components
from slimline.projections import Projection
from slimline.projections._families import frozen_projection
from slimline.report._figures import versions
from slimline.report._held_out import (
    WHAT_MAY_HELP,
    columns_looked_at,
    held_out,
    leading_features,
    near_duplicates,
    no_better_words,
)
from slimline.report._records import (
    FIT,
    CostFacts,
    DataFacts,
    Feature,
    FitReport,
    HeldOut,
    ModelFacts,
    Phase,
    Reproduction,
    Search,
    StepFacts,
)

#: Columns whose neighbours are looked for, and that the page shows.
_NEIGHBOURS, _TOP = 20, 50
#: Rows of the audit, times the classes that each is not of; and its draws.
_AUDITED, _DRAWS = 400, 3


@dataclass(frozen=True)
class Told:
    """What only the one who asks for a report can know.

    Parameters
    ----------
    title : str
        Heading; the name of the data unless given.
    labels : str
        Where the labels come from, in words.
    left_out : int
        Rows that were left out for want of a label.
    held_out : str
        Which rows were held out, in words.
    nbytes : int, optional
        Size of the data as they are stored.
    command, python : str
        How to get the same again.
    measured_rows : int, optional
        Rows that the model was trained on which was tried on the held-out rows, unless it is the model itself.
    search : Search, optional
        How C was chosen, unless the model itself chose it.
    seed : int, optional
        Of projection and held-out rows.
    phases : tuple of Phase
        What was done before; that of the fit is made up from its history unless given.
    peak_bytes : callable, optional
        Returns the most memory that was taken.
    resumed : bool
        Whether an earlier run had begun.
    notes : tuple of str
        What else is to be known.
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
    top: int = _TOP,
    measure_projection: bool = True,
    decisions: Decisions | None = None,
    stats: ColumnStats | None = None,
    told: Told | None = None,
    progress: Callable[[str], None] | None = None,
) -> FitReport:
    """Measure everything that the page of a fit shows.

    One pass over the held-out rows, two or three for columns that are nearly the same as those of the largest weights,
    and those of an audit of some hundred rows.

    Parameters
    ----------
    model : CertifiedClassifier
        Fitted to `X` and `y`.
    X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
        What it was fitted to.
    y : array-like of shape (n_samples,), optional
        Labels; may be left out for a `Matrix` that carries them.
    X_test, y_test : as X and y, optional
        Rows that it did not see, and their labels: both, or neither.
    top : int
        How many features are shown, at most.
    measure_projection : bool
        Whether margins and distances before and after a projection are measured.
    decisions : Decisions, optional
        What the model says of the held-out rows, where that is known; `X_test` is not needed then.
    stats : ColumnStats, optional
        Of the columns of `X`, where they are known.
    told : Told, optional
        What cannot be measured.
    progress : callable, optional
        Called with what is being done, in words.

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
    matrix = as_matrix(model, X, reset=False, finite=bool(model.standardize))
    if y is None and isinstance(X, Matrix):
        y = X.labels
    classes, codes = class_labels(y, matrix.shape[0])
    if not np.array_equal(classes, model.classes_):
        raise DataError(f"the model was fitted to the classes {model.classes_.tolist()}, and y has {classes.tolist()}.")
    counts = np.bincount(codes, minlength=len(classes))
    work = _Work(matrix, progress, list(told.phases) or [_phase_of(model)])
    notes = list(told.notes)
    held = None
    if y_test is not None:
        if decisions is None:
            with work.phase("held-out rows"):
                decisions = model.decide(X_test)
        held = _held_out(model, len(codes), np.asarray(y_test), decisions, classes[counts.argmax()], told, notes)
    if model._centre is not None and model._factor is not None:
        seen: Matrix = matrix.standardised(model._centre, 1.0 / model._factor, model._fill)
    else:
        seen = matrix
    with work.phase("near-duplicate columns"):
        features = _features(model, matrix, seen, top, stats)
    measured = None
    if measure_projection:
        with work.phase("projection audit"):
            measured = _audited(model, seen, classes[codes], told.seed, notes)
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
        audit=measured,
        plan=_plan(model, matrix, measured),
        cost=CostFacts(
            phases=tuple(work.phases),
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


class _Work:
    """Counts time and passes of what is done."""

    def __init__(self, matrix: Matrix, progress: Callable[[str], None] | None, phases: list[Phase]) -> None:
        self._matrix, self._progress, self.phases = matrix, progress, phases

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        if self._progress is not None:
            self._progress(name)
        start, before = time.perf_counter(), self._matrix.passes_of_this_thread
        yield
        self.phases.append(Phase(name, self._matrix.passes_of_this_thread - before, time.perf_counter() - start))


def _phase_of(model: CertifiedClassifier) -> Phase:
    return Phase(FIT, model.n_passes_, model.history_[-1].seconds)


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


def _features(
    model: CertifiedClassifier, matrix: Matrix, seen: Matrix, top: int, stats: ColumnStats | None
) -> tuple[Feature, ...]:
    names = model._feature_names
    features = leading_features(model, top, matrix)
    looked_at = features[: columns_looked_at(matrix.shape[1], _NEIGHBOURS)]
    deviation = None
    if seen is matrix:
        deviation = (matrix.column_stats() if stats is None else stats).std
    found = near_duplicates(seen, np.array([feature.index for feature in looked_at]), names, deviation)
    near = [
        replace(feature, n_neighbours=count, neighbours=neighbours)
        for feature, (count, neighbours) in zip(looked_at, found, strict=True)
    ]
    return (*near, *features[len(near) :])


def _audited(
    model: CertifiedClassifier, seen: Matrix, labels: NDArray[Any], seed: int | None, notes: list[str]
) -> Audit | None:
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
