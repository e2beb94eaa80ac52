"""The clock: contenders of a case take turns, so that whatever disturbs the machine disturbs all of them."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from slimline._base.system import available_bytes, run_with_peak, thread_limit
from slimline_benchmarks.case import Case, Contender, LeftOut
from slimline_benchmarks.record import CaseResult, Measurement, Status

#: A first run longer than this counts as a timed one: slow contenders are not run again just to be warm.
SLOW_SECONDS = 10.0
#: Short work is repeated until it has had this much of the clock, at most `MOST_RUNS` times.
LEAST_SECONDS = 0.4
MOST_RUNS = 60
#: A turn of short work lasts so long, and the best run of it counts: the first finds caches that others have filled.
TURN_SECONDS = 0.005
#: BLAS threads spin for a while after a product; with several threads the next contender waits for them to sleep.
PAUSE_SECONDS = 0.02
#: An estimate of memory may use up to this part of what is available.
MEMORY_PART = 0.9

#: Told before each step: what is done next, steps done, steps in all.
Watcher = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Settings:
    """Settings of a suite's run.

    Parameters
    ----------
    threads : int
        Threads that everyone is allowed.
    repeats : int
        Timed runs of each contender at least, budget permitting; the best counts.
    budget : float
        Seconds that one contender may take in one case.
    seed : int
        For the order in which contenders take turns.
    """

    threads: int = 1
    repeats: int = 5
    budget: float = 120.0
    seed: int = 0


def run_suite(
    cases: Sequence[Case],
    settings: Settings,
    watch: Watcher | None = None,
    run: Callable[..., CaseResult] | None = None,
) -> Iterator[CaseResult]:
    """Run the cases one after the other, and yield each as soon as it is done.

    Parameters
    ----------
    cases : sequence of Case
        What to run.
    settings : Settings
        How.
    watch : callable, optional
        Told of each step.
    run : callable, optional
        Runs one case, given settings and watcher; `run_case` unless given.

    Yields
    ------
    result : CaseResult
        The measurements of a case.
    """
    for case in cases:
        yield (run or run_case)(case, settings, watch)


def run_case(case: Case, settings: Settings, watch: Watcher | None = None) -> CaseResult:
    """Run one case: everyone once for the memory, then in turns for the time.

    Parameters
    ----------
    case : Case
        What to run.
    settings : Settings
        How.
    watch : callable, optional
        Told of each step.

    Returns
    -------
    result : CaseResult
        The measurements.
    """
    threads = case.threads or settings.threads
    tell = watch or (lambda step, done, total: None)

    def result(measurements: Sequence[Measurement] = (), skipped: str = "") -> CaseResult:
        targets = () if skipped else case.targets
        return CaseResult(case.name, case.title, case.input_bytes, threads, tuple(measurements), targets, skipped)

    if lack := _lacking_memory(case.input_bytes):
        return result(skipped=lack)
    modules = {c.name: _absent_module(c) for c in case.contenders}  # imported before the thread limit, to come under it
    tell("making the data", 0, 1)
    try:
        data = case.make()
    except LeftOut as why:
        return result(skipped=f"{why.status}: {why.reason}" if why.status == "absent" else why.reason)
    entries = [_Entry(c, data, case.reset) for c in case.contenders]
    try:
        with thread_limit(threads), _collector_off():
            for step, entry in enumerate(entries):
                tell(f"memory: {entry.contender.name}", step, len(entries))
                entry.enter(modules[entry.contender.name], settings)
            _take_turns([e for e in entries if e.status == "measured"], settings, threads, tell)
    finally:
        if case.discard is not None:
            case.discard(data)
    return result([entry.measurement() for entry in entries])


@dataclass
class _Entry:
    """A contender while its case is running."""

    contender: Contender
    data: Any
    reset: Callable[[Any], None] | None = None
    state: Any = None
    status: Status = "measured"
    note: str = ""
    planned: int = 0
    seconds: list[float] = field(default_factory=list)
    extra_bytes: int | None = None
    passes: int | None = None

    def enter(self, absent: str, settings: Settings) -> None:
        """Decide whether to take part; if so, run once for the memory and plan the timed runs."""
        contender = self.contender
        if absent:
            self.leave("absent", f"{absent} is not installed")
            return
        if contender.estimated_seconds > settings.budget:
            need = f"about {contender.estimated_seconds:.0f} s"
            self.leave("skipped", f"{need}, more than the budget of {settings.budget:g} s")
            return
        if lack := _lacking_memory(contender.estimated_bytes, contender.needed_as):
            self.leave("skipped", lack)
            return
        try:
            self.state = contender.setup(self.data)
            before = 0 if contender.passes is None else contender.passes(self.state)
            _, self.extra_bytes = run_with_peak(self._timed_once)
            if contender.passes is not None:
                self.passes = contender.passes(self.state) - before
            if contender.memory is not None:
                self.extra_bytes = contender.memory(self.state)
        except LeftOut as why:
            self.leave(why.status, why.reason)
            return
        except Exception as error:  # a peer's trouble is a result, too
            self._fail(error)
            return
        if self.seconds[0] < min(SLOW_SECONDS, settings.budget):
            self.planned = planned_runs(self.seconds.pop(), settings)

    def run(self) -> None:
        """Take a turn: one timed run, or the best of several short ones."""
        begin, earlier = time.perf_counter(), len(self.seconds)
        try:
            self._timed_once()
            while time.perf_counter() - begin < TURN_SECONDS:
                self._timed_once()
        except Exception as error:
            self._fail(error)
        else:
            self.seconds[earlier:] = [min(self.seconds[earlier:])]

    def leave(self, status: Status, note: str) -> None:
        """Take no further part."""
        self.status, self.note, self.planned, self.state = status, note, 0, None

    def measurement(self) -> Measurement:
        """Return the record."""
        contender = self.contender
        work = contender.work
        times = self.passes if work is not None and work.per_pass and self.passes else 1
        return Measurement(
            contender=contender.name,
            role=contender.role,
            status=self.status,
            note=self.note,
            seconds=tuple(self.seconds) if self.status == "measured" else (),
            extra_bytes=self.extra_bytes if self.status == "measured" else None,
            amount=work.amount * times if work else None,
            unit=work.unit if work else "",
            limit=contender.limit,
            task=contender.task,
            passes=self.passes if self.status == "measured" else None,
        )

    def _timed_once(self) -> Any:
        if self.reset is not None:
            self.reset(self.data)
        if self.contender.reset is not None:
            self.contender.reset(self.state)
        begin = time.perf_counter()
        outcome = self.contender.run(self.state)
        self.seconds.append(time.perf_counter() - begin)
        return outcome

    def _fail(self, error: Exception) -> None:
        self.leave("failed", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".strip(": "))


def planned_runs(first: float, settings: Settings) -> int:
    """Return how many timed runs a contender gets whose first run took so many seconds.

    Parameters
    ----------
    first : float
        Seconds of the first run.
    settings : Settings
        Repeats and budget.

    Returns
    -------
    runs : int
        At least one; `repeats` if the budget allows; more for work so short that one run says little.
    """
    first = max(first, 1e-9)
    wanted = max(settings.repeats, min(MOST_RUNS, round(LEAST_SECONDS / first)))
    return max(1, min(wanted, int(settings.budget / first)))


def turns(planned: Sequence[int], seed: int) -> Iterator[int]:
    """Yield the numbers of contenders in the order in which they run.

    Each comes as often as planned, spread evenly over the rounds; the order within a round is shuffled, so that
    nobody always follows the one that leaves the cache warm.

    Parameters
    ----------
    planned : sequence of int
        Runs of each contender.
    seed : int
        For the shuffling.

    Yields
    ------
    number : int
        Who is next.
    """
    shuffler = random.Random(seed)
    rounds = max(planned, default=0)
    for step in range(rounds):
        due = [i for i, runs in enumerate(planned) if (step + 1) * runs // rounds > step * runs // rounds]
        shuffler.shuffle(due)
        yield from due


def _take_turns(entries: list[_Entry], settings: Settings, threads: int, tell: Watcher) -> None:
    planned = [entry.planned for entry in entries]
    for step, number in enumerate(turns(planned, settings.seed)):
        entry = entries[number]
        if entry.status != "measured":
            continue
        tell(entry.contender.name, step, sum(planned))
        if threads > 1:
            time.sleep(PAUSE_SECONDS)
        entry.run()


def _absent_module(contender: Contender) -> str:
    for module in contender.requires:
        try:
            import_module(module)
        except ImportError:
            return module.partition(".")[0]
    return ""


def _lacking_memory(needed: float, needed_as: str = "") -> str:
    available = available_bytes()
    if available is None or needed <= MEMORY_PART * available:
        return ""
    what = f"{needed / 1e9:.1f} GB {needed_as}".rstrip()
    return f"needs about {what}, {available / 1e9:.1f} GB are free"


@contextmanager
def _collector_off() -> Iterator[None]:
    """Keep Python's garbage collector from running inside a timed call."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
