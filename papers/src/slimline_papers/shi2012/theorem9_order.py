"""Theorem 9: a vector that is named before the projections, and one that is made from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

from slimline import GaussianProjection
from slimline.bounds import margin_dimension, one_parameter_cosines
from slimline_papers.chance import FALSE_ALARM, chance_of
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BLUE, _ORANGE = CYCLE[:2]
_CLASSES = (2, 3, 5, 10)
_FEATURES, _DELTA = 300, 0.05


def _parts(study: Study) -> Sequence[Part]:
    return [(classes,) for classes in _CLASSES]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    classes, own = int(part[0]), np.arange(int(part[0]))
    X = np.eye(classes, _FEATURES)  # a point a class, which is also the vector of its class
    n = margin_dimension(one_parameter_cosines(X @ X.T, own), _DELTA)
    named = np.ones(n)
    draws = study.pick(60, 200, 2_000)
    right_points = right_draws = 0
    for number in range(draws):
        seeds = [study.seed_of("shi2012.order", classes, number, y) for y in range(classes)]
        sketches = np.stack([GaussianProjection(n, random_state=seed).fit_transform(X) for seed in seeds])
        made = np.einsum("yyr->r", sketches)  # v = Ru = Σ R_yᵀu_y
        right_points += int(np.sum((sketches @ named).argmax(axis=0) == own))
        right_draws += bool(np.all((sketches @ made).argmax(axis=0) == own))
    yield classes, n, draws, right_points, right_draws


def _draw(table: Table) -> Figure:
    figure, (panel,) = canvas(width=6.4, height=4.2)
    classes = np.linspace(2, max(_CLASSES), 100)
    law(panel, classes, 1 / classes, "exact law of a v named first, 1/L")
    bound(panel, classes[[0, -1]], 2 * [1 - _DELTA], f"promise, {1 - _DELTA:g}")
    made = table["made_right"] / table["draws"]
    measured(panel, table["classes"], made, "v = Ru, made from R: projections with all points right", colour=_BLUE)
    named = table["named_right"] / table["draws"] / table["classes"]
    measured(panel, table["classes"], named, "v named before R: points right", colour=_ORANGE)
    finish(
        panel, "One point a class, n by the exact law of the cosines", "classes L", "share", ylim=(0, 1.05),
        legend="center right",
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    points = table["draws"] * table["classes"]
    chance = chance_of(table["named_right"], points, 1 / table["classes"])
    named, made = table["named_right"] / points, table["made_right"] / table["draws"]
    kept = binom.sf(table["draws"] - table["made_right"] - 1, table["draws"], _DELTA) > FALSE_ALARM / len(table)
    return [
        Finding(
            claim="There is a vector v such that, with probability 1 - δ over R, it separates all classes.",
            printed="v first, then R",
            ours=f"a v named first is right for {named[0]:.2f} of the points with {table['classes'][0]:.0f} classes, "
            f"{named[-1]:.2f} with {table['classes'][-1]:.0f}",
            holds=np.all(named >= 1 - _DELTA),
            reason="for a v that does not know R the scores of all classes have one and the same law",
            corrected=f"With probability 1 - δ over R there is such a v, made from R: all points right in "
            f"{made.min():.3f} of the projections or more. One named first is right for 1/L of the points.",
            corrected_holds=np.all(kept) and chance > FALSE_ALARM,
        )
    ]


THEOREM9_ORDER = Item(
    name="shi2012.theorem9_order",
    title="One vector for all classes: which comes first, the vector or the projections",
    experiment=Experiment(
        name="shi2012.order",
        about="A point a class and a projection a class: for how many points the right class has the highest score by "
        "a vector that is named before the projections are drawn, and in how many draws it has it for all points by "
        "one that is made from them.",
        columns=("classes", "n", "draws", "named_right", "made_right"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="11",
)
