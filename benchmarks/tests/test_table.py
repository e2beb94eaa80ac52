from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.tests.fabricate import fabricated_case, fabricated_report
from slimline_benchmarks.compare import ratios
from slimline_benchmarks.table import case_view, machine_lines, print_case, summary_view
from tests.snapshots import check_snapshot, titled


def _print(view, width=120):
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


def with_tasks():
    """Return a case in which one of ours has a peer of the same task, and another has none."""
    case = fabricated_case()
    limit, ours, peer, *rest = case.measurements
    other = replace(ours, contender="ours too", task="dot")
    measurements = (limit, replace(ours, task="sketch", passes=2), other, replace(peer, task="sketch"), *rest)
    return replace(case, measurements=measurements)


def test_views():
    case, report = fabricated_case(), fabricated_report()
    slow = replace(case.measurements[0], seconds=(0.01, 0.03, 0.04))
    busy = replace(case, measurements=(slow, *case.measurements[1:]))
    console = Console(width=100)
    with console.capture() as capture:
        print_case(console, report.cases[1])
    views = {
        "machine": _print(machine_lines(report)),
        "times, shares, verdicts and reasons": _print(case_view(case)),
        "in a narrow terminal": _print(case_view(case, 80), 80),
        "a machine that was busy": _print(case_view(busy)),
        "passes and pairs of tasks": _print(case_view(with_tasks())),
        "a case that was skipped": capture.get(),
        "an absent case": _print(case_view(fabricated_case(skipped="absent: zarr is not installed"))),
        "summary": _print(summary_view(report)),
    }
    check_snapshot(Path(__file__).parent / "snapshots" / "table.txt", titled(views))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_case_fits_the_terminal(width):
    text = _print(case_view(fabricated_case(), width), width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_ratios_are_of_the_same_task():
    case = fabricated_case()
    _, ours, peer, *_ = case.measurements
    together = replace(case, measurements=(replace(ours, task="dot"), replace(peer, task="dot")))
    apart = replace(case, measurements=(replace(ours, task="dot"), replace(peer, task="tdot")))
    assert ratios(together, together.measurements[0]) == {"peer": 0.5}
    assert ratios(apart, apart.measurements[0]) == {}
