"""Coordinate descent against its NumPy twins, step by step.

Both run the same steps in the same order, so that after a few epochs they differ by rounding alone.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline._kernels import _native
from tests.pairwise import pairwise
from tests.reference import descent as reference


def problem(n, r, seed, loss, dtype=np.float64, spread=0):
    """Rows in a view of wider ones, labels, offsets, and weights that differ."""
    rng = np.random.default_rng(seed)
    memory = np.full((n, r + spread), np.nan, dtype=dtype)
    memory[:, :r] = rng.standard_normal((n, r)) / np.sqrt(r)
    weight = rng.uniform(0.5, 3, n)
    diag, upper = (np.zeros(n), weight) if loss == "hinge" else (0.5 / weight, np.full(n, np.inf))
    return memory[:, :r], rng.choice([-1.0, 1.0], n), 0.3 * rng.standard_normal(n), diag, upper


def both(form, parts, lam, max_epochs, tolerance, seed=3):
    """Each result: a, the state, epochs, violation."""
    z, *rest = parts
    matrix = (z @ z.T) if form == "gram" else z
    if form in ("constant", "sparse"):
        matrix = np.hstack([z, np.full((len(z), 1), CONSTANT, dtype=z.dtype)])
    results = []
    for run in (NATIVE[form], twin_of(form)):
        a, state = np.zeros(len(z)), np.zeros(matrix.shape[1])
        ended = run(matrix, *rest, lam, a, state, max_epochs, tolerance, seed)
        results.append((a, state, *ended))
    return results


def sparse(matrix, *rest):
    rows = sp.csr_array(matrix[:, :-1])
    return _native.descend_sparse(rows.indptr, rows.indices, rows.data, CONSTANT, *rest)


def twin_of(form):
    return reference.descend_gram if form == "gram" else reference.descend_rows


#: Value of the column that is not in the matrix itself.
CONSTANT = -1.5
NATIVE = {
    "rows": lambda matrix, *rest: _native.descend_rows(matrix, 0.0, *rest),
    "constant": lambda matrix, *rest: _native.descend_rows(np.ascontiguousarray(matrix[:, :-1]), CONSTANT, *rest),
    "sparse": sparse,
    "gram": _native.descend_gram,
}


@pytest.mark.parametrize(
    "form, loss, shape, max_epochs",
    pairwise(
        ["rows", "constant", "sparse", "gram"],
        ["hinge", "squared_hinge"],
        [(7, 3), (1, 1), (2, 1), (1, 40), (30, 17), (45, 64), (20, 133), (130, 20)],
        [1, 2, 6],
    ),
)
def test_steps_are_those_of_the_twin(form, loss, shape, max_epochs):
    n, r = shape
    mine, twin = both(form, problem(n, r, n + r, loss, spread=r % 3), 0.7, max_epochs, 1e-9)
    np.testing.assert_allclose(mine[0], twin[0], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(mine[1], twin[1], rtol=1e-10, atol=1e-11)
    assert mine[2] == twin[2]
    assert mine[3] == pytest.approx(twin[3], rel=1e-8, abs=1e-11)


@pytest.mark.parametrize("form", ["rows", "constant", "gram"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_float32_steps_are_those_of_the_twin(form, loss):
    mine, twin = both(form, problem(40, 50, 1, loss, np.float32), 0.7, 4, 0.0)
    # 4 epochs of 40 steps that round |v| < 10 to 24 bits, and pass errors on
    np.testing.assert_allclose(mine[0], twin[0], atol=2e-5)
    np.testing.assert_allclose(mine[1], twin[1], atol=2e-5)


@pytest.mark.parametrize("form", ["rows", "gram"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_both_reach_the_same_solution(form, loss, dtype):
    parts = problem(40, 60, 2, loss, dtype)  # more columns than rows: the solution is unique for hinge too
    mine, twin = both(form, parts, 0.5, 5000, 1e-10)
    assert mine[3] <= 1e-10 and twin[3] <= 1e-10
    # |a - a*| <= sqrt(n) violation / (smallest eigenvalue of K / lam), which is above 0.01 here
    assert np.linalg.eigvalsh(parts[0].astype(np.float64) @ parts[0].T.astype(np.float64))[0] > 0.005
    np.testing.assert_allclose(mine[0], twin[0], atol=1e-7)


def test_every_width():
    for r in range(1, 140):
        mine, twin = both("rows", problem(5, r, r, "hinge", spread=1), 1.0, 3, 0.0)
        np.testing.assert_allclose(mine[0], twin[0], atol=1e-11)
        mine, twin = both("rows", problem(5, r, r, "squared_hinge", np.float32), 1.0, 3, 0.0)
        np.testing.assert_allclose(mine[0], twin[0], atol=2e-5)


@pytest.mark.parametrize("epoch", [0, 1, 77])
def test_orders_are_permutations_that_differ(epoch):
    order = reference.shuffled(np.arange(300), epoch, 9)
    np.testing.assert_array_equal(np.sort(order), np.arange(300))
    assert np.count_nonzero(order == reference.shuffled(np.arange(300), epoch + 1, 9)) < 20  # 1 on average


@pytest.mark.parametrize(
    "change",
    [
        {"z": np.zeros((3, 2), dtype=np.int8)},
        {"z": np.zeros((3, 2), order="F")},
        {"z": np.zeros((4, 2))},
        {"z": np.zeros(3)},
        {"z": np.zeros((3, 0)), "v": np.zeros(0)},
        {"y": np.ones(2)},
        {"y": np.ones(3, dtype=np.float32)},
        {"upper": np.ones(6)[::2]},
        {"a": np.zeros(4)},
        {"v": np.zeros(3)},
        {"constant": 1.0},  # v is then longer by one
        {"constant": np.nan, "v": np.zeros(3)},
        {"lam": 0.0},
        {"lam": np.nan},
        {"tolerance": -1.0},
        {"tolerance": np.nan},
        {"max_epochs": -1},
        {"seed": -1},
        {"seed": 2**64},
    ],
)
def test_wrong_arguments_are_refused(change):
    ones = np.ones(3)
    right = {"z": np.zeros((3, 2)), "constant": 0.0, "y": ones, "q": ones, "diag": ones, "upper": ones, "lam": 1.0}
    right |= {"a": np.zeros(3), "v": np.zeros(2), "max_epochs": 2, "tolerance": 0.1, "seed": 0}
    _native.descend_rows(**right)
    with pytest.raises((ValueError, TypeError)):
        _native.descend_rows(**(right | change))


def test_a_gram_matrix_must_be_square():
    ones = np.ones(3)
    with pytest.raises(ValueError, match="square"):
        _native.descend_gram(np.zeros((3, 2)), ones, ones, ones, ones, 1.0, np.zeros(3), np.zeros(2), 1, 0.1, 0)
