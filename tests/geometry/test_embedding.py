"""The embedding error against singular vectors and R written out, and its bracket against known row spaces."""

import tracemalloc

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline import GaussianProjection, open_matrix
from slimline.errors import DataError, InvalidParameterError, NonFiniteError
from slimline.geometry._embedding import _size, basis_sketch, embedding_error, error_on
from slimline.geometry._points import RowSpace
from slimline.projections import Gaussian, HashEmbedding, Identity, RandomSign, SparseSign, SubsampledHadamard
from tests.families import FAMILIES
from tests.geometry.storages import cases, few_values, stored, written_out
from tests.learning.real_sets import real_set
from tests.refusals import refuses
from tests.tiers import once_then_all

seeds = st.integers(0, 2**32 - 1)


def direct(X, projection, rank=None):
    """Return error and rank, by the singular vectors of the rows scaled to norm 1."""
    X = X.astype(np.float64)
    norms = np.linalg.norm(X, axis=1)
    _, values, Vt = np.linalg.svd(X[norms > 0] / norms[norms > 0, None], full_matrices=False)
    rank = int(np.count_nonzero(values > 1e-9 * values[0])) if rank is None else rank
    return on_basis(Vt[:rank].T, projection), rank


def on_basis(V, projection):
    T = written_out(projection).T @ V
    return float(np.abs(np.linalg.eigvalsh(np.eye(V.shape[1]) - T.T @ T)).max())


def check(X, projection, given=None, tolerance=1e-11):
    """Measure, compare with the direct computation, and look at bracket and witness; return the record."""
    error = embedding_error(X if given is None else given, projection)
    expected, rank = direct(X, projection)
    assert error.exact and error.rank == rank and error.n_components == projection.n_components
    assert error.value == pytest.approx(expected, abs=tolerance * (1 + expected))
    assert error.lower <= expected + 1e-13 and error.upper >= expected - 1e-13
    assert error.upper - error.lower < 1e-4
    assert error.value == pytest.approx(max(1 - error.smallest, error.largest - 1), abs=1e-15)
    v = X.astype(np.float64).T @ error.witness
    assert np.linalg.norm(v) == pytest.approx(1.0, abs=1e-9)
    assert abs(1 - np.linalg.norm(written_out(projection).T @ v) ** 2) == pytest.approx(error.value, abs=1e-8)
    return error


@pytest.mark.parametrize("family, components", once_then_all(FAMILIES, [64, 16, 32, 512]))
def test_equals_the_direct_computation_in_every_family(family, components, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    check(rng.standard_normal((40, 700)), FAMILIES[family](700, components, global_random_seed))


@pytest.mark.parametrize("dtype, storage", cases())
def test_every_type_and_storage(dtype, storage, tmp_path):
    given, X = stored(few_values(dtype, (24, 400)), storage, tmp_path)
    check(X, HashEmbedding(400, 64, 3, 2), given)
    check(X, Gaussian(400, 48, 3), given)


def test_a_transformer_is_taken_for_its_projection():
    X = np.random.default_rng(0).standard_normal((30, 500))
    transformer = GaussianProjection(n_components=64, random_state=5).fit(X)
    assert embedding_error(X, transformer) == embedding_error(X, transformer.projection_)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((1, 1)),
        np.array([[3.0, -4.0, 0.0]]),
        np.arange(1.0, 8.0)[:, None],
        np.ones((9, 40)),
        np.repeat(np.random.default_rng(0).standard_normal((7, 90)), 5, axis=0),
        np.vstack([np.zeros((2, 60)), np.random.default_rng(0).standard_normal((7, 60)), np.zeros((1, 60))]),
        np.random.default_rng(0).standard_normal((12, 300)) * np.logspace(-8, 8, 12)[:, None],
        np.random.default_rng(0).standard_normal((12, 300)) * np.logspace(-100, 100, 12)[:, None],
        np.random.default_rng(0).standard_normal((500, 30)),
        np.column_stack([np.random.default_rng(0).standard_normal((500, 30)), np.ones((500, 4))]),
        np.random.default_rng(0).standard_normal((60, 8)) @ np.random.default_rng(1).standard_normal((8, 200)),
    ],
    ids=["1 × 1", "one row", "one column", "constant", "repeated", "zero rows", "scales", "far scales", "tall",
         "constant columns", "rank 8"],
)  # fmt: skip
@pytest.mark.parametrize("components", [4, 64])
def test_degenerate_data(X, components):
    check(X, RandomSign(X.shape[1], components, 2))
    check(X, Gaussian(X.shape[1], components, 2))


