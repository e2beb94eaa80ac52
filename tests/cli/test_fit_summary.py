"""The summary of a fit in the terminal, of regressions and of models with covariates."""

import io
from dataclasses import replace
from decimal import Decimal

import pytest
from rich.console import Console

from slimline.cli._fit_view import fit_view
from tests.report.page.covariate_examples import (
    cases,
    nothing_known,
    quantile,
    regression,
    several_targets,
    three_classes,
)


def _summary(report, width=140):
    text = io.StringIO()
    Console(file=text, width=width, color_system=None, highlight=False).print(fit_view(report))
    return " ".join(text.getvalue().split())


def test_a_regression():
    report = regression()
    held, said = report.held_out_targets[0], _summary(report)
    assert "× 600 columns, target height; 3 rows without a target or covariates left out" in said
    for score in (held.r2, held.correlation):
        assert f"{score.value:.3g} (exact: " in said
    ends = said.split("R² ", 1)[1].split("(exact: ", 1)[1].split(", proved)")[0].split(" to ")
    assert Decimal(ends[0]) <= Decimal(held.r2.lower) and Decimal(ends[1]) >= Decimal(held.r2.upper)
    assert f"on 120 rows; the covariates alone: {held.baseline_r2:.3g}" in said
    assert f"mean absolute error {held.mean_absolute_error:.4g}" in said and "class" not in said
    for effect in report.covariate_effects:
        assert f"{effect.name} {effect.effect:.4g} " in said
    assert "intercept" not in said and "Warning" not in said


def test_several_targets_have_their_names_and_one_warning():
    said = _summary(several_targets())
    assert "height R² " in said and "noise R² " in said and "2 targets" in said and "covariate effect" in said
    assert said.count("Warning") == 1 and "absolute error of 'noise' is" in said


def test_a_quantile_has_a_coverage():
    held, said = quantile().held_out_targets[0], _summary(quantile())
    assert f"held-out rows {100 * held.coverage.share:.1f} % of 120 at or below the quantile (" in said
    assert "asked: 90.0 %" in said and f"mean quantile loss {held.loss:.4g}, " in said and "R²" not in said


@pytest.mark.parametrize("make", [cases, three_classes])
def test_classes_with_covariates(make):
    report = make()
    worst = max(report.held_out.calibration, key=lambda one: one.error)
    said = _summary(report)
    assert f"calibration error {100 * worst.error:.1f} %" in said and "covariate effect" in said
    assert ("at a prevalence of 2.0 %" in said) == (make is cases) != (f"of {worst.label}, the largest" in said)


def test_nothing_known():
    said = _summary(nothing_known())
    assert "R²" not in said and "correlation" not in said and "held-out rows mean absolute error" in said
    assert "left out" in said and "Warning: On 120 samples" in said


def test_only_five_effects_are_shown():
    report = regression()
    many = tuple(replace(report.effects[1], name=f"PC{k}") for k in range(1, 40))
    said = _summary(replace(report, effects=many))
    assert "PC5" in said and "PC6" not in said


def test_a_refit_is_said():
    report = regression()
    held = replace(report.held_out_targets[0], trained_rows=200)
    assert "trained on 200 rows for that measurement, then on all of them" in _summary(
        replace(report, held_out_targets=(held,))
    )
