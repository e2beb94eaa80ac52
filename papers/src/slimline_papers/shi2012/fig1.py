"""Fig. 1: four points with a margin of 1, which fewer and fewer projections to a line keep apart as they spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slimline import GaussianProjection, geometry
from slimline_papers.chance import ONE_LIMIT
from slimline_papers.drawing import canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SPREADS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_LABELS = np.array([1, 1, -1, -1])


def _parts(study: Study) -> Sequence[Part]:
    return [(spread,) for spread in _SPREADS]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    spread = float(part[0])
    X = np.array([[-spread, 1.0], [spread, 1.0], [-spread, -1.0], [spread, -1.0]])
    margin = geometry.margin(X, _LABELS).value
    matrices = study.pick(200, 2_000, 20_000)
    separable = 0
    for number in range(matrices):
        line = GaussianProjection(1, random_state=study.seed_of("shi2012.fig1", spread, number)).fit_transform(X)
        signed = _LABELS * line[:, 0]
        separable += signed.min() > 0 or signed.max() < 0
    yield spread, margin, matrices, separable


def _separable_probability(spread: ArrayLike) -> NDArray[np.float64]:
    """Return the angle between the two dashed lines of the figure, as a share of all directions."""
    return 2 / np.pi * np.arctan(1 / np.asarray(spread, dtype=float))


def _draw(table: Table) -> Figure:
    figure, (panel,) = canvas(width=6.4, height=4.2)
    spreads = np.geomspace(min(_SPREADS), max(_SPREADS), 200)
    law(panel, spreads, _separable_probability(spreads), "exact law, (2/π) arctan(1/a)")
    measured(panel, table["spread"], table["separable"] / table["matrices"], "frequency")
    finish(
        panel, "Points (±a, ±1): the margin stays 1, the chance of keeping it goes to 0", "spread a",
        "probability that a line separates", xscale="log", ylim=(0, 1),
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    share = table["separable"] / table["matrices"]
    exact = _separable_probability(table["spread"])
    deviations = np.abs(share - exact) / np.sqrt(exact * (1 - exact) / table["matrices"])
    widest = int(np.argmax(table["spread"]))
    return [
        Finding(
            claim="However far the points spread, their unnormalised margin before projection is the same.",
            printed="unchanged",
            ours=f"{table['margin'].min():.6g} to {table['margin'].max():.6g}",
            holds=np.allclose(table["margin"], 1, rtol=1e-6),
            reason="margins differ",
        ),
        Finding(
            claim="The chance that a projection to a line keeps them apart is the angle between two lines over π.",
            printed="(2/π) arctan(1/a)",
            ours=f"frequencies at most {deviations.max():.1f} standard deviations off",
            holds=deviations.max() < ONE_LIMIT,
            reason="a frequency is further off than chance allows",
        ),
        Finding(
            claim="That chance goes to zero.",
            printed="close to zero",
            ours=f"{share[widest]:.3f} at a = {table['spread'][widest]:g}",
            holds=np.all(np.diff(exact) < 0) and share[widest] < 0.05,
            reason="it does not fall",
        ),
    ]


FIG1 = Item(
    name="shi2012.fig1",
    title="A margin that a projection does not keep",
    experiment=Experiment(
        name="shi2012.spread",
        about="Four points (±a, ±1), projected to a line by Gaussian matrices: how often it keeps the classes apart.",
        columns=("spread", "margin", "matrices", "separable"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
)
