"""Peers look for their loosest settings that are good enough, and answers that are not have no time."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from slimline._base import system
from slimline_benchmarks import LeftOut, Measurement, Settings
from slimline_benchmarks import runner as runner_module
from slimline_benchmarks import search as search_module
from slimline_benchmarks.judged import JudgedCase, _judged, run_judged_case
from slimline_benchmarks.search import Arena, Finding, Goal, Setting, remembering, searching


@pytest.fixture(autouse=True)
def _no_collector(monkeypatch):
    monkeypatch.setattr(system, "gc", SimpleNamespace(collect=lambda: None))


@dataclass(frozen=True)
class Answered:
    error: float
    words: str = ""
    passes: int | None = None


class _Recording:
    """A peer whose error is given by its settings."""

    def __init__(self, errors):
        self.seen = []
        self.settings = tuple(Setting(f"step {i}", {"error": error}) for i, error in enumerate(errors))
        self.arena = Arena(Goal("error", 1e-2), budget=10.0)
        self.arena.judge = SimpleNamespace(judge=lambda answer: SimpleNamespace(error=answer.error, found=7.0))

    def contender(self):
        return searching("peer", self._solve, self.settings, self.arena)

    def _solve(self, data, options):
        self.seen.append(options["error"])
        return Answered(options["error"])


def test_the_loosest_setting_that_is_good_enough_is_taken():
    found = _Recording([0.5, 0.02, 0.009, 1e-6])
    contender = found.contender()
    chosen = contender.setup("data")
    assert found.seen == [0.5, 0.02, 0.009]
    assert contender.run(chosen).error == 0.009
    finding = found.arena.findings["peer"]
    assert (finding.setting, finding.good_enough, finding.found) == ("step 2", True, 7.0)


def test_the_search_ends_where_nothing_is_good_enough_or_the_budget_is_used_up(monkeypatch):
    found = _Recording([0.5, 0.02])
    with pytest.raises(LeftOut):
        found.contender().setup("data")
    finding = found.arena.findings["peer"]
    assert (finding.good_enough, finding.over_budget, finding.reached) == (False, False, 0.02)
    clock = iter(range(0, 100, 6))
    monkeypatch.setattr(search_module.time, "perf_counter", lambda: next(clock))
    found = _Recording([0.5, 0.02, 0.001])
    with pytest.raises(LeftOut):
        found.contender().setup("data")
    assert found.seen == [0.5] and found.arena.findings["peer"].over_budget


@pytest.mark.parametrize("slow", [True, False])
def test_a_case_with_all_kinds_of_contenders(slow, monkeypatch):
    monkeypatch.setattr(runner_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(runner_module, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(search_module, "SLOW_SECONDS", 0.0 if slow else 10.0)
    good, bad = _Recording([0.5, 0.001]), _Recording([0.5])
    bad.arena = good.arena
    ours = [
        remembering("exact", lambda data: Answered(1e-9, "by magic", 3), good.arena),
        remembering("rough", lambda data: Answered(0.1), good.arena),
    ]
    peers = [good.contender(), searching("bad", bad._solve, bad.settings, bad.arena)]
    discard = lambda data: good.arena.judge_ours()  # noqa: E731
    case = JudgedCase("x", "x", lambda: "data", (*ours, *peers), 0, discard=discard, arena=good.arena)
    result = run_judged_case(case, Settings(repeats=2))
    found = {m.contender: m for m in result.measurements}
    exact, rough, peer, lost = (found[name] for name in ("exact", "rough", "peer", "bad"))
    assert exact.best > 0 and (exact.reached, exact.setting, exact.passes, exact.found) == (1e-9, "by magic", 3, 7.0)
    assert peer.best > 0 and (peer.reached, peer.setting, peer.note) == (0.001, "step 1", "")
    assert len(peer.seconds) == (1 if slow else 2)  # a slow one is not run again
    for m in (rough, lost):
        assert m.status == "skipped" and m.best is None and m.tried_seconds > 0 and m.reached > 1e-2
    assert case.arena.answers == {}


def test_one_of_ours_that_is_not_good_enough_has_no_time():
    m = Measurement("sketch", "ours", seconds=(2.0,), extra_bytes=5)
    judged = _judged(m, Finding(0.03, False, passes=50), Goal("error", 1e-2))
    assert (judged.status, judged.best, judged.tried_seconds, judged.reached) == ("skipped", None, 2.0, 0.03)
