"""Equation 9: a chain of two inequalities, the first of them false and its end true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from slimline import GaussianProjection
from slimline_papers.drawing import canvas, finish, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEATURES, _DIMENSION, _EPS = 300, 30, 0.5
_COSINES = (-0.95, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 0.95)
#: What rounding may do to a difference of numbers of size 1.
_ROUNDING = 1e-12


def _parts(study: Study) -> Sequence[Part]:
    return [(c,) for c in _COSINES]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    """Only projections that keep both norms within 1 ± ε count, as equation 7 asks."""
    c = float(part[0])
    vectors = np.zeros((2, _FEATURES))
    vectors[:, 0], vectors[1, 1] = (1, c), np.sqrt(1 - c**2)
    low, high = np.sqrt([1 - _EPS, 1 + _EPS])
    within = first = second = end = 0
    for number in range(study.pick(200, 1_000, 10_000)):
        projection = GaussianProjection(_DIMENSION, random_state=study.seed_of("shi2012.eq9", c, number))
        x, w = projection.fit_transform(vectors)
        norms = np.linalg.norm(x), np.linalg.norm(w)
        if not (low <= min(norms) and max(norms) <= high):
            continue
        left = np.sum((x - w) ** 2)
        x, w = x / norms[0], w / norms[1]
        middle, right = np.sum((low * x - high * w) ** 2), high**2 * np.sum((x - w) ** 2) + (high - low) ** 2
        within += 1
        first += left > middle + _ROUNDING
        second += middle > right + _ROUNDING
        end += left > right + _ROUNDING
    yield c, within, first, second, end


def _draw(table: Table) -> Figure:
    figure, (panel,) = canvas(width=6.4, height=4.2)
    names = {"first": "first step", "second": "second step", "end": "both together"}
    for shift, (column, name) in zip((-0.02, 0.0, 0.02), names.items(), strict=True):
        measured(panel, table["cosine"] + shift, table[column] / table["within"], name)
    finish(
        panel, f"Eq. 9, n = {_DIMENSION}, ε = {_EPS:g}: projections that break it", "cosine of the two vectors",
        "share of projections", ylim=(-0.03, 0.9), legend="upper right",
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    broken = {column: int(table[column].sum()) for column in ("first", "second", "end")}
    total = int(table["within"].sum())
    return [
        Finding(
            claim="Eq. 9, first step: ‖Rx/‖x‖ - Rw/‖w‖‖² is at most ‖√(1-ε) x̂ - √(1+ε) ŵ‖², x̂ and ŵ being the "
            "directions of Rx and Rw.",
            printed="whenever both norms are kept within 1 ± ε",
            ours=f"broken in {broken['first']:,} of {total:,} projections",
            holds=broken["first"] == 0,
            reason="it is false as soon as both norms have grown",
            corrected="The end of the chain, (1+ε)‖x̂ - ŵ‖² + (√(1+ε) - √(1-ε))², bounds it directly: broken in "
            f"{broken['end']}.",
            corrected_holds=broken["end"] == 0 and total > 0,
        ),
        Finding(
            claim="Eq. 9, second step, said to be a property of acute angles.",
            printed="acute angles",
            ours=f"broken in {broken['second']} of {total:,} projections, acute and obtuse",
            holds=broken["second"] == 0 and total > 0,
            reason="it is broken",
        ),
    ]


EQ9 = Item(
    name="shi2012.eq9",
    title="Equation 9: a false step, and a true end",
    experiment=Experiment(
        name="shi2012.eq9",
        about="Two unit vectors, projected by Gaussian matrices that keep both norms within 1 ± ε: how often each "
        "step of equation 9 is broken.",
        columns=("cosine", "within", "first", "second", "end"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="6",
)
