"""Theorem 8: the margin of several classes after a projection, as printed and as repaired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from slimline import GaussianProjection, geometry
from slimline.bounds import get
from slimline_papers.chance import FALSE_ALARM
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_BLUE, _ORANGE, _GREEN = CYCLE[:3]
_EPS, _DELTA, _FEATURES, _POINTS_PER_CLASS = 0.3, 0.05, 600, 4
#: Own cosines of the data sets; the margin is 2c for two classes, 1.5c for three.
_COSINES = {2: (0.25, 0.5, 0.75, 0.9, 1.0), 3: (0.33, 0.66, 0.85, 1.0)}
#: Own cosines of a single point whose other cosine is 1 below.
_OWN = (0.0, 0.25, 0.5, 0.75, 1.0)
_DATA, _POINT = "data", "point"


def _parts(study: Study) -> Sequence[Part]:
    return [*((_DATA, classes, c) for classes, some in _COSINES.items() for c in some), *((_POINT, 2, c) for c in _OWN)]


def data_of_margin(classes: int, c: float) -> tuple[Floats, NDArray[np.intp]]:
    """Return points with a cosine of c to the vector of their class, the vectors being those of a regular simplex.

    Within a class they lie on both sides of that vector, in pairs, so that no other vectors separate better.

    Parameters
    ----------
    classes : int
        2 or 3.
    c : float
        The cosine. That with another class is -c/(classes - 1).

    Returns
    -------
    X : array of shape (n_samples, n_features)
        Points of norm 1.
    y : array of int
        Classes.
    """
    angles = 2 * np.pi * np.arange(classes) / classes
    y = np.repeat(np.arange(classes), _POINTS_PER_CLASS)
    X = np.zeros((len(y), _FEATURES))
    X[:, 0], X[:, 1] = c * np.cos(angles[y]), c * np.sin(angles[y])
    signs = np.where(np.arange(len(y)) % 2, 1, -1)
    X[np.arange(len(y)), 2 + np.arange(len(y)) // 2] = signs * np.sqrt(1 - c**2)
    return X, y


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    case, classes, c = str(part[0]), int(part[1]), float(part[2])
    n = get("shi2012.8").dimension(_EPS, _DELTA, points=_POINTS_PER_CLASS * classes, classes=classes)
    seeds = [study.seed_of("shi2012.theorem8", *part, number) for number in range(study.pick(6, 20, 200))]
    if case == _POINT:
        vectors = np.zeros((3, _FEATURES))
        vectors[:, 0] = c, c - 1, 1
        vectors[[0, 1], [1, 2]] = np.sqrt(1 - vectors[:2, 0] ** 2)
        for seed in seeds:
            own, other, x = _unit(GaussianProjection(n, random_state=seed).fit_transform(vectors))
            yield case, classes, c, c - 1, 1, n, (own - other) @ x
        return
    X, y = data_of_margin(classes, c)
    before = geometry.multiclass_margin(X, y).value
    for seed in seeds:
        Z = GaussianProjection(n, random_state=seed).fit_transform(X)
        # the upper end of the bracket: below a promise only if the exact margin is
        yield case, classes, c, -c / (classes - 1), before, n, geometry.multiclass_margin(Z, y).upper


def _unit(Z: Floats) -> Floats:
    return np.asarray(Z / np.linalg.norm(Z, axis=1, keepdims=True))


def _promise(gamma: Floats | float, version: str) -> Floats:
    theorem = get("shi2012.8", "printed") if version == "printed" else get("shi2012.8")
    return np.asarray(theorem.guarantee(_EPS, multiclass_margin=gamma).lower)


def left_by_the_proof(own: Floats, other: Floats) -> Floats:
    """Return what the two inequalities of the printed proof leave of a lead: lower side of one, upper of the other.

    Parameters
    ----------
    own, other : array
        Cosines with the vector of the own class and with another one.

    Returns
    -------
    lead : array
        After the projection.
    """
    theorem5 = get("shi2012.5", "printed")
    return np.asarray(theorem5.guarantee(_EPS, cosine=own).lower - theorem5.guarantee(_EPS, cosine=other).upper)


def _draw(table: Table) -> Figure:
    figure, (left, right) = canvas(columns=2, width=5.4, height=4.2)
    gamma = np.linspace(0.01, 2, 200)
    bound(left, gamma, _promise(gamma, "printed"), "as printed", _ORANGE)
    bound(left, gamma, _promise(gamma, "repaired"), "as repaired", _GREEN)
    for classes, colour in ((2, _BLUE), (3, "0.3")):
        rows = table.where(case=_DATA, classes=classes)
        each = [rows.where(margin=margin) for margin in rows.distinct("margin")]
        means, spread = [some.mean("after") for some in each], [some.spread("after") for some in each]
        margins = [some["margin"][0] for some in each]
        measured(left, margins, means, f"measured, {classes} classes", spread, colour)
    left.axvline(1, color="0.6", linewidth=0.8, linestyle=":")
    left.text(1.02, 2.4, "beyond the printed range", fontsize=8, color="0.4")
    left.axhline(2, color="0.6", linewidth=0.8)
    left.text(0.03, 2.05, "no two cosines differ by more", fontsize=8, color="0.4")
    finish(left, f"Theorem 8, ε = {_EPS:g}", "margin γ before", "margin after", ylim=(-1.2, 2.6), legend="lower right")
    rows = table.where(case=_POINT)
    other = np.linspace(-1, 0, 100)
    law(right, other, left_by_the_proof(other + 1, other), "what the proof's inequalities leave")
    bound(right, [-1, 0], 2 * [float(_promise(1.0, "printed"))], "what its last line claims", _ORANGE)
    bound(right, [-1, 0], 2 * [float(_promise(1.0, "repaired"))], "as repaired", _GREEN)
    cosines = np.array(rows.distinct("other"), dtype=float)
    lowest = [rows.where(other=value)["after"].min() for value in rows.distinct("other")]
    measured(right, cosines, lowest, "measured, lowest", colour=_BLUE)
    finish(
        right, "One point, γ = 1: the last step of the proof", "cosine with the other class", "lead after",
        ylim=(-0.75, 1.75), legend="upper center",
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    return [_in_range(table), _beyond(table), _last_step(table)]


def _in_range(table: Table) -> Finding:
    data = table.where(case=_DATA)
    kept = data["margin"] <= 1 + 1e-6
    below = data["after"] < _promise(data["margin"], "printed")
    return Finding(
        claim=f"Theorem 8: a multiclass margin γ ≤ 1 becomes what is printed or more, with probability {1 - _DELTA:g}.",
        printed=f"{float(_promise(1.0, 'printed')):.2f} for γ = 1, ε = {_EPS:g}",
        ours=f"{data['after'][kept & (data['margin'] > 0.9)].min():.2f} or more for γ about 1; "
        f"{np.sum(below[kept])} of {np.sum(kept)} margins below the promise",
        holds=binom.sf(np.sum(below[kept]) - 1, np.sum(kept), _DELTA) > FALSE_ALARM,
        reason="more projections fall short than chance allows",
    )


def _beyond(table: Table) -> Finding:
    data = table.where(case=_DATA)
    below = {version: data["after"] < _promise(data["margin"], version) for version in ("printed", "repaired")}
    largest = np.isclose(data["margin"], data["margin"].max())
    falls_short = binom.sf(np.sum(below["printed"][largest]) - 1, np.sum(largest), _DELTA) <= FALSE_ALARM
    return Finding(
        claim="Beyond the printed range the printed bound is false, and the repaired one holds: κγ - 4ε/(1-ε), "
        "κ = (1+ε)/(1-ε). The proof nowhere uses γ ≤ 1; its last step takes the cosines of the other classes to be at "
        "least 0.",
        printed="for γ ≤ 1 only",
        beyond=True,
        ours=f"γ = {data['margin'].max():.3g} becomes {data['after'][largest].mean():.3g}, where the printed bound "
        f"would be {float(_promise(data['margin'].max(), 'printed')):.2f}; {np.sum(below['printed'][largest])} of "
        f"{np.sum(largest)} margins below that, {np.sum(below['repaired'])} of {len(data)} below the repaired bound",
        holds=falls_short and binom.sf(np.sum(below["repaired"]) - 1, len(data), _DELTA) > FALSE_ALARM,
        reason="no more margins are below the printed bound than chance allows, or too many are below the repaired one",
    )


def _last_step(table: Table) -> Finding:
    rows = table.where(case=_POINT)
    left = left_by_the_proof(rows["own"], rows["other"])
    claimed, repaired = _promise(rows["margin"], "printed"), _promise(rows["margin"], "repaired")
    theorem5 = get("shi2012.5", "printed")
    # the lower side of Theorem 5 for own and for the opposite of the other vector
    twice = theorem5.guarantee(_EPS, cosine=rows["own"]).lower + theorem5.guarantee(_EPS, cosine=-rows["other"]).lower
    least = int(np.argmin(left - claimed))
    return Finding(
        claim="The last line of the proof follows from the two inequalities before it.",
        printed=f"a lead of {claimed[least]:.2f}",
        ours=f"the two leave {left[least]:.2f} for cosines of {rows['own'][least]:g} and {rows['other'][least]:g}; "
        f"measured {rows['after'].min():.2f} or more",
        holds=np.all(left >= claimed - 1e-12),
        reason="-c/κ is replaced by -κc, which is smaller only for a cosine c of at least 0",
        corrected="The lower side of Theorem 5, taken twice, gives κγ - 4ε/(1-ε) for every sign.",
        corrected_holds=np.allclose(twice, repaired, rtol=0, atol=1e-12)
        and binom.sf(np.sum(rows["after"] < repaired) - 1, len(rows), _DELTA) > FALSE_ALARM,
    )


THEOREM8 = Item(
    name="shi2012.theorem8",
    title="The multiclass margin, as printed and as repaired",
    experiment=Experiment(
        name="shi2012.theorem8",
        about="Two and three classes with a known multiclass margin, and single points with two known cosines, "
        "projected to as many dimensions as Theorem 8 asks for.",
        columns=("case", "classes", "own", "other", "margin", "n", "after"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="5",
)
