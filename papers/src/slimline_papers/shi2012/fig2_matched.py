"""Fig. 2 again, with obtuse angles beside acute ones of the same size of the cosine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from slimline_papers.chance import FALSE_ALARM, ONE_LIMIT, chance_of, fall
from slimline_papers.drawing import CYCLE, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Item
from slimline_papers.printed import printed
from slimline_papers.shi2012.angles import ACUTE, ANGLE, ANGLES, EPS, INNER_PRODUCT, OBTUSE, rejection, rejection_in
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZES = tuple(sorted((abs(c) for c in (*ACUTE, *OBTUSE)), reverse=True))
_END = max(printed("shi2012", "fig2")["n"])
_WIDE = max(EPS)


def _draw(table: Table) -> Figure:
    figure, panels = canvas(columns=2, width=5.6, height=4.6)
    n = np.unique(np.geomspace(30, table["n"].max(), 120).astype(int))
    for panel, quantity in zip(panels, (ANGLE, INNER_PRODUCT), strict=True):
        for colour, size in zip(CYCLE, _SIZES, strict=False):
            law(panel, n, rejection(quantity, n, size, _WIDE), f"exact law, |cos| = {size:g}", colour)
            for sign, shift in ((1, 0.97), (-1, 1.03)):
                rows = table.where(quantity=quantity, cosine=sign * size, eps=_WIDE)
                measured(panel, shift * rows["n"], rows["rejected"] / rows["matrices"], "_", colour=colour)
                panel.lines[-1].set_markerfacecolor(colour if sign > 0 else "white")
        panel.axvline(_END, color="0.6", linewidth=0.8, linestyle=":")
        panel.text(_END * 1.06, 1.02, "printed figure ends", fontsize=7.5, color="0.4")
        finish(
            panel, f"{quantity}, ε = {_WIDE:g}", "dimensions n", "rejection probability", xscale="log",
            ylim=(-0.03, 1.08), legend=False,
        )  # fmt: skip
        panel.legend(fontsize=8.5, frameon=False, loc="center left", bbox_to_anchor=(0.0, 0.57))
    figure.suptitle("Full dots: acute; hollow dots: obtuse; the same |cos|, the same law", fontsize=11)
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    return [_matched(table), _shrinks(table)]


def _matched(table: Table) -> Finding:
    acute, obtuse = (_of_sign(table, sign) for sign in (1, -1))
    # a positive number says that obtuse ones are rejected more often, as printed
    deviations = fall(obtuse["rejected"], acute["rejected"], obtuse["matrices"], acute["matrices"])
    chance = chance_of(table["rejected"], table["matrices"], rejection_in(table))
    return Finding(
        claim="Acute angles and their inner products are kept, obtuse ones are not.",
        printed="a matter of the sign: cos = 0.827 and 0.527 beside -0.062 and -0.0165",
        ours=f"with the same |cos|, obtuse pairs are rejected more often by {deviations.max():.1f} standard deviations "
        f"at most and less often by {-deviations.min():.1f}, in {len(acute)} comparisons",
        holds=np.any(deviations > ONE_LIMIT) and not np.any(deviations < -ONE_LIMIT),
        reason="a relative error is large where the cosine is near zero, whatever its sign",
        corrected="The law for -c is that for c: only |cos| matters.",
        corrected_holds=np.all(np.abs(deviations) < ONE_LIMIT) and chance > FALSE_ALARM,
    )


def _shrinks(table: Table) -> Finding:
    c = min(OBTUSE)
    rows = table.where(cosine=c, eps=_WIDE, quantity=ANGLE)
    first, last = int(np.argmin(rows["n"])), int(np.argmax(rows["n"]))
    share = rows["rejected"] / rows["matrices"]
    deviations = float(fall(rows["rejected"][first], rows["rejected"][last], *rows["matrices"][[first, last]]))
    chance = chance_of(rows["rejected"], rows["matrices"], rejection_in(rows))
    return Finding(
        claim="For obtuse angles the rejection probability does not shrink towards zero.",
        printed="does not shrink",
        ours=f"cos = {c:g}, ε = {_WIDE:g}: {share[first]:.2f} at n = {rows['n'][first]:.0f}, "
        f"{share[last]:.2f} at n = {rows['n'][last]:,.0f}, {deviations:.0f} standard deviations less",
        holds=deviations < ONE_LIMIT,
        reason=f"for so small a cosine n = {_END} is too early to see it",
        corrected="It falls to zero as the exact law says, later for a smaller |cos|.",
        corrected_holds=deviations > ONE_LIMIT and chance > FALSE_ALARM,
    )


def _of_sign(table: Table, sign: int) -> Table:
    """Return the rows with acute or with obtuse angles, in one and the same order."""
    rows = [row for size in _SIZES for row in table.where(cosine=sign * size).rows]
    return Table(table.columns, tuple(rows))


FIG2_MATCHED = Item(
    name="shi2012.fig2_matched",
    title="Obtuse angles are kept as well as acute ones",
    experiment=ANGLES,
    draw=_draw,
    judge=_judge,
    correction="2",
)
