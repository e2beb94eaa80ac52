from dataclasses import replace

import pytest
from rich.console import Console

from benchmarks.tests.fabricate import fabricated_case, fabricated_report
from slimline_benchmarks.compare import ratios
from slimline_benchmarks.table import (
    case_view,
    machine_lines,
    print_case,
    summary_view,
)


def _print(view, width=120):
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


def test_case_shows_times_shares_verdicts_and_reasons():
    text = _print(case_view(fabricated_case()))
    for part in (
        "made-up",
        "20.0 ms",
        "5.00 MB",
        "1.50 GB/s, 50% of limit",
        "✗ limit ≥ 80%",
        "✓ ≥ 1 GB/s",
        "✗ memory ≤ 4 MB",
    ):
        assert part in text
    for part in ("skipped: needs about 99.0 GB", "absent: missing is not installed", "✓ ≤ 0.6", "? ≤ 0.4", "0.5"):
        assert part in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_case_fits_the_terminal(width):
    text = _print(case_view(fabricated_case(), width), width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert text.count("our time / theirs") == (2 if width == 60 else 1)


def test_busy_machine_is_told():
    case = fabricated_case()
    slow = case.measurements[0].__class__("limit", "limit", seconds=(0.01, 0.03, 0.04), amount=0.03, unit="GB/s")
    text = _print(case_view(fabricated_case(measurements=(slow, *case.measurements[1:]))))
    assert "The machine was not quiet" in text and "3.0 times" in text
    assert "not quiet" not in _print(case_view(case))


def test_summary_counts_and_names_what_is_missed():
    text = _print(summary_view(fabricated_report()))
    assert "Targets: 3 of 5 met, 1 not judged" in text
    assert "memory ≤ 4 MB" in text and "5.00 MB" in text and "50%" in text


def test_machine_and_skipped_case():
    report = fabricated_report()
    assert "a CPU, 2 CPUs, 8.00 GB; 1 thread, kernels for baseline" in _print(machine_lines(report))
    console = Console(width=100)
    with console.capture() as capture:
        print_case(console, report.cases[1])
    assert "skipped: needs about 99.0 GB" in capture.get()


def test_passes_and_pairs_of_a_case_with_tasks():
    case = fabricated_case()
    limit, ours, peer, *rest = case.measurements
    other = replace(ours, contender="ours too", task="dot")
    measurements = (limit, replace(ours, task="sketch", passes=2), other, replace(peer, task="sketch"), *rest)
    text = _print(case_view(replace(case, measurements=measurements)))
    assert "passes" in text and "passes" not in _print(case_view(case))
    pairs = [line.split() for line in text.splitlines() if line.startswith("ours") and " peer " in line]
    assert pairs[1:] == [["ours", "peer", "0.5", "✓", "≤", "0.6"]]  # below the head; the other task has no peer
    only_ours = (replace(ours, task="sketch"), replace(peer, task="dot"))
    assert "our time / theirs" not in _print(case_view(replace(case, measurements=only_ours)))


def test_ratios_are_of_the_same_task():
    case = fabricated_case()
    _, ours, peer, *_ = case.measurements
    together = replace(case, measurements=(replace(ours, task="dot"), replace(peer, task="dot")))
    apart = replace(case, measurements=(replace(ours, task="dot"), replace(peer, task="tdot")))
    assert ratios(together, together.measurements[0]) == {"peer": 0.5}
    assert ratios(apart, apart.measurements[0]) == {}


def test_absent_case_is_shown_as_absent():
    text = _print(case_view(fabricated_case(skipped="absent: zarr is not installed")))
    assert "absent: zarr is not installed" in text and "skipped" not in text