def test_more_directions_than_components_lose_one_whole():
    X = np.eye(40, 64)
    error = embedding_error(X, SubsampledHadamard(64, 32, 1))  # RᵀR = 2 I: largest eigenvalue 2 at most
    assert error.smallest == 0.0 and error.value == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.norm(written_out(SubsampledHadamard(64, 32, 1)).T @ X.T @ error.witness) ** 2 in (
        pytest.approx(0.0, abs=1e-12),
        pytest.approx(2.0, abs=1e-12),
    )


def test_a_direction_that_is_lost_is_the_witness():
    # eight directions, seven columns and no eigenvalue above 2: only the lost direction attains 1
    hadamard = SubsampledHadamard(8, 7, 1)
    lost = embedding_error(np.eye(8), hadamard)
    assert lost.value == pytest.approx(1.0, abs=1e-12) and lost.largest == pytest.approx(8 / 7)
    assert np.linalg.norm(written_out(hadamard).T @ lost.witness) < 1e-12
    assert np.linalg.norm(lost.witness) == pytest.approx(1.0)


def test_nothing_is_projected():
    X = np.random.default_rng(0).standard_normal((10, 50))
    error = embedding_error(X, Identity(50, 50, 0))
    assert error.value < 1e-13 and error.lower == 0.0 and error.upper < 1e-9


