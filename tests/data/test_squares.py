"""Sums of squares beside a product: every storage and view against the explicit computation, and no further pass."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline._kernels.threads import number_of_threads
from slimline.data import Squares
from slimline.errors import InvalidParameterError, NonFiniteError
from slimline.testing import block_bytes
from slimline.testing._explicit import Explicit, standardise
from slimline.testing._matrix_passes import counted
from slimline.testing._moments import accumulation_error, require_close
from tests.data.plink_files import random_genotypes, write_plink
from tests.refusals import refuses

N, D = 23, 170
RULES = {
    "plain": (None, None, 0.5),
    "standardised": ("mean", "std", "mean"),
    "centred": ("mean", None, "mean"),
    "given": (np.linspace(-1, 1, D), np.linspace(1, 2, D), np.linspace(3, 4, D)),
}


def _whole_numbers(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (N, D)).astype(np.float64)
    X[:, 3], X[:, 4] = 5, 0
    X[rng.random((N, D)) < 0.05] = np.nan
    X[:, 7] = np.nan
    return X


def _storages(folder):
    """Yield (name, matrix, what it holds)."""
    X = _whole_numbers()
    for order in "CF":
        for dtype in ("f8", "f4", "f2"):
            yield f"{dtype} {order}", open_matrix(np.array(X, dtype, order=order)), X
        for dtype in ("i1", "u1", "i2"):
            stored = np.array(np.nan_to_num(X, nan=99), dtype, order=order)
            yield f"{dtype} {order}", open_matrix(stored, missing=99), X
        np.save(folder / f"{order}.npy", np.array(X, "f4", order=order))
        yield f".npy {order}", open_matrix(folder / f"{order}.npy"), X
    few = np.where(np.random.default_rng(1).random(X.shape) < 0.2, X, 0.0)
    few[:, 3] = 5  # far from 0, and constant
    for format_ in (sp.csr_array, sp.csc_array):
        yield format_.__name__, open_matrix(format_(few)), few
    calls = random_genotypes(N, D)
    bed = write_plink(folder / "calls", calls)
    yield "packed", open_matrix(bed), np.where(calls == -127, np.nan, calls.astype(np.float64))


def _check(view, explicit, weight, what):
    """Compare both sums with those of the written-out values, after each product."""
    n, d = view.shape
    A = np.random.default_rng(2).standard_normal((n, 2))
    row_weight = np.ones(n) if weight is None else weight
    # (value + error)² and what adding up loses; centring after the sum is allowed, as sparse data need it
    lost = 2 * accumulation_error(2 * (n + d) + 64, np.float64) * explicit.size**2
    lost += (2 * explicit.size + explicit.error) * explicit.error
    values = explicit.values**2
    view.tdot(A)  # what is measured is known: blocks of a measuring pass may have another shape
    W = np.random.default_rng(3).standard_normal((d, 2))
    for name, right in (("dot", W), ("tdot", A), ("normal", A)):
        squares = Squares(n, d, weight)
        squares.rows[:] = squares.columns[:] = 77.0  # of an earlier pass
        passes = 1 if name != "normal" or view.whole_columns else 2
        product = getattr(view, name)
        plain = product(right)
        got = counted(view, lambda p=product, r=right, squares=squares: p(r, squares=squares), passes, what)
        pairs = [(got, plain)] if name != "normal" else zip(got, plain, strict=True)
        assert all(np.array_equal(*pair) for pair in pairs), f"{what}: {name} is not what it is without squares"
        require_close(squares.rows, values.sum(axis=1), lost.sum(axis=1), f"{what}: rows, {name}")
        require_close(squares.columns, row_weight @ values, row_weight @ lost, f"{what}: columns, {name}")
        assert (squares.rows >= 0).all() and (squares.columns >= 0).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [300, 1 << 20])
def test_every_storage(rule, size, tmp_path):
    weight = np.random.default_rng(3).integers(0, 3, N).astype(float)
    for number, (name, matrix, X) in enumerate(_storages(tmp_path)):
        explicit = standardise(X, *RULES[rule])
        with block_bytes(size), number_of_threads(1 + number % 3):
            view = matrix.standardised(*RULES[rule])
            _check(view, explicit, None if number % 2 else weight, f"{name}, {rule}")
            index = np.array([5, 0, 22, 5, 11, 8])
            _check(view.rows(index), explicit.rows(index), weight[index] + 0.5, f"rows of {name}, {rule}")


def test_several_threads_and_stretches():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, (701, 9001)).astype(np.int8)
    weight = rng.random(701)
    for order in "CF":
        with number_of_threads(3):
            _check(open_matrix(np.array(X, order=order)), Explicit.plain(X.astype(float)), weight, f"threads, {order}")


def test_the_first_pass_measures_and_squares_at_once():
    X = np.asfortranarray(np.random.default_rng(5).standard_normal((N, D)))
    view = open_matrix(X).standardised()
    squares = Squares(N, D)
    counted(view, lambda: view.normal(np.ones(N), squares=squares), 1, "normal first")
    assert np.allclose(squares.columns, N, rtol=1e-12)


def test_no_digits_are_lost_far_from_zero():
    """Mean 10⁸, spread 1: centred after the sum nothing would be left of the squares."""
    X = 1e8 + np.random.default_rng(6).integers(-2, 3, (N, D)).astype(np.float64)
    centre = np.full(D, 1e8)
    exact = (X - centre) ** 2
    for array in (X, np.asfortranarray(X), sp.csr_array(X)):
        squares = Squares(N, D)
        open_matrix(array).standardised(centre, None).tdot(np.ones(N), squares=squares)
        assert np.array_equal(squares.rows, exact.sum(axis=1)) and np.array_equal(squares.columns, exact.sum(axis=0))


def test_another_shape_is_refused():
    matrix = open_matrix(np.ones((3, 4)))
    with pytest.raises(InvalidParameterError, match=r"slimline\.data\.Squares\(n_samples, n_features\) or None"):
        matrix.dot(np.ones(4), squares=1)
    for method in (matrix.tdot, matrix.normal):
        with pytest.raises(InvalidParameterError, match=r"Squares\(\*matrix\.shape\)"):
            method(np.ones(3), squares=Squares(4, 3))
        with pytest.raises(InvalidParameterError, match=r"slimline\.data\.Squares\(n_samples, n_features\) or None"):
            method(np.ones(3), squares=1)
    with refuses("sample_weight"):
        Squares(3, 4, weight=[1.0, -1.0, 2.0])


def test_squares_that_overflow_are_refused():
    matrix = open_matrix(np.full((3, 4), 1e200))
    assert np.isfinite(matrix.tdot(np.ones(3))).all()
    with pytest.raises(NonFiniteError, match="exceed the largest"):
        matrix.tdot(np.ones(3), squares=Squares(3, 4))
