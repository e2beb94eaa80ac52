"""The cost model: what is asked for is taken, small problems are solved exactly, and repetition changes nothing."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.learning import LOSSES
from slimline.learning.regression_losses import REGRESSION_LOSSES
from slimline.planning import choose_route
from slimline.planning._route import DataShape, default_components


def Shape(n, d, dtype=np.float32, density=None, whole_columns=True):
    """Input of the cost model, without data behind it."""
    return DataShape((n, d), np.dtype(dtype), density, 1 if whole_columns else 2, stored_rows=density is not None)


@pytest.mark.parametrize("method", ["sketch", "gram"])
def test_what_is_asked_for_is_taken(method):
    route = choose_route(Shape(100, 10_000), 100, 1, method, 500)
    assert route.method == method
    assert route.reason == "asked for"
    assert route.n_components == (500 if method == "sketch" else 0)


def test_a_sketch_as_wide_as_the_data_is_none():
    for asked in (50, 80):
        route = choose_route(Shape(100, 50), 100, 1, "sketch", asked)
        assert route.method == "gram"
        assert "saves nothing" in route.reason
    assert choose_route(Shape(100, 51), 100, 1, "sketch", 50).method == "sketch"


def test_small_problems_take_the_gram_matrix():
    for n, d in ((100, 10**6), (10**6, 100), (400, 10**5)):
        assert choose_route(Shape(n, d), n, 1).method == "gram"


def test_a_gram_matrix_that_does_not_fit_is_not_made():
    route = choose_route(Shape(100_000, 200_000), 100_000, 1)
    assert route.method == "sketch"
    assert "memory" in route.reason


def test_the_faster_way_is_taken_and_said():
    for n, d in ((1000, 20_000), (4000, 500_000), (3000, 10_000)):
        route = choose_route(Shape(n, d), n, 1)
        assert route.method == ("gram" if route.gram_seconds <= route.sketch_seconds else "sketch")
        assert "cost model" in route.reason
    wide = choose_route(Shape(4500, 1_000_000), 4500, 1)
    assert wide.method == "sketch"


def test_a_search_takes_the_gram_matrix_if_that_costs_little_more():
    shape = Shape(800, 100_000, np.int8)
    fit, search = choose_route(shape, 800, 5), choose_route(shape, 800, 5, search_tasks=250)
    assert fit.method == "sketch" and search.method == "gram"
    assert choose_route(shape, 800, 5, "sketch", search_tasks=250).method == "sketch"  # as asked for
    assert choose_route(Shape(2000, 10**7, np.int8), 2000, 1, search_tasks=50).method == "sketch"  # far slower
    assert choose_route(Shape(9000, 50_000), 9000, 1, search_tasks=50).method == "sketch"  # no n × n matrix otherwise


def test_sparse_data_cost_what_is_stored():
    thin = choose_route(Shape(2000, 100_000, density=1e-4), 2000, 1)
    full = choose_route(Shape(2000, 100_000, density=0.5), 2000, 1)
    assert thin.gram_seconds < full.gram_seconds
    assert thin.sketch_seconds < full.sketch_seconds
    assert thin.direct_seconds < full.direct_seconds
    assert thin.method == "direct"
    assert full.method == "sketch"


def test_rows_are_gone_through_where_that_is_cheapest():
    square = open_matrix(np.ones((6000, 600), dtype=np.float32))  # what it holds is not looked at
    assert choose_route(square, 6000, 1, n_components=150).method == "direct"
    assert choose_route(square.standardised("mean", "std"), 6000, 1).direct_seconds == np.inf
    assert choose_route(Shape(6000, 600), 6000, 1).direct_seconds == np.inf  # not in memory, as far as is known
    huge = choose_route(Shape(10**7, 10**6, density=1e-4), 10**7, 1)
    assert huge.direct_seconds == np.inf
    assert huge.method == "sketch"


def test_streams_of_rows_cost_two_passes_a_step():
    whole, stream = Shape(2000, 200_000), Shape(2000, 200_000, whole_columns=False)
    assert choose_route(stream, 2000, 1).sketch_seconds > choose_route(whole, 2000, 1).sketch_seconds


@pytest.mark.parametrize("n", [1, 10, 500, 5000, 5001, 10**6])
@pytest.mark.parametrize("d", [1, 100, 10_000, 10**6])
def test_components_are_within_bounds(n, d):
    r = default_components(Shape(n, d), n, "squared_hinge")
    assert r % 64 == 0
    assert r >= 64
    assert r <= max(64, d / 4)
    assert r <= 4096 or n <= 5000
    assert r <= max(64, 16 * n)


def test_a_weight_is_a_repetition():
    """The route depends on the sum of the weights, not on the number of rows that carries it."""
    for total in (300.0, 1200.0, 8000.0):
        routes = {choose_route(Shape(n, 50_000), total, 2) for n in (100, 200, 1000)}
        assert len(routes) == 1


def test_real_matrices_are_understood():
    dense = open_matrix(np.zeros((5, 40), dtype=np.int8))
    sparse = open_matrix(sp.random_array((50, 4000), density=0.01, format="csr", rng=0))
    for matrix in (dense, sparse):
        route = choose_route(matrix, matrix.shape[0], 3)
        assert route.method == "gram"
        assert route.gram_seconds > 0
        assert route.sketch_seconds > 0


def test_flat_spectra_take_more_components_and_the_logistic_loss_fewer():
    plain = open_matrix(np.zeros((1000, 40_000), dtype=np.int8))
    assert default_components(plain, 1500, "hinge") == 6000 // 64 * 64
    assert default_components(plain, 2000, "logistic") == 4096
    assert default_components(plain, 4000, "logistic") == 8000
    assert default_components(plain.standardised(None, 2.0 * np.ones(40_000)), 1200, "hinge") == 9600 // 64 * 64


@pytest.mark.parametrize("loss", sorted({*LOSSES, *REGRESSION_LOSSES}))
def test_columns_without_a_penalty_cost_no_less(loss):
    for shape in (Shape(2000, 200_000), Shape(8000, 200_000), Shape(8000, 200_000, density=1e-3)):
        costs = [choose_route(shape, shape.shape[0], 2, loss=loss, n_free=n_free) for n_free in (0, 1, 13)]
        for fewer, more in pairwise(costs):
            for name in ("gram_seconds", "sketch_seconds", "direct_seconds"):
                assert getattr(more, name) >= getattr(fewer, name)


def test_rows_are_not_gone_through_beside_covariates_if_the_loss_has_corners():
    thin = Shape(20_000, 200_000, density=1e-4)
    methods = {n_free: choose_route(thin, 20_000, 1, loss="hinge", n_free=n_free).method for n_free in (0, 1, 2)}
    assert methods == {0: "direct", 1: "direct", 2: "sketch"}
