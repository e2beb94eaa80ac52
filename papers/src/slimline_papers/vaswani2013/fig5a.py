"""Fig. 5a: the error of dual recovery against the rank of the data, at 900 projections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from slimline.report._figures import BLUE, PURPLE
from slimline_papers.drawing import bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Item
from slimline_papers.table import Table
from slimline_papers.vaswani2013.corollary2 import error_in_the_limit, fluctuations, is_by_chance
from slimline_papers.vaswani2013.low_rank import LOW_RANK, PROJECTIONS, recovery_error
from slimline_papers.vaswani2013.weight_laws import dual_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
#: Chance of a false alarm at one rank of one data set.
_CHANCE = 1e-8


def _curve(table: Table, column: str) -> tuple[Floats, Floats, Floats]:
    """Return ranks, and mean and standard deviation over the runs."""
    ranks = [float(rank) for rank in table.distinct("rank")]
    cells = [table.where(rank=rank) for rank in ranks]
    spread = np.array([cell.spread(column) for cell in cells])
    return np.array(ranks), np.array([cell.mean(column) for cell in cells]), np.nan_to_num(spread)


def _slope(ranks: Floats, errors: Floats) -> float:
    """Return the slope of the nearest line through the origin."""
    return float(ranks @ errors / (ranks @ ranks))


def _residual(differences: Floats) -> float:
    return float(np.sqrt(np.mean(differences**2)))


def _exponents(ranks: Floats, errors: Floats) -> tuple[float, float]:
    """Return the power of the rank that errors grow with, over the lower and over the upper half of the ranks."""
    half = (len(ranks) + 1) // 2
    low, high = (
        float(np.polyfit(np.log(ranks[part]), np.log(errors[part]), 1)[0]) for part in (slice(half), slice(half, None))
    )
    return low, high


def _draw(table: Table) -> Figure:
    names = table.distinct("data")
    figure, panels = canvas(len(names), width=5.4, height=4.6)
    for panel, name in zip(panels, names, strict=True):
        rows = table.where(data=name, r=PROJECTIONS)
        ranks, errors, spread = _curve(rows, "error")
        fine = np.linspace(1, ranks.max(), 300)
        slope = _slope(ranks, errors)
        law(panel, fine, error_in_the_limit(fine, PROJECTIONS), "ρ/r + 2√(ρ/r)", PURPLE)
        law(panel, fine, recovery_error(fine, PROJECTIONS), "exact law of the recovery error", BLUE)
        bound(panel, fine, slope * fine, f"best line, {slope:.2g} ρ")
        measured(panel, ranks, _curve(rows, "embedding")[1], "embedding error", _curve(rows, "embedding")[2], PURPLE)
        measured(panel, ranks, errors, "error of dual recovery", spread, BLUE)
        finish(
            panel, f"{str(name).upper()}, r = {PROJECTIONS}", "rank ρ of the data", "relative error",
            ylim=(0, 1.15 * _curve(rows, "embedding")[1].max()), xlim=(0, 1.03 * ranks.max()),
        )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    return [_shape_of(table.where(data=name, r=PROJECTIONS), str(name).upper()) for name in table.distinct("data")]


def _shape_of(rows: Table, name: str) -> Finding:
    ranks, errors, _ = _curve(rows, "error")
    of_line = _residual(errors - _slope(ranks, errors) * ranks)
    of_law = _residual(errors - recovery_error(ranks, PROJECTIONS))
    low, high = _exponents(ranks, errors)
    off = _curve(rows, "embedding")[1] / error_in_the_limit(ranks, PROJECTIONS)
    return Finding(
        claim=f"{name}: at a fixed number of projections the error of dual recovery is linear in the rank, which "
        "agrees with Corollary 2.",
        printed="a line; by Corollary 2 through the origin",
        ours=f"residual of the best line through the origin {of_line:.3f}, of the exact law, in which nothing is "
        f"fitted, {of_law:.3f}, over ranks {ranks.min():g} to {ranks.max():g}; the error grows like the rank to the "
        f"power of {low:.2f} over the lower half of the ranks, and of {high:.2f} over the upper half; a line with a "
        f"constant begins at {np.polyfit(ranks, errors, 1)[1]:.2f}, not 0",
        holds=of_line < of_law,
        reason="The error follows the moments of an inverse Wishart matrix: like √(ρ/r) where ρ/r is small, steeper "
        "and steeper later. A piece between the two looks straight, but does not point to the origin.",
        corrected="recovery error by the moments of an inverse Wishart matrix; embedding error ρ/r + 2√(ρ/r), a root "
        f"(measured: {off.min():.2f} to {off.max():.2f} times that)",
        corrected_holds=of_law < of_line and _by_the_law(rows) and _by_the_limit(rows),
    )


def _by_the_law(rows: Table) -> bool:
    """Return whether mean squared errors agree with the exact law, taken as the χ² of the same mean and variance."""
    for rank in (float(rank) for rank in rows.distinct("rank")):
        squares = rows.where(rank=rank)["error"] ** 2
        exact = dual_error(PROJECTIONS, rank)
        freedom = len(squares) * 2 * float(exact.mean / exact.deviation) ** 2
        value = freedom * squares.mean() / float(exact.mean)
        if not chi2.ppf(_CHANCE, freedom) < value < chi2.isf(_CHANCE, freedom):
            return False
    return True


def _by_the_limit(rows: Table) -> bool:
    """Return whether mean embedding errors are as far below their limit as finite sizes make them."""
    cells = [rows.where(rank=rank) for rank in rows.distinct("rank")]
    off = [fluctuations(cell.mean("rank"), PROJECTIONS, cell.mean("embedding")) for cell in cells]
    return all(is_by_chance(distance, len(cell)) for distance, cell in zip(off, cells, strict=True))


FIG5A = Item(
    name="vaswani2013.fig5a",
    title="Error of dual recovery against the rank",
    experiment=LOW_RANK,
    draw=_draw,
    judge=_judge,
    chosen="the ranks; how the rank is lowered, by the truncated singular value decomposition of the data as they come",
    correction="1",
)
