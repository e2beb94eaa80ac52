"""`fit_report`: what the page of a fitted model shows, measured."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from slimline.data import ColumnStats, Matrix
from slimline.data._labels import class_labels
from slimline.errors import AccuracyWarning, DataError, InvalidParameterError
from slimline.estimators import CertifiedClassifier, CertifiedPredictions, CertifiedRegressor
from slimline.estimators._decisions import Decisions
from slimline.estimators._validation import as_matrix
from slimline.projections import Projection
from slimline.report._calibration import prevalence_facts
from slimline.report._figures import versions
from slimline.report._held_out import WHAT_MAY_HELP, held_out, no_better_words
from slimline.report._held_out_records import HeldOut, HeldOutTarget
from slimline.report._held_out_targets import WHAT_MAY_HELP as WHAT_MAY_HELP_TARGETS
from slimline.report._held_out_targets import held_out_targets, no_better_target_words, null_predictions
from slimline.report._leading import Leading, features_with_neighbours, leading_features, standardised
from slimline.report._records import (
    FIT,
    CostFacts,
    DataFacts,
    FitReport,
    ModelFacts,
    Phase,
    Phases,
    PrevalenceFacts,
    Reproduction,
    Search,
    StepFacts,
    TargetFacts,
)
from slimline.report._target_facts import effect_facts, real_targets, target_facts

#: Features that the page shows.
TOP = 50
#: Why a regression has no audit.
_NO_AUDIT = "the projection was not audited: an audit measures margins between classes."


@dataclass(frozen=True)
class Told:
    """Provenance supplied by the caller.

    Parameters
    ----------
    title : str
        Heading; the name of the data unless given.
    labels : str
        Source of the labels or targets, in words.
    targets : tuple of str
        Names of the targets of a regression; by default those of the columns of `y`, if it has any.
    left_out : int
        Samples that were left out because they have no label or target.
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
    prevalence : float, optional
        Share of the second of two classes in the population, if the samples were chosen by class: the calibration
        is told at this share. Needs `loss="logistic"`, a free intercept and no class weights.
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
    targets: tuple[str, ...] = ()
    left_out: int = 0
    held_out: str = "rows that were given"
    measured_rows: int | None = None
    search: Search | None = None
    nbytes: int | None = None
    command: str = ""
    python: str = ""
    prevalence: float | None = None
    seed: int | None = None
    phases: tuple[Phase, ...] = ()
    peak_bytes: Callable[[], int | None] | None = None
    resumed: bool = False
    notes: tuple[str, ...] = ()


