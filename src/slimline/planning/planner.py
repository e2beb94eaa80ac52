"""`plan`: how many dimensions, for which guarantee, at what cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.bounds import margin_dimension, multiclass_margin_dimension
from slimline.data import Matrix, open_matrix
from slimline.errors import DataError, InvalidParameterError, NoDimensionError
from slimline.planning.advice import advise
from slimline.planning.findings import Findings, imagine, look_at
from slimline.planning.guarantees import curves, guarantees
from slimline.planning.prediction import predict
from slimline.planning.problem import Problem
from slimline.planning.records import Cost, Plan
from slimline.planning.route import default_components
from slimline.planning.shape import DataShape
from slimline.solvers import LOSSES

#: "Most" rows are all but one in so many.
_ONE_IN = 100
#: The family that is taken unless another is so many times faster: it has the lightest tails.
_ROBUST, _WORTH = "osnap", 1.5
_METHODS = ("auto", "sketch", "gram", "direct")


def plan(
    X: Any = None,
    y: Any = None,
    *,
    n_samples: int | None = None,
    n_features: int | None = None,
    n_classes: int | None = None,
    density: float | None = None,
    dtype: Any = "float32",
    C: float = 1.0,
    loss: str = "squared_hinge",
    tol: float = 1e-2,
    method: str = "auto",
    n_components: int | str = "auto",
    eps: float = 0.1,
    delta: float = 0.05,
    margin: float | None = None,
    rank: int | None = None,
    sparsity: int | None = None,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    standardize: bool = False,
    random_state: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Plan:
    """Say how many dimensions each guarantee asks for, what a certified fit will cost, and what we would do.

    From data, it takes a sketch of a few hundred rows, rehearses the fit on it, and makes two or three passes over the
    data, which it times; a sample of the rows is enough, with `n_samples` to say how many there are in all. From sizes
    alone it assumes data that have nothing in common, the hardest case.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, Matrix, path, optional
        Data, or a sample of their rows.
    y : array-like, optional
        Labels; may be left out for a `Matrix` that carries them. Without labels there is no margin to report.
    n_samples, n_features : int, optional
        Sizes. Needed without X; with X, `n_samples` may say that X is a sample of so many rows.
    n_classes : int, optional
        Classes; from y where it is given, else 2.
    density : float, optional
        Without X: the share of values that a sparse matrix stores. None: dense.
    dtype : data type
        Without X: what an element is stored as.
    C, loss, tol, method, n_components, fit_intercept, intercept_scaling, standardize : optional
        As for `CertifiedClassifier`.
    eps, delta : float
        Distortion and failure probability of the guarantees, in (0, 1).
    margin : float, optional
        Normalised margin, in (0, 1]; that of a separator of the data where they are given.
    rank : int, optional
        Rank of X; the smaller of its sizes unless given.
    sparsity : int, optional
        Largest number of non-zeros in a row, for fard2012.2; for sparse data without it, their mean.
    random_state : int
        Seed of the sample and of the rehearsal.
    progress : callable, optional
        Told what is being done.

    Returns
    -------
    plan : Plan
        `print` it; `parameters` go into `CertifiedClassifier`, `curves` into a picture, `to_dict` into JSON.

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
    _check(C, loss, tol, method, n_components, eps, delta, margin)
    matrix, codes, classes = _opened(X, y, n_classes, standardize)
    shape = _shape(matrix, n_samples, n_features, density, dtype, standardize)
    constant = float(intercept_scaling) if fit_intercept else 0.0
    problem = Problem(float(C), loss, float(tol), constant, classes, shape.shape[0], int(random_state))
    r = default_components(shape, float(shape.shape[0]), loss) if n_components == "auto" else int(n_components)
    before = matrix.passes if matrix is not None else 0
    if matrix is None:
        tell("rehearsing the fit on made-up data")
        found, source = imagine(shape.shape[1], standardize, problem, r), "sizes"
    else:
        tell(f"looking at {matrix.name}")
        found = look_at(matrix, codes, problem, r)
        source = f"{matrix.name}: {matrix.shape[0]:,} rows, {found.sample:,} of them in the rehearsal"
    tell("asking the theorems")
    kept = _margin(found, codes, problem, margin, delta)
    sizes: dict[str, Any] = {
        "points": shape.shape[0],
        "features": shape.shape[1],
        "classes": classes,
        "rank": int(rank) if rank is not None else min(shape.shape),
        "sparsity": sparsity or (None if shape.density is None else max(int(shape.density * shape.shape[1]), 1)),
    }
    if kept.value is not None and kept.value > 0.0:
        sizes |= {"margin": kept.value, "cosine": kept.value} if classes == 2 else {"multiclass_margin": kept.value}
    costs = predict(shape, problem, found, r)
    choice = _chosen(costs, method)
    made = Plan(
        n_samples=shape.shape[0],
        n_features=shape.shape[1],
        n_classes=classes,
        density=shape.density,
        source=source,
        C=problem.C,
        loss=loss,
        tol=problem.tol,
        eps=float(eps),
        delta=float(delta),
        guarantees=guarantees(sizes, float(eps), float(delta)),
        margin=kept.value,
        margin_dimension=kept.dimension,
        most_dimension=kept.most,
        margin_note=kept.note,
        effective_dimension=found.spectrum.of_all(1.0 / problem.C),
        errors={steps: found.sketched.error_after(steps) for steps in (1, 2, 4)},
        costs=costs,
        choice=choice,
        advice="",
        curves=curves(sizes, float(eps), float(delta)),
        passes=(matrix.passes - before) if matrix is not None else 0,
        seconds=time.perf_counter() - begin,
        fit_intercept=bool(fit_intercept),
        intercept_scaling=float(intercept_scaling),
        standardize=bool(standardize),
    )
    return replace(made, advice=advise(made))


