"""Routes, projections and recovery wired together: when a sketch is given up for the data themselves."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from slimline import open_matrix
from slimline.estimators._fitting import Fitting
from slimline.learning import BinaryProblem, TrainingData, loss_named
from slimline.planning import choose_route

N, D, TOL = 60, 600, 1e-3


@pytest.fixture
def data():
    X = np.random.default_rng(0).standard_normal((N, D))
    return TrainingData(open_matrix(X), 1.0)


def tasks(C):
    y = np.where(np.random.default_rng(1).random(N) < 0.5, 1.0, -1.0)
    return [BinaryProblem(loss_named("squared_hinge"), y, np.ones(N), 1.0 / C)]


def outcome(data, C, may_switch, **seconds):
    route = choose_route(data.matrix, N, 1, "sketch", 64)
    fitting = Fitting(replace(route, **seconds), "certified", "auto", 0, TOL, 40, may_switch=may_switch)
    return fitting.outcome(data, tasks(C), lambda step: None)


def test_a_sketch_that_contracts_too_little_is_left_for_the_gram_matrix(data):
    slow = {"step_seconds": 1.0, "gram_seconds": 0.5, "direct_seconds": np.inf}
    found = outcome(data, 1e3, True, **slow)
    assert found.model.exact
    assert [step.n_components for step in found.history][:: len(found.history) - 1] == [64, D]
    assert found.proofs[0].relative_error <= TOL
    primal = [step.primal[0] for step in found.history]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(primal))
    assert not outcome(data, 1e3, False, **slow).model.exact


def test_or_for_the_rows_where_those_are_cheaper(data):
    found = outcome(data, 1e3, True, step_seconds=1.0, gram_seconds=0.5, direct_seconds=0.1)
    assert found.model.is_full_problem and not found.model.exact
    assert found.proofs[0].relative_error <= TOL


def test_it_is_kept_where_its_steps_are_cheaper(data):
    assert not outcome(data, 1e3, True, step_seconds=1e-9, gram_seconds=0.5).model.exact


def test_it_is_kept_where_it_contracts(data):
    found = outcome(data, 1e-4, True, step_seconds=1.0, gram_seconds=0.5)
    assert not found.model.exact and not found.model.is_full_problem
    assert found.proofs[0].relative_error <= TOL
