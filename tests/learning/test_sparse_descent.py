"""Coordinate descent over sparse rows, and with a constant column, judged as descent over arrays is."""

import signal

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from slimline._kernels import _native
from slimline.learning.active_set import descend_rows
from tests.learning.test_coordinate_descent import DTYPES, LOSSES, Problem, rows_of
from tests.pairwise import pairwise

INDICES = [np.int32, np.int64]
#: Arrays without a constant are what the other file is about.
STORAGES = [("csr32", 0.0), ("csr32", 1.0), ("csr64", 0.0), ("csr64", -3.0), ("array", 1.0), ("array", -3.0)]
KINDS = ["random", "nearly separable", "duplicated", "ill-scaled", "zero rows", "wide"]


def sparse_of(X, dtype=np.float64, index=np.int32):
    """Return CSR of these types; SciPy would choose the narrowest indices itself."""
    Z = sp.csr_array(X.astype(dtype))
    Z.indices, Z.indptr = Z.indices.astype(index), Z.indptr.astype(index)
    return Z


def thinned(kind, seed, **shape):
    """Return rows with most values zero: an empty row, an empty column, and columns of one value."""
    X, y = rows_of(kind, seed, **shape)
    rng = np.random.default_rng(seed)
    X = X * (rng.random(X.shape) < 0.3)
    X[3], X[:, 2] = 0.0, 0.0
    X[1:, 4] = 0.0
    return X, y


class SparseProblem(Problem):
    """The same measures, of [Z, c] as an array; `stored` is what is descended on."""

    def __init__(self, loss, stored, y, *, constant=0.0, **options):
        dense = (stored.toarray() if sp.issparse(stored) else stored).astype(np.float64)
        whole = dense if constant == 0.0 else np.column_stack([dense, np.full(len(y), constant)])
        super().__init__(loss, whole, y, **options)
        self.stored, self.constant = stored, constant

    def solve(self, a=None, *, max_epochs=20000, tolerance=1e-9, seed=0):
        self.form = "rows"
        a = np.zeros(len(self.y)) if a is None else a.copy()
        self.state = self.Z.T @ (self.y * a) / self.lam
        rest = (self.y, self.q, self.diag, self.upper, self.lam, a, self.state)
        options = {"max_epochs": max_epochs, "tolerance": tolerance, "seed": seed, "constant": self.constant}
        return a, descend_rows(self.stored, *rest, **options)


def random_problem(loss, stored, y, constant, seed=8):
    rng = np.random.default_rng(seed)
    C, q = rng.uniform(0.2, 2, len(y)), 0.4 * rng.standard_normal(len(y))
    return SparseProblem(loss, stored, y, constant=constant, lam=0.8, C=C, q=q)


def primal_of(problem):
    """Return the primal objective at the state, from its definition: no dual value is above it."""
    short = np.maximum(1 - problem.y * (problem.Z @ problem.state + problem.q), 0)
    power = 1 if problem.loss == "hinge" else 2
    return 0.5 * problem.lam * (problem.state @ problem.state) + problem.s @ short**power


