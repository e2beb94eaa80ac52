"""Theorem 1: inner products of one fixed vector with those of a finite set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slimline import bounds
from slimline_papers.chance import rarity_above, too_rare
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.fard2012.errors import DELTA, error_of_products, union_eps
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEATURES = 1_000
_SIZES = (10, 100, 1_000)
_PRINTED = bounds.get("fard2012.1", "printed")
_COLUMNS = (
    "vectors", "r", "matrices", "mean", "high",
    "printed_eps", "beyond_printed", "exact_eps", "beyond_exact",
)  # fmt: skip


def _parts(study: Study) -> Sequence[Part]:
    return [(r,) for r in study.pick((64, 512), *[(64, 256, 1_024, 4_096)] * 2)]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    r = int(part[0])
    matrices = study.pick(100, 200, 2_000)
    w, *sets = _vectors(study.seed_of("fard2012.sets", "vectors"))
    found = np.empty((matrices, len(_SIZES)))
    for number in range(matrices):
        g = error_of_products(w[0], r, study.seed_of("fard2012.sets", r, number))
        found[number] = [np.abs(S @ g).max() for S in sets]
    for vectors, worst in zip(_SIZES, found.T, strict=True):
        promised, exact = _PRINTED.eps(r, DELTA, vectors=vectors), union_eps(r, _cosines(vectors))
        yield (
            vectors, r, matrices, worst.mean(), np.quantile(worst, 1 - DELTA),
            promised, np.count_nonzero(worst > promised), exact, np.count_nonzero(worst > exact),
        )  # fmt: skip


def _vectors(seed: int) -> list[NDArray[np.float64]]:
    """Return w, and sets of unit vectors that have all sorts of angles with it: w and -w among them."""
    random = np.random.default_rng(seed)
    w = _unit(random.standard_normal((1, _FEATURES)))
    sets = []
    for size in _SIZES:
        cosines = _cosines(size)[:, None]
        aside = random.standard_normal((size, _FEATURES))
        aside = _unit(aside - (aside @ w.T) * w)
        sets.append(cosines * w + np.sqrt(1 - cosines**2) * aside)
    return [w, *sets]


def _cosines(size: int) -> NDArray[np.float64]:
    return np.linspace(-1, 1, size)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _draw(table: Table) -> Figure:
    figure, (panel,) = canvas(width=6.4, height=4.6)
    for vectors, colour in zip(_SIZES, CYCLE, strict=False):
        rows = table.where(vectors=vectors)
        measured(panel, rows["r"], rows["high"], f"measured, |S| = {vectors:,}", colour=colour)
        law(panel, rows["r"], rows["exact_eps"], "", colour)
        bound(panel, rows["r"], rows["printed_eps"], "", colour)
    law(panel, [], [], "union over exact laws")
    bound(panel, [], [], "printed bound")
    finish(
        panel, "Largest error of an inner product with one w, 95 % of the projections", "dimensions r",
        "error / (‖w‖‖s‖)", xscale="log", yscale="log", legend="lower left",
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    share = table["beyond_printed"] / table["matrices"]
    of_law = table["beyond_exact"] / table["matrices"]
    fewer = (table["printed_eps"] / table["exact_eps"]) ** 2
    return [
        Finding(
            claim="One fixed w keeps its inner products with all s of a finite set S within ε‖w‖‖s‖, except with "
            "probability (4|S|+2) exp(-rε²/48).",
            printed=f"at most {DELTA:.0%} of the projections beyond",
            ours=f"{share.max():.1%} at most; the errors are {(table['high'] / table['printed_eps']).max():.2f} of the "
            "promised ones or less",
            holds=not too_rare(rarity_above(table["beyond_printed"], table["matrices"], DELTA)),
            reason="more projections fail than the theorem allows",
        ),
        Finding(
            claim="A union over the set is enough, so that it costs the logarithm of its size.",
            printed="r = 48 ln((4|S|+2)/δ)/ε²",
            ours=f"the union over exact laws holds for all but {of_law.max():.1%} of the projections, and asks for "
            f"{fewer.min():.0f} to {fewer.max():.0f} times fewer dimensions",
            holds=not too_rare(rarity_above(table["beyond_exact"], table["matrices"], DELTA)) and fewer.min() > 1,
            reason="the exact law is passed too often, or asks for more",
        ),
    ]


THEOREM1 = Item(
    name="fard2012.theorem1",
    title="Inner products of one vector with those of a finite set",
    experiment=Experiment(
        name="fard2012.sets",
        about="A fixed w in 1,000 dimensions, and sets of vectors at all angles to it, projected by Gaussian matrices: "
        "the largest error of an inner product, and how many projections are beyond what theorem and law promise.",
        columns=_COLUMNS,
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
)
