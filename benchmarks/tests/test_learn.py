"""The suite of `slimline bench learn`: quick cases really run, and the judge is right."""

import gc
import sys
import warnings
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize

from slimline._base import system
from slimline.data import open_matrix
from slimline.learning import loss_named
from slimline_benchmarks import Case, Measurement, Settings
from slimline_benchmarks import runner as runner_module
from slimline_benchmarks import search as search_module
from slimline_benchmarks.data_sets import tf_idf
from slimline_benchmarks.judged import JudgedMeasurement, run_judged_case
from slimline_benchmarks.learn import QUICK, LearnSizes, learn_cases, names
from slimline_benchmarks.learn.data_sets import dense_set, genotype_set, text_problem, trait_of, trait_sets
from slimline_benchmarks.learn.dense import realistic_data
from slimline_benchmarks.learn.judge import Judge, Judgement
from slimline_benchmarks.learn.peers import PEERS
from slimline_benchmarks.learn.preprocess import (
    as_peers_take_it,
    gram_matrix,
    mirrored,
    standardised_panels,
    weights_of,
)
from slimline_benchmarks.learn.problem import Fit, Problem
from slimline_benchmarks.learn.regression_peers import REGRESSION_PEERS

with warnings.catch_warnings(), suppress(ImportError):
    warnings.simplefilter("ignore")  # Snap ML looks for the flags of the CPU where NumPy had them
    import_module("snapml")

