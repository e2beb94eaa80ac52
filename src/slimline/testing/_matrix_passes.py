"""Checks of a storage format: passes and views."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from slimline._base.layout import result_dtype
from slimline.data import Matrix, PassProgress
from slimline.data import _gram as gram_module
from slimline.errors import NonFiniteError
from slimline.projections import Gaussian, HashEmbedding, Projection, RandomSign, SubsampledHadamard
from slimline.testing._explicit import Explicit, ExplicitStats, Floats, standardise
from slimline.testing._moments import accumulation_error, require_close


def check_passes(
    matrix: Matrix, explicit: Explicit, what: str, *, measured: bool = True, brief: bool = False, seed: int = 0
) -> None:
    """Check every pass against explicit values."""
    if matrix.shape != explicit.values.shape:
        raise AssertionError(f"{what}: shape {matrix.shape} instead of {explicit.values.shape}.")
    if np.isnan(explicit.values).any():
        _check_refusal(matrix, explicit, what, seed)
        return
    n, d = matrix.shape
    rng = np.random.default_rng(seed)
    W, A = rng.standard_normal((d, 3)), rng.standard_normal((n, 3))
    streamed = not matrix.whole_columns
    # one pass to measure the columns, unless whole columns go by: then it is done with the first pass
    extra = 0 if measured else int(streamed)
    product = counted(matrix, lambda: matrix.dot(W), 1 + extra, f"{what}: dot")
    require_exact(product, *explicit.dot(W), f"{what}: dot")
    singles = (W[:, 1], np.asfortranarray(W)[:, 1].astype(np.float32), np.sign(W[:, 2]).astype(np.int8))
    for single in () if brief else singles:
        got = counted(matrix, lambda single=single: matrix.dot(single), 1, f"{what}: dot")  # type: ignore[misc]
        require_exact(got, *explicit.dot(single.astype(np.float64)), f"{what}: dot, one right-hand side")
    crossed = counted(matrix, lambda: matrix.tdot(A), 1, f"{what}: tdot")
    require_exact(crossed, *explicit.tdot(A), f"{what}: tdot")
    if not brief:
        got = counted(matrix, lambda: matrix.tdot(A[:, 0]), 1, f"{what}: tdot")
        require_exact(got, *explicit.tdot(A[:, 0]), f"{what}: tdot, one right-hand side")
    _check_adjoint(explicit, W, A, product, crossed, what)
    for sides in (A,) if brief else (A, A[:, 2]):
        both = counted(matrix, lambda sides=sides: matrix.normal(sides), 1 + streamed, f"{what}: normal")  # type: ignore[misc]
        require_exact(both[0], *explicit.tdot(sides), f"{what}: normal, first part")
        require_exact(both[1], *explicit.normal(sides), f"{what}: normal, second part")
    # of a stream of rows as many are held as there is room for
    passes = 1 if not streamed or 0 < 12 * n * d < gram_module._HELD_BYTES else None
    gram = counted(matrix, matrix.gram, passes, f"{what}: gram")
    require_exact(gram, *explicit.gram(), f"{what}: gram")
    if not np.array_equal(gram, gram.T):
        raise AssertionError(f"{what}: gram is not symmetric.")
    norms = counted(matrix, matrix.row_norms, 1, f"{what}: row_norms")
    require_exact(norms, *explicit.row_norms(), f"{what}: row_norms")
    weights = (None, np.append(rng.integers(0, 3, n), 1.0)[1:], rng.random(n))
    for weight in weights[seed % 3 :][:1] if brief else weights:
        check_stats(matrix, explicit, weight, what)
    if d:
        families = projections(d, seed)
        for projection in families[seed % 4 :][:2] if brief else families:
            check_sketch(matrix, explicit, projection, what)


def projections(d: int, seed: int) -> tuple[Projection, ...]:
    """Return a projection of each kind of kernel."""
    columns = min(8, 1 << (d - 1).bit_length())
    return (
        Gaussian(d, 5, seed),
        RandomSign(d, 7, seed),
        HashEmbedding(d, 16, seed),
        HashEmbedding(d, 6, seed, nnz_per_feature=2, hash="independent"),
        SubsampledHadamard(d, columns, seed),
    )


def check_sketch(matrix: Matrix, explicit: Explicit, projection: Projection, what: str, extra: int = 0) -> None:
    """Check one sketch and its element type."""
    what = f"{what}: sketch with {projection.family}"
    Z = counted(matrix, lambda: matrix.sketch(projection), 1 + extra, what)
    dtype = result_dtype(matrix.dtype)
    if Z.dtype != dtype:
        raise AssertionError(f"{what} is {Z.dtype} instead of {dtype}.")
    require_close(Z, *explicit.sketch(projection, dtype), what)


def check_stats(matrix: Matrix, explicit: Explicit, weight: Floats | None, what: str, extra: int = 0) -> None:
    """Check the statistics of the columns."""
    what = f"{what}: column_stats{'' if weight is None else ' with weights'}"
    stats = counted(matrix, lambda: matrix.column_stats(weight), 1 + extra, what)
    expected = ExplicitStats.of(explicit, weight)
    gamma = accumulation_error(2 * matrix.shape[0] + 32, np.float64)
    require_exact(stats.weight, expected.weight, 2 * gamma * expected.weight, f"{what}, weight")
    require_exact(stats.mean, expected.mean, expected.mean_error, f"{what}, mean")
    total_error = expected.mean_error * expected.weight
    require_exact(stats.sum, expected.mean * expected.weight, 2 * total_error, f"{what}, sum")
    require_exact(stats.deviation, expected.deviation, expected.deviation_error, f"{what}, deviation")
    # a value that standardises to about 0 may be off by its error, and so be 0 or not
    certain = ((np.abs(explicit.values) > explicit.error) | (explicit.error == 0) | np.isnan(explicit.values)).all(
        axis=0
    )
    for name in ("nonzeros", "missing"):
        got, should = getattr(stats, name)[certain], getattr(expected, name)[certain]
        if got.dtype != np.int64 or not np.array_equal(got, should):
            raise AssertionError(f"{what}, {name}: {got} instead of {should}.")


def require_exact(got: Any, expected: Floats, bound: Floats, what: str) -> None:
    """Raise unless a result is float64 and within its bound."""
    if got.dtype != np.float64:
        raise AssertionError(f"{what}: the result is {got.dtype}; sums are kept in float64.")
    require_close(got, expected, bound, what)


def counted(matrix: Matrix, run: Callable[[], Any], passes: int | None, what: str) -> Any:
    """Return what a function returns, after checking how many passes it took and that they were told."""
    told: list[PassProgress] = []
    before = matrix.passes
    matrix.listen(told.append)
    try:
        result = run()
    finally:
        matrix.listen(None)
    taken = matrix.passes - before
    if passes is not None and taken != passes:
        raise AssertionError(f"{what} took {taken} passes instead of {passes}.")
    ended = [now.number for now in told if now.fraction == 1.0]
    if ended != list(range(before + 1, matrix.passes + 1)):
        raise AssertionError(f"{what}: passes {ended} were told of, after {before} that came before.")
    return result


def _check_adjoint(explicit: Explicit, W: Floats, A: Floats, product: Floats, crossed: Floats, what: str) -> None:
    one, two = np.sum(product * A, axis=0), np.sum(W * crossed, axis=0)
    bound = np.sum(explicit.dot(W)[1] * np.abs(A), axis=0) + np.sum(explicit.tdot(A)[1] * np.abs(W), axis=0)
    gamma = accumulation_error(sum(explicit.values.shape) + 2, np.float64)
    bound += 2 * gamma * np.sum((explicit.size @ np.abs(W)) * np.abs(A), axis=0)
    require_close(one, two, bound, f"{what}: adjoint, <XW, A> against <W, X^T A>")


def _check_refusal(matrix: Matrix, explicit: Explicit, what: str, seed: int) -> None:
    """Check that a missing value that nothing fills is refused, with its place, by every pass but the statistics."""
    check_stats(matrix, explicit, None, what, extra=0)
    n, d = matrix.shape
    W, A = np.ones(d), np.ones(n)
    passes: dict[str, Callable[[], Any]] = {
        "dot": lambda: matrix.dot(W),
        "tdot": lambda: matrix.tdot(A),
        "normal": lambda: matrix.normal(A),
        "gram": matrix.gram,
        "row_norms": matrix.row_norms,
    }
    for projection in projections(d, seed):
        passes[f"sketch with {projection.family}"] = lambda projection=projection: matrix.sketch(projection)  # type: ignore[misc]
    places = {
        (matrix._original_row(int(i)), matrix._original_column(int(j)))
        for i, j in np.argwhere(np.isnan(explicit.values))
    }
    for name, run in passes.items():
        try:
            run()
        except NonFiniteError as error:
            text = str(error).replace(",", "")
            if not any(f"row {i} " in f"{text} " and f"column {j} " in f"{text} " for i, j in places):
                raise AssertionError(f"{what}: {name} refuses a value that is not missing: {error}") from error
        else:
            raise AssertionError(f"{what}: {name} took missing values that nothing fills.")


def row_choices(n: int, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield ways to choose rows."""
    rng = np.random.default_rng(seed)
    yield "every third row", np.arange(0, n, 3)
    yield "rows backwards", np.arange(n)[::-1]
    yield "rows in any order, some more than once", rng.integers(0, n, n + 3) if n else np.arange(0)
    yield "rows from the end", -1 - np.arange(n // 2)
    yield "a mask", rng.random(n) < 0.5
    yield "no row", np.zeros(n, dtype=bool)


def check_rows(matrix: Matrix, X: Floats, what: str, seed: int = 0) -> None:
    """Check views of rows: values, names, passes; and views of views."""
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
    """Check views of columns: values, names, passes; and with rows, with standardising, and views of views."""
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
    """Check centring, scaling and filling, in every combination, against the explicit computation."""
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
