"""The cases of `slimline bench learn`: each data set with each loss, regressions, and the small problems alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from slimline_benchmarks.case import Contender
from slimline_benchmarks.data_sets import DataSet, Shelf
from slimline_benchmarks.judged import JudgedCase
from slimline_benchmarks.learn import names, targets
from slimline_benchmarks.learn.data_sets import dense_set, learning_sets, trait_sets
from slimline_benchmarks.learn.judge import Judge
from slimline_benchmarks.learn.ours import METHODS, TOLERANCE, by_gram, by_rows, certified
from slimline_benchmarks.learn.peers import LINEAR_SVC_DUAL, LINEAR_SVC_PRIMAL, PEERS, SVC_GRAM, Peer
from slimline_benchmarks.learn.problem import Problem
from slimline_benchmarks.learn.regression_peers import REGRESSION_PEERS
from slimline_benchmarks.learn.sizes import LearnSizes
from slimline_benchmarks.search import Arena, Goal, remembering, searching

#: Relative duality gap to which small problems are solved, and their C.
_SOLVER_GAP, _SOLVER_C = 1e-3, 10.0
#: Multiply-adds of float64 a second, roughly: only decides whether a Gram matrix is worth the wait.
_PRODUCTS = 4e10


def learn_cases(sizes: LearnSizes, *, budget: float = 120.0, judged: bool = True) -> tuple[JudgedCase, ...]:
    """Return the cases of `slimline bench learn`.

    Parameters
    ----------
    sizes : LearnSizes
        How large everything is.
    budget : float
        Seconds for the settings of one contender.
    judged : bool
        Whether there are targets; at small sizes they mean nothing.

    Returns
    -------
    cases : tuple of JudgedCase
        Data sets by loss, regressions, and small problems by loss and size.
    """
    shelf: Shelf[Problem] = Shelf()
    cases = [_learning(s, loss, shelf, budget, judged) for s in learning_sets(sizes) for loss in names.LOSSES]
    for data_set in trait_sets(sizes):
        cases += [_learning(data_set, loss, shelf, budget, judged) for loss in names.REGRESSION[data_set.name]]
    for n, r in sizes.solver:
        small = dense_set(f"solver-{n}x{r}", (n, r), "projected data, rows of norm 1", _SOLVER_C, seed=2)
        cases += [_solving(small, loss, shelf, budget, judged) for loss in ("hinge", "squared_hinge")]
    return tuple(cases)


def _learning(data_set: DataSet[Problem], loss: str, shelf: Shelf[Problem], budget: float, judged: bool) -> JudgedCase:
    arena = Arena(Goal("error", TOLERANCE), budget)
    ours = []
    for name, method in METHODS.items():
        if method == "direct" and data_set.kind == "int8":
            continue  # standardised: there are no rows to go through
        n, d = data_set.size or (0, 0)
        exact = {"estimated_bytes": 24.0 * n * n, "estimated_seconds": n * n * (0.5 * d + n) / _PRODUCTS}
        ours.append(remembering(name, certified(method, loss), arena, **(exact if method == "gram" else {})))
    regression = data_set.name in names.REGRESSION
    if regression and data_set.kind == "int8":
        ours.append(remembering(names.AUTO_FILE, certified("auto", loss, from_file=True), arena))
    peers = [_peer(p, data_set, loss, arena) for p in (REGRESSION_PEERS if regression else PEERS) if loss in p.losses]
    return JudgedCase(
        name=f"{data_set.name}-{names.in_case(loss)}",
        title=f"{loss.replace('_', ' ')}, {data_set.words}",
        make=_making(data_set, loss, shelf, arena),
        contenders=(*ours, *peers),
        input_bytes=data_set.input_bytes,
        discard=lambda _: arena.judge_ours(),
        arena=arena,
        aims=(targets.regression if regression else partial(targets.learning, loss=loss)) if judged else None,
    )


def _solving(data_set: DataSet[Problem], loss: str, shelf: Shelf[Problem], budget: float, judged: bool) -> JudgedCase:
    arena = Arena(Goal("gap", _SOLVER_GAP), budget)

    def target() -> float:
        assert isinstance(arena.judge, Judge)
        return _SOLVER_GAP * arena.judge.objective

    assert data_set.size is not None
    n, r = data_set.size
    seconds = n * n * (0.5 * r + n) / _PRODUCTS
    ours = (
        remembering(names.SOLVE_ROWS, by_rows(loss, target), arena),
        remembering(
            names.SOLVE_GRAM, by_gram(loss, target), arena, estimated_bytes=24.0 * n * n, estimated_seconds=seconds
        ),
    )
    peers = [
        _peer(p, data_set, loss, arena) for p in (LINEAR_SVC_DUAL, LINEAR_SVC_PRIMAL, SVC_GRAM) if loss in p.losses
    ]
    return JudgedCase(
        name=f"solver-{names.in_case(loss)}-{n}x{r}",
        title=f"small problem to a relative gap of {_SOLVER_GAP:g}, {loss.replace('_', ' ')}, {data_set.words}",
        make=_making(data_set, loss, shelf, arena),
        contenders=(*ours, *peers),
        input_bytes=data_set.input_bytes,
        discard=lambda _: arena.judge_ours(),
        arena=arena,
        aims=partial(targets.solving, loss=loss, n_samples=n) if judged else None,
    )


def _making(data_set: DataSet[Problem], loss: str, shelf: Shelf[Problem], arena: Arena) -> Callable[[], Problem]:
    def make() -> Problem:
        problem = shelf.take(data_set)
        arena.judge = judge = Judge(problem, loss)
        judge.reference  # noqa: B018 - found now, not while a contender is waiting
        return problem

    return make


def _peer(peer: Peer, data_set: DataSet[Problem], loss: str, arena: Arena) -> Contender:
    """Return a peer with what it needs on these data; nothing is estimated where their size is not known."""
    n, d = data_set.size or (0, 0)
    copied = 4.0 if (peer.centred or data_set.kind == "int8") and not peer.on_gram else 0.0  # standardised float32
    return searching(
        peer.name,
        lambda problem, options: peer.fit(problem, loss, options),
        peer.settings,
        arena,
        requires=peer.requires,
        needed_as=peer.needed_as,
        estimated_bytes=(peer.value_bytes + copied) * n * d + peer.sample_bytes * n * n,
        estimated_seconds=peer.value_seconds * n * d + peer.pair_seconds * n * n * d,
    )
