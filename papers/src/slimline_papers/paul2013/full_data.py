"""Evidence about the labels in the printed numbers on the full data, without any projection."""

from __future__ import annotations

import math

import numpy as np

from slimline_papers.finding import Finding
from slimline_papers.paul2013.cells import ERROR, LIMIT, MARGIN, SHARE, cells_of, families_of, listed
from slimline_papers.paul2013.synthetic import DESCRIBED, FAMILIES, FULL, IMPLIED
from slimline_papers.printed import printed
from slimline_papers.table import Table

#: Share of the points that nine of ten folds learn from.
_LEARNT = 0.9


def guessing_finding(table: Table) -> Finding:
    """Return how far the error on the full data, labelled as described, is from that of the difference of means.

    Parameters
    ----------
    table : Table
        Of the experiment.

    Returns
    -------
    finding : Finding
        Computed from it.
    """
    cells = [cell for cell in cells_of(table, DESCRIBED, ERROR) if cell.where.endswith(FULL)]
    law, off = [], 0.0
    for family, cell in zip(families_of(table), cells, strict=True):
        size, n_sets = FAMILIES[family], len(table.where(family=family).distinct("dataset"))
        q = 2 * _LEARNT * size.n / (np.pi * size.d)
        law.append(100 * float(np.arccos(np.sqrt(q / (1 + q)))) / np.pi)
        # every point of every data set is a coin
        off = max(off, abs(cell.ours - law[-1]) / (100 * np.sqrt(0.25 / (size.n * n_sets))))
    return Finding(
        claim="Labelled by sign(ŵᵀx), a machine that learns from all features errs on arccos(c)/π of the points, where "
        "c² = q/(1+q) and q = 2n/(πd): n Gaussian points tell a direction in d ≫ n dimensions up to the cosine c only.",
        printed=listed([cell.printed for cell in cells]) + " %, without a law",
        beyond=True,
        ours=f"{listed([cell.ours for cell in cells])} %, by the law {listed(law)} %",
        holds=off < LIMIT,
        reason="the error on the full data is further from this law than chance allows",
    )


def majority_finding(table: Table) -> Finding:
    """Return how close the error on the full data, labelled as implied, is to the share of the minority.

    Parameters
    ----------
    table : Table
        Of the experiment.

    Returns
    -------
    finding : Finding
        Computed from it.
    """
    full = table.where(labels=IMPLIED, method=FULL)
    errors, minority = ([full.where(family=f).mean(c) for f in families_of(table)] for c in ("eps_out", "minority"))
    numbers = printed("paul2013", ERROR.key)
    return Finding(
        claim="The error on the full data is the share of the minority: all points are taken for the majority.",
        beyond=True,
        printed=listed([numbers[family]["CW"][-1] for family in families_of(table)]) + " %",
        ours=f"{listed(errors)} %, minorities of {listed(minority)} %",
        holds=max(abs(error - share) for error, share in zip(errors, minority, strict=True)) < 1,
        reason="the two are more than one per cent of the points apart",
    )


def half_distance_finding(table: Table) -> Finding:
    """Return how close margins on the full data are to half the distance of the two class means.

    Parameters
    ----------
    table : Table
        Of the experiment.

    Returns
    -------
    finding : Finding
        Computed from it.
    """
    off, texts = 0.0, []
    for way in (DESCRIBED, IMPLIED):
        full = table.where(labels=way, method=FULL)
        p = full["minority"] / 100
        sizes = [FAMILIES[str(family)] for family in full.values("family")]
        law = np.sqrt([size.d / (_LEARNT * size.n) for size in sizes] / (p * (1 - p))) / 2
        ratio = full["margin"] / law
        off = max(off, float(np.abs(ratio - 1).max()))
        texts.append(f"{way}: {ratio.min():.3f} to {ratio.max():.3f} times that")
    numbers = printed("paul2013", MARGIN.key)
    shares = [_share_of(numbers[f]["CW"][-1], FAMILIES[f].n, FAMILIES[f].d) for f in families_of(table)]
    errors = [printed("paul2013", ERROR.key)[f]["CW"][-1] for f in families_of(table)]
    return Finding(
        claim="On the full data γ is half the distance of the class means, ½√(d/(n p(1-p))), p the minority's share.",
        beyond=True,
        printed=f"would need p = {listed(shares)} %, while the errors would be p = {listed(errors)} %",
        ours="; ".join(texts),
        holds=off < 0.1,
        reason="margins are more than a tenth away from it",
    )


def spread_finding(table: Table) -> Finding:
    """Return whether margins on the full data vary between data sets as much as is printed.

    Parameters
    ----------
    table : Table
        Of the experiment.

    Returns
    -------
    finding : Finding
        Computed from it.
    """
    cells = {
        way: [cell for cell in cells_of(table, way, MARGIN) if cell.where.endswith(FULL)]
        for way in (DESCRIBED, IMPLIED)
    }
    alike = {way: all(0.5 < cell.our_spread / cell.spread < 2 for cell in of_way) for way, of_way in cells.items()}
    spreads = {way: listed([cell.our_spread for cell in of_way], 2) for way, of_way in cells.items()}
    return Finding(
        claim="On the full data γ differs between the data sets of a family by as much as is printed.",
        printed="standard deviations of " + listed([cell.spread for cell in cells[DESCRIBED]], 2),
        ours=f"{spreads[DESCRIBED]} with labels as described",
        holds=alike[DESCRIBED],
        reason="γ depends on p(1-p), which does not move with p where the labels are balanced",
        corrected=f"{spreads[IMPLIED]} {SHARE} on average, the shares being quantiles of the binomial law",
        corrected_holds=alike[IMPLIED],
    )


def _share_of(margin: float, n: int, d: int) -> float:
    """Return the share p, in per cent, for which ½√(d/(n p(1-p))) is the margin."""
    return 100 * (0.5 - math.sqrt(0.25 - d / (4 * _LEARNT * n * margin**2)))