def _check(
    C: float, loss: str, tol: float, method: str, n_components: Any, eps: float, delta: float, margin: float | None
) -> None:
    if loss not in LOSSES:
        raise InvalidParameterError(f"loss must be one of {', '.join(LOSSES)}; got {loss!r}.")
    if method not in _METHODS:
        raise InvalidParameterError(f"method must be one of {', '.join(_METHODS)}; got {method!r}.")
    for name, value in (("C", C), ("tol", tol)):
        if not (0 < value < float("inf")):
            raise InvalidParameterError(f"{name} must be a number above 0; got {value!r}.")
    for name, value in (("eps", eps), ("delta", delta)):
        if not 0 < value < 1:
            raise InvalidParameterError(f"{name} must lie in (0, 1); got {value!r}.")
    if margin is not None and not 0 < margin <= 1:
        raise InvalidParameterError(f"margin must lie in (0, 1]: it is a cosine; got {margin!r}.")
    if n_components != "auto" and not (isinstance(n_components, (int, np.integer)) and n_components > 0):
        raise InvalidParameterError(f'n_components must be a whole number above 0, or "auto"; got {n_components!r}.')


def _opened(
    X: Any, y: Any, n_classes: int | None, standardize: bool
) -> tuple[Matrix | None, NDArray[np.intp] | None, int]:
    if X is None:
        if y is not None:
            raise InvalidParameterError("y was given without X: give both, or sizes alone.")
        return None, None, _classes(n_classes, 2)
    matrix = X if isinstance(X, Matrix) else open_matrix(Path(X) if isinstance(X, str) else X)
    if not min(matrix.shape):
        raise DataError(f"{matrix.name} has the shape {matrix.shape}: there is nothing to plan for.")
    labels = _carried(matrix) if y is None else y
    if standardize:
        matrix = matrix.standardised("mean", "std", "mean")
    if labels is None:
        return matrix, None, _classes(n_classes, 2)
    labels = np.asarray(labels).ravel()
    if len(labels) != matrix.shape[0]:
        raise InvalidParameterError(f"y has {len(labels):,} labels, and {matrix.name} {matrix.shape[0]:,} rows.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        count = int(np.isnan(labels).sum())
        raise DataError(f"{count:,} rows have no label (NaN): leave them out, for instance with X.rows(~np.isnan(y)).")
    names, codes = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        raise DataError("y has only one class: there is nothing to learn.")
    return matrix, codes, _classes(n_classes, len(names))


def _carried(matrix: Matrix) -> NDArray[Any] | None:
    """Return the labels in the data; none, where all are the same: such files are common, and mean nothing by it."""
    labels = matrix.labels
    known = labels[labels == labels] if labels is not None else ()  # NaN stands for a missing one
    return None if len(np.unique(known)) < 2 else labels


def _classes(given: int | None, found: int) -> int:
    if given is None:
        return found
    if given < found or given < 2:
        raise InvalidParameterError(f"n_classes must be at least {max(found, 2)}; got {given!r}.")
    return int(given)


def _shape(
    matrix: Matrix | None,
    n_samples: int | None,
    n_features: int | None,
    density: float | None,
    dtype: Any,
    standardize: bool,
) -> DataShape:
    if matrix is None:
        if n_samples is None or n_features is None:
            raise InvalidParameterError("give data, or n_samples and n_features.")
        if n_samples < 1 or n_features < 1:
            raise InvalidParameterError(f"sizes must be at least 1; got {n_samples!r} and {n_features!r}.")
        if density is not None and not 0 < density <= 1:
            raise InvalidParameterError(f"density must lie in (0, 1], or be None for dense data; got {density!r}.")
        sparse = density is not None
        stored = not standardize and (sparse or np.dtype(dtype).kind == "f")
        size = (int(n_samples), int(n_features))
        return DataShape(size, np.dtype(dtype), density, 2 if sparse else 1, standardize, stored)
    if n_features is not None and n_features != matrix.shape[1]:
        raise InvalidParameterError(f"{matrix.name} has {matrix.shape[1]:,} features; leave n_features out.")
    if n_samples is not None and n_samples < matrix.shape[0]:
        raise InvalidParameterError(
            f"{matrix.name} has {matrix.shape[0]:,} rows, and n_samples={n_samples:,}: it says how many rows there are "
            "in all, where X is a sample of them."
        )
    shape = DataShape.of(matrix)
    return shape if n_samples is None else replace(shape, shape=(int(n_samples), shape.shape[1]))


@dataclass(frozen=True)
class _Margin:
    """The margin, the dimensions that keep it positive, for all rows and for most, and what that stands on."""

    value: float | None
    dimension: int | None
    most: int | None
    note: str


def _margin(
    found: Findings, codes: NDArray[np.intp] | None, problem: Problem, given: float | None, delta: float
) -> _Margin:
    few = problem.n_samples // _ONE_IN
    if given is not None:
        all_ = np.full(problem.n_samples, given)
        note = f"all {problem.n_samples:,} points taken to have the given margin"
        return _Margin(given, margin_dimension(all_, delta), margin_dimension(all_, delta, errors=few), note)
    if found.cosines is None or codes is None:
        return _Margin(None, None, None, "no labels, no margin")
    room = cosines = found.cosines
    if problem.n_classes > 2:
        own = cosines[np.arange(len(codes)), codes]
        others = np.where(np.arange(cosines.shape[1]) == codes[:, None], -np.inf, cosines)
        room = own - others.max(axis=1)

    def dimension(errors: int) -> int | None:
        if errors >= len(room):
            return None
        try:
            if problem.n_classes == 2:
                return margin_dimension(room, delta, errors=errors)
            return multiclass_margin_dimension(cosines, codes, delta, errors=errors)
        except NoDimensionError:  # a row lies on the boundary, but for rounding
            return None

    lost = int(np.sum(room <= 0.0))
    those = f"the {len(room):,} rows at hand" if len(room) < problem.n_samples else f"all {len(room):,} rows"
    note = f"a separator of {found.sample:,} rows, through the origin, and {those}"
    if lost:
        note += f"; {lost:,} are on the wrong side of it already, and not counted"
    return _Margin(float(room.min()), dimension(lost), dimension(lost + len(room) // _ONE_IN), note)


def _chosen(costs: tuple[Cost, ...], method: str) -> Cost:
    wanted = [cost for cost in costs if method in ("auto", cost.method)]
    best = min(wanted, key=lambda cost: cost.seconds)
    if best.seconds == float("inf"):
        raise InvalidParameterError(f'method="{method}" cannot be used here: {best.note}. Leave method="auto".')
    robust = next(cost for cost in costs if cost.projection == _ROBUST)
    return robust if best.method == "sketch" and robust.seconds <= _WORTH * best.seconds else best
