"""Corollary 2: how many projections keep a subspace of ρ dimensions: as printed, as corrected, as measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from slimline import bounds, geometry
from slimline.projections import Gaussian, RandomSign
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FAMILIES = {"Gaussian": Gaussian, "Bernoulli": RandomSign}
#: Error asked for, by rank: what more would take a matrix of gigabytes.
_ASKED = {25: (0.5, 0.25, 0.1), 100: (0.5, 0.25, 0.1), 400: (0.5,)}
_DELTA = 0.05
_RULES = {
    "printed": "printed, 3ρ/ε",
    "limit": "exact in the limit, ρ/(√(1+ε) - 1)²",
    "algebra": "repaired, 9ρ/ε²",
    "finite": "Davidson-Szarek, δ = 0.05",
}
#: Mean and standard deviation of the largest eigenvalue, in fluctuations about its limit (Tracy and Widom),
_MEAN, _SPREAD = -1.2, 1.27
#: what finite sizes may add to that mean, and the standard deviations that a mean of draws may be off.
_FINITE, _LIMIT = 1.5, 6.0
#: Chance of a false alarm in a count of failures.
_CHANCE = 1e-7


def _components(rule: str, eps: float, rank: int) -> int:
    """Return the r that a form of the corollary asks for."""
    if rule == "printed":
        return int(bounds.get("vaswani2013.c2", "printed").dimension(eps, rank=rank))
    if rule == "finite":
        return int(bounds.get("vaswani2013.c2").dimension(eps, _DELTA, rank=rank))
    name = {"limit": "vaswani2013.3", "algebra": "vaswani2013.c2.algebra"}[rule]
    return int(bounds.get(name).dimension(eps, rank=rank))


def _parts(study: Study) -> Sequence[Part]:
    ranks = study.pick((25, 100), (25, 100, 400), (25, 100, 400))
    return [(family, rank, eps) for family in _FAMILIES for rank in ranks for eps in _ASKED[rank]]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    family, rank, eps = str(part[0]), int(part[1]), float(part[2])
    for rule in _RULES:
        r = _components(rule, eps, rank)
        if rank * r > study.pick(2e6, np.inf, np.inf):
            continue
        for draw in range(study.pick(3, 5, 50)):
            # of the unit vectors ‖VᵀV - VᵀRRᵀV‖ is the ‖AAᵀ/r - I‖ of the corollary: R is A/√r
            projection = _FAMILIES[family](rank, r, study.seed_of("vaswani2013.corollary2", family, rank, r, draw))
            yield family, rank, eps, rule, r, draw, geometry.embedding_error(np.eye(rank), projection).value


def error_in_the_limit(rank: ArrayLike, r: ArrayLike) -> NDArray[np.float64]:
    """Return ρ/r + 2√(ρ/r), what ‖AAᵀ/r - I‖₂ comes to in the limit of large sizes (Bai and Yin).

    Parameters
    ----------
    rank, r : array-like
        ρ and the number of projections.

    Returns
    -------
    error : array
        The largest eigenvalue, less 1.
    """
    share = np.asarray(rank, dtype=float) / np.asarray(r, dtype=float)
    return np.asarray(share + 2 * np.sqrt(share))


def fluctuations(rank: float, r: float, error: float) -> float:
    """Return how far an error is from its limit, in fluctuations of the largest eigenvalue (Johnstone 2001).

    Parameters
    ----------
    rank, r : float
        ρ and the number of projections.
    error : float
        ‖AAᵀ/r - I‖₂, or a mean of such.

    Returns
    -------
    distance : float
        -1.2 on average over large matrices.
    """
    unit = (np.sqrt(r) + np.sqrt(rank)) * (1 / np.sqrt(r) + 1 / np.sqrt(rank)) ** (1 / 3) / r
    return float((error - error_in_the_limit(rank, r)) / unit)


def is_by_chance(distance: float, draws: int) -> bool:
    """Return whether the mean of some draws may be so many `fluctuations` from the limit.

    Parameters
    ----------
    distance : float
        From `fluctuations`.
    draws : int
        How many.

    Returns
    -------
    answer : bool
        No, if it is more than 6 standard deviations off.
    """
    return bool(abs(distance - _MEAN) <= _FINITE + _LIMIT * _SPREAD / np.sqrt(draws))


def _cells(table: Table) -> list[Table]:
    """Return the draws of each family, rank and r."""
    keys = dict.fromkeys(zip(*(table.values(name) for name in ("family", "rank", "eps", "rule")), strict=True))
    return [table.where(family=f, rank=rank, eps=eps, rule=rule) for f, rank, eps, rule in keys]


def _draw(table: Table) -> Figure:
    figure, (left, right) = canvas(2, width=5.4, height=4.6)
    shares = np.geomspace(5, 1000, 200)
    law(left, shares, error_in_the_limit(1, shares), "limit, ρ/r + 2√(ρ/r)")
    bound(left, shares, 3 / shares, "printed, ε = 3ρ/r")
    for colour, rank in zip(CYCLE, table.distinct("rank"), strict=False):
        cells = _cells(table.where(rank=rank, family="Gaussian"))
        ratio = [cell.mean("r") / cell.mean("rank") for cell in cells]
        measured(
            left, ratio, [c.mean("error") for c in cells], f"ρ = {rank}", [c.spread("error") for c in cells], colour
        )
    signs = _cells(table.where(family="Bernoulli"))
    ratio = [cell.mean("r") / cell.mean("rank") for cell in signs]
    left.plot(ratio, [cell.mean("error") for cell in signs], "k+", markersize=8, label="the same with random signs")
    finish(
        left, "Error falls like √(ρ/r), not like ρ/r", "projections over rank, r/ρ", "‖AAᵀ/r - I‖₂",
        xscale="log", yscale="log",
    )  # fmt: skip
    asked = np.array([0.08, 0.6])
    law(right, asked, asked, "error asked for")
    for (rule, label), colour in zip(_RULES.items(), (CYCLE[1], CYCLE[0], CYCLE[2], CYCLE[3]), strict=True):
        cells = _cells(table.where(rank=100, family="Gaussian", rule=rule))
        measured(right, [c.mean("eps") for c in cells], [c.mean("error") for c in cells], label, colour=colour)
    finish(
        right, "ρ = 100: above the line a promise is broken", "error asked for, ε", "error measured",
        xscale="log", yscale="log", ylim=(0.03, 3), legend="upper left",
    )  # fmt: skip
    right.set_xticks([0.1, 0.25, 0.5], ["0.1", "0.25", "0.5"])
    right.set_xticks([], minor=True)
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    return [_promise(table), _limit(table), _exponent(table), _linear_in_rank(table)]


def _promise(table: Table) -> Finding:
    broken = {rule: table.where(rule=rule) for rule in _RULES}
    failures = {rule: int(np.sum(cells["error"] > cells["eps"])) for rule, cells in broken.items()}
    example = table.where(family="Gaussian", rank=100, eps=0.1, rule="printed")
    allowed = binom.isf(_CHANCE, len(broken["finite"]), _DELTA)
    return Finding(
        claim="‖AAᵀ/r - I‖₂ ≤ ε for every ρ × r matrix of independent entries once r ≥ 3ρ/ε.",
        printed="r ≥ 3ρ/ε; for ρ = 100, ε = 0.1: r = 3,000, error at most 0.1",
        ours=f"above ε in {failures['printed']} of {len(broken['printed'])} draws; for ρ = 100, ε = 0.1, "
        f"r = {example.mean('r'):,.0f}: {example.mean('error'):.3f} ± {example.spread('error'):.3f}",
        holds=failures["printed"] == 0,
        reason="(1 + √y)² - 1 ≤ ε gives √y ≤ √(1+ε) - 1, about ε/2: the number of projections grows like 1/ε².",
        corrected=f"r ≥ 9ρ/ε²: above ε in {failures['algebra']} of {len(broken['algebra'])} draws; Davidson and Szarek "
        f"for δ = {_DELTA}: in {failures['finite']} of {len(broken['finite'])}",
        corrected_holds=failures["algebra"] == 0 and failures["finite"] <= allowed,
    )


def _limit(table: Table) -> Finding:
    cells = _cells(table)
    off = [fluctuations(cell.mean("rank"), cell.mean("r"), cell.mean("error")) for cell in cells]
    shares = [cell.mean("error") / float(error_in_the_limit(cell.mean("rank"), cell.mean("r"))) for cell in cells]
    return Finding(
        claim="The singular values of A/√r go to 1 ± √(ρ/r), for Gaussian entries and for signs (Theorem 3).",
        printed="largest 1 + √(ρ/r), which makes the error ρ/r + 2√(ρ/r)",
        ours=f"mean errors {min(shares):.2f} to {max(shares):.2f} times that: at these sizes the largest eigenvalue "
        f"still stays below its limit, by {-max(off):.1f} to {-min(off):.1f} units of Tracy and Widom, 1.2 in theory",
        holds=all(is_by_chance(distance, len(cell)) for distance, cell in zip(off, cells, strict=True)),
        reason=f"a mean over draws is more than {_LIMIT:g} standard deviations off",
    )


def _exponent(table: Table) -> Finding:
    slopes = []
    for rank in table.distinct("rank"):
        cells = _cells(table.where(rank=rank))
        r, error = np.array([[cell.mean("r"), cell.mean("error")] for cell in cells]).T
        slopes.append(np.polyfit(np.log(r), np.log(error), 1)[0])
    return Finding(
        claim="By the corollary the error is at most 3ρ/r: at a fixed rank it falls at least in proportion to 1/r.",
        printed="exponent -1",
        ours=f"exponents {min(slopes):.2f} to {max(slopes):.2f}",
        holds=np.max(slopes) < -0.9,
        reason="The error falls like the square root of what the corollary says.",
        corrected="exponent -1/2, a little steeper where r/ρ is small",
        corrected_holds=np.min(slopes) > -0.65 and np.max(slopes) < -0.45,
    )


def _linear_in_rank(table: Table) -> Finding:
    rows = table.where(rule="limit", eps=0.5)
    ranks = [float(rank) for rank in rows.distinct("rank")]
    share = [rows.where(rank=rank).mean("error") / 0.5 for rank in ranks]
    # r ∝ ρ: below the limit by fluctuations, which are about ρ^(-2/3) of it
    even = [
        1 - 3 * rank ** (-2 / 3) < value < 1 + 2 * rank ** (-2 / 3) for rank, value in zip(ranks, share, strict=True)
    ]
    return Finding(
        claim="For a fixed error the number of projections is proportional to the rank: O(ρ), not O(ρ log ρ).",
        printed="linear in ρ",
        ours=f"r = {rows['r'][-1] / rows['rank'][-1]:.1f} ρ gives "
        + ", ".join(f"{0.5 * value:.2f} for ρ = {rank:g}" for rank, value in zip(ranks, share, strict=True)),
        holds=all(even),
        reason="where r is proportional to ρ the error is not the same for all ranks",
    )


COROLLARY2 = Item(
    name="vaswani2013.corollary2",
    title="How many projections keep a subspace",
    experiment=Experiment(
        name="vaswani2013.embedding",
        about="‖AAᵀ/r - I‖₂ of ρ × r matrices of Gaussian and sign entries, at the r that each form of Corollary 2 "
        "asks for.",
        columns=("family", "rank", "eps", "rule", "r", "draw", "error"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="1",
)
