"""Table 3: errors, margins and times of an SVM on sketched documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slimline_papers.chance import ONE_LIMIT, SURELY
from slimline_papers.drawing import as_printed, canvas, finish, law, measured
from slimline_papers.finding import Cell, Finding, alike_finding, cells_finding, times_finding
from slimline_papers.item import Item
from slimline_papers.paul2013.contenders import BESIDE_CW, CHOSEN, FAMILIES, THEIRS, printed_name
from slimline_papers.paul2013.documents import DIMENSIONS, DOCUMENTS
from slimline_papers.printed import printed
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Column of the table, its name in the printed one, a title, an axis and its scale.
_QUANTITIES = (
    ("error_out", "eps_out_percent", "Error on what was left out", "percent", "linear"),
    ("margin", "margin", "Margin", "γ = 1/‖w‖", "linear"),
    ("t_rp", "t_rp_seconds", "Projecting", "CPU seconds", "log"),
    ("t_run", "t_run_seconds", "Projecting, and LIBSVM in ten folds", "CPU seconds", "log"),
)
#: Pairs of categories in the document.
_THEIR_PAIRS = 295
#: Of 20 newsgroups ten pairs can be formed that share none, so 190 pairs count as ten at the least.
_INDEPENDENT = 10
_STAND_IN = "pairs of newsgroups stand in for TechTC-300: other documents, of fewer words"
_MACHINE = "seconds of another machine and of MATLAB"


def _draw(table: Table) -> Figure:
    facts = printed("paul2013", "table3_techtc300")
    figure, panels = canvas(columns=2, rows=2, height=3.4)
    places = np.array(DIMENSIONS, dtype=float)
    full = table.where(family="full")
    for panel, (column, name, title, label, scale) in zip(panels, _QUANTITIES, strict=True):
        for shift, family in zip(np.geomspace(0.9, 1.1, len(FAMILIES)), FAMILIES, strict=True):
            groups = [table.where(family=family, r=r) for r in DIMENSIONS]
            means, spreads = ([getattr(group, of)(column) for group in groups] for of in ("mean", "spread"))
            measured(panel, shift * places, means, family, np.nan_to_num(spreads))
        as_printed(panel, 1.14 * places, facts[name]["RS"][:3], "printed, RS, TechTC-300")
        if column != "t_rp":
            law(panel, [120, 600], 2 * [full.mean(column)], "all words")
        first = column == "error_out"
        finish(
            panel, title, "components r", label, xscale="log", yscale=scale, legend=first and "upper right",
            xticks=places, xticklabels=[str(r) for r in DIMENSIONS],
        )  # fmt: skip
        if first:
            panel.set_ylim(0, 65)
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    own = table.distinct("source") == ["techtc300"]
    differ = "chance: fewer pairs, partitions and projections than in the paper" if own else _STAND_IN
    return [
        cells_finding("Errors on what was left out.", _cells(table, 0), differ, " %", comparable=own),
        cells_finding("Margins.", _cells(table, 1), differ, comparable=own),
        cells_finding("Seconds for projecting.", _cells(table, 2), _MACHINE, " s", comparable=False),
        cells_finding("Seconds in all.", _cells(table, 3), _MACHINE, " s", comparable=False),
        _improves(
            table, "error_out", -1, "The error on what was left out falls as r grows, towards that of all words."
        ),
        _improves(table, "margin", 1, "The margin grows with r, towards that of all words."),
        _alike(table, "error_out", "eps_out_percent", "Errors are nearly identical for the three families."),
        _alike(table, "margin", "margin", "Margins are nearly identical for the three families."),
        _same_in_sample(table),
        _small_loss(table),
        _projecting(table),
        _total_order(table),
        _close_totals(table),
        _below_full(table),
        _faster(table),
    ]


def _cells(table: Table, number: int) -> list[Cell]:
    column, name, *_ = _QUANTITIES[number]
    numbers = printed("paul2013", "table3_techtc300")[name]
    cells = []
    for family in FAMILIES:
        name = printed_name(family)
        for r, value, spread in zip((*DIMENSIONS, 0), numbers[name], numbers[f"{name}_std"], strict=False):
            if not r and family != THEIRS[0]:
                continue  # the same number, printed thrice
            rows = table.where(family=family, r=r) if r else table.where(family="full")
            where = f"{family}, r = {r}" if r else "all words"
            of_pairs = _of_pairs(table, column, family, r) if r else _of_pairs(table, column, "full")
            error = math.hypot(spread / math.sqrt(_THEIR_PAIRS), _standard_error(of_pairs))
            cells.append(Cell(where, value, spread, rows.mean(column), rows.spread(column), error))
    return cells


def _of_pairs(table: Table, column: str, family: str, r: int = 0) -> NDArray[np.float64]:
    """Return the mean of each pair."""
    rows = table.where(family=family, r=r)
    pairs, values = rows["pair"], rows[column]
    return np.array([values[pairs == pair].mean() for pair in table.distinct("pair")])


def _standard_error(differences: NDArray[np.float64]) -> float:
    """Return that of the mean, pairs of categories that share documents not being counted as independent."""
    if len(differences) < 2:
        return np.inf
    return float(differences.std(ddof=1) / np.sqrt(min(len(differences), _INDEPENDENT)))


def _improves(table: Table, column: str, sign: int, claim: str) -> Finding:
    """Judge each step by its sign, and the whole way by its standard error."""
    ways = [np.mean([_of_pairs(table, column, family, r) for family in THEIRS], axis=0) for r in DIMENSIONS]
    ways.append(_of_pairs(table, column, "full"))
    means = [float(way.mean()) for way in ways]
    whole = [sign * (later - earlier) for earlier, later in ((ways[0], ways[2]), (ways[2], ways[3]))]
    certain = min(float(gain.mean() / max(_standard_error(gain), 1e-12)) for gain in whole)
    numbers = printed("paul2013", "table3_techtc300")[dict(q[:2] for q in _QUANTITIES)[column]]["RS"]
    return Finding(
        claim=claim,
        printed=", ".join(f"{value:.2f}" for value in numbers),
        ours=f"{', '.join(f'{value:.2f}' for value in means)}: {certain:.1f} standard errors at least",
        holds=np.all(sign * np.diff(means) > 0) and certain > ONE_LIMIT,
        reason="a step goes the other way, or is within what chance can do with so few pairs",
    )


def _alike(table: Table, column: str, name: str, claim: str) -> Finding:
    """Judge differences of families beyond the largest printed one."""
    numbers = printed("paul2013", "table3_techtc300")[name]
    allowed = float(np.ptp([numbers[family] for family in THEIRS], axis=0).max())
    gaps, errors, means = [], [], []
    for r in DIMENSIONS:
        of_families = [_of_pairs(table, column, family, r) for family in THEIRS]
        means.append(float(np.mean(of_families)))
        for one, other in combinations(of_families, 2):
            gaps.append(abs(float((one - other).mean())))
            errors.append(_standard_error(one - other))
    error = max(float(np.sqrt(np.mean(np.square(errors)))), 1e-12)  # pooled: that of a few pairs is small now and then
    excess = (max(gaps) - allowed) / error
    noticed = allowed + (ONE_LIMIT + SURELY) * error
    return alike_finding(
        claim,
        f"means at most {allowed:.2g} apart",
        f"{', '.join(THEIRS)} at most {max(gaps):.2g} apart: {max(0.0, excess):.1f} standard errors more than that",
        alike=excess < ONE_LIMIT,
        noticed=noticed,
        share=noticed / min(means),
        unit=" points" if column == "error_out" else "",
        reason="two families are further apart than chance allows",
    )


def _same_in_sample(table: Table) -> Finding:
    full = _of_pairs(table, "error_in", "full")
    off = max(float(np.abs(_of_pairs(table, "error_in", f, r) - full).max()) for f in FAMILIES for r in DIMENSIONS)
    return Finding(
        claim="On what was trained on a sketch errs as often as all words do, for every pair and every r.",
        printed="equal",
        ours=f"at most {off:.3g} points apart (all words: {full.mean():.3g} %)",
        holds=off == 0,
        reason="some sketch does not keep the categories apart that all words keep apart, or the other way round",
    )


def _small_loss(table: Table) -> Finding:
    loss = _of_pairs(table, "error_out", "FHT", 512) - _of_pairs(table, "error_out", "full")
    numbers = printed("paul2013", "table3_techtc300")["eps_out_percent"]["FHT"]
    points = printed("paul2013", "section4_2_fht_r512_beside_full")["error_points_above"]
    own = table.distinct("source") == ["techtc300"]
    return Finding(
        claim=f"With FHT and r = 512 the error is less than {points:g} points above that of all words.",
        printed=f"{numbers[2] - numbers[3]:.2f} points",
        ours=f"{loss.mean():.2f} ± {_standard_error(loss):.2f} points",
        holds=loss.mean() < points if own else None,
        reason="more points are lost here" if own else _STAND_IN,
    )


def _ratio(table: Table, column: str, over: str, under: str, r: int) -> float:
    """Return the typical ratio of times of a pair."""
    below = _of_pairs(table, column, under, r if under != "full" else 0)
    return float(np.exp(np.log(_of_pairs(table, column, over, r) / below).mean()))


def _projecting(table: Table) -> Finding:
    found = {other: [_ratio(table, "t_rp", other, "CW", r) for r in DIMENSIONS] for other in ("RS", "FHT")}
    beside = {other: [_ratio(table, "t_rp", other, "CW", r) for r in DIMENSIONS] for other in BESIDE_CW}
    words = "; ".join(f"{name} {', '.join(f'{x:.2g}' for x in times)}" for name, times in (found | beside).items())
    return times_finding(
        "Projecting takes the least time with CW, at every r.",
        f"RS and FHT {_span(_printed_ratios('t_rp_seconds', over_cw=True), 0)} times as long as CW",
        f"{words} times as long as CW at r = {', '.join(map(str, DIMENSIONS))}",
        here=min(min(times) for times in found.values()) > 1,
        why="CW is not the fastest",
    )


def _total_order(table: Table) -> Finding:
    """Judge the three r together: at a single one times are too close to tell."""
    found = {other: [_ratio(table, "t_run", "CW", other, r) for r in DIMENSIONS] for other in ("RS", "FHT")}
    beside = {other: [_ratio(table, "t_run", "CW", other, r) for r in DIMENSIONS] for other in BESIDE_CW}
    words = "; ".join(
        f"{', '.join(f'{x:.2f}' for x in times)} times {name}" for name, times in (found | beside).items()
    )
    return times_finding(
        "What CW gains by projecting is lost in LIBSVM: over the three r it takes the longest in all.",
        f"CW {_span(_printed_ratios('t_run_seconds', over_cw=False), 2)} times RS and FHT",
        f"CW {words} at r = {', '.join(map(str, DIMENSIONS))}",
        here=min(np.log(times).mean() for times in found.values()) > 0,
        why="CW is not the slowest",
    )


def _close_totals(table: Table) -> Finding:
    facts = printed("paul2013", "table3_techtc300")["t_run_seconds"]
    theirs = [facts["RS"][k] / facts["FHT"][k] for k in range(len(DIMENSIONS))]
    found = [_ratio(table, "t_run", "RS", "FHT", r) for r in DIMENSIONS]
    return times_finding(
        "FHT takes a little less time in all than RS.",
        f"RS {_span(theirs, 2)} times FHT",
        f"RS {', '.join(f'{x:.2f}' for x in found)} times FHT at r = {', '.join(map(str, DIMENSIONS))}",
        here=np.log(found).mean() > 0,
        why="RS is at least as fast, and the printed difference, a few percent, is well within the printed spread",
    )


def _printed_ratios(name: str, *, over_cw: bool) -> list[float]:
    facts = printed("paul2013", "table3_techtc300")[name]
    ratios = [facts[other][k] / facts["CW"][k] for other in ("RS", "FHT") for k in range(len(DIMENSIONS))]
    return ratios if over_cw else [1 / ratio for ratio in ratios]


def _span(values: Sequence[float], digits: int) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def _below_full(table: Table) -> Finding:
    ratios = [_ratio(table, "t_run", family, "full", r) for family in FAMILIES for r in DIMENSIONS]
    facts = printed("paul2013", "table3_techtc300")["t_run_seconds"]
    theirs = [facts[family][k] / facts[family][3] for family in THEIRS for k in range(3)]
    return times_finding(
        "Projecting and training on the sketch take less time than training on all words.",
        f"{_span(theirs, 2)} of it",
        f"{_span(ratios, 2)} of it",
        here=max(ratios) < 1,
        why="these documents have fewer words than the largest sketch has entries, so that LIBSVM has more to do",
    )


def _faster(table: Table) -> Finding:
    theirs = printed("paul2013", "section4_2_fht_r512_beside_full")["faster_percent"]
    ratio = 1 / _ratio(table, "t_run", "FHT", "full", 512)
    return Finding(
        claim=f"With FHT and r = 512 projecting and training are about {theirs:g} % faster than all words.",
        printed=f"about {theirs:g} % faster",
        ours=f"{100 * (ratio - 1):+.0f} %",
        holds=None,
        reason=_MACHINE,
    )


TABLE3 = Item(
    name="paul2013.table3",
    title="Sketches of documents: errors, margins, times",
    experiment=DOCUMENTS,
    draw=_draw,
    judge=_judge,
    chosen=CHOSEN,
)
