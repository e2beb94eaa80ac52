"""Lemma 10: the tails of a projected norm, one of them printed with the wrong sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from slimline import GaussianProjection, laws
from slimline.bounds import get
from slimline_papers.chance import FALSE_ALARM, chance_of
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEATURES, _DIMENSIONS = 300, (30, 75, 150, 300)
_EPS = (0.1, 0.3, 0.5)


def _parts(study: Study) -> Sequence[Part]:
    return [(n,) for n in _DIMENSIONS]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    n, matrices = int(part[0]), study.pick(200, 2_000, 20_000)
    x = np.random.default_rng(study.seed_of("shi2012.lemma10")).standard_normal((1, _FEATURES))
    seeds = (study.seed_of("shi2012.lemma10", n, number) for number in range(matrices))
    sketches = np.vstack([GaussianProjection(n, random_state=seed).fit_transform(x) for seed in seeds])
    ratio = np.sum(sketches**2, axis=1) / np.sum(x**2)
    for eps in _EPS:
        yield n, eps, matrices, np.sum(ratio <= 1 - eps), np.sum(ratio <= 1 + eps), np.sum(ratio >= 1 + eps)


def _tail(n: NDArray[np.float64], eps: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return exp(-(n/2)(ε²/2 - ε³/3)): half of what the lemma allows both tails."""
    return np.exp(-np.asarray(n) / 2 * (np.square(eps) / 2 - np.power(eps, 3) / 3))


def _draw(table: Table) -> Figure:
    figure, panels = canvas(columns=2, width=5.2)
    n = np.linspace(30, 300, 100).round()
    for panel, column in zip(panels, ("at_most", "at_least"), strict=True):
        for colour, eps in zip(CYCLE, _EPS, strict=False):
            rows = table.where(eps=eps)
            exact = laws.norm.cdf(1 + eps, n) if column == "at_most" else laws.norm.sf(1 + eps, n)
            law(panel, n, exact, "_", colour)
            bound(panel, n, _tail(n, eps), "_", colour)
            measured(panel, rows["n"], rows[column] / rows["matrices"], f"ε = {eps:g}", colour=colour)
    sides = ("As printed: P(‖Rx‖² ≤ (1+ε)‖x‖²)", "Read ≥: P(‖Rx‖² ≥ (1+ε)‖x‖²)")
    for panel, side, legend in zip(panels, sides, ((0.45, 0.28), "upper right"), strict=True):
        finish(panel, side, "dimensions n", "probability", ylim=(-0.03, 1.03), legend=legend)
    figure.suptitle("Dots: frequencies; lines: exact law; dashes: what the lemma allows", fontsize=11)
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    allowed = _tail(table["n"], table["eps"])
    exact = laws.norm.sf(1 + table["eps"], table["n"])
    chance = chance_of(table["at_least"], table["matrices"], exact)
    share = table["at_most"] / table["matrices"]
    worst = int(np.argmax(share - allowed))
    outside = table["below"] + table["at_least"]
    lemma = get("shi2012.10").delta(table["n"], table["eps"])
    return [
        Finding(
            claim="Lemma 10: a squared norm changes by more than 1 ± ε times with at most the printed probability.",
            printed="2 exp(-(n/2)(ε²/2 - ε³/3))",
            ours=f"{np.max(outside / table['matrices'] / lemma):.2f} times that at most, in {len(table)} frequencies",
            holds=_bears(outside, table["matrices"], lemma),
            reason="a frequency is above the bound by more than chance allows",
        ),
        Finding(
            claim="Second tail in its proof: P(‖Rx‖² ≤ (1+ε)‖x‖²) is at most half of that.",
            printed=f"{allowed[worst]:.2g} at n = {table['n'][worst]:.0f}, ε = {table['eps'][worst]:g}",
            ours=f"{share[worst]:.2f}",
            holds=_bears(table["at_most"], table["matrices"], allowed),
            reason="a misprint: that event is nearly certain, and its opposite is meant",
            corrected="P(‖Rx‖² ≥ (1+ε)‖x‖²) is; it follows the law of χ².",
            corrected_holds=_bears(table["at_least"], table["matrices"], allowed) and chance > FALSE_ALARM,
        ),
    ]


def _bears(counts: NDArray[np.float64], trials: NDArray[np.float64], allowed: NDArray[np.float64]) -> bool:
    """Return whether no count is above what a probability allows, beyond chance."""
    tails = binom.sf(counts - 1, trials, np.minimum(allowed, 1))
    return bool(np.all(tails > FALSE_ALARM / len(counts)))


LEMMA10 = Item(
    name="shi2012.lemma10",
    title="The tails of a projected norm",
    experiment=Experiment(
        name="shi2012.lemma10",
        about="One vector of R³⁰⁰, projected by Gaussian matrices: how often its squared norm is at most 1 - ε, at "
        "most 1 + ε and at least 1 + ε times what it was.",
        columns=("n", "eps", "matrices", "below", "at_most", "at_least"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="6",
)
