"""Fig. 3: classification error of recovered weights, on the validation part, as the test labels are not public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slimline.report._figures import GREEN
from slimline_papers.drawing import COLOURS, canvas, finish, law
from slimline_papers.finding import Finding
from slimline_papers.item import Item
from slimline_papers.table import Table
from slimline_papers.vaswani2013.marks import by_family, family_key, plain_ticks
from slimline_papers.vaswani2013.recovered_table import RANKS, projections, sketches, wide
from slimline_papers.vaswani2013.recovered_weights import LONGEST, RECOVERED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: An error is good that is at most so much above that of the exact weights, on average.
_GOOD = 0.05
_ELSEWHERE = f"without the error along the {LONGEST} longest directions of the data"
_REASONS = {
    "naive": "Naive weights classify as the sketch does, and that is worse than the exact weights while r is near the "
    "number of samples.",
    "dual": "The error of dual weights points in all directions of the row space alike, and raw ARCENE is many times "
    "longer in a few of them than in the others: there it turns scores over, however small it is beside the weights.",
}


def _draw(table: Table) -> Figure:
    figure, panels = canvas(columns=2, width=6.0, height=4.4)
    for panel, name in zip(panels, table.distinct("set"), strict=True):
        exact = table.where(set=name, recovery="exact").mean("wrong")
        rows = sketches(table).where(set=name)
        at = projections(rows)
        law(panel, [at[0], at[-1]], [exact, exact], "exact weights", COLOURS["full"])
        series = [
            ("naive", "wrong", "naive", 0.87),
            ("dual", "wrong", "dual", 1.0),
            ("dual", "wrong_elsewhere", f"dual, without the error along\nthe {LONGEST} longest directions", 1.15),
        ]
        for recovery, column, label, shift in series:
            colour = COLOURS[recovery] if column == "wrong" else GREEN
            by_family(panel, rows.where(recovery=recovery), column, label, colour, shift)
        family_key(panel)
        finish(
            panel, f"{name}, validation part", "number of projections r", "share of samples classified wrongly",
            xscale="log", ylim=(0, None), legend=False,
        )  # fmt: skip
        plain_ticks(panel, at)
    panels[-1].legend(fontsize=8.5, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    return [_performance(table, recovery) for recovery in ("naive", "dual")]


def _performance(table: Table, recovery: str) -> Finding:
    excess, words = [], []
    for name in table.distinct("set"):
        exact = table.where(set=name, recovery="exact")
        rows = wide(table).where(set=name, recovery=recovery)
        most = projections(rows)[-1]
        excess += [rows.where(family=family).mean("wrong") - exact.mean("wrong") for family in rows.distinct("family")]
        words.append(
            f"{name} {rows.mean('wrong'):.1%} on average and {rows.where(r=most).mean('wrong'):.1%} at r = {most:,}, "
            f"exact {exact.mean('wrong'):.1%}{_from_where(rows, exact.mean('wrong'))}"
        )
        if recovery == "dual":
            words[-1] += f" ({rows.mean('wrong_elsewhere'):.1%} on average {_ELSEWHERE})"
    return Finding(
        claim=f"Weights of {recovery} recovery classify well: with at least {RANKS} times as many projections as the "
        f"rank, their error is on average at most {100 * _GOOD:g} points above that of the exact weights, for Gaussian "
        "and for Bernoulli projections.",
        printed="good for both methods",
        ours="; ".join(words),
        holds=max(excess) <= _GOOD,
        reason=_REASONS[recovery],
    )


def _from_where(rows: Table, exact: float) -> str:
    """Return from which r on every mean is good, if that is not all of them."""
    at = projections(rows)
    bad = [place for place, r in enumerate(at) if rows.where(r=r).mean("wrong") - exact > _GOOD]
    if not bad:
        return ""
    return f", within {100 * _GOOD:g} points from r = {at[bad[-1] + 1]:,} on" if bad[-1] + 1 < len(at) else ""


FIG3 = Item(
    name="vaswani2013.fig3",
    title="Classification error against the number of projections, validation part",
    experiment=RECOVERED,
    draw=_draw,
    judge=_judge,
)
