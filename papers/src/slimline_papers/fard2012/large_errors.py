"""Theorem 1 for a large ε: the inner product of w with itself, whose tail falls more slowly than is printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from slimline import bounds, laws
from slimline_papers.chance import FALSE_ALARM, LIMIT, rarity_above
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.projected_norms import squared_norms, upper_tail
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EPS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 22.0, 25.0, 30.0, 40.0)
_DIMENSIONS = (1, 2, 4, 8)
_LARGEST_EPS = bounds.get("fard2012.1").eps_below


def _parts(study: Study) -> Sequence[Part]:
    return [(r,) for r in _DIMENSIONS]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    r = int(part[0])
    norms = squared_norms(study, "fard2012.large_errors", r, study.pick(50_000, 300_000, 3_000_000))
    for eps in _EPS:
        yield r, eps, len(norms), np.count_nonzero(np.abs(norms - 1) > eps), *upper_tail(norms, r, eps)


def _printed_bound(r: ArrayLike, eps: ArrayLike) -> NDArray[np.float64]:
    """Return (4|S|+2) exp(-rε²/48) for a set of one vector."""
    return np.asarray(6 * np.exp(-np.asarray(r, dtype=float) * np.asarray(eps, dtype=float) ** 2 / 48))


def _rates_cross() -> float:
    """Return the ε beyond which the exact rate of the upper tail is below the printed one."""
    return float(brentq(lambda eps: (eps - np.log1p(eps)) / 2 - eps**2 / 48, 1, 100))


def _draw(table: Table) -> Figure:
    figure, (tails, ratios) = canvas(columns=2, width=5.4, height=4.2)
    fine = np.linspace(0.1, 42, 300)
    for r, colour in zip(_DIMENSIONS, CYCLE, strict=False):
        rows = table.where(r=r)
        printed = _printed_bound(r, rows["eps"])
        measured(tails, rows["eps"], rows["upper_tail"], f"measured, r = {r}", colour=colour)
        law(tails, fine, laws.norm.sf(1 + fine, r), "", colour)
        bound(tails, fine, _printed_bound(r, fine), "", colour)
        measured(
            ratios, rows["eps"], rows["upper_tail"] / printed, f"measured, r = {r}", rows["error"] / printed, colour
        )
        law(ratios, fine, laws.norm.sf(1 + fine, r) / _printed_bound(r, fine), "", colour)
    law(tails, [], [], "exact law")
    bound(tails, [], [], "printed bound")
    ratios.axhline(1, color="0.4", linewidth=1)
    ratios.axvline(_rates_cross(), color="0.4", linewidth=1, linestyle=":", label=f"ε = {_rates_cross():.1f}")
    finish(
        tails, "How often ‖Rᵀw‖² exceeds (1+ε)‖w‖²", "ε", "probability", yscale="log", ylim=(1e-60, 10),
        legend="lower left",
    )  # fmt: skip
    finish(
        ratios, "Upper tail over the printed bound: above 1 it fails", "ε", "ratio", yscale="log",
        ylim=(1e-16, 1e16), legend="upper left",
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    r, eps = table["r"], table["eps"]
    printed = _printed_bound(r, eps)
    counted = rarity_above(table["beyond"], table["vectors"], printed) * len(table) < FALSE_ALARM
    broken = counted | ((table["upper_tail"] - printed) / table["error"] > LIMIT)
    deviations = np.abs(table["upper_tail"] - laws.norm.sf(1 + eps, r)) / table["error"]
    example = table.where(r=2, eps=30)
    first = f"; first seen at ε = {eps[broken].min():g}" if broken.any() else ""
    return [
        Finding(
            claim="For every ε > 0 the inner product of w with itself is kept within ε‖w‖², except with probability "
            "6 exp(-rε²/48).",
            printed=f"{_printed_bound(2, 30):.1e} at ε = 30, r = 2",
            ours=f"{example['upper_tail'][0]:.2e} ± {example['error'][0]:.0e} by importance sampling, exactly "
            f"{laws.norm.sf(31, 2):.2e}{first}",
            holds=not broken.any(),
            reason=f"the tail of a norm falls like exp(-rε/2) at last; beyond ε = {_rates_cross():.1f} that is slower",
            corrected=f"the same for ε ≤ {_LARGEST_EPS:g}, which is all that anyone wants; for one pair the exact law",
            corrected_holds=not broken[eps <= _LARGEST_EPS].any() and deviations.max() < LIMIT,
        ),
    ]


LARGE_ERRORS = Item(
    name="fard2012.large_errors",
    title="The tail of an inner product, for large errors",
    experiment=Experiment(
        name="fard2012.large_errors",
        about="Unit vectors, projected by Gaussian matrices: how often the squared norm, the inner product of a vector "
        "with itself, is off by more than ε, and its upper tail by importance sampling.",
        columns=("r", "eps", "vectors", "beyond", "upper_tail", "error"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="10",
)
