"""What a suite is made of: cases, and contenders that take turns on the data of a case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slimline.bench.record import Role, Target


def _as_it_is(data: Any) -> Any:
    return data


@dataclass(frozen=True)
class Work:
    """How much one run does, so that its time can be told as a rate.

    Parameters
    ----------
    amount : float
        Work of one run in the unit's own measure: 2.5 for 2.5 GB.
    unit : str
        Unit of the rate, such as "GB/s".
    """

    amount: float
    unit: str


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
    work : Work, optional
        For the rate.
    limit : str
        Name of the limit with which the rate is compared.
    """

    name: str
    role: Role
    run: Callable[[Any], Any]
    setup: Callable[[Any], Any] = _as_it_is
    reset: Callable[[Any], None] | None = None
    requires: tuple[str, ...] = ()
    estimated_bytes: float = 0.0
    estimated_seconds: float = 0.0
    work: Work | None = None
    limit: str = ""


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
        Returns the data.
    contenders : tuple of Contender
        Who takes turns.
    input_bytes : int
        Size of the data; a case that does not fit is skipped.
    targets : tuple of Target
        What should be reached.
    threads : int, optional
        Where the case makes sense with this number of threads only.
    """

    name: str
    title: str
    make: Callable[[], Any]
    contenders: tuple[Contender, ...]
    input_bytes: int
    targets: tuple[Target, ...] = ()
    threads: int | None = None
