import gc
import os
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from benchmarks.tests.fabricate import small_case, summing
from slimline_benchmarks import Contender, LeftOut, Settings, Work, run_case, run_suite
from slimline_benchmarks import runner as runner_module
from slimline_benchmarks.runner import planned_runs, turns
from tests.apart import run_apart

FAST = Settings(threads=1, repeats=3, budget=60.0)


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(runner_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(runner_module, "TURN_SECONDS", 0.0)


def test_everyone_gets_its_repeats():
    result = run_case(small_case(summing(), summing("peer", "peer")), FAST)
    assert [len(m.seconds) for m in result.measurements] == [3, 3]
    assert all(m.status == "measured" and min(m.seconds) > 0 for m in result.measurements)


def test_the_data_are_reset_before_each_run_of_everyone_outside_the_clock():
    order = []

    def reset(data):
        order.append("reset")
        time.sleep(0.02)

    ours, peer = (replace(summing(*who), run=lambda _: order.append("run")) for who in (("ours",), ("peer", "peer")))
    case = replace(small_case(ours, peer), reset=reset)
    result = run_case(case, FAST)
    assert order == ["reset", "run"] * 8  # each once for the memory, three times for the time
    assert all(m.best < 0.02 for m in result.measurements)


def test_absent_peer_is_shown_as_absent():
    peer = summing("peer", "peer", requires=("no_such_module_anywhere.at_all",))
    result = run_case(small_case(summing(), peer), FAST).find("peer")
    assert result.status == "absent"
    assert result.note == "no_such_module_anywhere is not installed"
    assert result.seconds == ()


def test_too_large_is_skipped_with_the_reason(monkeypatch):
    monkeypatch.setattr(runner_module, "available_bytes", lambda: 2_000_000_000)
    result = run_case(small_case(summing("peer", "peer", estimated_bytes=5e9)), FAST).find("peer")
    assert result.status == "skipped"
    assert result.note == "needs about 5.0 GB, 2.0 GB are free"


def test_too_slow_is_skipped_with_the_reason():
    result = run_case(small_case(summing("peer", "peer", estimated_seconds=300)), FAST).find("peer")
    assert result.status == "skipped"
    assert result.note == "about 300 s, more than the budget of 60 s"


def test_a_case_that_does_not_fit_is_skipped_whole(monkeypatch):
    monkeypatch.setattr(runner_module, "available_bytes", lambda: 10)
    result = run_case(small_case(summing()), FAST)
    assert result.measurements == () and "needs about" in result.skipped


def test_unknown_memory_skips_nothing(monkeypatch):
    monkeypatch.setattr(runner_module, "available_bytes", lambda: None)
    result = run_case(small_case(summing(estimated_bytes=1e18)), FAST)
    assert result.find("ours").status == "measured"


def test_failure_is_a_result():
    def fail(data):
        raise ValueError("no such luck\nand more")

    result = run_case(small_case(summing(), summing("peer", "peer", setup=fail)), FAST)
    assert result.find("peer").status == "failed"
    assert result.find("peer").note == "ValueError: no such luck"
    assert result.find("ours").status == "measured"


def test_failure_in_a_later_run_is_a_result():
    calls = []

    def reset(state):
        calls.append(state)
        if len(calls) == 3:
            raise MemoryError

    result = run_case(small_case(summing(reset=reset)), FAST).find("ours")
    assert (result.status, result.note, result.seconds) == ("failed", "MemoryError", ())


def test_interruption_is_not_swallowed():
    def interrupt(data):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_case(small_case(summing(setup=interrupt)), FAST)
    assert gc.isenabled()


def test_slow_first_run_is_the_only_one(monkeypatch):
    monkeypatch.setattr(runner_module, "SLOW_SECONDS", 0.0)
    result = run_case(small_case(summing()), FAST).find("ours")
    assert len(result.seconds) == 1 and result.status == "measured"


def test_setup_once_and_reset_before_each_run():
    setups, resets = [], []
    contender = summing(setup=lambda data: setups.append(1) or data, reset=lambda state: resets.append(1))
    run_case(small_case(contender), FAST)
    assert (len(setups), len(resets)) == (1, 4)


@pytest.mark.parametrize("threads", [1, 2])
def test_everyone_is_allowed_the_same_threads(threads, monkeypatch):
    monkeypatch.setenv("SLIMLINE_NUM_THREADS", "7")
    seen = []

    def look(data):
        np.ones((2, 2)) @ np.ones((2, 2))
        blas = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
        seen.append((os.environ["SLIMLINE_NUM_THREADS"], blas))

    run_case(small_case(summing(setup=look, role="limit")), Settings(threads, 1))
    assert seen == [(str(threads), {threads})]
    assert os.environ["SLIMLINE_NUM_THREADS"] == "7"


def test_a_case_may_fix_the_threads():
    assert run_case(small_case(summing(), threads=1), Settings(threads=2)).threads == 1


def memory_of_a_run(scratch_bytes, result_bytes):
    def run(data):
        return np.ones(scratch_bytes, dtype=np.uint8)[:result_bytes].copy()

    contender = replace(summing(setup=lambda data: data), run=run)
    return run_case(small_case(contender), FAST).find("ours").extra_bytes


@pytest.mark.slow
def test_memory_of_a_run_is_above_its_result():
    extra = run_apart(memory_of_a_run, 64 << 20, 16 << 20)
    if extra is None:
        pytest.skip("the system does not tell")
    assert extra == pytest.approx(64 << 20, abs=6 << 20)


def test_suite_yields_case_by_case():
    seen = []
    cases = [small_case(summing()), small_case(summing())]
    results = run_suite(cases, FAST, lambda step, done, total: seen.append((step, done <= total)))
    first = next(results)
    steps = len(seen)
    assert first.name == "small" and steps > 0 and all(fits for _, fits in seen)
    assert len(list(results)) == 1 and len(seen) == 2 * steps


def test_planned_runs(monkeypatch):
    monkeypatch.setattr(runner_module, "LEAST_SECONDS", 0.4)
    settings = Settings(repeats=5, budget=100)
    assert planned_runs(1e-6, settings) == runner_module.MOST_RUNS
    assert planned_runs(0.02, settings) == 20
    assert planned_runs(1.0, settings) == 5
    assert planned_runs(40.0, settings) == 2
    assert planned_runs(1000.0, settings) == 1


def test_the_best_run_of_a_turn_counts(monkeypatch):
    clock = SimpleNamespace(now=0.0, perf_counter=lambda: clock.now, sleep=lambda seconds: None)
    monkeypatch.setattr(runner_module, "time", clock)
    monkeypatch.setattr(runner_module, "TURN_SECONDS", 0.05)
    runs = []

    def slow_at_first(data):
        runs.append(data)
        clock.now += 0.02 if len(runs) % 2 else 0.001

    measured = run_case(small_case(Contender("ours", "ours", slow_at_first)), FAST).find("ours")
    assert len(measured.seconds) == 3 and len(runs) > 2 * 3
    assert max(measured.seconds) < 0.002


def test_turns_are_as_planned_and_spread_out():
    order = list(turns([6, 2, 0, 3], seed=0))
    assert [order.count(i) for i in range(4)] == [6, 2, 0, 3]
    first_half = order[: len(order) // 2]
    assert first_half.count(1) == 1 and 2 <= first_half.count(0) <= 4
    assert order == list(turns([6, 2, 0, 3], seed=0))
    assert list(turns([], seed=0)) == []


def test_who_leaves_says_why():
    def leave(data):
        raise LeftOut("no such reader", "absent")

    result = run_case(small_case(summing(), summing("peer", "peer", setup=leave)), FAST).find("peer")
    assert (result.status, result.note, result.seconds) == ("absent", "no such reader", ())


@pytest.mark.parametrize("status, text", [("absent", "absent: no disk"), ("skipped", "no disk")])
def test_data_that_cannot_be_had_skip_the_case(status, text):
    def make():
        raise LeftOut("no disk", status)

    result = run_case(replace(small_case(summing()), make=make), FAST)
    assert (result.skipped, result.measurements, result.targets) == (text, (), ())


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_data_are_cleared_up_whatever_happens(error):
    cleared = []

    def setup(data):
        if error is not None:
            raise error
        return data

    case = small_case(summing(setup=setup), discard=cleared.append)
    if error is None:
        run_case(case, FAST)
    else:
        with pytest.raises(error):
            run_case(case, FAST)
    assert cleared == [[1, 2, 3]]


@pytest.mark.parametrize("per_pass, amount", [(True, 6.0), (False, 2.0)])
def test_passes_are_counted_and_their_work_with_them(per_pass, amount):
    state = {"passes": 7}

    def run(state):
        state["passes"] += 3

    contender = Contender(
        "ours",
        "ours",
        run,
        setup=lambda data: state,
        work=Work(2.0, "GB/s", per_pass),
        passes=lambda state: state["passes"],
        memory=lambda state: 123,
    )
    result = run_case(small_case(contender), FAST).find("ours")
    assert (result.passes, result.amount, result.extra_bytes) == (3, amount, 123)


def test_what_memory_is_needed_for_is_told(monkeypatch):
    monkeypatch.setattr(runner_module, "available_bytes", lambda: 2_000_000_000)
    peer = summing("peer", "peer", estimated_bytes=5e9, needed_as="as float64")
    assert run_case(small_case(peer), FAST).find("peer").note == "needs about 5.0 GB as float64, 2.0 GB are free"