@pytest.mark.parametrize("kind, storage_and_constant, dtype, loss", pairwise(KINDS, STORAGES, DTYPES, LOSSES))
def test_against_a_general_optimiser(kind, storage_and_constant, dtype, loss):
    storage, constant = storage_and_constant
    X, y = thinned(kind, 4)
    stored = X.astype(dtype) if storage == "array" else sparse_of(X, dtype, INDICES[storage == "csr64"])
    problem = random_problem(loss, stored, y, constant)
    a, ended = problem.solve(tolerance=1e-7)
    problem.check(a, ended, 1e-7)
    bounds = [(0, None if np.isinf(u) else u) for u in problem.upper]
    peer = minimize(
        lambda b: (problem.value(b), problem.gradient(b)), np.zeros(len(y)), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    assert problem.value(a) <= peer.fun + 1e-9 * abs(peer.fun)
    # the other side is proved by a primal point: the peer now and then ends well above the optimum
    assert -problem.value(a) >= primal_of(problem) * (1 - 1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
def test_against_liblinear_with_an_intercept(loss, sparse):
    X, y = thinned("random", 1, n=150, r=20)
    stored = sparse_of(X) if sparse else X
    problem = SparseProblem(loss, stored, y, constant=2.0, C=0.7)
    a, ended = problem.solve()
    problem.check(a, ended, 1e-9)
    peer = LinearSVC(loss=loss, C=0.7, dual=True, intercept_scaling=2.0, tol=1e-8, max_iter=10**6, random_state=0)
    peer.fit(stored, y)
    np.testing.assert_allclose(problem.state[:-1], peer.coef_[0], atol=1e-6)
    np.testing.assert_allclose(2.0 * problem.state[-1], peer.intercept_[0], atol=1e-6)


@pytest.mark.parametrize("loss, dtype, index, constant", pairwise(LOSSES, DTYPES, INDICES, [0.0, 1.5]))
def test_the_dense_kernel_goes_the_same_way(loss, dtype, index, constant):
    """Equal seeds visit rows in the same order, so that in float64 only rounding differs, epoch by epoch."""
    X, y = thinned("random", 12, n=90, r=37)
    X = X.astype(dtype)
    for epochs in (1, 3, 10):
        sparse = random_problem(loss, sparse_of(X, dtype, index), y, constant)
        dense = random_problem(loss, X.astype(np.float64), y, constant)
        found, ended = sparse.solve(max_epochs=epochs, tolerance=0.0, seed=3)
        expected, ended_dense = dense.solve(max_epochs=epochs, tolerance=0.0, seed=3)
        assert ended.epochs == ended_dense.epochs == epochs
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(ended.violation, ended_dense.violation, rtol=1e-6, atol=1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("constant", [0.0, 0.7])
def test_the_state_is_exact_wherever_the_descent_stops(dtype, constant):
    X, y = thinned("ill-scaled", 2, n=200, r=40)
    for stored in (sparse_of(X, dtype), X.astype(dtype)):
        for epochs in (1, 2, 7, 200):
            problem = random_problem("squared_hinge", stored, y, constant)
            a, _ = problem.solve(max_epochs=epochs, tolerance=1e-12)
            exact = (problem.Z.T.astype(np.longdouble) @ (y * a) / problem.lam).astype(np.float64)
            size = np.abs(problem.Z).T @ a / problem.lam
            np.testing.assert_array_less(np.abs(problem.state - exact), 1e-13 * size + 1e-300)
            assert problem.state[2] == 0.0  # of the empty column


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("constant", [0.0, 2.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_one_row_and_one_column(loss, constant, sparse):
    X = np.array([[2.0]])
    square = 4.0 + constant**2
    options = {"constant": constant, "lam": 0.5, "C": 3.0, "q": np.array([0.25])}
    problem = SparseProblem(loss, sparse_of(X) if sparse else X, np.array([-1.0]), **options)
    a, ended = problem.solve()
    best = 1.25 / (2 * square + (0 if loss == "hinge" else 1 / 6))
    assert a[0] == pytest.approx(best, rel=1e-15) and ended.epochs <= 2
    many = np.random.default_rng(0).standard_normal((30, 1))
    y = np.where(many[:, 0] > 0.2, 1.0, -1.0)
    problem = SparseProblem(loss, sparse_of(many) if sparse else many, y, constant=constant)
    problem.check(*problem.solve(tolerance=1e-8), 1e-8)


@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_a_matrix_without_any_stored_value(constant):
    q, y = np.array([0.0, 2.0, -2.0, 1.0]), np.ones(4)
    problem = SparseProblem("hinge", sp.csr_array((4, 3)), y, C=1.5, q=q, constant=constant)
    a, ended = problem.solve()
    if constant == 0.0:
        np.testing.assert_array_equal(a, [1.5, 0.0, 1.5, 0.0])
        assert ended.violation == 0
    problem.check(a, ended, 1e-9)


@pytest.mark.parametrize("scale, loss, lam", pairwise([1e-15, 1.0, 1e15], LOSSES, [1e-12, 1e12]))
def test_extreme_scales_stay_finite(scale, loss, lam):
    X, y = thinned("zero rows", 6, n=20, r=30)
    problem = SparseProblem(loss, sparse_of(scale * X, np.float32), y, lam=lam, constant=1.0)
    a, ended = problem.solve(max_epochs=300, tolerance=1e-3)
    assert np.all(np.isfinite(a)) and np.all(a >= 0) and np.all(a <= problem.upper)
    assert np.all(np.isfinite(problem.state)) and np.isfinite(ended.violation)
    if ended.violation <= 1e-3:
        assert problem.violation(a) <= 1e-2
    assert problem.value(a) <= 0


def test_warm_starts_and_seeds():
    X, y = thinned("random", 3)
    problem = SparseProblem("squared_hinge", sparse_of(X), y, constant=1.0)
    a, ended = problem.solve(tolerance=1e-6)
    assert ended.epochs > 1
    again, ended = problem.solve(a, tolerance=1e-4)
    assert ended.epochs == 1
    np.testing.assert_allclose(again, a, atol=1e-4)
    first, same, other = (problem.solve(max_epochs=3, seed=seed)[0] for seed in (2**64 - 1, 2**64 - 1, 5))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def arguments(**changed):
    ones = np.ones(3)
    right = {"Z": sp.csr_array(np.eye(3, 2)), "y": ones, "q": ones, "diag": ones, "upper": ones, "lam": 1.0}
    right |= {"a": np.zeros(3), "v": np.zeros(2), "max_epochs": 2, "tolerance": 0.1, "seed": 0}
    return right | changed


@pytest.mark.parametrize(
    "change",
    [
        {"Z": sp.csr_array(np.eye(3, 2, dtype=np.int8))},
        {"Z": sp.csr_array((3, 0)), "v": np.zeros(0)},
        {"Z": sp.csr_array((0, 2))},
        {"v": np.zeros(1)},
        {"v": np.zeros(2), "constant": 1.0},
        {"v": np.zeros(3), "constant": np.nan},
        {"q": np.ones(2)},
    ],
    ids=str,
)
def test_the_kernel_refuses_what_does_not_fit(change):
    with pytest.raises(ValueError):
        descend_rows(**arguments(**change))


@pytest.mark.parametrize("constant, index", [(0.0, np.int32), (1.0, np.int64)])
@pytest.mark.parametrize(
    "pointer, columns, values",
    [
        ([0, 1, 2, 3], [0, 1, 2], 3),  # a column too many: v would be written beyond its end
        ([0, 1, 2, 3], [0, -1, 1], 3),
        ([0, 2, 1, 3], [0, 1, 1], 3),
        ([0, -1, 2, 3], [0, 1, 1], 3),
        ([0, 1, 2, 4], [0, 1, 1], 3),
        ([0, 1, 2, 2], [0, 1, 1], 3),
        ([1, 1, 2, 3], [0, 1, 1], 3),
        ([0, 9, 9, 3], [0, 1, 1], 3),
        ([0, 1, 2, 3], [0, 1], 3),
        ([0, 1, 3], [0, 1, 1], 3),  # rows of two samples, where there are three
        ([], [], 0),
    ],
)
def test_a_damaged_matrix_is_refused_by_the_kernel(constant, index, pointer, columns, values):
    given = arguments(v=np.zeros(2 + (constant != 0.0)))
    parts = (np.array(pointer, dtype=index), np.array(columns, dtype=index), np.ones(values))
    rest = [given[name] for name in ("y", "q", "diag", "upper", "lam", "a", "v", "max_epochs", "tolerance", "seed")]
    with pytest.raises(ValueError):
        _native.descend_sparse(*parts, constant, *rest)
    np.testing.assert_array_equal(given["a"], 0.0)
    np.testing.assert_array_equal(given["v"], 0.0)


def test_other_types_are_refused_by_the_kernel():
    given = arguments()
    rest = [given[name] for name in ("y", "q", "diag", "upper", "lam", "a", "v", "max_epochs", "tolerance", "seed")]
    pointer, columns, values = np.array([0, 1, 2, 3]), np.array([0, 1, 1]), np.ones(3)
    for parts in (
        (pointer.astype(np.int32), columns, values),
        (pointer.astype(np.int16), columns.astype(np.int16), values),
        (pointer, columns, values.astype(np.int8)),
        (np.repeat(pointer, 2)[::2], columns, values),
    ):
        with pytest.raises(ValueError):
            _native.descend_sparse(*parts, 0.0, *rest)
    for constant in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            _native.descend_sparse(pointer, columns, values, constant, *rest[:6], np.zeros(3), *rest[7:])
    with pytest.raises(ValueError, match="length"):
        _native.descend_sparse(pointer, columns, values, 1.0, *rest[:6], np.zeros(0), *rest[7:])
    _native.descend_sparse(pointer, columns, values, 0.0, *rest)  # and this is what fits


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_a_long_descent_can_be_interrupted(storage):
    """Epochs without end over rows that never settle: the exception of an alarm comes through."""

    def ring(number, frame):
        raise TimeoutError

    n, r = 2000, 400
    random = np.random.default_rng(0)
    Z, y = storage(random.standard_normal((n, r))), np.where(random.random(n) < 0.5, 1.0, -1.0)
    problem = (y, np.zeros(n), np.zeros(n), np.full(n, np.inf), 1e-8, np.zeros(n), np.zeros(r))
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError):
            descend_rows(Z, *problem, max_epochs=10**7, tolerance=0.0, seed=0)  # would take hours
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
