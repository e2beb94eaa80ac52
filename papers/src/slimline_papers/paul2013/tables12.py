"""Tables 1 and 2: error and margin of support vector machines, with labels as described and as the numbers imply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slimline_papers.drawing import COLOURS, as_printed, canvas, finish, measured
from slimline_papers.finding import Finding, cells_finding
from slimline_papers.item import Item
from slimline_papers.paul2013.cells import ERROR, LIMIT, MARGIN, SHARE, STEPS, Quantity, cells_of, families_of, rows_of
from slimline_papers.paul2013.full_data import guessing_finding, half_distance_finding, majority_finding, spread_finding
from slimline_papers.paul2013.synthetic import DESCRIBED, DIMENSIONS, FAMILIES, IMPLIED, METHODS, SYNTHETIC
from slimline_papers.printed import printed
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WAYS = {DESCRIBED: "y = sign(ŵᵀx)", IMPLIED: SHARE}


def _by_dataset(table: Table, column: str) -> NDArray[np.float64]:
    """Return means over the cross-validations and projections of each data set, which are independent."""
    return np.array([table.where(dataset=k).mean(column) for k in table.distinct("dataset")])


def _growth(table: Table, way: str, quantity: Quantity) -> tuple[float, float]:
    """Return the least rise of a family from 256 to full, and of a single step, in pooled standard errors."""
    total: list[NDArray[np.float64]] = []
    steps: list[NDArray[np.float64]] = []
    for family in families_of(table):
        rows = np.array([
            [_by_dataset(rows_of(table, way, family, method, step), quantity.column) for step in STEPS]
            for method in METHODS
        ])  # fmt: skip
        total.append(quantity.direction * (rows[:, -1] - rows[:, 0]).mean(axis=0))
        steps.extend(quantity.direction * np.diff(rows, axis=1).reshape(-1, rows.shape[2]))
    return _least(total), _least(steps)


def _least(differences: Sequence[NDArray[np.float64]]) -> float:
    stacked = np.array(differences)
    error = np.sqrt(stacked.var(axis=1, ddof=1).mean() / stacked.shape[1])
    return float(stacked.mean(axis=1).min() / error)


def _tables_findings(table: Table, quantity: Quantity) -> list[Finding]:
    described, implied = (cells_of(table, way, quantity) for way in (DESCRIBED, IMPLIED))
    as_described = cells_finding(
        f"The printed {quantity.symbol} comes from the data described: Gaussian points, y = sign(ŵᵀx).",
        described,
        "such labels are balanced, and the machine can learn next to nothing from so few points in so many dimensions",
        unit=quantity.unit,
    )
    as_implied = cells_finding(
        f"The printed {quantity.symbol} comes out {SHARE}, a share that is chosen to fit the printed numbers.",
        implied,
        "no single share fits all printed errors and margins",
        unit=quantity.unit,
    )
    agree = sum(cell.agrees is True for cell in implied)
    corrected = f"{SHARE}: {agree} of {len(implied)} within the printed spread"
    return [
        replace(as_described, corrected=corrected, corrected_holds=as_implied.holds),
        replace(as_implied, beyond=True),
    ]


def _direction_finding(table: Table, quantity: Quantity, judged: Sequence[str]) -> Finding:
    growth = {way: _growth(table, way, quantity) for way in _WAYS}
    verb = "grows" if quantity.direction > 0 else "falls"
    ours = "; ".join(
        f"{way}{'' if way in judged else ' (not judged)'}: by at least {total:.1f} standard errors"
        for way, (total, _) in growth.items()
    )
    return Finding(
        claim=f"{quantity.symbol} {verb} as r grows, for every family and projection.",
        printed=f"{verb} in every row",
        ours=f"{ours}, from r = {DIMENSIONS[0]} to full",
        holds=all(growth[way][0] > LIMIT and growth[way][1] > -LIMIT for way in judged),
        reason="a row goes the other way, or does not move beyond chance",
    )


def _alike_finding(table: Table, quantity: Quantity) -> Finding:
    numbers = printed("paul2013", quantity.key)
    worst = 0.0
    for family in families_of(table):
        for place, r in enumerate(DIMENSIONS):
            means = [rows_of(table, IMPLIED, family, method, r).mean(quantity.column) for method in METHODS]
            spread = min(numbers[family][f"{method}_std"][place] for method in METHODS)
            worst = max(worst, (max(means) - min(means)) / spread)
    return Finding(
        claim=f"{quantity.symbol} is nearly the same for CW, RS and FHT.",
        printed="differences below the printed spread",
        ours=f"the largest is {worst:.2f} printed spreads ({SHARE})",
        holds=worst < 1,
        reason="one projection does better than another",
    )


def _draw(table: Table, quantity: Quantity, label: str) -> Figure:
    families = families_of(table)
    figure, panels = canvas(columns=len(families), rows=2, width=4.3, height=3.3)
    numbers = printed("paul2013", quantity.key)
    places = np.arange(len(STEPS))
    for panel, (way, family) in zip(panels, [(way, f) for way in _WAYS for f in families], strict=True):
        for shift, method in zip((-0.25, 0.0, 0.25), METHODS, strict=True):
            theirs, spread = numbers[family][method], numbers[family][f"{method}_std"]
            as_printed(panel, places + shift + 0.08, theirs, "printed" if shift < 0 else "_", spread)
            ours = [rows_of(table, way, family, method, step) for step in STEPS]
            means, spreads = ([f(rows, quantity.column) for rows in ours] for f in (Table.mean, Table.spread))
            measured(panel, places + shift, means, method, spreads, COLOURS[method])
        size = FAMILIES[family]
        finish(
            panel, f"{family} ({size.n} × {size.d:,}), {way}", "projected dimension r", label,
            xticks=places, xticklabels=[str(step) for step in STEPS], legend=False,
            ylim=(0, 60) if quantity is ERROR else (0, None),
        )  # fmt: skip
    panels[0].legend(fontsize=8.5, frameon=False, loc="lower left", ncols=2)
    figure.suptitle("; ".join(f"{way}: {text}" for way, text in _WAYS.items()), fontsize=10)
    return figure


def _judge_table1(table: Table) -> Sequence[Finding]:
    eps_in = float(table["eps_in"].max())
    return [
        *_tables_findings(table, ERROR),
        guessing_finding(table),
        majority_finding(table),
        # labelled as described, machines guess at every r: ten data sets cannot tell 49 % from 47 %
        _direction_finding(table, ERROR, (IMPLIED,)),
        _alike_finding(table, ERROR),
        Finding(
            claim="ε_in is zero for all families, projections and r, either way.",
            printed="0 %",
            ours=f"at most {eps_in:.3g} %",
            holds=eps_in == 0,
            reason="a machine is wrong on points that it has learnt from",
        ),
    ]


def _judge_table2(table: Table) -> Sequence[Finding]:
    return [
        *_tables_findings(table, MARGIN),
        half_distance_finding(table),
        spread_finding(table),
        _direction_finding(table, MARGIN, (DESCRIBED, IMPLIED)),
        _alike_finding(table, MARGIN),
    ]


TABLE1 = Item(
    name="paul2013.table1",
    title="Out-of-sample error on synthetic data, as described and as the numbers imply",
    experiment=SYNTHETIC,
    draw=lambda table: _draw(table, ERROR, "ε_out, %"),
    judge=_judge_table1,
    correction="4",
)
TABLE2 = Item(
    name="paul2013.table2",
    title="Margins on synthetic data, as described and as the numbers imply",
    experiment=SYNTHETIC,
    draw=lambda table: _draw(table, MARGIN, "margin γ"),
    judge=_judge_table2,
    correction="4",
)
