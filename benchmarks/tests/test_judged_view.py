"""The table of judged cases, from records that are made up."""

import io

from rich.console import Console

from slimline_benchmarks import CaseResult, Target
from slimline_benchmarks.judged import JudgedMeasurement
from slimline_benchmarks.judged_view import format_error, print_judged_case
from slimline_benchmarks.learn import names


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


def test_everything_is_told():
    rows = {line[:17].strip(): line for line in _text(CASE).splitlines()}
    auto, sketch, svc = rows[names.AUTO], rows[names.SKETCH], rows["LinearSVC dual"]
    assert "500 ms" in auto and "50.0 MB" in auto and "0.0042" in auto and "6 passes" in auto
    assert "(2.00 s)" in sketch and "0.031" in sketch
    assert "7.0e-04" in svc and "tol=0.1" in svc and " 0.1 " in svc
    assert (
        "≥ 1" in rows["SGDClassifier"] and "(9.00 s)" in rows["SGDClassifier"] and "300 epochs" in rows["SGDClassifier"]
    )
    assert "skipped: needs about 99.0 GB" in rows["SVC"]
    text = _text(CASE)
    assert "✓ slimline auto: time ≤ 0.2 of LinearSVC dual; measured 0.1" in text
    assert "✗ slimline auto: memory ≤ 40 MB; measured 50.0 MB" in text
    assert "In brackets" in text


def test_numbers_are_whole_at_eighty_columns():
    assert "…" not in _text(CASE, 80)


def test_a_case_without_data():
    assert "absent: no data" in _text(CaseResult("pair-hinge", "two newsgroups", 0, 1, skipped="absent: no data"))


def test_format_error():
    assert [format_error(v) for v in (float("inf"), 0.0123, 1e-3, 4.2e-12)] == ["≥ 1", "0.012", "0.001", "4.2e-12"]


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


def test_numbers_that_are_looked_for_and_what_the_limit_takes():
    text = _text(NUMBERS, 80)
    rows = {line[:17].strip(): line.split() for line in text.partition("Gram matrix alone:")[0].splitlines()}
    assert rows["slimline ball"][2:] == ["4.00", "s", "200", "MB", "33.48738", "2.0e-13", "39", "support", "points"]
    assert rows["Gram matrix alone"][3:] == ["3.00", "s", "1.00", "MB", "1.3"]
    assert rows["Bădoiu-Clarkson"][1:] == ["(8.00", "s)", "–", "33.5", "5.0e-04", "1,000", "steps"]
    assert rows["Clarabel"][-3:] == ["1.0e-09", "0.5", "tol=1e-08"]
    assert rows["Frank-Wolfe"][-1] == "failed:"
    assert "Gram matrix alone: 75% of the time of slimline ball." in text
    assert "✓ slimline ball: Gram matrix alone ≥ 50%; measured 75%" in text
    assert "? slimline ball: time ≤ 1 of Bădoiu-Clarkson; measured –" in text
    assert "off by" in text and "ours" in text and "…" not in text
