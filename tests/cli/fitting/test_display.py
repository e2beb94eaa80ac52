"""The live display of a fit."""

import io
import math

import pytest
from rich.console import Console

from slimline.cli._fit_view import FitDisplay, seconds_left
from slimline.data import PassProgress
from slimline.learning import Step


def _step(passes, error):
    return Step(passes, 0.0, 10, (0.0,), (0.0,), (0.0,), (0.0,), (error,))


def test_time_left_by_how_the_error_fell():
    assert seconds_left([], 0.01) is None
    assert seconds_left([(1.0, math.inf)], 0.01) is None
    assert seconds_left([(1.0, 0.5)], 0.01) is None
    assert seconds_left([(1.0, 0.5), (2.0, 0.5)], 0.01) is None  # it does not fall
    assert seconds_left([(1.0, 1.0), (3.0, 0.1)], 0.01) == pytest.approx(2.0)  # a tenth each two seconds
    assert seconds_left([(1.0, math.inf), (2.0, 1.0), (4.0, 0.1)], 0.001) == pytest.approx(4.0)
    assert seconds_left([(1.0, 0.5), (2.0, 0.001)], 0.01) == 0.0


def _shown(terminal, width=100):
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=width, color_system=None, highlight=False)
    with FitDisplay(console, "cohort.bed", 4_000_000_000, 0.01) as display:
        display.phase("fitting")
        display.on_pass(PassProgress(1, "sketch", 0.0, "cohort.bed"))
        display._pass_start -= 2.0
        display.on_pass(PassProgress(1, "sketch", 0.5, "cohort.bed"))
        if terminal:
            display._live.refresh()
        display.on_pass(PassProgress(1, "sketch", 1.0, "cohort.bed"))
        for passes, error in ((2, math.inf), (3, 0.4), (4, 0.08)):
            display.on_step(_step(passes, error))
        if terminal:
            display._live.refresh()
    return text.getvalue()


def test_a_terminal_shows_pass_speed_and_errors():
    text = _shown(True)
    assert "fitting cohort.bed" in text
    assert "pass 1: projecting" in text and "50%" in text and "1.00 GB/s" in text
    assert "certified error: not yet   (asked: 1 %)" in text
    assert "none yet → 40 % → 8 %   (asked: 1 %)" in text and "left" in text
    assert "between two passes" in text


def test_a_log_has_a_line_a_step():
    lines = _shown(False).splitlines()
    assert lines[0].endswith("s  fitting") and len(lines) == 4
    assert lines[1].endswith("2 passes: certified error none yet") and lines[3].endswith(
        "4 passes: certified error 8 %"
    )
