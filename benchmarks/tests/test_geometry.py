"""The suite of `slimline bench geometry`: tiny cases really run, and the judge is right."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from slimline import geometry
from slimline._base import system
from slimline.data import open_matrix
from slimline.errors import InvalidParameterError
from slimline_benchmarks import Settings
from slimline_benchmarks import runner as runner_module
from slimline_benchmarks.geometry import PARTS, QUICK, GeometrySizes, geometry_cases, names
from slimline_benchmarks.geometry.answers import (
    Answer,
    Referee,
    margin_through_origin,
    margin_with_intercept,
    off,
    radius_around,
)
from slimline_benchmarks.geometry.data_sets import dense_set, separated_sets, sparse_set
from slimline_benchmarks.geometry.quadratic import frank_wolfe, gram_in_double, solve_by_clarabel
from slimline_benchmarks.geometry.suite import TOLERANCE
from slimline_benchmarks.judged import JudgedMeasurement, run_judged_case
from slimline_benchmarks.labelled import Labelled

ONCE = Settings(threads=1, repeats=1)
TINY = GeometrySizes((24, 600), (40, 700), 12, (20, 300), 64, 30, 60)
CASES = {case.name: case for case in geometry_cases(TINY, judged=False)}
HULLS = [n for n in CASES if n.startswith(("dense", "sparse", "documents")) and not n.endswith("distortions")]
PROJECTIONS = ["embedding", "dense-distortions", "sparse-distortions"]


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(runner_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(runner_module, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(system, "gc", SimpleNamespace(collect=lambda: None))


# Cases -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*HULLS, *PROJECTIONS])
def test_tiny_cases_run_and_all_find_the_same_number(name):
    case = CASES[name]
    result = run_judged_case(case, ONCE)
    assert not result.skipped and result.targets == ()
    (limit,) = result.of_role("limit")
    (ours,) = result.of_role("ours")
    assert limit.best > 0 and limit.reached is None and limit.contender == names.GRAM
    assert ours.status == "measured" and ours.reached < 1e-8 and ours.limit == names.GRAM
    assert result.of_role("peer")
    for m in result.of_role("peer"):
        assert isinstance(m, JudgedMeasurement) and m.reached is not None, (m.contender, m.status, m.note)
        assert m.found == pytest.approx(ours.found, rel=m.reached + 1e-8), m.contender
        if m.status == "measured":
            assert m.best > 0 and m.reached <= TOLERANCE and m.setting
        else:  # steps that only get better with more of them
            assert m.contender in (names.CORE_SET, names.FRANK_WOLFE), (m.contender, m.note)
            assert m.status == "skipped" and TOLERANCE < m.reached < 0.01 and m.tried_seconds > 0


@pytest.mark.data
@pytest.mark.parametrize("name", ["dorothea-intercept", "pair-origin", "pair-ball"])
def test_real_sets(name, data_dir):
    result = run_judged_case(CASES[name], ONCE)
    assert not result.skipped
    assert {m.status for m in result.of_role("ours")} == {"measured"}
    assert any(m.status == "measured" for m in result.of_role("peer"))


def test_real_sets_that_are_not_there_are_absent(monkeypatch, tmp_path):
    cases = {case.name: case for case in geometry_cases(TINY)}  # with nothing on their shelf
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    assert run_judged_case(cases["pair-ball"], ONCE).skipped.startswith("absent: SLIMLINE_DATA")
    monkeypatch.setenv("SLIMLINE_DATA", str(tmp_path))
    assert "dorothea_train.npz is not there" in run_judged_case(cases["dorothea-ball"], ONCE).skipped


def test_names_parts_and_full_sizes():
    cases = geometry_cases(GeometrySizes())
    titles = {case.name: case.title for case in cases}
    assert len(titles) == len(cases) == 5 * 3 + 3
    assert all(len({c.name for c in case.contenders}) == len(case.contenders) for case in cases)
    assert "2,000 × 100,000 float32" in titles["dense-intercept"]
    assert "10,000 × 1,000,000 CSR float32, 100 a row" in titles["sparse-ball"]
    assert len(geometry_cases(QUICK)) == len(cases)
    for part, count in zip(PARTS, (10, 5, 1, 2), strict=True):
        assert len(geometry_cases(TINY, only=[part])) == count
    with pytest.raises(InvalidParameterError):
        geometry_cases(TINY, only=["margins"])


def test_targets_are_the_gram_matrix_and_peers_that_do_the_same():
    cases = {case.name: case for case in geometry_cases(GeometrySizes())}
    found = {name: [(t.quantity, t.bound, t.peer) for t in cases[name].targets] for name in cases}
    share = ("share", 0.5, "")
    assert found["sparse-intercept"] == [share, ("ratio", 1.0, names.SVC)]
    assert found["dense-origin"] == [share, ("ratio", 1.0, names.ONE_CLASS)]
    assert found["dense-ball"] == [share, ("ratio", 1.0, names.FRANK_WOLFE), ("ratio", 1.0, names.CLARABEL)]
    assert found["embedding"] == [("ratio", 1.0, names.SVD), ("ratio", 1.0, names.QR)]
    for case in cases.values():
        everyone = {c.name for c in case.contenders}
        assert {t.contender for t in case.targets} | {t.peer for t in case.targets if t.peer} <= everyone


def test_large_peers_know_that_they_are_large():
    cases = {case.name: {c.name: c for c in case.contenders} for case in geometry_cases(GeometrySizes())}
    dense, sparse = cases["dense-intercept"], cases["sparse-intercept"]
    assert dense[names.SVC].estimated_bytes > 3e9 > sparse[names.SVC].estimated_bytes
    assert sparse[names.CLARABEL].estimated_seconds > 3600 > dense[names.CLARABEL].estimated_seconds
    assert 20 < sparse[names.SVC].estimated_seconds < dense[names.SVC].estimated_seconds
    assert sparse[names.MARGIN].estimated_bytes == 1e9


# The judge -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def square():
    """The corners of a square of side 2 about (3, 4); the left ones are of one class."""
    X = np.array([[2.0, 3.0], [2.0, 5.0], [4.0, 3.0], [4.0, 5.0]])
    return Labelled(X, np.array([-1.0, -1.0, 1.0, 1.0]), open_matrix(X))


def test_what_a_witness_attains(square):
    assert margin_with_intercept(square, np.array([7.0, 0.0])) == pytest.approx(1.0)
    assert margin_with_intercept(square, np.array([-1.0, 0.0])) == pytest.approx(-1.0)  # both on the wrong side
    assert margin_with_intercept(square, np.array([1.0, 1.0])) == pytest.approx(0.0)
    assert margin_through_origin(square, np.array([3.0, 0.0])) == pytest.approx(-2.0)
    assert margin_through_origin(square, np.zeros(2)) <= 0.0
    assert radius_around(square, np.array([3.0, 4.0])) == pytest.approx(np.sqrt(2.0))
    assert radius_around(square, np.array([0.0, 0.0])) == pytest.approx(np.sqrt(41.0))


def test_the_best_witness_is_ours_and_worse_ones_are_told_apart(square):
    best = minimize_scalar(lambda x: radius_around(square, np.array([x, 4.0])), bounds=(0, 6), method="bounded")
    assert geometry.enclosing_ball(square.X).value == pytest.approx(best.fun, rel=1e-6)
    referee = Referee(square, radius_around, {"ours": Answer(bracket=(1.4142135, 1.4142136)), "none": Answer()})
    exact, near = referee.judge(Answer(np.array([3.0, 4.0]))), referee.judge(Answer(np.array([3.0, 4.01])))
    assert exact.off < 1e-7 and exact.found == pytest.approx(np.sqrt(2.0))
    assert near.off == pytest.approx(0.005, rel=0.01) and near.found > exact.found
    assert referee.judge(Answer(np.array([np.nan, 4.0]))).off == np.inf
    assert Referee(square, radius_around, {}).judge(Answer(np.array([3.0, 4.0]))).off == np.inf  # nothing is known


def test_the_narrowest_bracket_counts(square):
    answers = {"wide": Answer(bracket=(1.0, 3.0)), "narrow": Answer(bracket=(1.9, 2.0))}
    assert Referee(square, None, answers).judge(Answer(value=2.0)).off == pytest.approx(0.1 / 1.9)
    answers["later"] = Answer(bracket=(1.99, 2.0))  # ours that come in while the case runs
    assert Referee(square, None, answers).judge(Answer(value=2.0)).off == pytest.approx(0.01 / 1.99)


def test_off():
    assert off(2.0, (2.0, 2.0)) == 0.0
    assert off(3.0, (1.0, 2.0)) == 2.0 and off(0.0, (1.0, 2.0)) == 2.0
    assert off(float("nan"), (1.0, 2.0)) == np.inf
    assert off(0.0, (0.0, 0.0)) == 0.0 and off(1e-3, (0.0, 0.0)) > 1e300  # not separable: any margin is infinitely off


def test_a_peer_that_is_wrong_has_no_time(monkeypatch):
    """LIBSVM with a coarse tolerance, and one that says that nothing is a separator."""
    from slimline_benchmarks.geometry import hull_peers
    from slimline_benchmarks.search import Setting

    monkeypatch.setattr(hull_peers, "_MACHINE", (Setting("coarse", {"tol": 0.3}),))
    monkeypatch.setattr(hull_peers, "svc_gram", lambda points, options: Answer(np.zeros(points.shape[1])))
    case = next(c for c in geometry_cases(TINY, only=["margin"]) if c.name == "documents-intercept")
    result = run_judged_case(case, ONCE)
    coarse, nothing = result.find(names.SVC), result.find(names.SVC_GRAM)
    for m in (coarse, nothing):
        assert m.status == "skipped" and m.best is None and m.tried_seconds > 0 and m.reached > 1e-3
    assert coarse.setting == "coarse" and nothing.reached >= 1.0


# Data and quadratics ---------------------------------------------------------------------------------


def test_dense_and_sparse_sets():
    dense = dense_set("dense", (60, 900)).make()
    assert dense.X.dtype == np.float32 and dense.shape == (60, 900) and not dense.is_sparse
    assert np.abs(dense.labels.sum()) == 0.0
    assert geometry.margin(dense.X, dense.labels).value > 9.0  # planted 10 apart, and more by chance
    for tail in (1, 4):
        data_set = sparse_set("sparse", (200, 1000), 20, tail)
        found = data_set.make()
        assert found.is_sparse and found.X.has_canonical_format and found.X.indices.dtype == np.int32
        assert found.X.indptr.dtype == np.int32  # LIBSVM refuses others
        assert 0.6 * data_set.values < found.values <= data_set.values == 4000
        frequency = np.sort(np.bincount(found.X.indices, minlength=1000))[::-1]
        assert (frequency[0] > 100) == (tail == 4)  # the commonest word is in most documents
        assert geometry.margin(found.X, found.labels).separable
        np.testing.assert_array_equal(found.X.toarray(), data_set.make().X.toarray())
    assert [s.name for s in separated_sets(TINY)] == ["dense", "sparse", "documents", "dorothea", "pair"]


def test_gram_in_double(monkeypatch):
    from slimline_benchmarks.geometry import quadratic

    monkeypatch.setattr(quadratic, "_PANEL", 250)
    for made in (dense_set("dense", (30, 900)), sparse_set("sparse", (40, 900), 20)):
        points = made.make()
        X = (points.X.toarray() if sp.issparse(points.X) else points.X).astype(float)
        np.testing.assert_allclose(gram_in_double(points), X @ X.T, rtol=1e-13, atol=1e-12)


def test_peers_solve_the_quadratic():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 50))
    K, group = X @ X.T, np.arange(30) % 2
    a = solve_by_clarabel(K, np.zeros(30), group, 1e-10)
    np.testing.assert_allclose(np.bincount(group, a), 1.0)
    signs = np.where(group == 1, 1.0, -1.0)
    a = solve_by_clarabel(K * np.outer(signs, signs), np.zeros(30), group, 1e-10)
    half = 0.5 * np.linalg.norm((signs * a) @ X)
    assert half == pytest.approx(geometry.margin(X, group, intercept=True).value, rel=1e-7)
    centre = frank_wolfe(K, 5000) @ X
    radius = np.linalg.norm(X - centre, axis=1).max()
    assert radius == pytest.approx(geometry.enclosing_ball(X).radius, rel=1e-3)
    assert frank_wolfe(np.zeros((3, 3)), 5).sum() == 1.0  # all points are one
