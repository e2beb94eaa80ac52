"""Fig. 2: Jaccard index of the important features, exact and recovered; which ones count has to be said (correction 7).

The document counts non-zero weights. A ridge weight is zero only where its column is, so that the k largest weights
take their place here, for several k.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from slimline.report._figures import INK
from slimline_papers.drawing import COLOURS, as_printed, bound, canvas, finish, law
from slimline_papers.finding import Finding, either_way
from slimline_papers.item import Item
from slimline_papers.printed import printed
from slimline_papers.table import Table
from slimline_papers.vaswani2013.marks import course, plain_ticks
from slimline_papers.vaswani2013.recovered_table import as_they_come, by_set_and_family, projections, sketches, wide
from slimline_papers.vaswani2013.recovered_weights import RECOVERED, SHARES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The share of the features that is judged.
_SHARE = 0.05
#: Colours of `SHARES`, the larger the darker.
_SHADES = ("#9ecae1", "#4a98c9", "#1764ab", "#083370")
#: How far from the printed level an index may be that is said to be near it.
_NEAR = 0.05


def _column(share: float) -> str:
    return f"jaccard_{100 * share:g}"


def _draw(table: Table) -> Figure:
    table = as_they_come(table)
    figure, panels = canvas(columns=2, width=6.0, height=4.6)
    for panel, name in zip(panels, table.distinct("set"), strict=True):
        dual, naive = (sketches(table).where(set=name, recovery=way) for way in ("dual", "naive"))
        at = projections(dual)
        law(panel, at, [dual.where(r=r).mean("jaccard_nonzero") for r in at], "dual, all that are not zero", INK)
        for share, shade in reversed(list(zip(SHARES, _SHADES, strict=True))):
            course(panel, dual, _column(share), f"dual, largest {share:.0%}", shade, spread=share == _SHARE)
        course(panel, naive, _column(_SHARE), f"naive, largest {_SHARE:.0%}", COLOURS["naive"])
        bound(panel, at, np.full(len(at), _SHARE / (2 - _SHARE)), f"chance, {_SHARE:.0%}")
        level = printed("vaswani2013", "fig2_jaccard_saturates_near")
        crossover = printed("vaswani2013", "fig4_crossover_projections")[name]
        as_printed(panel, [crossover], [level], "printed: levels off")
        finish(panel, str(name), "number of projections r", "Jaccard index", xscale="log", ylim=(0, 1.05), legend=False)
        plain_ticks(panel, at)
    panels[-1].legend(fontsize=8.5, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    table = as_they_come(table)
    return [_rises(table), _few_projections(table), _level(table), _at_crossings(table)]


def _ends(rows: Table, column: str) -> tuple[float, float]:
    """Return the mean index with the fewest and the most projections."""
    at = projections(rows)
    return rows.where(r=at[0]).mean(column), rows.where(r=at[-1]).mean(column)


def _dual(table: Table) -> list[tuple[str, str, Table]]:
    """Return the runs of dual recovery of each set and family."""
    return by_set_and_family(sketches(table).where(recovery="dual"))


def _rises(table: Table) -> Finding:
    correlations, ends = [], []
    for name, family, rows in _dual(table):
        correlations.append(np.corrcoef(np.log(rows["r"]), rows[_column(_SHARE)])[0, 1])
        first, last = _ends(rows, _column(_SHARE))
        ends.append(f"{name}, {family} {first:.2f} to {last:.2f}")
    return Finding(
        claim="The index of dual recovery improves with the number of projections.",
        printed="rises",
        ours=f"largest {_SHARE:.0%}: {'; '.join(ends)}; correlation with log r at least {min(correlations):.2f}",
        holds=min(correlations) > 0.8,
        reason="it does not rise",
    )


def _few_projections(table: Table) -> Finding:
    chance = _SHARE / (2 - _SHARE)
    pairs = [
        [rows.where(recovery=way, r=r).mean(_column(_SHARE)) for way in ("naive", "dual")]
        for _, _, rows in by_set_and_family(wide(table))
        for r in projections(rows)
    ]
    naive, dual = np.array(pairs).T
    return Finding(
        claim="With relatively few projections dual recovery finds many of the important features.",
        printed="dual finds them",
        ours=f"largest {_SHARE:.0%}, from twice the rank on: dual {dual.min():.2f} to {dual.max():.2f}, naive "
        f"{naive.min():.2f} to {naive.max():.2f}, chance {chance:.3f}",
        holds=np.all(dual > naive) and dual.min() > 5 * chance,
        reason="dual recovery finds no more than naive recovery or chance do",
    )


def _level(table: Table) -> Finding:
    level = printed("vaswani2013", "fig2_jaccard_saturates_near")
    ours, zeros, rising = [], [], []
    for name, family, rows in _dual(table):
        zeros.append(_ends(rows, "jaccard_nonzero")[1])
        *_, before, most = projections(rows)
        growth = rows.where(r=most).mean(_column(_SHARE)) - rows.where(r=before).mean(_column(_SHARE))
        cuts = [_ends(rows, _column(share))[1] for share in SHARES]
        rising.append(growth > 0)
        ours.append(
            f"{name}, {family}: not zero {zeros[-1]:.2f}; largest {SHARES[0]:.0%} to {SHARES[-1]:.0%} {min(cuts):.2f} "
            f"to {max(cuts):.2f} at r = {most:,}, largest {_SHARE:.0%} {growth:+.2f} since r = {before:,}"
        )
    return Finding(
        claim="The index of the sets of non-zero weights levels off around the same value on both data sets.",
        printed=f"about {level}",
        ours=". ".join(ours),
        holds=all(abs(index - level) <= _NEAR for index in zeros),
        reason="Ridge weights are zero only in columns of zeros, where dual weights are zero too, so that the index of "
        "the non-zero ones is 1; which threshold was used is not given.",
        corrected="the k largest weights, k being named: their index goes on rising with r",
        corrected_holds=all(rising),
    )


def _at_crossings(table: Table) -> Finding:
    """Judge what the caption of Fig. 4 says of the index."""
    level = printed("vaswani2013", "fig2_jaccard_saturates_near")
    crossings = printed("vaswani2013", "fig4_crossover_projections")
    claim = (
        "With as many projections as at the crossings of Fig. 4 the index is almost at its maximum: at most "
        f"{_NEAR:g} below the level of Fig. 2."
    )
    found = [
        (f"{name}, {family}, r = {crossings[name]:,}", rows.where(r=crossings[name]))
        for name, family, rows in _dual(table)
        if crossings[name] in projections(rows)
    ]
    if not found:
        return Finding(claim, f"almost {level}", "not measured at this size", None, "a miniature has no such sketches")
    ways = {}
    for which, column in (("all that are not zero", "jaccard_nonzero"), (f"largest {_SHARE:.0%}", _column(_SHARE))):
        means = {where: rows.mean(column) for where, rows in found}
        words = ", ".join(f"{where}: {index:.2f}" for where, index in means.items())
        ways[which] = (min(means.values()) >= level - _NEAR, words)
    return either_way(
        claim,
        f"almost {level}",
        ways,
        "The document does not say from which size on a weight counts as not zero",
        "The index of the largest weights is lower there and goes on rising; that of the weights that are not zero is "
        "1 at every r.",
    )


FIG2 = Item(
    name="vaswani2013.fig2",
    title="Jaccard index of the important features against the number of projections",
    experiment=RECOVERED,
    draw=_draw,
    judge=_judge,
    correction="7",
    chosen="which weights count, the largest 1 to 25 % of them, because hardly a ridge weight is zero (5 % are "
    "judged); the numbers of projections; features as they come. Line: mean of all Gaussian and Bernoulli runs; band: "
    "the smallest to the largest of them",
)
