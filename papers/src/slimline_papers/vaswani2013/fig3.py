"""Fig. 3: classification error of recovered weights, on the validation part, as the test labels are not public.

The document does not say how features were scaled: they are taken as they come, and with rows of norm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from slimline.report._figures import GREEN
from slimline_papers.drawing import COLOURS, bound, canvas, finish, law
from slimline_papers.finding import Finding, either_way
from slimline_papers.item import Item
from slimline_papers.table import Table
from slimline_papers.vaswani2013.exact_models import LEFT_OPEN, SCALINGS
from slimline_papers.vaswani2013.marks import course, plain_ticks
from slimline_papers.vaswani2013.recovered_table import RANKS, by_set_and_family, projections, wide
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
    scalings = [str(scaling) for scaling in table.distinct("scaling")]
    figure, panels = canvas(columns=2, rows=len(scalings), width=5.6, height=3.7)
    for panel, (scaling, name) in zip(panels, product(scalings, table.distinct("set")), strict=True):
        of_set = table.where(scaling=scaling, set=name)
        naive, dual = (of_set.where(recovery=recovery) for recovery in ("naive", "dual"))
        at = projections(dual)
        exact = of_set.where(recovery="exact").mean("wrong")
        law(panel, [at[0], at[-1]], [exact, exact], "exact weights", COLOURS["full"])
        course(panel, naive, "wrong", "naive", COLOURS["naive"])
        course(panel, dual, "wrong", "dual", COLOURS["dual"])
        means = [dual.where(r=r).mean("wrong_elsewhere") for r in at]
        bound(panel, at, means, f"dual, {_ELSEWHERE}", GREEN)
        finish(
            panel, f"{name}, {SCALINGS[scaling]}", "number of projections r", "validation samples wrong",
            xscale="log", ylim=(0, 1.05 * _highest(table.where(set=name))), legend=False,
        )  # fmt: skip
        plain_ticks(panel, at)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=4, fontsize=9, frameon=False
    )  # fmt: skip
    return figure


def _highest(rows: Table) -> float:
    """Return the largest error that is drawn, so that both scalings of a set have the same axis."""
    return float(max(rows["wrong"].max(), rows["wrong_elsewhere"].max()))


def _judge(table: Table) -> Sequence[Finding]:
    return [_performance(table, recovery) for recovery in ("naive", "dual")]


def _performance(table: Table, recovery: str) -> Finding:
    ways = {}
    for scaling in map(str, table.distinct("scaling")):
        rows = table.where(scaling=scaling)
        words = [_of_set(rows.where(set=name), str(name), recovery) for name in rows.distinct("set")]
        ways[SCALINGS[scaling]] = (_excess(rows, recovery) <= _GOOD, ", ".join(words))
    return either_way(
        f"Weights of {recovery} recovery classify well: with at least {RANKS} times as many projections as the "
        f"rank, their error is on average at most {100 * _GOOD:g} points above that of the exact weights, for Gaussian "
        "and for Bernoulli projections.",
        "good for both methods",
        ways,
        LEFT_OPEN,
        _REASONS[recovery],
    )


def _excess(table: Table, recovery: str) -> float:
    """Return by how much the error of a set and a family is above that of the exact weights, where it is most."""
    return max(
        rows.mean("wrong") - table.where(set=name, recovery="exact").mean("wrong")
        for name, _, rows in by_set_and_family(wide(table).where(recovery=recovery))
    )


def _of_set(table: Table, name: str, recovery: str) -> str:
    exact = table.where(recovery="exact").mean("wrong")
    rows = wide(table).where(recovery=recovery)
    most = projections(rows)[-1]
    words = (
        f"{name} {rows.mean('wrong'):.1%} on average and {rows.where(r=most).mean('wrong'):.1%} at r = {most:,}, "
        f"exact {exact:.1%}{_from_where(rows, exact)}"
    )
    return words if recovery == "naive" else f"{words} ({rows.mean('wrong_elsewhere'):.1%} on average {_ELSEWHERE})"


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
    chosen="the scaling of the features, as they come and with rows of norm 1; the samples, those of the validation "
    "part, because the labels of the test part are not public; the numbers of projections; what is good, an error at "
    f"most {100 * _GOOD:g} points above that of the exact weights. Line: mean of all Gaussian and Bernoulli runs; "
    "band: the smallest to the largest of them",
)
