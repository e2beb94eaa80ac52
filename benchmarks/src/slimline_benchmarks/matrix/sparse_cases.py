"""A CSR matrix in memory: the products, raw and standardised, beside SciPy and scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from slimline.data.formats._sparse import SparseMatrix
from slimline_benchmarks.case import Case, Contender
from slimline_benchmarks.matrix import limits, names, operations, targets
from slimline_benchmarks.matrix.operations import WIDTHS, Measure
from slimline_benchmarks.matrix.sizes import Sizes
from slimline_benchmarks.matrix.subject import Subject, right_hand_sides
from slimline_benchmarks.projections.data import Shape

_WORDS = {"dot": "X W", "tdot": "Xᵀ A", "normal": "Xᵀ A and X Xᵀ A", "stats": "statistics of the columns"}


def sparse_cases(sizes: Sizes, judged: bool) -> list[Case]:
    """Return the cases of the CSR matrix: dot, tdot, normal, and column statistics.

    Parameters
    ----------
    sizes : Sizes
        Rows, columns and entries a row.
    judged : bool
        Whether there are targets.

    Returns
    -------
    cases : list of Case
        One for each operation.
    """
    n, d, per_row = sizes.sparse
    shape = Shape(n, d, 1, "f4", per_row)
    return [_case(shape, operation, judged) for operation in _WORDS]


def _case(shape: Shape, operation: str, judged: bool) -> Case:
    measure = Measure(shape.input_bytes, names.READING, names.READING)

    def make() -> Subject:
        X = shape.make()
        return Subject(SparseMatrix(X), X)

    views = (names.RAW, names.STANDARDISED)
    if operation == "stats":
        ours: tuple[Contender, ...] = (operations.statistics(measure),)
    else:
        ours = tuple(operations.product(operation, view, k, measure) for k in WIDTHS for view in views)
        ours = (*ours, operations.product(operation, names.FIRST, 1, measure))
    return Case(
        name=f"sparse-{operation}",
        title=f"{_WORDS[operation]}, {shape.n:,} × {shape.d:,} float32 ({shape.storage}) in memory",
        make=make,
        contenders=(*limits.reading_in_memory(shape.input_bytes), *ours, *_peers(shape, operation)),
        input_bytes=shape.input_bytes,
        targets=targets.sparse(operation) if judged else (),
    )


def _peers(shape: Shape, operation: str) -> tuple[Contender, ...]:
    if operation == "stats":
        return (_peer(names.SCALER, names.task(names.RAW), _fit_scaler, ("sklearn.preprocessing",)),)
    found: list[Contender] = []
    for k in WIDTHS:
        found.append(_multiplying(names.peer(names.SCIPY, k), names.task(names.RAW, k), operation, k, _product))
    scaler = _multiplying(names.SCALER, names.task(names.FIRST, 1), operation, 1, _scaled_product)
    found.append(replace(scaler, requires=("sklearn.preprocessing",)))
    if operation == "dot":
        found.append(_standardised_by_hand())
    return tuple(found)


def _peer(name: str, task: str, run: Callable[[Any], Any], requires: tuple[str, ...] = ()) -> Contender:
    return Contender(name, "peer", run, setup=lambda subject: subject.source, requires=requires, task=task)


def _multiplying(name: str, task: str, operation: str, k: int, multiply: Callable[[str, Any, Any], Any]) -> Contender:
    def setup(subject: Subject) -> tuple[Any, Any]:
        X = subject.source
        return X, right_hand_sides(X.shape[1 if operation == "dot" else 0], k)

    return replace(_peer(name, task, lambda given: multiply(operation, *given)), setup=setup)


def _product(operation: str, X: Any, V: Any) -> Any:
    if operation == "dot":
        return X @ V
    W = X.T @ V
    return W if operation == "tdot" else (W, X @ W)


def _scaled_product(operation: str, X: Any, V: Any) -> Any:
    """Return the product after fit and transform; scikit-learn can scale sparse data, but not centre them."""
    from sklearn.preprocessing import StandardScaler

    return _product(operation, StandardScaler(with_mean=False).fit_transform(X), V)


def _fit_scaler(X: Any) -> Any:
    from sklearn.preprocessing import StandardScaler

    return StandardScaler(with_mean=False).fit(X).var_


def _standardised_by_hand() -> Contender:
    """Return what a user can do who knows that (X - 1 mᵀ) S w = X (S w) - (mᵀ S w) 1; mean and scale are given."""

    def setup(subject: Subject) -> tuple[Any, ...]:
        d = subject.matrix.shape[1]
        stats = subject.matrix.column_stats()
        return subject.source, stats.mean, stats.scale, right_hand_sides(d, 1)

    def run(given: tuple[Any, ...]) -> Any:
        X, mean, scale, w = given
        scaled = w / scale
        return X @ scaled - mean @ scaled

    return replace(_peer(f"{names.SCIPY} by hand", names.task(names.STANDARDISED, 1), run), setup=setup)
