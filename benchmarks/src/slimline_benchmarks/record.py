"""Records of a benchmark, and their JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Role = Literal["ours", "peer", "limit"]
Status = Literal["measured", "skipped", "absent", "failed"]
Quantity = Literal["ratio", "share", "rate", "memory", "seconds"]

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
LAYOUT = 1


@dataclass(frozen=True)
class Measurement:
    """Measurement of one contender in one case.

    Parameters
    ----------
    contender : str
        Its name.
    role : {"ours", "peer", "limit"}
        Its part in the comparison.
    status : {"measured", "skipped", "absent", "failed"}
        Whether there are times, and if not, what kind of reason there is.
    note : str
        The reason.
    seconds : tuple of float
        Every timed run, in order.
    extra_bytes : int, optional
        Peak memory above the data and the result; None where the system does not tell.
    amount : float, optional
        Work of one run, in the measure of `unit`.
    unit : str
        Unit of the rate.
    limit : str
        Name of the limit to compare with.
    task : str
        Which task of the case it did, if there are several.
    passes : int, optional
        Passes over the data in one run, where they are counted.
    """

    contender: str
    role: Role
    status: Status = "measured"
    note: str = ""
    seconds: tuple[float, ...] = ()
    extra_bytes: int | None = None
    amount: float | None = None
    unit: str = ""
    limit: str = ""
    task: str = ""
    passes: int | None = None

    @property
    def best(self) -> float | None:
        """Shortest time in seconds: what is left when nothing else disturbs."""
        return min(self.seconds, default=None)

    @property
    def rate(self) -> float | None:
        """Work a second at the shortest time."""
        return None if self.best is None or self.amount is None else self.amount / self.best

    @property
    def spread(self) -> float | None:
        """Median time over the shortest: near 1 on a quiet machine."""
        return None if self.best is None else statistics.median(self.seconds) / self.best


@dataclass(frozen=True)
class Target:
    """A figure that a contender should reach.

    Parameters
    ----------
    contender : str
        Whose figure.
    quantity : {"ratio", "share", "rate", "memory", "seconds"}
        Time over a peer's time, rate over the limit's, rate, extra bytes, or time. Shares and rates are to be at
        least the bound, the others at most.
    bound : float
        The bound.
    peer : str
        For a ratio: whose time it is divided by.
    """

    contender: str
    quantity: Quantity
    bound: float
    peer: str = ""

    @property
    def at_least(self) -> bool:
        """True if more is better."""
        return self.quantity in ("share", "rate")


@dataclass(frozen=True)
class CaseResult:
    """All measurements of a case.

    Parameters
    ----------
    name, title : str
        Of the case.
    input_bytes : int
        Size of the data.
    threads : int
        Threads that everyone was allowed.
    measurements : tuple of Measurement
        One for each contender; empty if the case was skipped.
    targets : tuple of Target
        What should be reached.
    skipped : str
        Why the whole case was left out.
    """

    name: str
    title: str
    input_bytes: int
    threads: int
    measurements: tuple[Measurement, ...] = ()
    targets: tuple[Target, ...] = ()
    skipped: str = ""

    def find(self, contender: str) -> Measurement | None:
        """Return the measurement of a contender, if it took part."""
        return next((m for m in self.measurements if m.contender == contender), None)

    def of_role(self, role: Role) -> tuple[Measurement, ...]:
        """Return the measurements of ours, of the peers or of the limits."""
        return tuple(m for m in self.measurements if m.role == role)


@dataclass(frozen=True)
class Report:
    """A whole run of a suite.

    Parameters
    ----------
    suite : str
        Name of the suite.
    machine : mapping
        What `slimline._base.system.describe_machine` says.
    settings : mapping
        How it was run.
    cases : tuple of CaseResult
        In the order in which they ran.
    """

    suite: str
    machine: Mapping[str, Any]
    settings: Mapping[str, Any]
    cases: tuple[CaseResult, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, with ratios, shares and verdicts worked out."""
        from slimline_benchmarks.compare import judge, ratios, share

        cases = []
        for case in self.cases:
            fields = {"name": case.name, "title": case.title, "input_bytes": case.input_bytes}
            fields |= {"threads": case.threads, "skipped": case.skipped}
            contenders = [
                asdict(m)
                | {
                    "best": m.best,
                    "rate": m.rate,
                    "spread": m.spread,
                    "share": share(case, m),
                    "ratios": ratios(case, m),
                }
                for m in case.measurements
            ]
            verdicts = [judge(case, target) for target in case.targets]
            targets = [asdict(v.target) | {"text": v.text, "value": v.value, "met": v.met} for v in verdicts]
            cases.append(fields | {"contenders": contenders, "targets": targets})
        head = {"layout": LAYOUT, "suite": self.suite, "machine": dict(self.machine), "settings": dict(self.settings)}
        return head | {"cases": cases}

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=1)
