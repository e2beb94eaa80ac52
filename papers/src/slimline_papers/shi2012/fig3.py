"""Fig. 3: how often the margin of classes on parallel hyperplanes is rejected, and what was promised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from slimline.bounds import Bound, get
from slimline_papers.chance import FALSE_ALARM, ONE_LIMIT, fall
from slimline_papers.drawing import bound, canvas, connected, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Item
from slimline_papers.printed import printed
from slimline_papers.shi2012.margins import CLASSES, DELTA, MARGINS, SPACING
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Fig. 3 does not say which; those of Fig. 2.
_EPS = (0.1, 0.3)
_KINDS = tuple((classes, normalised) for classes in CLASSES for normalised in (True, False))
_THEOREM = {2: "shi2012.6", 3: "shi2012.8"}


def _name(classes: int, normalised: bool) -> str:
    return f"{'' if normalised else 'un'}normalised, {classes} classes"


def _dimensions(rows: Table) -> NDArray[np.float64]:
    """Return the dimensions of the figure: no more than the data have."""
    n = np.unique(rows["n"])
    return np.asarray(n[n <= printed("shi2012", "fig3")["d"]])


def _rejected(rows: Table, eps: float) -> NDArray[np.bool]:
    return np.asarray(np.abs(rows["after"] / rows["before"] - 1) > eps)


def _draw(table: Table) -> Figure:
    figure, panels = canvas(columns=3, rows=2, width=4.4, height=3.5)
    for letter, panel, (classes, normalised) in zip("abcd", (*panels[:2], *panels[3:5]), _KINDS, strict=True):
        rows = table.where(classes=classes, normalised=normalised)
        n = _dimensions(rows)
        for eps in _EPS:
            connected(panel, n, [np.mean(_rejected(rows.where(n=int(value)), eps)) for value in n], f"ε = {eps:g}")
        title = f"({letter}) {_name(classes, normalised)}"
        finish(panel, title, "dimensions n", "rejection probability", ylim=(-0.03, 1.03))
    for panel, classes in zip(panels[2::3], CLASSES, strict=True):
        _draw_promise(panel, table.where(classes=classes, normalised=True), classes)
    return figure


def _draw_promise(panel: Axes, rows: Table, classes: int) -> None:
    before = rows["before"][0]
    n = np.unique(rows["n"])
    each = [rows.where(n=int(value)) for value in n]
    spread = [some.spread("after") / before for some in each]
    measured(panel, n, [some.mean("after") / before for some in each], "mean and spread", spread)
    law(panel, n, [some["law"][0] / before for some in each], "exact laws")
    larger = np.geomspace(120, 20_000, 100)
    theorem, sizes, margin = _theorem(rows, classes)
    kept = theorem.guarantee(theorem.eps(larger, DELTA, **sizes), **margin).lower
    bound(panel, larger, kept / before, _title(classes))
    finish(
        panel, f"promised with {1 - DELTA:.0%}: normalised, {classes} classes", "dimensions n",
        "margin after / before", xscale="log", xlim=(8, 200_000), ylim=(-0.55, 1.2), legend="lower right",
    )  # fmt: skip


def _theorem(rows: Table, classes: int) -> tuple[Bound, dict[str, int], dict[str, float]]:
    """Return the theorem, the sizes that it asks for, and the margin before."""
    sizes, before = {"points": classes * int(printed("shi2012", "fig3")["points_per_class"])}, rows["before"][0]
    if classes == 2:
        return get(_THEOREM[classes]), sizes, {"margin": before}
    return get(_THEOREM[classes]), {**sizes, "classes": classes}, {"multiclass_margin": before}


def _judge(table: Table) -> Sequence[Finding]:
    return [
        *(_decreases(table, classes, normalised) for classes, normalised in _KINDS),
        *(_promise(table, classes) for classes in CLASSES),
        *(_conservative(table, classes) for classes in CLASSES),
    ]


def _decreases(table: Table, classes: int, normalised: bool) -> Finding:
    rows = table.where(classes=classes, normalised=normalised)
    first, last = (rows.where(n=int(n)) for n in _dimensions(rows)[[0, -1]])
    counts = np.array([[np.sum(_rejected(some, eps)) for eps in _EPS] for some in (first, last)])
    deviations = fall(counts[0], counts[1], len(first), len(last))
    shares = ", ".join(
        f"{before / len(first):.2f} to {after / len(last):.2f} (ε = {eps:g})"
        for eps, before, after in zip(_EPS, *counts, strict=True)
    )
    return Finding(
        claim=f"The rejection probability decreases with n: {_name(classes, normalised)}.",
        printed="decreases",
        ours=f"{shares}, from n = {first['n'][0]:.0f} to {last['n'][0]:.0f}",
        holds=np.all(deviations > 0) and deviations.max() > ONE_LIMIT,
        reason="the fall is not beyond chance",
    )


def _promise(table: Table, classes: int) -> Finding:
    rows = table.where(classes=classes, normalised=True)
    below = {promise: np.sum(rows["after"] < rows[promise]) for promise in ("theorem", "law")}
    chance = {promise: binom.sf(count - 1, len(rows), DELTA) for promise, count in below.items()}
    return Finding(
        claim=f"{_title(classes)}: the normalised margin of {classes} classes is at least what is promised, with "
        f"probability {1 - DELTA:g}.",
        printed=f"at most {DELTA:.0%} below",
        ours=f"{below['theorem']} of {len(rows)} below the theorem's promise ({_promises(rows, 'theorem')}), "
        f"{below['law']} below that of the exact laws ({_promises(rows, 'law')})",
        holds=min(chance.values()) > FALSE_ALARM,
        reason="more projections fall short than chance allows",
        beyond=_repaired(classes),
    )


def _promises(rows: Table, promise: str) -> str:
    """Return what is promised at the end of the figure, and with the most dimensions."""
    some = {int(n): rows.where(n=int(n))[promise][0] for n in (_dimensions(rows)[-1], rows["n"].max())}
    return ", ".join(f"{value:.2f} at n = {n}" if value > -1 else f"nothing at n = {n}" for n, value in some.items())


def _conservative(table: Table, classes: int) -> Finding:
    rows = table.where(classes=classes, normalised=True)
    theorem, sizes, margin = _theorem(rows, classes)
    asked = theorem.dimension(theorem.eps_keeping(0.0, **margin), DELTA, **sizes)
    kept = [n for n in np.unique(rows["n"]) if np.mean(rows.where(n=int(n))["after"] > 0) >= 1 - DELTA]
    enough = int(min(kept)) if kept else None
    return Finding(
        claim=f"The bounds are conservative: {_title(classes)} asks for more dimensions than a positive margin needs.",
        printed="conservative",
        ours=f"asks for n = {asked:,}; "
        + (f"n = {enough} was enough in {1 - DELTA:.0%} of the projections" if enough else "no n measured was enough"),
        holds=enough is not None and enough < asked,
        reason="no smaller n was enough",
        beyond=_repaired(classes),
    )


def _repaired(classes: int) -> bool:
    return classes > 2


def _title(classes: int) -> str:
    return "Theorem 8 (repaired)" if _repaired(classes) else "Theorem 6"


FIG3 = Item(
    name="shi2012.fig3",
    title="Rejection probability of margins, and what the theorems promise",
    experiment=MARGINS,
    draw=_draw,
    judge=_judge,
    chosen=f"the distance of neighbouring planes, {SPACING:g}; the points within a plane, Gaussian and about 10 from "
    "its foot, drawn once (five a class, as printed); the numbers of dimensions n; ε = "
    f"{' and '.join(f'{eps:g}' for eps in _EPS)}, as in Fig. 2",
)
