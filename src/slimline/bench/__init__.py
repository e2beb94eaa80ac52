"""Comparisons with peers: all contenders of a case take turns in one run, beside the machine's own limits.

A suite (such as `slimline.bench.projections`) is a function that returns cases; everything else here, from the
clock to the table, is the same for every suite. Peers are optional: an absent one is shown as absent.
"""

from slimline.bench.case import Case, Contender, LeftOut, Work
from slimline.bench.record import CaseResult, Measurement, Report, Target
from slimline.bench.runner import Settings, run_case, run_suite

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
