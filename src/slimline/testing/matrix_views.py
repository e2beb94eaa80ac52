"""Rows and columns of a matrix, centred, scaled and filled or not: as if they had been written out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from slimline.data import Matrix
from slimline.testing.matrix_explicit import Explicit, Floats, standardise
from slimline.testing.matrix_passes import check_passes, check_sketch, check_stats, counted, projections, require_exact


def row_choices(n: int, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield ways to choose rows.

    Parameters
    ----------
    n : int
        How many rows there are.
    seed : int
        Seed.

    Yields
    ------
    (str, array)
        A name, and row numbers or a mask.
    """
    rng = np.random.default_rng(seed)
    yield "every third row", np.arange(0, n, 3)
    yield "rows backwards", np.arange(n)[::-1]
    yield "rows in any order, some more than once", rng.integers(0, n, n + 3) if n else np.arange(0)
    yield "rows from the end", -1 - np.arange(n // 2)
    yield "a mask", rng.random(n) < 0.5
    yield "no row", np.zeros(n, dtype=bool)


def check_rows(matrix: Matrix, X: Floats, what: str, seed: int = 0) -> None:
    """Check views of rows: values, names, passes; and views of views.

    Parameters
    ----------
    matrix : Matrix
        What is checked.
    X : array of shape (n_samples, n_features)
        What it should hold.
    what : str
        Said in messages.
    seed : int
        Seed of the choices.
    """
    for name, index in row_choices(len(X), seed):
        view, explicit = matrix.rows(index), Explicit.plain(X[index])
        check_passes(view, explicit, f"{what}, {name}", brief=True, seed=seed)
        for kind, whole, part in (
            ("sample ids", matrix.sample_ids, view.sample_ids),
            ("labels", matrix.labels, view.labels),
        ):
            if whole is not None and (part is None or not np.array_equal(np.asarray(whole)[index], np.asarray(part))):
                raise AssertionError(f"{what}, {name}: the {kind} are not those of the rows.")
    index = np.arange(len(X))[::-2]
    half = np.arange(len(index))[::-1][: max(1, len(index) // 2)]
    explicit = Explicit.plain(X[index][half])
    check_passes(matrix.rows(index).rows(half), explicit, f"{what}, a view of a view", brief=True, seed=seed)


def check_columns(matrix: Matrix, X: Floats, what: str, seed: int = 0) -> None:
    """Check views of columns: values, names, passes; and with rows, with standardising, and views of views.

    Parameters
    ----------
    matrix : Matrix
        What is checked.
    X : array of shape (n_samples, n_features)
        What it should hold.
    what : str
        Said in messages.
    seed : int
        Seed of the choices.
    """
    n, d = X.shape
    rng = np.random.default_rng(seed)
    choices: dict[str, Any] = {
        "a mask of columns": rng.random(d) < 0.5,
        "a range of columns": slice(d // 4, d - d // 4),
    }
    for name, index in choices.items():
        view = matrix.columns(index)
        check_passes(view, Explicit.plain(X[:, index]), f"{what}, {name}", brief=True, seed=seed)
        names = matrix.feature_names
        if names is not None and list(view.feature_names or ()) != np.asarray(names)[index].tolist():
            raise AssertionError(f"{what}, {name}: the names are not those of the columns.")
    every, some = np.arange(d)[::2], rng.permutation(n)[: (n + 1) // 2]
    half = np.arange(len(every))[1::2]
    views: dict[str, Matrix] = {
        "columns of columns, rows": matrix.columns(every).columns(half).rows(some),
        "rows, columns": matrix.rows(some).columns(every[half]),
    }
    for name, both in views.items():
        check_passes(both, Explicit.plain(X[some][:, every[half]]), f"{what}, {name}", brief=True, seed=seed)
    explicit = standardise(X, "mean", "std", "mean")
    explicit = Explicit(*(part[:, every] for part in (explicit.values, explicit.size, explicit.error)))
    standardised = matrix.standardised("mean", "std", "mean").columns(every)
    check_passes(standardised, explicit, f"{what}, columns of a standardised matrix", brief=True, seed=seed)


def check_standardised(matrix: Matrix, X: Floats, what: str, *, every: bool = True, seed: int = 0) -> None:
    """Check centring, scaling and filling, in every combination, against the explicit computation.

    Parameters
    ----------
    matrix : Matrix
        What is checked.
    X : array of shape (n_samples, n_features)
        What it should hold.
    what : str
        Said in messages.
    every : bool
        Whether all combinations are tried, or a few.
    seed : int
        Seed of centres, scales and fills.
    """
    n, d = X.shape
    rng = np.random.default_rng(seed)
    middle, width, by = rng.standard_normal(d), 0.5 + rng.random(d), rng.standard_normal(d)
    rules = list(product(("mean", None, middle), ("std", None, width), ("mean", None, 0.25, by)))
    for number, (centre, scale, fill) in enumerate(rules if every else rules[::7]):
        names = [rule if rule is None or isinstance(rule, str) else "given" for rule in (centre, scale, fill)]
        case = f"{what}, standardised({', '.join(map(str, names))})"
        explicit = standardise(X, centre, scale, fill)
        measured = "mean" not in names and "std" not in names
        if np.isnan(explicit.values).any():
            # refused by each pass, so that none of them is counted
            view = matrix.standardised(centre, scale, fill)
            view.column_stats()
            check_passes(view, explicit, case, seed=seed + number)
            continue
        view = matrix.standardised(centre, scale, fill)
        check_passes(view, explicit, case, measured=measured, brief=True, seed=seed + number)
        if number % 5 == 0:
            _check_first_passes(matrix, (centre, scale, fill), explicit, measured, case, seed)
    weight = np.append(rng.integers(0, 3, n), 1.0)[1:]  # not all of them 0
    explicit = standardise(X, "mean", "std", "mean", weight)
    view = matrix.standardised("mean", "std", "mean", sample_weight=weight)
    check_passes(view, explicit, f"{what}, standardised with sample weights", measured=False, seed=seed)
    if n > 2:
        index = rng.permutation(n)[: n // 2]
        explicit = standardise(X, "mean", "std", "mean")
        view = matrix.standardised("mean", "std", "mean").rows(index)
        check_passes(view, explicit.rows(index), f"{what}, rows of a standardised matrix", seed=seed)
        view = matrix.rows(index).standardised("mean", "std", "mean")
        explicit = standardise(X[index], "mean", "std", "mean")
        check_passes(view, explicit, f"{what}, rows, standardised", measured=False, seed=seed)


def _check_first_passes(
    matrix: Matrix, rules: tuple[Any, Any, Any], explicit: Explicit, measured: bool, what: str, seed: int
) -> None:
    """Check each kind of pass on a fresh view: what it measures on the way must be right at once."""
    n, d = matrix.shape
    A = np.random.default_rng(seed).standard_normal((n, 2))
    streamed = not matrix.whole_columns
    extra = 0 if measured else int(streamed)

    def fresh() -> Matrix:
        return matrix.standardised(*rules)

    view = fresh()
    got = counted(view, lambda: view.tdot(A), 1 + extra, f"{what}: tdot first")
    require_exact(got, *explicit.tdot(A), f"{what}: tdot first")
    view = fresh()
    got = counted(view, lambda: view.normal(A), 1 + streamed + extra, f"{what}: normal first")
    require_exact(got[1], *explicit.normal(A), f"{what}: normal first")
    view = fresh()
    got = counted(view, view.gram, None if streamed else 1, f"{what}: gram first")
    require_exact(got, *explicit.gram(), f"{what}: gram first")
    view = fresh()
    got = counted(view, view.row_norms, 1 + extra, f"{what}: row_norms first")
    require_exact(got, *explicit.row_norms(), f"{what}: row_norms first")
    # statistics of a standardised matrix need those of the plain one before
    check_stats(fresh(), explicit, None, f"{what}, first", extra=0 if measured else 1)
    if d:
        for projection in projections(d, seed):
            check_sketch(fresh(), explicit, projection, f"{what}, first", extra)
