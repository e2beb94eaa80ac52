"""Comparisons with peers: all contenders of a case take turns in one run, beside the machine's own limits.

A suite (such as `slimline_benchmarks.projections`) is a function that returns cases; everything else here, from the
clock to the table, is the same for every suite. Peers are optional: an absent one is shown as absent.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slimline_benchmarks.case import Case, Contender, LeftOut, Work
    from slimline_benchmarks.record import CaseResult, Measurement, Report, Target
    from slimline_benchmarks.runner import Settings, run_case, run_suite

__version__ = "0.1.0"
#: Loaded when they are asked for: `slimline --help` needs none of them.
_MODULES = {
    "Case": "case",
    "CaseResult": "record",
    "Contender": "case",
    "LeftOut": "case",
    "Measurement": "record",
    "Report": "record",
    "Settings": "runner",
    "Target": "record",
    "Work": "case",
    "run_case": "runner",
    "run_suite": "runner",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"slimline_benchmarks.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Case",
    "CaseResult",
    "Contender",
    "LeftOut",
    "Measurement",
    "Report",
    "Settings",
    "Target",
    "Work",
    "run_case",
    "run_suite",
]
