"""Running a case whose answers are judged: the common clock, and behind it the judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

from slimline_benchmarks.case import Case
from slimline_benchmarks.record import CaseResult, Measurement, Target
from slimline_benchmarks.runner import Settings, Watcher, run_case
from slimline_benchmarks.search import Arena, Finding, Goal


@dataclass(frozen=True)
class JudgedCase(Case):
    """A case whose contenders are judged by what they reach.

    Parameters
    ----------
    arena : Arena
        Judge and findings.
    aims : callable, optional
        Returns the targets, given what was measured, where they depend on who is the fastest.
    """

    arena: Arena = field(default_factory=lambda: Arena(Goal("error", 1e-2), 120.0))
    aims: Callable[[CaseResult], tuple[Target, ...]] | None = None


@dataclass(frozen=True)
class JudgedMeasurement(Measurement):
    """A measurement, and how good the answer was.

    Parameters
    ----------
    reached : float, optional
        Quantity of the goal, of the answer; None if there is no answer.
    quantity : str
        Which it is: "error" (certified, relative), "gap" (relative duality gap) or "off" (from the exact number).
    setting : str
        Settings of a peer: the loosest of several that are good enough, or the last that was tried.
    tried_seconds : float, optional
        Of an answer that is not good enough: the time that it took.
    found : float, optional
        The number that was looked for, where it is one.
    """

    reached: float | None = None
    quantity: str = "error"
    setting: str = ""
    tried_seconds: float | None = None
    found: float | None = None


def run_judged_case(case: JudgedCase, settings: Settings, watch: Watcher | None = None) -> CaseResult:
    """Run one case; contenders whose answer is not good enough have no time, but a note that tells what they reached.

    Parameters
    ----------
    case : JudgedCase
        What to run.
    settings : Settings
        How.
    watch : callable, optional
        Told of each step.

    Returns
    -------
    result : CaseResult
        With `JudgedMeasurement` records, and targets that may depend on them.
    """
    case.arena.findings.clear()
    case.arena.answers.clear()
    result = run_case(case, settings, watch)
    if result.skipped:
        return result
    findings = case.arena.findings
    measurements = tuple(_judged(m, findings.get(m.contender), case.arena.goal) for m in result.measurements)
    result = replace(result, measurements=measurements)
    return result if case.aims is None else replace(result, targets=case.aims(result))


def _judged(m: Measurement, finding: Finding | None, goal: Goal) -> JudgedMeasurement:
    known = {f.name: getattr(m, f.name) for f in fields(Measurement)}
    judged = JudgedMeasurement(**known, quantity=goal.quantity)
    if finding is None or m.status == "failed":
        return judged
    judged = replace(
        judged, reached=finding.reached, setting=finding.setting, passes=finding.passes, found=finding.found
    )
    if finding.good_enough:
        if m.status == "measured":
            return judged
        # it left while its settings were searched because it is slow: the run that found them counts
        return replace(judged, status="measured", note="", seconds=(finding.seconds,), extra_bytes=finding.extra_bytes)
    seconds = m.best if m.best is not None else finding.seconds
    note = "then out of budget" if finding.over_budget else ""
    return replace(judged, status="skipped", note=note, seconds=(), tried_seconds=seconds)
