"""Ratios, shares and verdicts: pure functions of the records."""

from __future__ import annotations

from dataclasses import dataclass

from slimline_benchmarks.record import CaseResult, Measurement, Target


@dataclass(frozen=True)
class Verdict:
    """A target beside what was measured.

    Parameters
    ----------
    target : Target
        What should be reached.
    text : str
        The target in words.
    value : float, optional
        What was measured; None if one of the two sides has no time.
    met : bool, optional
        Whether it is reached; None if nothing was measured.
    """

    target: Target
    text: str
    value: float | None
    met: bool | None


def ratio(case: CaseResult, contender: str, peer: str) -> float | None:
    """Return the time of a contender divided by the time of a peer; None if either has none."""
    one, other = case.find(contender), case.find(peer)
    if one is None or other is None or one.best is None or other.best is None:
        return None
    return one.best / other.best


def ratios(case: CaseResult, measurement: Measurement) -> dict[str, float]:
    """Return the time of one of ours divided by the time of each peer that has one and does the same task."""
    if measurement.role != "ours":
        return {}
    peers = (peer.contender for peer in case.of_role("peer") if peer.task == measurement.task)
    pairs = ((peer, ratio(case, measurement.contender, peer)) for peer in peers)
    return {name: value for name, value in pairs if value is not None}


def share(case: CaseResult, measurement: Measurement) -> float | None:
    """Return the rate of a contender as a share of its limit's rate."""
    limit = case.find(measurement.limit) if measurement.limit else None
    if limit is None or limit.rate is None or measurement.rate is None or limit.unit != measurement.unit:
        return None
    return measurement.rate / limit.rate


def judge(case: CaseResult, target: Target) -> Verdict:
    """Return whether a target is met, with the target in words."""
    measurement = case.find(target.contender)
    value = None if measurement is None else _value(case, measurement, target)
    met = None if value is None else (value >= target.bound if target.at_least else value <= target.bound)
    return Verdict(target, describe(case, target), value, met)


def describe(case: CaseResult, target: Target) -> str:
    """Return a target in words, such as "reading X ≥ 80 %"."""
    measurement = case.find(target.contender)
    match target.quantity:
        case "ratio":
            return f"time ≤ {target.bound:g} of {target.peer}"
        case "share":
            return f"{measurement.limit if measurement else 'limit'} ≥ {target.bound:.0%}"
        case "rate":
            return f"≥ {target.bound:g} {measurement.unit if measurement else ''}".strip()
        case "memory":
            return f"memory ≤ {target.bound / 1e6:.3g} MB"
        case "seconds":
            return f"time ≤ {target.bound * 1e6:g} µs"


def _value(case: CaseResult, measurement: Measurement, target: Target) -> float | None:
    match target.quantity:
        case "ratio":
            return ratio(case, target.contender, target.peer)
        case "share":
            return share(case, measurement)
        case "rate":
            return measurement.rate
        case "memory":
            return measurement.extra_bytes
        case "seconds":
            return measurement.best