ONCE = Settings(threads=1, repeats=1)
TINY = LearnSizes((60, 512), (60, 512), (70, 70), ((90, 32),), 60)
CASES = {case.name: case for case in learn_cases(TINY, judged=False)}


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(runner_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(runner_module, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(system, "gc", SimpleNamespace(collect=lambda: None))


# Cases -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in CASES if n.startswith(("dense", "genotypes", "square", "solver"))])
def test_quick_cases_run_and_ours_reach_what_is_asked_for(name):
    case = CASES[name]
    result = run_judged_case(case, ONCE)
    assert not result.skipped and result.targets == ()
    bound = case.arena.goal.bound
    for m in result.measurements:
        if m.status == "absent":
            assert m.contender in names.SNAP.values()  # no package for every machine
            continue
        assert isinstance(m, JudgedMeasurement) and m.reached is not None, (m.contender, m.status, m.note)
        if m.status == "measured":
            assert m.best > 0 and m.reached <= bound and m.tried_seconds is None
        else:
            assert m.status == "skipped" and m.reached > bound and m.tried_seconds > 0
    assert {m.status for m in result.of_role("ours")} == {"measured"}
    for m in result.of_role("ours"):
        assert m.status == "measured", (m.contender, m.reached)
    # the projection's own way back to the features is far off: the judge has to see that
    assert all(m.reached > 0.5 for m in result.of_role("peer") if m.contender.startswith("projection"))
    exact = {names.LINEAR_SVC_DUAL, names.LINEAR_SVC_PRIMAL, names.LBFGS, names.SVC_GRAM, names.SVR_GRAM}
    exact |= {names.KERNEL_RIDGE, *names.RIDGE.values()}
    assert {m.status for m in result.of_role("peer") if m.contender in exact} == {"measured"}


@pytest.mark.data
@pytest.mark.parametrize("name", ["pair-squared-hinge", "newsgroups-logistic", "farm-ads-hinge"])
def test_text(name, data_dir):
    result = run_judged_case(CASES[name], ONCE)
    assert not result.skipped
    assert {m.status for m in result.of_role("ours")} == {"measured"}


def test_text_that_is_not_there_is_absent(monkeypatch, tmp_path):
    cases = {case.name: case for case in learn_cases(TINY)}  # with nothing on their shelf
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    assert run_judged_case(cases["farm-ads-hinge"], ONCE).skipped.startswith("absent: SLIMLINE_DATA")
    monkeypatch.setenv("SLIMLINE_DATA", str(tmp_path))
    assert "farm_ads.npz is not there" in run_judged_case(cases["farm-ads-logistic"], ONCE).skipped


def test_names_and_full_sizes():
    cases = learn_cases(LearnSizes())
    titles = {case.name: case.title for case in cases}
    assert len(titles) == len(cases) == 18 + 3 + 6
    assert all(len({c.name for c in case.contenders}) == len(case.contenders) for case in cases)
    assert "2,000 × 131,072 float32" in titles["dense-squared-hinge"]
    assert "2,250 × 492,516 genotypes" in titles["genotypes-logistic"]
    assert "20,000 × 20,000 float32" in titles["square-hinge"]
    assert "2,000 × 131,072 float32" in titles["dense-trait-epsilon-insensitive"]
    assert "quantitative trait" in titles["genotypes-trait-squared"]
    assert {"solver-hinge-2000x512", "solver-squared-hinge-20000x1024"} <= set(titles)
    assert len(learn_cases(QUICK)) == 18 + 3 + 2


def test_large_peers_know_that_they_are_large():
    cases = {case.name: {c.name: c for c in case.contenders} for case in learn_cases(LearnSizes())}
    genotypes, dense = cases["genotypes-hinge"], cases["dense-hinge"]
    assert genotypes[names.LINEAR_SVC_DUAL].estimated_bytes > 26e9  # 24 bytes a value
    assert 6e9 < dense[names.LINEAR_SVC_DUAL].estimated_bytes < 7e9
    assert genotypes[names.SVC_GRAM].estimated_bytes < 1e9
    assert genotypes[names.SGD].estimated_bytes > 4e9
    trait, dense_trait = cases["genotypes-trait-squared"], cases["dense-trait-squared"]
    assert 4e9 < trait[names.RIDGE["cholesky"]].estimated_bytes < 5e9  # standardised as float32
    assert trait[names.RIDGE["svd"]].estimated_bytes > 15e9
    assert 1e9 < dense_trait[names.SNAP[True]].estimated_bytes < 1.2e9  # a centred copy
    assert dense_trait[names.KERNEL_RIDGE].estimated_bytes < 1e8
    assert names.AUTO_FILE in trait and names.AUTO_FILE not in dense_trait
    assert cases["square-hinge"][names.GRAM].estimated_seconds > 120 > dense[names.GRAM].estimated_seconds


# Targets ---------------------------------------------------------------------------------------------


def _result_of(case: Case, seconds: dict[str, float]):
    from slimline_benchmarks import CaseResult

    measurements = tuple(
        Measurement(c.name, c.role, seconds=(seconds[c.name],), extra_bytes=int(300e6 * seconds[c.name]))
        if c.name in seconds
        else Measurement(c.name, c.role, status="skipped")
        for c in case.contenders
    )
    return CaseResult(case.name, case.title, 0, 1, measurements)


def test_targets_are_those_of_the_fastest_peer():
    cases = {case.name: case for case in learn_cases(LearnSizes())}
    hinge = cases["dense-hinge"]
    times = {names.AUTO: 1.0, names.GRAM: 0.9, names.LINEAR_SVC_DUAL: 20.0, names.SVC_GRAM: 4.0}
    found = hinge.aims(_result_of(hinge, times))
    assert [(t.contender, t.quantity, t.peer) for t in found] == [
        (names.AUTO, "ratio", names.SVC_GRAM),
        (names.AUTO, "memory", ""),
        (names.AUTO, "ratio", names.GRAM),
    ]
    assert found[0].bound == 0.2 and found[1].bound == pytest.approx(4.0 * 300e6 / 3)
    logistic = cases["genotypes-logistic"]
    found = logistic.aims(_result_of(logistic, {names.AUTO: 1.0, names.LBFGS: 3.0, names.SGD: 0.5}))
    assert [(t.bound, t.peer) for t in found] == [(1.0, names.LBFGS)]
    solver = cases["solver-hinge-20000x1024"]
    found = solver.aims(_result_of(solver, {names.SOLVE_ROWS: 1.0, names.LINEAR_SVC_DUAL: 9.0}))
    assert [(t.contender, t.bound, t.peer) for t in found] == [(names.SOLVE_ROWS, 0.03, names.LINEAR_SVC_DUAL)]


def test_targets_of_regression_are_those_of_the_fastest_peer():
    case = {case.name: case for case in learn_cases(LearnSizes())}["genotypes-trait-squared"]
    times = {names.AUTO: 1.0, names.AUTO_FILE: 0.5, names.SKETCH: 0.8, names.KERNEL_RIDGE: 2.0, names.RIDGE["svd"]: 3.0}
    found = case.aims(_result_of(case, times))
    assert [(t.bound, t.peer) for t in found] == [(1.0, names.KERNEL_RIDGE), (1.25, names.SKETCH)]


# The judge -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def problem():
    return dense_set("small", (50, 300), "").make()


def _objective(problem, loss, w):
    return 0.5 * w @ w + problem.C * loss_named(loss).value(problem.labels * (problem.X.astype(float) @ w)).sum()


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_judge_bounds_the_true_error_and_is_not_far_above_it(loss, problem):
    X, y, kind = problem.X.astype(float), problem.labels, loss_named(loss)

    def both(w):
        margin = y * (X @ w)
        return _objective(problem, loss, w), w - problem.C * X.T @ (y * kind.dual(margin))

    exact = minimize(
        both, np.zeros(300), jac=True, method="L-BFGS-B", options={"gtol": 1e-12, "ftol": 0, "maxiter": 9999}
    ).x
    judge = Judge(problem, loss)
    best = _objective(problem, loss, exact)
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-4, 1e-2, 0.1):
        step = rng.standard_normal(300)
        w = exact + size * np.linalg.norm(exact) * step / np.linalg.norm(step)
        found = judge.judge(Fit(w))
        true = np.linalg.norm(w - exact) / np.linalg.norm(exact)
        assert true * (1 - 1e-5) - 1e-7 <= found.error <= 4.0 * true + 5e-3
        assert (_objective(problem, loss, w) - best) / best <= found.gap + 1e-9
    assert judge.judge(Fit(-exact)).error == np.inf
    assert judge.judge(Fit(np.full(300, np.nan))) == Judgement(np.inf, np.inf)


@pytest.mark.parametrize("loss", names.LOSSES)
def test_what_is_found_beforehand_is_nearly_optimal(loss, problem):
    short_panels = dense_set("tall", (90, 32), "", C=10.0).make()
    for known in (problem, short_panels):
        judge = Judge(known, loss)
        dual = judge.reference
        value = -0.5 / known.C * dual.weights @ dual.weights - loss_named(loss).conjugate(dual.a).sum()
        assert -1e-12 <= (judge.objective - value) / judge.objective <= 1e-5  # below 0: rounding
        expected = known.C * known.X.T.astype(float) @ (known.labels * dual.a)
        np.testing.assert_allclose(dual.weights[:-1], expected, atol=1e-9)


def test_judge_takes_hinge_weights_without_dual_variables(problem):
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=100_000, random_state=0)
    w = model.fit(problem.X.astype(float), problem.labels).coef_[0]
    judge = Judge(problem, "hinge")
    assert judge.judge(Fit(w)).error < 3e-3
    assert judge.judge(Fit(1.05 * w)).error > 0.04


