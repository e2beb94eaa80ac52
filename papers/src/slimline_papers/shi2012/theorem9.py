"""Theorem 9: the margin of one vector for all classes, with the printed denominator and with the right one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from slimline import GaussianProjection, geometry
from slimline.bounds import get
from slimline_papers.chance import FALSE_ALARM, chance_of
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.shi2012.theorem8 import data_of_margin
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BLUE, _ORANGE = CYCLE[:2]
_EPS, _DELTA, _CLASSES = 0.3, 0.05, 2
_COSINES = (0.25, 0.5, 0.75, 1.0)
#: For the largest margin: whatever the dimension.
_DIMENSIONS = (30, 120, 480)


def _parts(study: Study) -> Sequence[Part]:
    points = len(data_of_margin(_CLASSES, 1.0)[1])
    asked = get("shi2012.9").dimension(_EPS, _DELTA, points=points, classes=_CLASSES)
    return [*((c, asked) for c in _COSINES[:-1]), *((_COSINES[-1], n) for n in sorted({*_DIMENSIONS, asked}))]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    c, n = float(part[0]), int(part[1])
    X, y = data_of_margin(_CLASSES, c)
    before = geometry.multiclass_margin(X, y).value
    for number in range(study.pick(40, 100, 1_000)):
        projection = GaussianProjection(n, random_state=study.seed_of("shi2012.theorem9", *part, number))
        # upper ends of the brackets: below a promise only if the exact margins are
        ends = [
            geometry.one_parameter_margin(X, y, projection, denominator=denominator).upper
            for denominator in ("printed", "difference")
        ]
        yield before, n, *ends


def _promise(margin: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(get("shi2012.9").guarantee(_EPS, multiclass_margin=margin, classes=_CLASSES).lower)


def _draw(table: Table) -> Figure:
    figure, (left, right) = canvas(columns=2, width=5.4, height=4.2)
    gamma = np.linspace(0.01, 2, 100)
    bound(left, gamma, _promise(gamma), f"promise, ε = {_EPS:g}")
    margins = np.unique(table["margin"])
    enough = int(min(table["n"][table["margin"] < margins[-1]]))
    for shift, column, colour in ((-0.015, "printed", _ORANGE), (0.015, "cosine", _BLUE)):
        each = [table.where(n=enough, margin=value)[column] for value in sorted(table.distinct("margin"), key=float)]
        name = "quotient as printed" if column == "printed" else "cosine of v and R₁x - R₂x"
        spread = [values.std(ddof=1) for values in each]
        measured(left, margins + shift, [values.mean() for values in each], name, spread, colour)
    finish(left, f"The margin of one vector, n = {enough}", "margin γ before", "margin after", legend="lower right")
    widest = table.where(margin=max(table.distinct("margin"), key=float))
    n = np.unique(widest["n"])
    law(right, n[[0, -1]], [0.5, 0.5], "exact law of the printed quotient, ½")
    law(right, n[[0, -1]], [0, 0], "exact law of the cosine, 0", CYCLE[-1])
    for column, colour in (("printed", _ORANGE), ("cosine", _BLUE)):
        shares = [np.mean(_below(widest.where(n=int(value)), column)) for value in n]
        measured(right, n, shares, "quotient as printed" if column == "printed" else "cosine", colour=colour)
    finish(
        right, "γ = 2: below the promise of 1", "dimensions n", "share of projections",
        ylim=(-0.05, 1.0), legend="upper right",
    )  # fmt: skip
    return figure


def _below(table: Table, column: str) -> NDArray[np.bool]:
    return np.asarray(table[column] < _promise(table["margin"]))


def _judge(table: Table) -> Sequence[Finding]:
    return [_in_range(table), _denominator(table)]


def _in_range(table: Table) -> Finding:
    kept = table["margin"] <= 1 + 1e-6
    below = int(np.sum(_below(table, "printed")[kept]))
    return Finding(
        claim="Theorem 9: for γ ≤ 1 one vector has the promised margin over all classes, with the printed denominator.",
        printed=f"{float(_promise(1.0)):.2f} for γ = 1, two classes, ε = {_EPS:g}",
        ours=f"{table['printed'][kept & (table['margin'] > 0.9)].min():.2f} or more for γ = 1; {below} of "
        f"{np.sum(kept)} below the promise",
        holds=binom.sf(below - 1, np.sum(kept), _DELTA) > FALSE_ALARM,
        reason="more projections fall short than chance allows",
    )


def _denominator(table: Table) -> Finding:
    widest = table.where(margin=max(table.distinct("margin"), key=float))
    below = {column: int(np.sum(_below(widest, column))) for column in ("printed", "cosine")}
    all_below = int(np.sum(_below(table, "cosine")))
    return Finding(
        claim="Beyond the printed range the bound is false for the printed quotient, over ‖v‖ √(‖R_yx‖² + ‖R_y'x‖²), "
        "and true for the cosine, over ‖v‖ ‖R_yx - R_y'x‖. The proof, which nowhere uses γ ≤ 1, bounds the cosine; the "
        "quotient is smaller whenever R_yx and R_y'x have an acute angle, half of the time.",
        printed="for γ ≤ 1 only",
        beyond=True,
        ours=f"γ = 2: the quotient is below {float(_promise(2.0)):.2f} in {below['printed']} of {len(widest)} "
        f"projections, for n from {widest['n'].min():.0f} to {widest['n'].max():.0f}; any γ: the cosine is below the "
        f"bound in {all_below} of {len(table)}",
        holds=binom.sf(all_below - 1, len(table), _DELTA) > FALSE_ALARM
        and chance_of(below["printed"], len(widest), 0.5) > FALSE_ALARM,
        reason="the quotient is not below it half of the time, or the cosine more often than chance allows",
    )


THEOREM9 = Item(
    name="shi2012.theorem9",
    title="One vector for all classes: which denominator",
    experiment=Experiment(
        name="shi2012.theorem9",
        about="Two classes with a known margin, a projection for each: the best margin of one vector, over the printed "
        "denominator and as a cosine.",
        columns=("margin", "n", "printed", "cosine"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="11",
)
