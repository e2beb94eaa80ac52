"""Theorem 2: the smallest ball around the points, before and after projection, and B²/γ²."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from slimline import geometry
from slimline.bounds import get
from slimline.report._figures import PURPLE
from slimline_papers.drawing import COLOURS, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.paul2013 import clouds
from slimline_papers.paul2013.contenders import FACTORS, THEIRS, projection
from slimline_papers.paul2013.synthetic import DIMENSIONS, IMPLIED, Floats, Labels, gaussian_points
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CLOUDS, _ATTACK, _D1 = "clouds", "attack", "D1"
_NAMES = {_CLOUDS: "clouds of points", _ATTACK: "made for the projection", _D1: "D1 of the document"}
#: What the two radii, each proved to 1e-8, and the pairs' distances may be off.
_ROUNDING = 1e-6


def _parts(study: Study) -> Sequence[Part]:
    draws = range(study.pick(1, 3, 20))
    made = [(_CLOUDS, rank, method, k) for rank in clouds.RANKS for method in THEIRS for k in draws]
    return [*made, *[(_D1, 0, method, 0) for method in THEIRS]]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    case, rank, method, number = str(part[0]), int(part[1]), str(part[2]), int(part[3])
    seed = study.seed_of("paul2013.theorem2", *part)
    if case == _D1:
        X, labels = gaussian_points(study, "D1", number)
        y, sizes = labels[IMPLIED], DIMENSIONS
    else:
        X, y = clouds.two_clouds(np.random.default_rng(seed), rank, apart=8.0)
        sizes = clouds.DIMENSIONS
    for r in sizes:
        fitted = projection(method, r, seed).fit(X)
        yield case, rank, method, r, *_radii(X, fitted), *_capacities(X, y, fitted)
        if case == _CLOUDS:
            yield _ATTACK, rank, method, r, *_radii(_made_for(X, fitted), fitted), math.nan, math.nan


def _radii(X: Floats, fitted: Any) -> tuple[float, float, float, float]:
    """Return the embedding error, B̃²/B², and the least and greatest change of a squared distance."""
    e = geometry.embedding_error(X, fitted).value
    before, after = (geometry.enclosing_ball(points).radius for points in (X, fitted.transform(X)))
    distances = geometry.distortions(X, fitted).distances
    return e, (after / before) ** 2, distances.lowest, distances.highest


def _capacities(X: Floats, y: Labels, fitted: Any) -> tuple[float, float]:
    """Return B²/γ² before and after."""
    before, after = (
        (geometry.enclosing_ball(points).radius / geometry.margin(points, y, intercept=True).value) ** 2
        for points in (X, fitted.transform(X))
    )
    return before, after


def _made_for(X: Floats, fitted: Any) -> Floats:
    """Return points of the same span, of which the two farthest differ along the worst direction."""
    v, rest = clouds.worst_direction(X, fitted)
    return np.vstack([-v, v, 0.1 * rest])


def _draw(table: Table) -> Figure:
    figure, (by_error, by_pairs, capacity) = canvas(columns=3, width=4.6, height=4.0)
    widest = 1.05 * max(1.0, float(table["e"].max()))
    eps = np.linspace(0, widest, 300)
    for case, colour in zip((_CLOUDS, _ATTACK, _D1), (COLOURS["CW"], PURPLE, COLOURS["FHT"]), strict=True):
        rows = table.where(case=case)
        measured(by_error, rows["e"], rows["ball_ratio"], _NAMES[case], colour=colour)
        pairs = np.maximum(np.abs(rows["nearest"]), np.abs(rows["farthest"]))
        measured(by_pairs, pairs, rows["ball_ratio"], _NAMES[case], colour=colour)
        if case != _ATTACK:
            measured(capacity, rows["e"], rows["capacity_after"] / rows["capacity"], _NAMES[case], colour=colour)
    bound(by_error, eps, 1 + eps, "printed, 1+ε")
    law(by_error, eps[eps <= 1], 1 - eps[eps <= 1], "1-ε")
    law(by_pairs, eps, 1 + eps, "1 ± that change")
    law(by_pairs, eps[eps <= 1], 1 - eps[eps <= 1], "_")
    below = eps[eps < 0.95]
    bound(capacity, below, (1 + below) / (1 - below), "(1+ε)/(1-ε)")
    limits = {"xlim": (0, widest), "ylim": (0, 1 + widest)}
    finish(
        by_error, "Radius, by the embedding error", "embedding error ε", "B̃²/B²", legend="upper left", **limits
    )  # fmt: skip
    finish(
        by_pairs, "Radius, by the change of distances", "largest relative change of a squared distance", "B̃²/B²",
        legend="upper left", **limits,
    )  # fmt: skip
    finish(
        capacity, "Margin and radius together", "embedding error ε", "B̃²/γ̃² over B²/γ²", xlim=(0, widest), yscale="log",
        legend="upper right",
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    e, ratio = table["e"], table["ball_ratio"]
    low, high = np.array([_ends(eps) for eps in e[e < 1]]).T
    inside = (ratio[e < 1] >= low * (1 - _ROUNDING)) & (ratio[e < 1] <= high * (1 + _ROUNDING))
    least, most = 1 + table["nearest"], 1 + table["farthest"]
    pairs = np.all((ratio >= least - _ROUNDING) & (ratio <= most + _ROUNDING))
    attack = table.where(case=_ATTACK)
    reached = (attack["ball_ratio"] - 1) / attack["e"]
    own = table.where(case=_D1)
    grown = np.array([*(own["farthest"]), *(-own["nearest"])]).max()
    return [
        Finding(
            claim="B̃² ≤ (1+ε)B² wherever ‖VᵀV - VᵀRRᵀV‖ ≤ ε.",
            printed="B̃²/B² ≤ 1+ε",
            ours=f"at most {np.max(ratio / (1 + e)):.4f} times that, in {len(e)} problems",
            holds=np.all(ratio <= (1 + e) * (1 + _ROUNDING)),
            reason="a ball has grown more",
        ),
        Finding(
            claim="The radius does not shrink below (1-ε)B² either, and both ends are reached.",
            printed="not there",
            beyond=True,
            ours=f"(B̃²/B² - 1)/ε from {reached.min():.6f} to {reached.max():.6f} for points made for the projection",
            holds=np.all(inside)
            and np.isclose(reached[attack["e"] < 1].min(), -1, atol=1e-4)
            and np.isclose(reached.max(), 1, atol=1e-4),
            reason="a ball has shrunk more, or an end is not reached",
        ),
        Finding(
            claim="The radius alone needs no r that grows with the rank: its square changes by no more than squared "
            "distances do.",
            printed="r linear in the rank for margin and radius together (section 5)",
            beyond=True,
            ours=(
                f"all of {len(e)} problems; D1 at r = 256 to 1,024: ε = {own['e'].max():.2f} to {own['e'].min():.2f}, "
                f"but distances change by {grown:.2f} at most and B̃²/B² = {own['ball_ratio'].min():.2f} to "
                f"{own['ball_ratio'].max():.2f}"
            ),
            holds=pairs and own["e"].min() > 0.5 > grown,
            reason="a radius changes by more than the distances do, or the distances by as much as the embedding",
        ),
        _capacity_finding(table),
    ]


def _capacity_finding(table: Table) -> Finding:
    rows = [row for case in (_CLOUDS, _D1) for row in table.where(case=case).rows]
    measured_rows = Table(table.columns, tuple(rows))
    e = measured_rows["e"]
    growth = (measured_rows["capacity_after"] / measured_rows["capacity"])[e < 1]
    allowed = ((1 + e) / np.where(e < 1, 1 - e, np.nan))[e < 1]
    return Finding(
        claim="So B²/γ², which bounds the error to come, is kept.",
        printed="B̃²/γ̃² ≤ (1+ε)/(1-ε) B²/γ²",
        ours=f"at most {np.max(growth / allowed):.3f} times that; {growth.min():.2f} to {growth.max():.2f} times B²/γ²",
        holds=np.all(growth <= allowed * (1 + 4 * _ROUNDING)),
        reason="it has grown more",
    )


def _ends(eps: float) -> tuple[float, float]:
    kept = get("paul2013.2").guarantee(eps)
    return kept.lower, kept.upper


THEOREM2 = Item(
    name="paul2013.theorem2",
    title="Radius of the smallest ball before and after projection, and B²/γ²",
    experiment=Experiment(
        name="paul2013.balls",
        about=(
            "Smallest balls before and after CW, RS and FHT, the error ε = ‖VᵀV - VᵀRRᵀV‖ of each and what it does to "
            "distances: clouds of several ranks, points made to suffer, the paper's D1."
        ),
        columns=("case", "rank", "method", "r", "e", "ball_ratio", "nearest", "farthest", "capacity", "capacity_after"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    chosen=FACTORS,
)