def test_judge_uses_the_intercept_of_a_peer_that_has_one(problem):
    svc = next(peer for peer in PEERS if peer.name == names.SVC_GRAM)
    fit = svc.fit(problem, "hinge", {"tol": 1e-6})
    judge = Judge(problem, "hinge")
    assert fit.intercept != 0.0
    assert judge.judge(fit).error < 1e-2
    assert judge.judge(replace(fit, intercept=fit.intercept + 0.1)).error > 2e-2
    np.testing.assert_allclose(fit.weights, problem.X.T.astype(float) @ fit.dual, rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module", params=["dense-trait", "genotypes-trait"])
def trait(request):
    return next(s for s in trait_sets(TINY) if s.name == request.param).make()


def exact_ridge(problem):
    """Return the weights of ridge regression with a free intercept, in float64 from the normal equations."""
    X = problem.trained_on.dot(np.eye(problem.shape[1]))
    X, y = X - X.mean(axis=0), problem.labels - problem.labels.mean()
    return np.linalg.solve(X.T @ X + np.eye(X.shape[1]) / problem.C, X.T @ y)


def test_judge_of_a_regression_bounds_the_true_error(trait):
    exact, judge = exact_ridge(trait), Judge(trait, "squared")
    assert judge.judge(Fit(exact)).error < 1e-2  # of the dual point that was found beforehand, too
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        step = rng.standard_normal(len(exact))
        w = exact + size * np.linalg.norm(exact) * step / np.linalg.norm(step)
        assert size * (1 - 1e-6) <= judge.judge(Fit(w)).error <= 5.0 * size + 5e-3
    assert judge.judge(Fit(-exact)).error == np.inf
    # the intercept is no part of what is judged, and the mean of the target none of the error
    moved, w = Judge(replace(trait, labels=trait.labels + 100.0), "squared"), 1.01 * exact
    assert moved.judge(Fit(w)).error == pytest.approx(judge.judge(Fit(w)).error, rel=1e-3)


@pytest.mark.parametrize("name", [p.name for p in REGRESSION_PEERS if "squared" in p.losses])
def test_peers_solve_the_regression_that_is_judged(name, trait):
    peer = next(p for p in REGRESSION_PEERS if p.name == name)
    for module in peer.requires:
        pytest.importorskip(module)
    exact = exact_ridge(trait)
    w = peer.fit(trait, "squared", peer.settings[-1].options).weights
    assert np.linalg.norm(w - exact) <= 2e-3 * np.linalg.norm(exact)


def test_snap_ml_is_given_centred_data(monkeypatch, trait):
    given = {}

    class LinearRegression:
        def __init__(self, **options):
            given.update(options)

        def fit(self, X, y):
            given.update(X=X, y=y)
            self.coef_ = np.ones((1, X.shape[1]))
            return self

    monkeypatch.setitem(sys.modules, "snapml", SimpleNamespace(LinearRegression=LinearRegression))
    peer = next(p for p in REGRESSION_PEERS if p.name == names.SNAP[True])
    assert peer.fit(trait, "squared", {"tol": 0.1}).weights.shape == (trait.shape[1],)
    assert given["regularizer"] == 1.0 / trait.C and given["dual"] and given["tol"] == 0.1
    assert "fit_intercept" not in given and given["X"].dtype == np.float32
    np.testing.assert_allclose(given["X"].mean(axis=0), 0.0, atol=1e-6)
    assert abs(given["y"].mean()) < 1e-12


def test_a_slow_peer_is_not_run_again(monkeypatch):
    case = CASES["dense-hinge"]
    monkeypatch.setattr(search_module, "SLOW_SECONDS", 0.0)
    result = run_judged_case(case, ONCE)
    m = result.find(names.LINEAR_SVC_DUAL)
    assert m.status == "measured" and len(m.seconds) == 1 and m.note == ""
    assert m.best == case.arena.findings[names.LINEAR_SVC_DUAL].seconds


# Data ------------------------------------------------------------------------------------------------


def test_realistic_data():
    X, labels = realistic_data(300, 2000)
    assert X.dtype == np.float32 and X.flags.c_contiguous and set(labels) == {-1.0, 1.0}
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0, atol=1e-5)
    values = np.linalg.svd(X, compute_uv=False)
    white = np.linalg.svd(np.random.default_rng(0).standard_normal(X.shape) / np.sqrt(2000), compute_uv=False)
    assert values[0] > 2 * white[0]  # a few strong directions
    assert values[0] / values[10] > 3 > values[100] / values[200]  # and a tail that falls slowly
    neighbours = np.abs([np.corrcoef(X[:, j], X[:, j + 1])[0, 1] for j in range(0, 2000, 40)]).mean()
    far = np.abs([np.corrcoef(X[:, j], X[:, j - 1000])[0, 1] for j in range(0, 2000, 40)]).mean()
    assert neighbours > 0.15 and far > 1.5 * np.sqrt(2 / np.pi / 300)  # independent columns: 0.046
    np.testing.assert_array_equal(X, realistic_data(300, 2000)[0])


