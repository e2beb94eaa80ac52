"""Equations 1 and 5: the largest margin, printed without the maximum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slimline import geometry
from slimline_papers.drawing import canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EQUATIONS = (1, 5)


def _parts(study: Study) -> Sequence[Part]:
    return [(equation,) for equation in _EQUATIONS]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    """Evaluate each expression for vectors that are turned away from the best ones."""
    equation = int(part[0])
    angles = np.arange(-90, 91, study.pick(15, 5, 5))
    if equation == 1:  # the four points of Fig. 1
        X, y = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]), np.array([1, 1, 0, 0])
        best = geometry.margin(X, y).value
    else:  # three classes of a point each, 120° apart
        X, y = _directions(np.zeros(1))[0], np.arange(3)
        best = geometry.multiclass_margin(X, y).value
    for angle, turned in zip(angles, _directions(np.radians(angles)), strict=True):
        if equation == 1:
            value = np.min(np.where(y == 1, 1, -1) * (X @ turned[0]))
        else:
            scores = X @ turned.T
            value = np.min(np.diag(scores) - np.max(np.where(np.eye(3), -np.inf, scores), axis=1))
        yield equation, angle, value, best


def _directions(turns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return three unit vectors, 120° apart and the first upwards, for each turn."""
    angles = np.pi / 2 + 2 * np.pi * np.arange(3) / 3 + turns[:, None]
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _draw(table: Table) -> Figure:
    figure, panels = canvas(columns=2)
    for panel, equation in zip(panels, _EQUATIONS, strict=True):
        rows = table.where(equation=equation)
        measured(panel, rows["angle"], rows["value"], "right side, for the u at hand")
        law(panel, rows["angle"][[0, -1]], rows["best"][[0, -1]], "largest margin γ*")
        title = "the points of Fig. 1" if equation == 1 else "three classes"
        finish(panel, f"Eq. {equation}: {title}", "degrees that u is turned", "value", legend="lower center")
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    return [_finding(table.where(equation=equation), equation) for equation in _EQUATIONS]


def _finding(rows: Table, equation: int) -> Finding:
    value, best = rows["value"], rows["best"]
    best_one = float(best[0])
    return Finding(
        claim=f"Eq. {equation}: the largest margin is the smallest value over the data"
        + ("." if equation == 1 else " of own less other cosine."),
        printed="γ* = min over the data, for some u",
        ours=f"{value.min():.2f} to {value.max():.2f}, as u is turned; the largest margin is {best_one:.2f}",
        holds=np.allclose(value, best, atol=1e-6),
        reason="the maximum over u is missing: the right side depends on the u at hand",
        corrected="γ* = max over unit vectors u of that minimum",
        corrected_holds=np.all(value <= best + 1e-6) and abs(value.max() - best_one) < 1e-5,
    )


EQ1 = Item(
    name="shi2012.eq1",
    title="Equations 1 and 5 lack the maximum",
    experiment=Experiment(
        name="shi2012.eq1",
        about="The right sides of equations 1 and 5 for vectors at all angles, and the largest margin.",
        columns=("equation", "angle", "value", "best"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="6",
)
