"""A contender that first looks for its loosest settings that are good enough, and is then timed with these."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from slimline.bench.case import Contender, LeftOut
from slimline.bench.learn.judge import Judge, Judgement
from slimline.bench.learn.peers import Peer, Setting
from slimline.bench.learn.problem import Fit, Problem
from slimline.bench.memory import run_with_peak
from slimline.bench.runner import SLOW_SECONDS

Fitter = Callable[[Problem, Mapping[str, Any]], Fit]


@dataclass(frozen=True)
class Goal:
    """When an answer is good enough.

    Parameters
    ----------
    quantity : {"error", "gap"}
        Certified relative error, or relative duality gap.
    bound : float
        At most this.
    """

    quantity: Literal["error", "gap"]
    bound: float

    def reached(self, judgement: Judgement) -> float:
        """Return the quantity."""
        return judgement.error if self.quantity == "error" else judgement.gap

    def is_met(self, judgement: Judgement) -> bool:
        """Say whether an answer is good enough."""
        return self.reached(judgement) <= self.bound


@dataclass(frozen=True)
class Finding:
    """What is known of a contender beside its times.

    Parameters
    ----------
    reached : float
        Of its last answer: certified error, or gap.
    good_enough : bool
        Whether that is what was asked for.
    setting : str
        With what it was run.
    seconds : float
        Time of the last run while settings were tried.
    extra_bytes : int, optional
        Peak of memory of that run.
    stopped : str
        Why no further settings were tried.
    passes : int, optional
        Passes over the data, where they are counted.
    """

    reached: float
    good_enough: bool
    setting: str = ""
    seconds: float = 0.0
    extra_bytes: int | None = None
    stopped: str = ""
    passes: int | None = None


@dataclass
class Arena:
    """The problem of a case with its judge, and what is found about the contenders.

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
    answers: dict[str, Fit] = field(default_factory=dict)

    def judged(self, fit: Fit) -> Judgement:
        """Return what is proved about an answer."""
        assert self.judge is not None
        return self.judge.judge(fit)

    def judge_ours(self) -> None:
        """Judge the answers of ours."""
        for name, fit in self.answers.items():
            judgement = self.judged(fit)
            reached, good = self.goal.reached(judgement), self.goal.is_met(judgement)
            self.findings[name] = Finding(reached, good, passes=fit.passes)
        self.answers.clear()


@dataclass(frozen=True)
class _Chosen:
    problem: Problem
    setting: Setting


def searching(peer: Peer, loss: str, arena: Arena, **estimates: Any) -> Contender:
    """Return a peer that is timed with the loosest of its settings that reaches the goal.

    A run that takes long is not made again: the one that found the setting counts.

    Parameters
    ----------
    peer : Peer
        Who.
    loss : str
        Of the problem.
    arena : Arena
        Judge and findings.
    **estimates : Any
        `estimated_bytes` and `estimated_seconds`.

    Returns
    -------
    contender : Contender
        It leaves the case where no setting is good enough.
    """

    def setup(problem: Problem) -> _Chosen:
        spent = 0.0
        for setting, following in zip(peer.settings, (*peer.settings[1:], None), strict=True):
            options = setting.options
            (fit, seconds), peak = run_with_peak(lambda options=options: _timed(peer, problem, loss, options))
            judgement = arena.judged(fit)
            good, spent = arena.goal.is_met(judgement), spent + seconds
            expected = seconds * following.cost / setting.cost if following is not None else 0.0
            stopped = "" if good or following is None or spent + expected <= arena.budget else "over the budget"
            arena.findings[peer.name] = Finding(
                arena.goal.reached(judgement), good, setting.words, seconds, peak, stopped
            )
            if good and seconds < min(SLOW_SECONDS, arena.budget):
                return _Chosen(problem, setting)
            if good or stopped:
                break
        raise LeftOut("")  # all that there is to say is in the findings

    return Contender(
        peer.name,
        "peer",
        lambda chosen: peer.fit(chosen.problem, loss, chosen.setting.options),
        setup=setup,
        requires=("sklearn.svm",),
        needed_as=peer.needed_as,
        **estimates,
    )


def remembering(name: str, fit: Callable[[Problem], Fit], arena: Arena, **estimates: Any) -> Contender:
    """Return one of ours, whose last answer is kept for the judge.

    Parameters
    ----------
    name : str
        Of the contender.
    fit : callable
        Takes the problem.
    arena : Arena
        Where the answer is kept.
    **estimates : Any
        `estimated_bytes` and `estimated_seconds`.

    Returns
    -------
    contender : Contender
        Ours.
    """

    def run(problem: Problem) -> Fit:
        answer = arena.answers[name] = fit(problem)
        return answer

    return Contender(name, "ours", run, **estimates)


def _timed(peer: Peer, problem: Problem, loss: str, options: Mapping[str, Any]) -> tuple[Fit, float]:
    begin = time.perf_counter()
    fit = peer.fit(problem, loss, options)
    return fit, time.perf_counter() - begin
