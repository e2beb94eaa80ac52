"""`plan`: how many components, for which guarantee, at what cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from slimline._base.checks import chance, is_auto, number, seed_of, whole
from slimline.errors import InvalidParameterError
from slimline.learning.training_data import AUTO
from slimline.planning._guarantees import curves, found_margin, given_margin, guarantees
from slimline.planning._memory import carried_bytes
from slimline.planning._prediction import predict, probe_data, probe_worst_case
from slimline.planning._problem import (
    Problem,
    RegressionSettings,
    check_choices,
    covariates_of,
    is_regression,
    labels_of,
    opened,
    require_room,
    samples_of,
    shape_of,
)
from slimline.planning._records import Cost, Plan, advise
from slimline.planning._route import SMALL, default_components

#: The family that is taken unless another is so many times faster: it has the lightest tails.
_ROBUST, _WORTH = "osnap", 1.5


def plan(
    X: Any = None,
    y: Any = None,
    *,
    n_samples: int | None = None,
    n_features: int | None = None,
    n_classes: int | None = None,
    n_targets: int | None = None,
    density: float | None = None,
    dtype: Any = "float32",
    C: float = 1.0,
    loss: str = "squared_hinge",
    task: str = "auto",
    huber_delta: float | str = AUTO,
    epsilon: float = 0.1,
    quantile: float = 0.5,
    standardize_target: bool = False,
    tol: float = 1e-2,
    method: str = "auto",
    n_components: int | str = "auto",
    eps: float = 0.1,
    delta: float = 0.05,
    margin: float | None = None,
    rank: int | None = None,
    sparsity: int | None = None,
    fit_intercept: bool = True,
    intercept: str = "free",
    intercept_scaling: float | str = AUTO,
    covariates: Any = None,
    n_covariates: int | None = None,
    standardize: bool = False,
    random_state: Any = 0,
    progress: Callable[[str], None] | None = None,
) -> Plan:
    """Return the dimension that each guarantee requires, the cost of a certified fit, and a recommendation.

    From data, it takes a sketch of a few hundred samples, makes a pilot run of the fit on it, and times two or three
    passes over the data. A subset of the samples is enough, with `n_samples` for their number in all. From sizes alone
    it assumes samples that have nothing in common, the hardest case.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, Matrix, path, optional
        Data, or a subset of the samples.
    y : array-like, optional
        Labels, or targets if `loss` is one of regression: of shape (n_samples,) or (n_samples, n_targets). Not needed
        for a `Matrix` that carries them. Without labels no margin is reported, and the pilot run has random ones.
    n_samples, n_features : int, optional
        Sizes. Required without X; with X, `n_samples` may give the number of samples of which X is a subset.
    n_classes : int, optional
        Number of classes; by default that of y, or 2 without labels.
    n_targets : int, optional
        Number of targets of a regression; by default that of y, or 1.
    density : float, optional
        Without X: the share of values that a sparse matrix stores. None: dense.
    dtype : data type
        Without X: element type of the data.
    C, tol, method, n_components, fit_intercept, intercept, intercept_scaling, standardize : optional
        As for `CertifiedClassifier` and `CertifiedRegressor`.
    loss : str
        A loss of `CertifiedClassifier` or of `CertifiedRegressor`.
    task : {"auto", "classification", "regression"}
        Only the loss "squared" belongs to both: "auto" takes it for a regression if y has fractions or several columns.
    huber_delta, epsilon, quantile, standardize_target : optional
        As for `CertifiedRegressor`, where δ of the Huber loss is called `delta`.
    covariates : array-like or data frame of shape (n_samples, n_covariates), optional
        Numbers that enter the model without a penalty, one row for each of X.
    n_covariates : int, optional
        Their number, if they are not given; the pilot run has random ones.
    eps, delta : float
        Distortion and failure probability of the guarantees, in (0, 1).
    margin : float, optional
        Normalised margin, in (0, 1], for several classes in (0, 2]; by default that of a separator of the data. A
        regression has none.
    rank : int, optional
        Rank of X; by default the smaller of its sizes.
    sparsity : int, optional
        Largest number of non-zeros in a row, for fard2012.2; by default their mean in sparse data.
    random_state : int, RandomState or None
        Seed of the subset and of the pilot run.
    progress : callable, optional
        Called with a sentence at the beginning of each part.

    Returns
    -------
    plan : Plan
        `print` it; `parameters` go into the estimator, `curves` into a picture, `to_dict` into JSON.

    See Also
    --------
    audit : The same questions asked of a projection that was applied.
    slimline.bounds.get : A single theorem.

    Notes
    -----
    Dimensions come from the theorems in :mod:`slimline.bounds`, and from the exact laws of a Gaussian projection if
    they answer the same question. The effective dimension is d_λ = tr K(K + λI)⁻¹ with K = XXᵀ and λ = 1/C, estimated
    from the sketch of a few hundred samples; a sketch that is to contract the error quickly needs more components than
    that. Beside columns without a penalty, an intercept or covariates U, the dual variables satisfy Uᵀβ = 0, and
    d_λ is that of QᵀKQ, Q being an orthonormal basis of these β: never more than that of K, since eigenvalues
    interlace. Theorems about margins and classes are left out of a regression; the others speak of the features alone.

    Examples
    --------
    >>> from slimline import plan
    >>> found = plan(n_samples=2000, n_features=500_000, dtype="int8", margin=0.3)
    >>> next(row.dimension for row in found.guarantees if row.name == "shi2012.6")
    5310
    >>> found.margin_dimension
    175
    """
    begin = time.perf_counter()
    tell = progress or (lambda _: None)
    check_choices(loss, method, n_components, task, intercept)
    eps, delta = chance("eps", eps), chance("delta", delta)
    settings = RegressionSettings.checked(huber_delta, epsilon, quantile, standardize_target)
    is_free = bool(fit_intercept) and intercept == "free"
    _require_consistent(X, y, fit_intercept, intercept, intercept_scaling, covariates, n_covariates)
    matrix, labels = opened(X, bool(standardize))
    labels = labels if y is None else np.asarray(y)
    rows = None if matrix is None else matrix.shape[0]
    regression = is_regression(loss, task, labels, n_targets)
    if regression and margin is not None:
        raise InvalidParameterError("needs classes: a regression has no margin.", "margin", margin)
    codes, targets, classes, n_targets = labels_of(labels, rows or 0, n_classes, n_targets, regression)
    given, n_covariates = covariates_of(covariates, n_covariates, rows)
    shape = shape_of(matrix, n_samples, n_features, density, dtype, bool(standardize))
    problem = Problem(
        C=number("C", C, 0.0),
        loss=loss,
        tol=number("tol", tol, 0.0),
        constant=_constant(intercept_scaling) if fit_intercept and not is_free else 0.0,
        n_classes=classes,
        n_targets=n_targets,
        intercept=is_free,
        n_covariates=n_covariates,
        n_samples=shape.shape[0],
        seed=seed_of(random_state),
        settings=settings,
    )
    if margin is not None:
        margin = number("margin", margin, 0.0, 1.0 if classes == 2 else 2.0)
    sizes: dict[str, Any] = {
        "points": shape.shape[0],
        "features": shape.shape[1],
        "classes": classes,
        "rank": min(shape.shape) if rank is None else whole("rank", rank, 1, min(shape.shape)),
    }
    if sparsity is not None:
        sizes["sparsity"] = whole("sparsity", sparsity, 1, shape.shape[1])
    elif shape.density is not None:
        sizes["sparsity"] = max(round(shape.density * shape.shape[1]), 1)
    r = default_components(shape, float(shape.shape[0]), loss) if n_components == "auto" else int(n_components)
    require_room(problem, given)
    if matrix is None:
        tell("making a pilot run on simulated data")
        found, source = probe_worst_case(shape.shape[1], bool(standardize), problem, r), "sizes"
    else:
        rng = np.random.default_rng([problem.seed, 1])
        samples = samples_of(problem, matrix.shape[0], rng, codes, targets, given)
        matrix = matrix.counted()
        tell(f"looking at {matrix.name}")
        found = probe_data(matrix, samples, problem, r)
        source = f"{matrix.name}: {matrix.shape[0]:,} rows, {found.sample:,} of them in the pilot run"
    tell("asking the theorems")
    kept = found_margin(found, codes, problem, delta) if margin is None else given_margin(margin, problem, delta)
    if kept.value is not None and kept.value > 0.0:
        sizes |= {"margin": kept.value, "cosine": kept.value} if classes == 2 else {"multiclass_margin": kept.value}
    costs = predict(shape, problem, found, r, carried_bytes(matrix))
    choice = _chosen(costs, method, min(shape.shape) <= SMALL)
    made = Plan(
        n_samples=shape.shape[0],
        n_features=shape.shape[1],
        n_classes=classes,
        density=shape.density,
        source=source,
        C=problem.C,
        loss=loss,
        tol=problem.tol,
        task="regression" if regression else "classification",
        n_targets=n_targets,
        n_covariates=n_covariates,
        huber_delta=settings.huber_delta,
        epsilon=settings.epsilon,
        quantile=settings.quantile,
        standardize_target=settings.standardize_target,
        eps=eps,
        delta=delta,
        guarantees=guarantees(sizes, eps, delta),
        margin=kept.value,
        margin_dimension=kept.dimension,
        most_dimension=kept.most,
        margin_note=kept.note,
        effective_dimension=found.spectrum.of_all(1.0 / problem.C),
        errors={steps: found.sketched.error_after(steps) for steps in (1, 2, 4)},
        costs=costs,
        choice=choice,
        advice="",
        curves=curves(sizes, eps, delta),
        passes=0 if matrix is None else matrix.passes,
        seconds=time.perf_counter() - begin,
        fit_intercept=bool(fit_intercept),
        intercept=intercept,
        intercept_scaling=_constant(intercept_scaling),
        standardize=bool(standardize),
    )
    return replace(made, advice=advise(made))


def _require_consistent(
    X: Any, y: Any, fit_intercept: Any, intercept: str, intercept_scaling: Any, covariates: Any, n_covariates: Any
) -> None:
    """Refuse what cannot be given together."""
    if X is None and y is not None:
        raise InvalidParameterError("was given without X: give both, or sizes alone.", "y")
    if intercept == "free" and not is_auto(intercept_scaling):
        raise InvalidParameterError(
            'belongs to intercept="penalised": a free intercept has no penalty to scale.',
            "intercept_scaling",
            intercept_scaling,
        )
    if (covariates is not None or n_covariates) and fit_intercept and intercept != "free":
        raise InvalidParameterError('must be "free" beside covariates.', "intercept", intercept)


def _constant(intercept_scaling: Any) -> float | str:
    """Return the value of the constant column, or "auto"."""
    return AUTO if is_auto(intercept_scaling) else number("intercept_scaling", intercept_scaling)


def _chosen(costs: tuple[Cost, ...], method: str, small: bool) -> Cost:
    wanted = [cost for cost in costs if method in ("auto", cost.method)]
    if method == "auto" and small:  # as a fit does; times so short are measured badly
        wanted = [cost for cost in wanted if cost.method == "gram" and cost.seconds < float("inf")] or wanted
    best = min(wanted, key=lambda cost: cost.seconds)
    if best.seconds == float("inf"):
        raise InvalidParameterError(
            f'cannot be "{method}" here: {best.note}. "auto" chooses another.', "method", method
        )
    robust = next(cost for cost in costs if cost.projection == _ROBUST)
    return robust if best.method == "sketch" and robust.seconds <= _WORTH * best.seconds else best
