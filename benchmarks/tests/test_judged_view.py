"""The table of judged cases, from records that are made up."""

import io
from pathlib import Path

from rich.console import Console

from slimline_benchmarks import CaseResult, Target
from slimline_benchmarks.judged import JudgedMeasurement
from slimline_benchmarks.judged_view import format_error, print_judged_case
from slimline_benchmarks.learn import names
from tests.snapshots import check_snapshot, titled


def _text(case, width=100):
    console = Console(width=width, record=True, file=io.StringIO())
    print_judged_case(console, case, names.AUTO)
    return console.export_text()


MEASUREMENTS = (
    JudgedMeasurement(names.SKETCH, "ours", "skipped", reached=0.031, tried_seconds=2.0, passes=50),
    JudgedMeasurement(names.AUTO, "ours", seconds=(0.5,), extra_bytes=50_000_000, reached=0.0042, passes=6),
    JudgedMeasurement("LinearSVC dual", "peer", seconds=(5.0,), extra_bytes=6 * 10**9, reached=7e-4, setting="tol=0.1"),
    JudgedMeasurement("SVC", "peer", "skipped", note="needs about 99.0 GB, 1.0 GB are free"),
    JudgedMeasurement("SGDClassifier", "peer", "skipped", reached=7.0, tried_seconds=9.0, setting="300 epochs"),
)
TARGETS = (Target(names.AUTO, "ratio", 0.2, "LinearSVC dual"), Target(names.AUTO, "memory", 40e6))
CASE = CaseResult("dense-hinge", "hinge, some data", 0, 2, MEASUREMENTS, TARGETS)


RUNS = {"amount": 1.0, "unit": "runs/s", "quantity": "off"}
NUMBERS = CaseResult(
    "dense-ball",
    "smallest ball of some data",
    0,
    1,
    (
        JudgedMeasurement("Gram matrix alone", "limit", seconds=(3.0,), extra_bytes=10**6, **RUNS),
        JudgedMeasurement(
            "slimline ball",
            "ours",
            seconds=(4.0,),
            extra_bytes=2 * 10**8,
            limit="Gram matrix alone",
            reached=2e-13,
            found=33.487381234,
            setting="39 support points",
            **RUNS,
        ),
        JudgedMeasurement(
            "Bădoiu-Clarkson", "peer", "skipped", reached=5e-4, found=33.5, tried_seconds=8.0, setting="1,000 steps"
        ),
        JudgedMeasurement("Clarabel", "peer", seconds=(8.0,), reached=1e-9, found=33.48738124, setting="tol=1e-08"),
        JudgedMeasurement("Frank-Wolfe", "peer", "failed", note="MemoryError"),
    ),
    (Target("slimline ball", "share", 0.5), Target("slimline ball", "ratio", 1.0, "Bădoiu-Clarkson")),
)


def test_views():
    views = {
        "models": _text(CASE),
        "numbers that are looked for, beside a limit": _text(NUMBERS),
        "without data": _text(CaseResult("pair-hinge", "two newsgroups", 0, 1, skipped="absent: no data")),
    }
    check_snapshot(Path(__file__).parent / "snapshots" / "judged.txt", titled(views))


def test_numbers_are_whole_at_eighty_columns():
    assert "…" not in _text(CASE, 80) and "…" not in _text(NUMBERS, 80)


def test_format_error():
    assert [format_error(v) for v in (float("inf"), 0.0123, 1e-3, 4.2e-12)] == ["≥ 1", "0.012", "0.001", "4.2e-12"]
