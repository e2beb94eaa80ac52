"""Tiny problems with covariates against exact optima; and proof that this attack sees what it should.

SLIMLINE_ATTACKS sets how many problems each loss gets in the nightly tier. `python -m tests.learning.attack_free` runs
more of them, with a table.
"""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from slimline.learning import LOSSES
from slimline.learning.covariates import Covariates
from slimline.learning.problem import BinaryProblem
from tests.learning import attack_free
from tests.learning.attack_free import (
    COVARIATES,
    FEATURES,
    NAMES,
    Case,
    Tally,
    attacked,
    check_state,
    dual_at,
    loss_of,
    main,
    parts_of,
    primal_at,
    random_case,
    state_at,
)
from tests.learning.exact import as_floats
from tests.learning.exact_free import exact_optimum

ATTACKS = int(os.environ.get("SLIMLINE_ATTACKS", "60"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("problems", [4, pytest.param(ATTACKS, marks=pytest.mark.nightly)])
def test_no_claim_is_violated(problems, name):
    tally = attacked(name, range(problems), problems)
    assert tally.violations == []
    assert tally.problems == problems
    assert tally.claims["ball"] >= 2 * problems
    assert tally.claims["score"] >= problems


def shared_case(name, rng):
    """Return a case of six samples with an intercept and a covariate."""
    while True:
        case = random_case(rng, name)
        if isinstance(case, Case) and len(case.problem.covariates) == 2 and len(case.X) >= 4 and case.X.any():
            return case


@pytest.mark.parametrize("name", ["squared_error", "huber", "logistic", "squared_hinge"])
def test_the_attack_sees_dual_points_that_are_not_repaired(name, monkeypatch):
    monkeypatch.setattr(BinaryProblem, "feasible", lambda self, a: self.loss.project(a))
    whole = attacked(name, range(6), 1, fits=0.0)
    assert whole.violations == []  # what is not repaired is accounted for,
    monkeypatch.setattr(BinaryProblem, "slack", lambda self, a: None)
    assert attacked(name, range(6), 1, fits=0.0).violations  # and if it is not, claims are false


@pytest.mark.parametrize("name", ["squared_error", "huber", "squared_hinge"])
def test_effects_that_are_held_fixed_are_not_certified(name, monkeypatch):
    """Wrong effects, and the exact optimum beside them: both halves of the gap are 0, and w is wrong."""

    def violations():
        seen = 0
        for number in range(8):
            case = shared_case(name, np.random.default_rng([2, NAMES.index(name), number]))
            problem, columns = case.problem, case.problem.covariates.columns
            wrong = as_floats(case.b) + 0.5 / np.abs(columns).max(axis=0)
            offset = problem.offset + columns @ wrong
            args = case.X, problem.labels, problem.weights, problem.penalty, offset, columns[:, :0]
            found = exact_optimum(problem.loss, *args)
            if found is None:
                continue
            w, _, a = (as_floats(part) for part in found)
            data, tally = case.data, Tally()
            dual = dual_at(case, data, problem.loss.project(a))
            effects = np.linalg.solve(problem.covariates.transform, wrong)
            state = state_at(case, data, primal_at(case, data, w, effects), dual)
            check_state(tally, np.random.default_rng(0), case, data, state, "fixed")
            seen += bool(tally.violations)
        return seen

    assert violations() == 0
    monkeypatch.setattr(BinaryProblem, "slack", lambda self, a: None)
    assert violations() >= 3


@pytest.mark.parametrize("name", NAMES)
def test_the_gap_is_the_difference_of_the_objectives(name):
    rng = np.random.default_rng([4, NAMES.index(name)])
    n = 12
    X, U = rng.standard_normal((n, 5)), np.column_stack([np.ones(n), rng.standard_normal(n)])
    s, target = rng.uniform(0.5, 2.0, n), rng.standard_normal(n) + 3.0
    if name in LOSSES:
        y, offset = np.resize([1.0, -1.0], n), np.zeros(n)
    else:
        y, offset = np.ones(n), -target
    problem = BinaryProblem(loss_of(name, rng), y, s, 0.7, offset, Covariates(U, s))
    case = Case(problem, X, [], [], ())
    data = case.data
    dual = dual_at(case, data, problem.feasible(problem.loss.project(rng.uniform(-1.0, 1.0, n))))
    point = primal_at(case, data, rng.standard_normal(5), rng.standard_normal(2))
    state = state_at(case, data, point, dual)
    gap = problem.objective(point) - problem.dual(dual.a, dual.weights)
    assert state.bound.gap == pytest.approx(gap, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_sharper_claim_than_the_proved_one_is_caught(name):
    # the claims are not so wide that the attack could not see a mistake of a factor
    tally = attacked(name, range(8), 3, fits=0.0)
    assert min(tally.ratios["ball", name, "points"]) < 3.0


def test_the_attack_draws_what_breaks_certificates(monkeypatch):
    monkeypatch.setattr(attack_free, "exact_optimum", lambda *problem: ([], []))
    tally = Tally()
    for name in NAMES:
        for number in range(80):
            case = random_case(np.random.default_rng([5, NAMES.index(name), number]), name)
            if isinstance(case, Case):
                tally.draw(case)
    assert {("covariates", q) for q in range(4)} <= set(tally.drawn)
    assert {("features", kind) for kind in FEATURES} <= set(tally.drawn)
    assert {("beside the intercept", kind) for kind in COVARIATES} <= set(tally.drawn)
    assert tally.drawn["targets", "tied"] >= 10
    (low, high), (least, most) = tally.ranges["|features|"], tally.ranges["|covariates|"]
    assert low < 1e-4
    assert high > 1e6
    assert least < 1e-4
    assert most > 1e6
    assert tally.ranges["sample weights"][0] < 1e-11


def test_the_parts_are_all_problems():
    parts = parts_of(100, 7)
    assert sum(len(numbers) for _, numbers, _ in parts) == 100
    assert len({(name, number) for name, numbers, _ in parts for number in numbers}) == 100
    assert {name for name, *_ in parts[: len(NAMES)]} == set(NAMES)


@pytest.mark.parametrize("seen", [0, 1])
def test_the_driver_adds_up_and_fails_with_a_violation(monkeypatch, capsys, seen):
    monkeypatch.setattr(attack_free, "get_context", lambda method: SimpleNamespace(Pool=OneProcess))
    monkeypatch.setattr(BinaryProblem, "feasible", lambda self, a: self.loss.project(a))
    if seen:
        monkeypatch.setattr(BinaryProblem, "slack", lambda self, a: None)
    assert main(["--problems", "18", "--seed", "1"]) == seen
    printed, _ = capsys.readouterr()
    assert ("VIOLATION" in printed) == bool(seen)
    assert "\n18 problems" in printed
    assert all(f"loss {name} 2" in printed for name in NAMES)


class OneProcess:
    """Pool of no process of its own, so that what is patched is seen."""

    def __init__(self, jobs):
        self.imap_unordered = map

    def __enter__(self):
        return self

    def __exit__(self, *ended):
        pass
