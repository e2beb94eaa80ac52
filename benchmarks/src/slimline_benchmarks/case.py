"""Parts of a suite: cases, and contenders that take turns on the data of a case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slimline_benchmarks.record import Role, Status, Target


class LeftOut(Exception):  # noqa: N818 - no error: a contender or a case that says itself why it does not take part
    """Raised while data are made or set up: there is nothing to measure here, for a reason that the table shows.

    Parameters
    ----------
    reason : str
        Why.
    status : {"skipped", "absent"}
        What kind of reason it is.
    """

    def __init__(self, reason: str, status: Status = "skipped") -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status


def _as_it_is(data: Any) -> Any:
    return data


@dataclass(frozen=True)
class Work:
    """Amount of work of one run, so that its time can be shown as a rate.

    Parameters
    ----------
    amount : float
        Work of one run in the unit's own measure: 2.5 for 2.5 GB.
    unit : str
        Unit of the rate, such as "GB/s".
    per_pass : bool
        Whether the amount is that of one pass, and a run does as many times that as it makes passes.
    """

    amount: float
    unit: str
    per_pass: bool = False


@dataclass(frozen=True)
class Contender:
    """One way of doing the work of a case.

    Parameters
    ----------
    name : str
        Name in the table; unique within its case.
    role : {"ours", "peer", "limit"}
        A limit is a yardstick of the machine, such as reading X.
    run : callable
        The timed work: takes what `setup` returned, returns the result.
    setup : callable
        Untimed, once a case: takes the data, returns what `run` needs.
    reset : callable, optional
        Untimed, before each run, for work that is done in place.
    requires : tuple of str
        Modules without which the contender is absent.
    estimated_bytes, estimated_seconds : float
        Rough needs of one run, by which it is skipped where the machine or the patience would not do.
    needed_as : str
        What the memory is needed for, such as "as float64".
    work : Work, optional
        For the rate.
    limit : str
        Name of the limit with which the rate is compared.
    task : str
        Where a case has several: which of them this is. Times are compared with those of the same task only.
    passes : callable, optional
        Takes what `setup` returned, returns how many passes over the data there have been so far.
    memory : callable, optional
        Takes what `setup` returned, returns the peak of memory above the data and the result, where that is
        measured in another way than by watching the first run.
    """

    name: str
    role: Role
    run: Callable[[Any], Any]
    setup: Callable[[Any], Any] = _as_it_is
    reset: Callable[[Any], None] | None = None
    requires: tuple[str, ...] = ()
    estimated_bytes: float = 0.0
    estimated_seconds: float = 0.0
    needed_as: str = ""
    work: Work | None = None
    limit: str = ""
    task: str = ""
    passes: Callable[[Any], int] | None = None
    memory: Callable[[Any], int | None] | None = None


@dataclass(frozen=True)
class Case:
    """Data, and who competes on it.

    Parameters
    ----------
    name : str
        Short name, for `--case`.
    title : str
        What it is, in words.
    make : callable
        Returns the data; raises `LeftOut` where they cannot be had.
    contenders : tuple of Contender
        Who takes turns.
    input_bytes : int
        Size of the data; a case that does not fit is skipped.
    targets : tuple of Target
        What should be reached.
    threads : int, optional
        Where the case makes sense with this number of threads only.
    reset : callable, optional
        Takes the data before each run of whatever contender; not timed.
    discard : callable, optional
        Takes the data when all is measured, to clear up behind them.
    """

    name: str
    title: str
    make: Callable[[], Any]
    contenders: tuple[Contender, ...]
    input_bytes: int
    targets: tuple[Target, ...] = ()
    threads: int | None = None
    reset: Callable[[Any], None] | None = None
    discard: Callable[[Any], None] | None = None
