"""Routes, projections and recovery wired together: when a sketch is given up for the data themselves."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from slimline import open_matrix
from slimline.estimators._fitting import Solver
from slimline.learning import BinaryProblem, SolverState, TrainingData, loss_named
from slimline.planning import choose_route

N, D, TOL = 60, 600, 1e-3


@pytest.fixture
def data():
    X = np.random.default_rng(0).standard_normal((N, D))
    return TrainingData(open_matrix(X), 1.0)


def solved(data, C, may_switch, **seconds):
    """Return the surrogate that was used last, the state and the steps."""
    y = np.where(np.random.default_rng(1).random(N) < 0.5, 1.0, -1.0)
    state = SolverState.zero(BinaryProblem(loss_named("squared_hinge"), y, np.ones(N), 1.0 / C), data.shape)
    route = replace(choose_route(data.matrix, N, 1, "sketch", 64), **seconds)
    solver = Solver(data, route, TOL, 40, may_switch=may_switch)
    steps = list(solver.steps([state]))
    return solver.surrogate, state, steps


def test_a_sketch_that_contracts_too_little_is_left_for_the_gram_matrix(data):
    slow = {"step_seconds": 1.0, "gram_seconds": 0.5, "direct_seconds": np.inf}
    surrogate, state, steps = solved(data, 1e3, True, **slow)
    assert surrogate.exact
    assert [step.n_components for step in steps][:: len(steps) - 1] == [64, D]
    assert state.error <= TOL
    primal = [step.primal[0] for step in steps]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(primal))
    assert not solved(data, 1e3, False, **slow)[0].exact


def test_or_for_the_rows_where_those_are_cheaper(data):
    surrogate, state, _ = solved(data, 1e3, True, step_seconds=1.0, gram_seconds=0.5, direct_seconds=0.1)
    assert surrogate.is_full_problem and not surrogate.exact
    assert state.error <= TOL


def test_it_is_kept_where_its_steps_are_cheaper(data):
    assert not solved(data, 1e3, True, step_seconds=1e-9, gram_seconds=0.5)[0].exact


def test_it_is_kept_where_it_contracts(data):
    surrogate, state, _ = solved(data, 1e-4, True, step_seconds=1.0, gram_seconds=0.5)
    assert not surrogate.exact and not surrogate.is_full_problem
    assert state.error <= TOL