def test_all_zero():
    error = embedding_error(sp.csr_array((5, 30)), Gaussian(30, 8, 0))
    assert (error.value, error.lower, error.upper, error.rank, error.exact) == (0.0, 0.0, 0.0, 0, True)
    assert np.isnan(error.smallest) and not error.witness.any() and "all rows are zero" in error.reached


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(1, 12), st.integers(1, 60), st.integers(1, 40))
def test_depends_on_the_row_space_alone(seed, n, d, r):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    projection = Gaussian(d, r, seed)
    one = embedding_error(X, projection)
    mixed = np.linalg.qr(rng.standard_normal((n, n)))[0] * np.exp(rng.uniform(-2, 2, n)) @ X
    scaled = X * (10.0 ** rng.uniform(-8, 8, n))[:, None]
    for Y in (mixed, scaled, X[rng.permutation(n)], np.vstack([X, X[: n // 2 + 1]])):
        other = embedding_error(Y, projection)
        assert other.rank == one.rank == min(n, d)
        width = one.upper - one.lower + other.upper - other.lower
        assert other.value == pytest.approx(one.value, abs=width)
        assert max(other.lower, one.lower) <= min(other.upper, one.upper)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_more_rows_raise_it(seed):
    X = np.random.default_rng(seed).standard_normal((8, 100))
    projection = Gaussian(100, 20, seed)
    assert embedding_error(X[:5], projection).value <= embedding_error(X, projection).value + 1e-10


def known_space(seed, condition, n=12, d=150):
    """Return X = A Vᵀ with a square matrix A of that condition and orthonormal V."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((d, n)))[0]
    left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    return (left * np.geomspace(1.0, 1.0 / condition, n)) @ right @ V.T


def with_many_digits(X, projection):
    """Return the error on the rows of X as they are stored, in 80 digits: no rank is left to rounding."""
    with mpmath.workdps(80):
        rows = mpmath.matrix(X.tolist())
        Z = rows * mpmath.matrix(written_out(projection).tolist())
        L = mpmath.cholesky(rows * rows.T)
        M = mpmath.inverse(L) * Z
        values = mpmath.eigsy(M * M.T, eigvals_only=True)
        return float(max(1 - min(values), max(values) - 1))


@pytest.mark.parametrize("condition", [1e0, 1e2, 1e4, 1e5, 1e6, 1e7, 1e8, 1e10, 1e13])
@pytest.mark.parametrize("components", [8, 40])
def test_the_bracket_holds_on_ill_conditioned_rows(condition, components):
    X = known_space(1, condition)
    projection = Gaussian(X.shape[1], components, 4)
    truth = with_many_digits(X, projection)
    error = embedding_error(X, projection)
    assert error.lower <= truth <= error.upper
    if condition <= 1e4:
        assert error.exact and error.value == pytest.approx(truth, abs=1e-7)
    if condition >= 1e8:
        assert not error.exact and error.upper >= 1.0
        assert "resolve" in error.reached


@pytest.mark.parametrize("noise", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
def test_rows_that_are_nearly_the_same_do_not_pass_for_the_same(noise):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((6, 120))
    X = np.vstack([X, X + noise * rng.standard_normal(X.shape)])
    projection = Gaussian(120, 30, 1)
    error = embedding_error(X, projection)
    assert error.lower <= with_many_digits(X, projection) <= error.upper
    assert error.exact == (noise >= 1e-3)


def test_one_row_space_serves_many_projections():
    matrix = open_matrix(np.random.default_rng(0).standard_normal((30, 400)).astype(np.float32))
    space = RowSpace.of(matrix)
    passes = matrix.passes
    for seed in range(3):
        projection = Gaussian(400, 64, seed)
        assert error_on(space, basis_sketch(space, matrix, projection), projection) == embedding_error(
            np.asarray(matrix.dot(np.eye(400))), projection
        )
    assert matrix.passes == passes + 6  # one sketch each, and the product above
    with refuses("Z"):
        error_on(space, np.zeros((30, 64), dtype=np.float32), projection)


def test_of_many_rows_a_sample_is_enough_where_it_spans_the_others():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 15)) @ rng.standard_normal((15, 300))
    projection = Gaussian(300, 60, 1)
    error = embedding_error(X, projection, rows=50, random_state=3)
    assert error.exact and error.value == pytest.approx(direct(X, projection)[0], abs=1e-10)
    assert np.count_nonzero(error.witness) == error.rank == 15


@pytest.mark.parametrize("components", [60, 400])
def test_of_many_rows_a_sample_gives_a_bracket_where_it_does_not(components):
    X = np.random.default_rng(0).standard_normal((120, 300))
    for family in (Gaussian, RandomSign, HashEmbedding):
        projection = family(300, components, 1)
        error = embedding_error(X, projection, rows=50, random_state=3)
        assert not error.exact and "50 random rows of 120" in error.reached
        truth = direct(X, projection)[0]
        assert error.value <= truth <= error.upper and error.lower <= error.value
        assert error.value == pytest.approx(direct(X[np.flatnonzero(error.witness)], projection)[0], abs=1e-10)


def test_the_upper_end_for_very_many_components_holds_too(monkeypatch):
    X = np.random.default_rng(0).standard_normal((60, 100))
    projection = Gaussian(100, 200, 1)
    close = embedding_error(X, projection, rows=20).upper
    monkeypatch.setattr("slimline.geometry._embedding._MOST_COMPONENTS", 10)
    far = embedding_error(X, projection, rows=20).upper
    assert direct(X, projection)[0] <= close <= far


def test_bad_input():
    X = np.random.default_rng(0).standard_normal((5, 20))
    with pytest.raises(InvalidParameterError, match="n_features=30"):
        embedding_error(X, Gaussian(30, 8, 0))
    with refuses("rows"):
        embedding_error(X, Gaussian(20, 8, 0), rows=0)
    with pytest.raises(DataError):
        embedding_error(np.zeros((0, 20)), Gaussian(20, 8, 0))
    with pytest.raises(DataError, match="multiply these rows"):
        embedding_error(np.vstack([X, 1e-170 * X]), Gaussian(20, 8, 0))
    X[2, 3] = np.nan
    with pytest.raises(NonFiniteError, match="column 3"):
        embedding_error(X, Gaussian(20, 8, 0))


def test_wide_sparse_data_stay_sparse():
    n, d, each = 2000, 200_000, 5
    rng = np.random.default_rng(0)
    columns = rng.integers(0, d, n * each)
    X = sp.csr_array((np.ones(n * each, dtype=np.float32), columns, np.arange(n + 1) * each), shape=(n, d))
    matrix, projection = open_matrix(X), HashEmbedding(d, 256, 1)
    tracemalloc.start()
    error = embedding_error(matrix, projection)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert error.exact and error.upper - error.lower < 1e-3
    assert peak < 6 * 8 * n * n + 32 * d  # written out: 3,200 MB


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(
    "name, family", once_then_all(["arcene", "dorothea", "golub", "alon", "newsgroups"], ["osnap", "gaussian"])
)
def test_real_data(name, family, data_dir):
    X, _ = real_set(data_dir, name)
    X = X[:60]
    dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    projection = FAMILIES[family](X.shape[1], 256, 0)
    check(dense, projection, X)
    check(dense - dense.mean(axis=0), projection, open_matrix(X).standardised("mean", None), tolerance=1e-9)


@pytest.mark.parametrize("density", [1.0, 0.1, 0.001])
def test_the_size_that_rounding_is_counted_with_is_never_passed(density):
    # 2,000 draws, each with a chance below 1e-9
    for seed in range(2000):
        projection = SparseSign(100, 1, seed=seed, density=density)
        assert np.sum(projection.lift(np.ones((1, 1))) ** 2) <= _size(projection)
