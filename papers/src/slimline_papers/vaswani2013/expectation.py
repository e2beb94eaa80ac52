"""Section 2.3: the dual variables of a sketch, on average over the projections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from slimline import GaussianProjection
from slimline_papers.chance import ONE_LIMIT
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POINTS, _FEATURES = 20, 400
_DIMENSIONS = (40, 80, 160, 320)
#: λ beside the mean eigenvalue of the Gram matrix: next to nothing, and on the scale of the data.
_SMALL, _LARGE = 1e-6, 1.0


def _parts(study: Study) -> Sequence[Part]:
    return [(penalty, r) for penalty in (_SMALL, _LARGE) for r in _DIMENSIONS]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    """Measure the sum of the dual variables, as a multiple of the exact one; squared loss, all labels 1."""
    penalty, r = float(part[0]), int(part[1])
    X = np.random.default_rng(study.seed_of("vaswani2013.expectation")).standard_normal((_POINTS, _FEATURES))
    K, one = X @ X.T, np.ones(_POINTS)
    ridge = penalty * np.trace(K) / _POINTS * np.eye(_POINTS)
    exact = one @ np.linalg.solve(K + ridge, one)
    ratios = []
    for draw in range(study.pick(200, 1_000, 10_000)):
        seed = study.seed_of("vaswani2013.expectation", penalty, r, draw)
        Z = GaussianProjection(r, random_state=seed).fit_transform(X)
        ratios.append(one @ np.linalg.solve(Z @ Z.T + ridge, one) / exact)
    yield penalty, r, len(ratios), np.mean(ratios), np.std(ratios, ddof=1) / np.sqrt(len(ratios))


def inverse_mean(r: np.ndarray) -> np.ndarray:
    """Return E 1ᵀĜ⁻¹1/1ᵀG⁻¹1 of a Gaussian R: the mean of an inverse Wishart matrix.

    Parameters
    ----------
    r : array
        Dimensions.

    Returns
    -------
    mean : array
        r/(r - ρ - 1).
    """
    return np.asarray(r / (r - _POINTS - 1.0))


def _draw(table: Table) -> Figure:
    figure, (panel,) = canvas(width=6.4, height=4.2)
    r = np.geomspace(_DIMENSIONS[0], _DIMENSIONS[-1], 100)
    law(panel, r, inverse_mean(r), "exact law for λ → 0: r/(r-ρ-1)")
    bound(panel, r[[0, -1]], [1.0, 1.0], "printed: 1")
    for colour, penalty, name in zip(CYCLE, (_SMALL, _LARGE), ("λ → 0", "λ on the scale of the data"), strict=False):
        rows = table.where(penalty=penalty)
        measured(panel, rows["r"], rows["mean"], name, rows["error"], colour)
    finish(
        panel, f"Dual variables of the sketch, {_POINTS} points: mean and its standard error", "dimensions r",
        "mean of α̂, as a multiple of α*", xscale="log", ylim=(0.9, 2.3),
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    small, large = (table.where(penalty=penalty) for penalty in (_SMALL, _LARGE))
    off = np.abs(table["mean"] - 1) / table["error"]
    agree = np.abs(small["mean"] - inverse_mean(small["r"])) <= ONE_LIMIT * small["error"]
    above = np.sum((large["mean"] - 1) / large["error"]) / np.sqrt(len(large))
    listed = [", ".join(f"{mean:.2f}" for mean in rows["mean"]) for rows in (small, large)]
    return [
        Finding(
            claim="Because Ĝ = G in expectation, α̂* = α* in expectation.",
            printed="E α̂* = α*",
            ours=f"r = {', '.join(map(str, _DIMENSIONS))}: {listed[0]} times α* for λ → 0, {listed[1]} times for λ on "
            "the scale of the data",
            holds=np.all(off <= ONE_LIMIT),
            reason="α̂* is not linear in Ĝ: the mean of an inverse is above the inverse of the mean",
            corrected="E α̂* = r/(r-ρ-1) α* for a Gaussian R and λ → 0, and above α* for every λ",
            corrected_holds=np.all(agree) and above > ONE_LIMIT,
        )
    ]


EXPECTATION = Item(
    name="vaswani2013.expectation",
    title="Section 2.3: dual variables of the sketch on average",
    experiment=Experiment(
        name="vaswani2013.expectation",
        about="Twenty Gaussian points in 400 dimensions, all labels 1, squared loss: the sum of the dual variables on "
        "Gaussian sketches, as a multiple of the exact one, on average over the projections.",
        columns=("penalty", "r", "draws", "mean", "error"),
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="13",
)