def test_peers_see_what_ours_see():
    people = genotype_set((50, 5000)).make()
    assert (people.X == -127).any()
    expected = people.trained_on.dot(np.eye(5000))
    np.testing.assert_allclose(as_peers_take_it(people), expected, atol=2e-5)
    assert len(list(standardised_panels(people.X))) == 2
    np.testing.assert_allclose(gram_matrix(people), expected @ expected.T, rtol=1e-4, atol=0.05)
    dual = np.random.default_rng(0).standard_normal(50)
    np.testing.assert_allclose(weights_of(people, dual), expected.T @ dual, atol=1e-4)


def test_gram_of_dense_and_sparse(problem):
    expected = problem.X.astype(float) @ problem.X.T.astype(float)
    np.testing.assert_allclose(gram_matrix(problem), expected, atol=1e-5)
    X = tf_idf(np.random.default_rng(0).integers(0, 2, (20, 30)))
    sparse = Problem(X, np.ones(20), open_matrix(X))
    np.testing.assert_allclose(gram_matrix(sparse), (X @ X.T).toarray(), atol=1e-6)
    K = np.triu(np.random.default_rng(0).standard_normal((7, 7)).astype(np.float32))
    np.testing.assert_array_equal(mirrored(K.copy(order="F"), step=3), K + np.triu(K, 1).T)


def test_documents_are_drawn(monkeypatch, tmp_path):
    monkeypatch.setenv("SLIMLINE_DATA", str(tmp_path))
    counts = np.random.default_rng(0).integers(0, 3, (30, 40))
    found = text_problem(lambda folder: (counts, np.arange(30) % 2), 12)
    assert found.shape[0] == 12 and found.is_sparse and found.values == found.X.nnz


def test_traits_and_their_file():
    dense, genotypes = (one.make() for one in trait_sets(LearnSizes(dense=(80, 600), genotypes=(80, 900))))
    for problem in (dense, genotypes):
        assert problem.labels.mean() == pytest.approx(10.0) and problem.labels.std() == pytest.approx(1.0)
    assert 0.2 < np.corrcoef(dense.labels, trait_of(dense.X, seed=4))[0, 1] + 0.5 < 0.8  # another seed, another trait
    np.testing.assert_array_equal(genotypes.X, genotype_set((80, 900)).make().X)
    stored = open_matrix(genotypes.bed).standardised("mean", "std", "mean")
    np.testing.assert_allclose(stored.dot(np.eye(900)), genotypes.trained_on.dot(np.eye(900)), atol=1e-6)
    folder = genotypes.bed.parent
    del genotypes, stored, problem
    gc.collect()
    assert not folder.exists()
