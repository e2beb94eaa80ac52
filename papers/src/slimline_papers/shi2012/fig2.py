"""Fig. 2: how often angles and inner products are rejected, for two acute and two obtuse angles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from slimline.bounds import get
from slimline_papers.chance import FALSE_ALARM, ONE_LIMIT, chance_of, fall
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Item
from slimline_papers.printed import printed
from slimline_papers.shi2012.angles import ACUTE, ANGLE, ANGLES, EPS, INNER_PRODUCT, OBTUSE, rejection, rejection_in
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LAST = max(printed("shi2012", "fig2")["n"])
_PANELS = (
    ("(a) acute angles", ANGLE, ACUTE),
    ("(b) inner products, acute angle", INNER_PRODUCT, ACUTE),
    ("(c) obtuse angles", ANGLE, OBTUSE),
    ("(d) inner products, obtuse angle", INNER_PRODUCT, OBTUSE),
)


def _as_printed(table: Table) -> Table:
    """Return the rows of the printed figure."""
    place = {column: table.columns.index(column) for column in ("n", "cosine")}
    kept = [row for row in table.rows if row[place["n"]] in printed("shi2012", "fig2")["n"]]
    return Table(table.columns, tuple(row for row in kept if row[place["cosine"]] in (*ACUTE, *OBTUSE)))


def _promised(n: NDArray[np.float64], c: float, eps: float) -> NDArray[np.float64]:
    """Return the largest probability of a rejected angle that Theorem 5 allows."""
    theorem = get("shi2012.5", "printed")
    distortion = theorem.eps_keeping((1 - eps) * c, cosine=c)
    if (1 + eps) * c < 1:  # from above, the same for the opposite vector
        distortion = min(distortion, theorem.eps_keeping(-(1 + eps) * c, cosine=-c))
    return np.asarray(theorem.delta(n, distortion))


def _draw_panel(panel: Axes, table: Table, title: str, quantity: str, cosines: Sequence[float]) -> None:
    n = np.arange(30, _LAST + 1, 2)
    series = [(c, eps) for c in cosines for eps in EPS]
    for colour, (c, eps) in zip(CYCLE, series, strict=False):
        rows = table.where(quantity=quantity, cosine=c, eps=eps)
        measured(panel, rows["n"], rows["rejected"] / rows["matrices"], f"cos = {c:g}, ε = {eps:g}", colour=colour)
        law(panel, n, rejection(quantity, n, c, eps), "_", colour)
        if quantity == ANGLE and c > 0 and np.any(_promised(n, c, eps) < 1):
            bound(panel, n, _promised(n, c, eps), f"Theorem 5, cos = {c:g}, ε = {eps:g}", colour)
    finish(panel, title, "dimensions n", "rejection probability", ylim=(-0.03, 1.35), legend=False)
    panel.set_yticks(np.linspace(0, 1, 6))
    panel.legend(fontsize=7.5, frameon=False, loc="upper center", ncols=2)


def _draw(table: Table) -> Figure:
    figure, panels = canvas(columns=2, rows=2, width=5.2, height=4.0)
    for panel, (title, quantity, cosines) in zip(panels, _PANELS, strict=True):
        _draw_panel(panel, _as_printed(table), title, quantity, cosines)
    figure.suptitle("Dots: frequencies; lines: exact laws; dashes: what Theorem 5 promises", fontsize=11)
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    table = _as_printed(table)
    return [
        _follow_the_law(table),
        _theorem5(table),
        _sharper_is_better(table),
        _falls(table),
        _angle_is_better(table),
        _obtuse(table),
    ]


def _follow_the_law(table: Table) -> Finding:
    chance = chance_of(table["rejected"], table["matrices"], rejection_in(table))
    return Finding(
        claim="The rejection probabilities of the figure, beside the exact laws of a Gaussian projection.",
        printed="simulated",
        ours=f"{len(table)} frequencies, as far from the laws as chance makes them with probability {chance:.2g}",
        holds=chance > FALSE_ALARM,
        reason="a frequency is further off than chance allows",
    )


def _theorem5(table: Table) -> Finding:
    series = [(table.where(quantity=ANGLE, cosine=c, eps=eps), c, eps) for c in ACUTE for eps in EPS]
    promised = np.concatenate([_promised(rows["n"], c, eps) for rows, c, eps in series])
    rejected, matrices = (np.concatenate([rows[name] for rows, *_ in series]) for name in ("rejected", "matrices"))
    told = promised < 1
    share = rejected[told] / matrices[told] / promised[told]
    return Finding(
        claim="Theorem 5: an acute angle leaves its bounds with at most the printed probability.",
        printed="6 exp(-(n/2)(ε²/2 - ε³/3))",
        ours=f"{rejected[told].sum():.0f} of {matrices[told].sum():,.0f} where the promise is below 1, which it is in "
        f"{np.sum(told)} of {len(promised)} cases: {share.max():.2g} times it at most",
        holds=np.all(binom.sf(rejected - 1, matrices, promised) > FALSE_ALARM / len(promised)),
        reason="a frequency is above the bound by more than chance allows",
    )


def _sharper_is_better(table: Table) -> Finding:
    wide, sharp = (_counts(table, ANGLE, c) for c in sorted(ACUTE))
    deviations = fall(wide, sharp, *2 * (_trials(table),))
    return Finding(
        claim="The rejection probability of a sharper acute angle (cos = 0.827) is below that of a wider one (0.527).",
        printed="more rapidly approaches zero",
        ours=f"below by {deviations.min():.0f} standard deviations or more, over all n",
        holds=np.all(deviations > ONE_LIMIT),
        reason="the difference is not beyond chance",
    )


def _falls(table: Table) -> Finding:
    first, last = (table.where(n=n) for n in (int(min(table["n"])), _LAST))
    acute = first["cosine"] > 0
    rises = np.sum((last["rejected"] > first["rejected"])[acute])
    fine, coarse = (sum(table.where(eps=eps, cosine=c)["rejected"].sum() for c in ACUTE) for eps in sorted(EPS))
    before, after = (rows["rejected"][acute].sum() for rows in (first, last))
    total = float(fall(before, after, *2 * (first["matrices"][acute].sum(),)))
    return Finding(
        claim="For acute angles the rejection probability decreases as ε and n increase.",
        printed="decreases",
        ours=f"all series together by {total:.0f} standard deviations from the first to the last n; {rises} rose; "
        f"{fine:.0f} rejections in all at ε = {min(EPS):g}, {coarse:.0f} at {max(EPS):g}",
        holds=rises == 0 and total > ONE_LIMIT and coarse < fine,
        reason="it does not decrease in every series",
    )


def _angle_is_better(table: Table) -> Finding:
    deviations = np.concatenate(
        [fall(_counts(table, INNER_PRODUCT, c), _counts(table, ANGLE, c), *2 * (_trials(table),)) for c in ACUTE]
    )
    return Finding(
        claim="For the same acute angle, ε and n angles are rejected much less often than inner products.",
        printed="significantly smaller",
        ours=f"less often by {deviations.min():.0f} standard deviations or more, over all n",
        holds=np.all(deviations > ONE_LIMIT),
        reason="the difference is not beyond chance",
    )


def _obtuse(table: Table) -> Finding:
    last = table.where(n=_LAST)
    share = (last["rejected"] / last["matrices"])[last["cosine"] < 0]
    return Finding(
        claim=f"Of the obtuse pairs of the figure most projections are rejected even at n = {_LAST}.",
        printed="not close to zero",
        ours=f"{share.min():.2f} to {share.max():.2f}",
        holds=share.min() > 0.5,
        reason="fewer than half are rejected",
    )


def _counts(table: Table, quantity: str, c: float) -> NDArray[np.float64]:
    """Return the rejections over all n, for each ε."""
    return np.array([table.where(quantity=quantity, cosine=c, eps=eps)["rejected"].sum() for eps in EPS])


def _trials(table: Table) -> float:
    return float(table.where(quantity=ANGLE, cosine=ACUTE[0], eps=EPS[0])["matrices"].sum())


FIG2 = Item(
    name="shi2012.fig2",
    title="Rejection probability of angles and inner products, with the exact laws",
    experiment=ANGLES,
    draw=_draw,
    judge=_judge,
)
