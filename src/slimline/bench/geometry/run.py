"""Running a case of geometry: the common clock, and behind it the judge."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from slimline.bench.case import Case
from slimline.bench.geometry.answers import Arena, Finding
from slimline.bench.record import CaseResult, Measurement
from slimline.bench.runner import Settings, Watcher, run_case


@dataclass(frozen=True)
class GeometryCase(Case):
    """A case whose contenders all look for the same number.

    Parameters
    ----------
    arena : Arena
        Answers, and the judge.
    """

    arena: Arena = field(default_factory=lambda: Arena(None))


@dataclass(frozen=True)
class GeometryMeasurement(Measurement):
    """A measurement, and what the answer is worth.

    Parameters
    ----------
    value : float, optional
        Margin, radius or error that the answer attains; None if there is no answer.
    off : float, optional
        It is away from the exact number by at most this part of it.
    setting : str
        Settings, or how it was reached.
    """

    value: float | None = None
    off: float | None = None
    setting: str = ""


def run_geometry_case(case: GeometryCase, settings: Settings, watch: Watcher | None = None) -> CaseResult:
    """Run one case; every time stands beside the accuracy that was had for it.

    Parameters
    ----------
    case : GeometryCase
        What to run.
    settings : Settings
        How.
    watch : callable, optional
        Told of each step.

    Returns
    -------
    result : CaseResult
        With `GeometryMeasurement` records.
    """
    case.arena.answers.clear()
    case.arena.findings.clear()
    result = run_case(case, settings, watch)
    measurements = tuple(_judged(m, case.arena.findings.get(m.contender)) for m in result.measurements)
    return replace(result, measurements=measurements)


def _judged(m: Measurement, finding: Finding | None) -> GeometryMeasurement:
    judged = GeometryMeasurement(**{f.name: getattr(m, f.name) for f in fields(Measurement)})
    if finding is None or m.status != "measured":
        return judged
    return replace(judged, value=finding.value, off=finding.off, setting=finding.words)
