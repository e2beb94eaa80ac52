"""Equation 2: how many dimensions it takes to keep all points, by the bound of Balcan et al."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from slimline import GaussianProjection, geometry
from slimline.bounds import get, margin_dimension
from slimline_papers.chance import FALSE_ALARM
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARGIN, _DELTA, _FEATURES = 0.3, 0.05, 1_200
_BOUND, _LAW = "eq. 2", "exact law"


def _parts(study: Study) -> Sequence[Part]:
    return [(way, m) for m in study.pick((10, 100), (10, 100, 1_000), (10, 100, 1_000)) for way in (_BOUND, _LAW)]


def _dimension(way: str, points: int) -> int:
    """Return how many dimensions keep half the margin of all points, except with probability δ."""
    if way == _BOUND:  # a share of errors below 1/m is none
        return int(get("balcan2006").dimension(0.5 / points, _DELTA, margin=_MARGIN))
    return margin_dimension([_MARGIN] * points, _DELTA, margin=_MARGIN / 2)


def points_at_margin(points: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return points of two classes whose cosine with the first axis is the margin, or its opposite.

    Parameters
    ----------
    points : int
        How many.
    seed : int
        Of their other coordinates.

    Returns
    -------
    X : array of shape (points, n_features)
        Of norm 1.
    y : array of int
        Classes, 0 and 1.
    """
    X = np.random.default_rng(seed).standard_normal((points, _FEATURES))
    X[:, 0] = 0
    X *= np.sqrt(1 - _MARGIN**2) / np.linalg.norm(X, axis=1, keepdims=True)
    X[:, 0] = _MARGIN
    y = np.arange(points) % 2
    return np.where(y == 1, 1, -1)[:, None] * X, y


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    way, m = str(part[0]), int(part[1])
    n, matrices, kept = _dimension(way, m), study.pick(20, 40, 400), 0
    X, y = points_at_margin(m, study.seed_of("shi2012.eq2", m))
    with_separator = np.vstack([X, np.eye(1, _FEATURES)])
    for number in range(matrices):
        seed = study.seed_of("shi2012.eq2", way, m, number)
        *Z, u = GaussianProjection(n, random_state=seed).fit_transform(with_separator)
        kept += geometry.error_allowed_margin(np.array(Z), y, u, normalised=True).value >= _MARGIN / 2
    yield way, m, n, matrices, kept


def _draw(table: Table) -> Figure:
    figure, (left, right) = canvas(columns=2, width=5.2)
    points = np.geomspace(10, 1e6, 50)
    shares = 0.5 / points
    bound(left, points, get("balcan2006").required(shares, _DELTA, margin=_MARGIN), "eq. 2 with a share of 1/(2m)")
    law(left, table.where(way=_LAW)["points"], table.where(way=_LAW)["n"], "exact law")
    for colour, way, shift in zip(CYCLE, (_BOUND, _LAW), (0.95, 1.05), strict=False):
        rows = table.where(way=way)
        name = f"n of {way}" if way == _BOUND else f"n of the {way}"
        measured(left, rows["points"], rows["n"], f"projected to the {name}", colour=colour)
        measured(right, shift * rows["points"], rows["kept"] / rows["matrices"], name, colour=colour)
    bound(right, table["points"][[0, -1]], 2 * [1 - _DELTA], f"promised, {1 - _DELTA:g}")
    title = "Dimensions that keep all m points; printed: ∞"
    finish(left, title, "points m", "dimensions n", xscale="log", ylim=(0, 2_200))
    finish(
        right, "Projections that keep all points at γ/2", "points m", "share of projections", xscale="log",
        ylim=(0.7, 1.03), legend="lower left",
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    short = table["matrices"] - table["kept"]
    bears = np.asarray(binom.sf(short - 1, table["matrices"], _DELTA) > FALSE_ALARM / len(table))
    of_bound = [value == _BOUND for value in table.values("way")]
    largest = int(np.argmax(np.where(of_bound, table["points"], 0)))
    law_n = table.where(way=_LAW, points=int(table["points"][largest]))["n"][0]
    return [
        Finding(
            claim="By the bound of Balcan et al. it takes infinitely many dimensions to keep a positive margin.",
            printed="n = ∞",
            ours=f"{table['points'][largest]:,.0f} points, γ = {_MARGIN:g}: all kept at γ/2 in "
            f"{table['kept'][largest]:.0f} of {table['matrices'][largest]:.0f} projections to "
            f"n = {table['n'][largest]:,.0f}; the exact law asks for {law_n:,.0f}",
            holds=np.all(table["kept"] == 0),
            reason="for m points any share of errors below 1/m is none, so a finite n is enough",
            corrected="n = (c/γ²) ln(1/(ρδ)) with ρ < 1/m, c = 8: finite, and logarithmic in m",
            corrected_holds=np.all(bears[of_bound]),
        )
    ]


EQ2 = Item(
    name="shi2012.eq2",
    title="“Infinitely many projections”, for finitely many points",
    experiment=Experiment(
        name="shi2012.eq2",
        about="Points of margin 0.3, projected to as many dimensions as equation 2 asks for with a share of errors "
        "below one point, and as the exact law does: how often all points keep half the margin.",
        columns=("way", "points", "n", "matrices", "kept"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="6",
)