def fit_report(
    model: CertifiedClassifier | CertifiedRegressor,
    X: Any,
    y: Any = None,
    *,
    covariates: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    covariates_test: Any = None,
    top: int = TOP,
    measure_projection: bool = True,
    decisions: Decisions | CertifiedPredictions | None = None,
    stats: ColumnStats | None = None,
    told: Told | None = None,
    progress: Callable[[str], None] | None = None,
) -> FitReport:
    """Measure everything that the page of a fit shows.

    This takes one pass over the held-out samples, two for features that are nearly the same as those of the largest
    weights, and one for the audit.

    Parameters
    ----------
    model : CertifiedClassifier or CertifiedRegressor
        Fitted to `X` and `y`.
    X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
        Labels or targets; labels may be left out for a `Matrix` that carries them.
    covariates : array-like or data frame of shape (n_samples, n_covariates), optional
        Those of the training samples, if the model was trained with any.
    X_test, y_test, covariates_test : as X, y and covariates, optional
        Held-out samples and their labels or targets: both, or neither.
    top : int
        Most features that are shown.
    measure_projection : bool
        Whether to compare the fit with a plan, and to measure margins and distances before and after a projection (an
        audit of some hundred samples, which needs classes).
    decisions : Decisions or CertifiedPredictions, optional
        Decisions of a classifier about the held-out samples, or predictions of a regression, if they are known;
        `X_test` is not needed then.
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
    if isinstance(model, CertifiedClassifier):  # all is refused before any pass
        _classes(model, matrix, y)
    else:
        target_facts(model, y, matrix.shape[0], told.targets)
    prevalence_facts(model, told.prevalence)
    model._given(covariates, matrix.shape[0])
    phases = Phases(progress, told.phases or [Phase(FIT, model.n_passes_, model.history_[-1].seconds)])
    phases.matrices = [matrix]
    if y_test is not None and decisions is None:
        if isinstance(X_test, Matrix):
            X_test = X_test.counted()
            phases.matrices.append(X_test)
        with phases("held-out rows"):
            if isinstance(model, CertifiedClassifier):
                decisions = model.decide(X_test, covariates_test)
            else:
                decisions = model.certified_predictions(X_test, covariates_test)
    with phases("largest weights"):
        leading = leading_features(model, matrix, top, stats)
    return build_report(
        model, matrix, y, covariates=covariates, covariates_test=covariates_test, leading=leading, decisions=decisions,
        y_test=y_test, told=told, phases=phases, measure_projection=measure_projection,
    )  # fmt: skip


def build_report(
    model: CertifiedClassifier | CertifiedRegressor,
    matrix: Matrix,
    y: Any,
    *,
    covariates: Any = None,
    covariates_test: Any = None,
    baseline: NDArray[np.float64] | None = None,
    leading: Leading,
    decisions: Decisions | CertifiedPredictions | None,
    y_test: Any,
    told: Told,
    phases: Phases,
    measure_projection: bool,
) -> FitReport:
    """Return the report of a model whose largest weights have been read and that has decided about held-out samples.

    `baseline` is what a regression is compared with: `null_predictions` for the held-out samples. By default it is
    made from `y` and the covariates, or from the mean of `y` if covariates of training or held-out samples are absent.
    """
    answers = Decisions if isinstance(model, CertifiedClassifier) else CertifiedPredictions
    if decisions is not None and not isinstance(decisions, answers):
        raise InvalidParameterError(f"must be {answers.__name__}; got {type(decisions).__name__}.", "decisions")
    notes = list(told.notes)
    held, audit, plan = None, None, None
    prevalence = prevalence_facts(model, told.prevalence)
    classes: tuple[tuple[str, int], ...] = ()
    targets: tuple[TargetFacts, ...] = ()
    held_targets: tuple[HeldOutTarget, ...] = ()
    seen = standardised(model, matrix)
    given = None if covariates is None else model._given(covariates, matrix.shape[0])
    if isinstance(model, CertifiedClassifier):
        labels, codes = _classes(model, matrix, y)
        counts = np.bincount(codes, minlength=len(labels))
        classes = tuple((str(label), int(count)) for label, count in zip(labels, counts, strict=True))
        if y_test is not None and isinstance(decisions, Decisions):
            held = _held_out(
                model, len(codes), np.asarray(y_test), decisions, labels[counts.argmax()], told, prevalence, notes
            )
    else:
        targets, values = target_facts(model, y, matrix.shape[0], told.targets)
        if y_test is not None and isinstance(decisions, CertifiedPredictions):
            held_targets = _held_out_targets(
                model, values, y_test, decisions, covariates, covariates_test, baseline,
                [target.name for target in targets], told,
            )  # fmt: skip
    with phases("near-duplicate features"):
        features = features_with_neighbours(seen, leading, model._feature_names)
    if targets:
        named = {f"y{k}": target.name for k, target in enumerate(targets)}
        features = tuple(replace(feature, label=named[feature.label]) for feature in features)
    if measure_projection:
        from slimline.report._projection_facts import audited, planned

        if isinstance(model, CertifiedClassifier):
            with phases("projection audit"):
                audit = audited(model, seen, labels[codes], told.seed, notes)
        else:
            notes.append(_NO_AUDIT)
        plan = planned(model, matrix, penalty_of(model), audit)
    return FitReport(
        title=told.title or matrix.name,
        data=DataFacts(
            name=matrix.name,
            n_rows=matrix.shape[0],
            n_features=matrix.shape[1],
            classes=classes,
            left_out=told.left_out,
            labels=told.labels,
            standardised=bool(model.standardize),
            fingerprint=matrix.fingerprint,
            nbytes=told.nbytes,
            targets=targets,
        ),
        model=_model_facts(model),
        history=tuple(StepFacts(step.passes, step.seconds, max(step.relative_error)) for step in model.history_),
        features=features,
        held_out=held,
        search=told.search or search_facts(model),
        audit=audit,
        plan=plan,
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
        effects=effect_facts(model, [target.name for target in targets], given),
        held_out_targets=held_targets,
        prevalence=prevalence,
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
    prevalence: PrevalenceFacts | None,
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
        logistic=model.loss == "logistic",
        prevalence=prevalence,
    )
    if held.worse_than_majority:
        warnings.warn(f"{no_better_words(held)} {WHAT_MAY_HELP}", AccuracyWarning, stacklevel=3)
    return held


def _held_out_targets(
    model: CertifiedRegressor,
    y: NDArray[np.float64],
    y_test: Any,
    found: CertifiedPredictions,
    covariates: Any,
    covariates_test: Any,
    baseline: NDArray[np.float64] | None,
    names: Sequence[str],
    told: Told,
) -> tuple[HeldOutTarget, ...]:
    n_test = len(found.value)
    targets = real_targets(y_test, n_test, "y_test")
    with_covariates = model._free is not None and model._free.n_covariates > 0
    if baseline is None:
        with_covariates &= covariates is not None and covariates_test is not None
        own = model._given(covariates, len(y)) if with_covariates else None
        new = model._given(covariates_test, n_test) if with_covariates else None
        baseline = null_predictions(y, own, new, n_test, loss=model.loss, quantile=model.quantile)
    held = held_out_targets(
        found,
        targets,
        baseline,
        names=names,
        with_covariates=with_covariates,
        loss=model.loss,
        quantile=model.quantile,
        source=told.held_out,
        trained_rows=len(y) if told.measured_rows is None else told.measured_rows,
    )
    worse = [one for one in held if one.worse_than_baseline]
    if worse:
        warnings.warn(f"{no_better_target_words(worse)} {WHAT_MAY_HELP_TARGETS}", AccuracyWarning, stacklevel=3)
    return held


def penalty_of(model: CertifiedClassifier | CertifiedRegressor) -> float:
    """Return C, given or chosen."""
    return float(getattr(model, "C_", None) or model.C)


def _model_facts(model: CertifiedClassifier | CertifiedRegressor) -> ModelFacts:
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
        class_weight="" if getattr(model, "class_weight", None) is None else str(model.class_weight),
        free_intercept=bool(model._free is not None and model._free.intercept),
        loss_parameters=_loss_parameters(model),
    )


def _loss_parameters(model: CertifiedClassifier | CertifiedRegressor) -> str:
    if model.loss == "huber":
        return "δ = " + ", ".join(f"{delta:.4g}" for delta in model.delta_)
    if model.loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        return f"ε = {model.epsilon:.4g}" + (" standard deviations of the target" if model.standardize_target else "")
    return f"τ = {model.quantile:.4g}" if model.loss == "quantile" else ""


def _in_words(projection: Projection) -> str:
    from slimline.auditing._measures import family_name

    return f"{family_name(projection)}, seed {projection.seed}"


def search_facts(model: CertifiedClassifier | CertifiedRegressor) -> Search | None:
    """Return how a model chose C; None if C was given."""
    scores = getattr(model, "scores_", None)
    if scores is None:
        return None
    scoring = getattr(model, "scoring", None)
    default = "accuracy" if isinstance(model, CertifiedClassifier) else "R²"
    return Search(
        penalties=tuple(model.Cs_.tolist()),
        scores=tuple(scores.mean(axis=0).tolist()),
        deviations=tuple(scores.std(axis=0).tolist()),
        folds=len(scores),
        scoring=scoring if isinstance(scoring, str) else default if scoring is None else "score",
        leave_one_out=hasattr(model, "loo_predictions_"),
    )


def _threads() -> int:
    from slimline._kernels import thread_count

    return int(thread_count())
