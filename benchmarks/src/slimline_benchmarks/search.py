"""Contenders whose answers are judged: a peer first looks for its loosest settings that are good enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from slimline._base.system import run_with_peak
from slimline_benchmarks.case import Contender, LeftOut
from slimline_benchmarks.runner import SLOW_SECONDS

#: Takes data and options, returns an answer.
Solver = Callable[[Any, Mapping[str, Any]], Any]


class Judge(Protocol):
    """Says what an answer is worth, outside the clock."""

    def judge(self, answer: Any, /) -> Any:
        """Return a record with the quantity of the goal; what it has as `found` is shown beside it."""


@dataclass(frozen=True)
class Setting:
    """One way of using a peer.

    Parameters
    ----------
    words : str
        As the table shows it.
    options : mapping
        What it is run with.
    cost : float
        Time that it takes beside the other settings of the peer, if that is known.
    """

    words: str
    options: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 1.0


@dataclass(frozen=True)
class Goal:
    """When an answer is good enough.

    Parameters
    ----------
    quantity : str
        What is looked at in a judgement: "error", "gap" or "off".
    bound : float
        At most this.
    """

    quantity: str
    bound: float

    def reached(self, judgement: Any) -> float:
        """Return the quantity."""
        return float(getattr(judgement, self.quantity))

    def is_met(self, judgement: Any) -> bool:
        """Return whether an answer is good enough."""
        return self.reached(judgement) <= self.bound


@dataclass(frozen=True)
class Finding:
    """Facts about a contender beside its times.

    Parameters
    ----------
    reached : float
        Quantity of the goal, of its last answer.
    good_enough : bool
        Whether that is what was asked for.
    setting : str
        With what it was run.
    seconds : float
        Time of the last run while settings were tried.
    extra_bytes : int, optional
        Peak of memory of that run.
    over_budget : bool
        Whether the budget ended the search.
    passes : int, optional
        Passes over the data, where they are counted.
    found : float, optional
        The number that was looked for, where it is one.
    """

    reached: float
    good_enough: bool
    setting: str = ""
    seconds: float = 0.0
    extra_bytes: int | None = None
    over_budget: bool = False
    passes: int | None = None
    found: float | None = None


@dataclass
class Arena:
    """The judge of a case, and what is found about the contenders.

    Parameters
    ----------
    goal : Goal
        When an answer is good enough.
    budget : float
        Seconds for the settings of one contender.
    judge : Judge, optional
        There as soon as the data are.
    findings : dict
        By name of the contender.
    answers : dict
        Answers of ours, judged when all is measured.
    """

    goal: Goal
    budget: float
    judge: Judge | None = None
    findings: dict[str, Finding] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)

    def finding(self, answer: Any, **more: Any) -> Finding:
        """Return what the judge says of an answer.

        Parameters
        ----------
        answer : object
            Of a contender; what it tells of `passes` and `words` is taken over.
        **more : Any
            Other fields of the finding.

        Returns
        -------
        finding : Finding
            With what was reached.
        """
        assert self.judge is not None
        judgement = self.judge.judge(answer)
        told: dict[str, Any] = {"setting": getattr(answer, "words", ""), "passes": getattr(answer, "passes", None)}
        told["found"] = getattr(judgement, "found", None)
        return Finding(self.goal.reached(judgement), self.goal.is_met(judgement), **(told | more))

    def judge_ours(self) -> None:
        """Judge the answers of ours."""
        for name, answer in self.answers.items():
            self.findings[name] = self.finding(answer)
        self.answers.clear()


@dataclass(frozen=True)
class _Chosen:
    data: Any
    setting: Setting


def searching(name: str, solve: Solver, settings: Sequence[Setting], arena: Arena, **more: Any) -> Contender:
    """Return a peer that is timed with the loosest of its settings that reaches the goal.

    A run that takes long is not made again: the one that found the setting counts.

    Parameters
    ----------
    name : str
        Of the contender.
    solve : callable
        Takes data and options.
    settings : sequence of Setting
        Loosest first.
    arena : Arena
        Judge and findings.
    **more : Any
        Other fields of the contender.

    Returns
    -------
    contender : Contender
        It leaves the case where no setting is good enough.
    """

    def setup(data: Any) -> _Chosen:
        spent = 0.0
        for setting, following in zip(settings, (*settings[1:], None), strict=True):
            (answer, seconds), peak = run_with_peak(partial(_timed, solve, data, setting.options))
            found = arena.finding(answer, setting=setting.words, seconds=seconds, extra_bytes=peak)
            spent += seconds
            expected = seconds * following.cost / setting.cost if following is not None else 0.0
            stopped = not found.good_enough and following is not None and spent + expected > arena.budget
            arena.findings[name] = replace(found, over_budget=stopped)
            if found.good_enough and seconds < min(SLOW_SECONDS, arena.budget):
                return _Chosen(data, setting)
            if found.good_enough or stopped:
                break
        raise LeftOut("")  # all that there is to say is in the findings

    return Contender(name, "peer", lambda chosen: solve(chosen.data, chosen.setting.options), setup=setup, **more)


def remembering(name: str, solve: Callable[[Any], Any], arena: Arena, **more: Any) -> Contender:
    """Return one of ours, whose last answer is kept for the judge.

    Parameters
    ----------
    name : str
        Of the contender.
    solve : callable
        Takes the data.
    arena : Arena
        Where the answer is kept.
    **more : Any
        Other fields of the contender.

    Returns
    -------
    contender : Contender
        Ours.
    """

    def run(data: Any) -> Any:
        answer = arena.answers[name] = solve(data)
        return answer

    return Contender(name, "ours", run, **more)


def _timed(solve: Solver, data: Any, options: Mapping[str, Any]) -> tuple[Any, float]:
    begin = time.perf_counter()
    answer = solve(data, options)
    return answer, time.perf_counter() - begin
