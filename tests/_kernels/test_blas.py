"""BLAS from C++: the same bits as SciPy's, and other Python threads run meanwhile."""

import threading
import time

import numpy as np
import pytest
import scipy.linalg
from scipy.linalg.blas import dsyrk, ssyrk

from slimline._kernels import _native, add_product, factorise
from slimline._kernels.blas import exported


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (40, 90), (0, 3), (3, 0)])
@pytest.mark.parametrize("lower", [True, False])
def test_products_are_those_of_scipy(dtype, order, shape, lower):
    rng = np.random.default_rng(0)
    values = np.asarray(rng.standard_normal(shape), dtype=dtype, order=order)
    out = np.asfortranarray(rng.standard_normal((shape[0], shape[0])).astype(dtype))
    expected = out.copy(order="F")
    if values.size:
        syrk = dsyrk if dtype == np.float64 else ssyrk
        x, trans = (values.T, 1) if order == "C" else (values, 0)
        expected = syrk(1.0, x, beta=1.0, c=expected, lower=lower, trans=trans)
    add_product(values, out, lower=lower)
    assert np.array_equal(out, expected)


def test_values_that_lie_apart():
    values = np.random.default_rng(0).standard_normal((20, 60))[::2, ::3]
    out = np.zeros((10, 10), order="F")
    add_product(values, out)
    np.testing.assert_allclose(np.tril(out), np.tril(values @ values.T), rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factors_are_those_of_scipy(dtype):
    half = np.random.default_rng(0).standard_normal((60, 80))
    matrix = np.asfortranarray((half @ half.T).astype(dtype))
    expected = scipy.linalg.cho_factor(matrix, lower=True)
    factor, lower = factorise(matrix.copy(order="F"))
    assert lower and np.array_equal(np.tril(factor), np.tril(expected[0]))
    with pytest.raises(np.linalg.LinAlgError):
        factorise(np.asfortranarray(-matrix))


def test_what_does_not_fit_is_refused():
    routine = exported("dsyrk")
    with pytest.raises(ValueError, match="wrong shape"):
        _native.syrk(routine, np.zeros((3, 4)), np.zeros((4, 4), order="F"), True)
    with pytest.raises(ValueError, match="Fortran order"):
        _native.syrk(routine, np.zeros((3, 4)), np.zeros((3, 3)), True)
    with pytest.raises(ValueError, match="element type"):
        _native.syrk(routine, np.zeros((3, 4)), np.zeros((3, 3), np.float32, order="F"), True)
    with pytest.raises(ValueError, match="Fortran order"):
        _native.potrf(exported("dpotrf"), np.zeros((3, 3)))


def _runs_beside(work):
    """Say whether another Python thread ran in the middle of some work."""
    stamps, done = [], threading.Event()

    def run():
        while not done.is_set():
            stamps.append(time.perf_counter())
            time.sleep(1e-3)

    other = threading.Thread(target=run)
    other.start()
    try:
        start = time.perf_counter()
        work()
        taken = time.perf_counter() - start
    finally:
        done.set()
        other.join()
    return any(start + taken / 4 < stamp < start + taken * 3 / 4 for stamp in stamps)


@pytest.mark.parametrize("routine", ["product", "factor"])
def test_other_threads_run_meanwhile(routine):
    """With the GIL held none could, however often this is tried; without it one attempt is enough on an idle CPU."""
    values = np.random.default_rng(0).standard_normal((1200, 2000))
    matrix, out = np.asfortranarray(values[:, :1200] + 1e4 * np.eye(1200)), np.zeros((1200, 1200), order="F")
    for _ in range(20):
        work = (
            (lambda: add_product(values, out)) if routine == "product" else (lambda: factorise(matrix.copy(order="F")))
        )
        if _runs_beside(work):
            return
    pytest.fail(f"no other thread ran while the {routine} was made")
