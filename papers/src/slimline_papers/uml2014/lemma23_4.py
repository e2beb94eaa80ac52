"""Lemma 23.4 (Johnson and Lindenstrauss): the largest distortion of a squared norm over a finite set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import eye_array

from slimline import GaussianProjection, bounds, geometry, laws
from slimline_papers.chance import FALSE_ALARM, rarity, rarity_above, too_rare
from slimline_papers.drawing import CYCLE, bound, canvas, finish, law, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ORTHOGONAL, _DIFFERENCES = "orthogonal vectors", "differences of points"
_DELTA = 0.05
_SIZES = (10, 100, 1_000, 2_000)
_POINTS = (5, 15, 64)
_FEATURES = 2_000
_LARGEST_EPS = bounds.get("uml2014.23.4").eps_below
_COLUMNS = (
    "kind", "vectors", "r", "matrices", "mean", "high",
    "printed_eps", "beyond_printed", "exact_eps", "beyond_exact",
)  # fmt: skip


def _parts(study: Study) -> Sequence[Part]:
    return [(kind, r) for kind in (_ORTHOGONAL, _DIFFERENCES) for r in study.pick((8, 128), *[(8, 32, 128, 384)] * 2)]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    kind, r = str(part[0]), int(part[1])
    matrices = study.pick(400, 600, 10_000) if kind == _ORTHOGONAL else study.pick(40, 150, 2_000)
    worst = _worst_of_vectors if kind == _ORTHOGONAL else _worst_of_differences
    found = np.array([worst(r, study.seed_of("uml2014.sets", *part, number)) for number in range(matrices)])
    sizes = _SIZES if kind == _ORTHOGONAL else [n * (n - 1) // 2 for n in _POINTS]
    for vectors, distortion in zip(sizes, found.T, strict=True):
        promised, exact = _printed_eps(r, vectors), _exact_eps(r, vectors)
        yield (
            kind, vectors, r, matrices, distortion.mean(), np.quantile(distortion, 1 - _DELTA),
            promised, np.count_nonzero(distortion >= promised), exact, np.count_nonzero(distortion > exact),
        )  # fmt: skip


def _worst_of_vectors(r: int, seed: int) -> list[float]:
    """Return the largest distortion over the first 10, 100, … of 2,000 orthogonal vectors, which no matrix relates."""
    sketch = GaussianProjection(r, random_state=seed).fit_transform(eye_array(_FEATURES, format="csr"))
    distortion = np.abs(np.sum(sketch**2, axis=1) - 1)
    return [float(distortion[:size].max()) for size in _SIZES]


def _worst_of_differences(r: int, seed: int) -> list[float]:
    """Return the largest distortion of a squared distance between 5, 15, … points."""
    points = np.random.default_rng(seed).standard_normal((max(_POINTS), _FEATURES // 4))
    projection = GaussianProjection(r, random_state=seed).fit(points)
    return [geometry.distortions(points[:n], projection).distances.value for n in _POINTS]


def _printed_eps(r: int, vectors: int) -> float:
    return float(np.sqrt(6 * np.log(2 * vectors / _DELTA) / r))


def _exact_eps(r: int, vectors: int) -> float:
    """Return the ε that the union over exact tails promises with the same probability."""
    return float(
        brentq(lambda eps: np.log(vectors * laws.norm_failure(r, eps) / _DELTA), 1e-3, 2 * _printed_eps(r, vectors))
    )


def _draw(table: Table) -> Figure:
    figure, panels = canvas(columns=2, width=5.4, height=4.2)
    for panel, kind in zip(panels, (_ORTHOGONAL, _DIFFERENCES), strict=True):
        for vectors, colour in zip(table.where(kind=kind).distinct("vectors"), CYCLE, strict=False):
            rows = table.where(kind=kind, vectors=vectors)
            measured(panel, rows["r"], rows["high"], f"measured, |Q| = {vectors:,}", colour=colour)
            law(panel, rows["r"], rows["exact_eps"], "", colour)
            bound(panel, rows["r"], rows["printed_eps"], "", colour)
        law(panel, [], [], "union over exact tails")
        bound(panel, [], [], "printed bound")
        panel.axhline(_LARGEST_EPS, color="0.4", linewidth=1, linestyle=":", label=f"ε = {_LARGEST_EPS:.3f}")
        finish(
            panel, f"{kind.capitalize()}: ε of 95 % of the projections", "dimensions r",
            "largest distortion of a squared norm", xscale="log", yscale="log", legend="lower left",
        )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    share = table["beyond_printed"] / table["matrices"]
    small = table["printed_eps"] <= _LARGEST_EPS
    kept = rarity_above(table["beyond_printed"], table["matrices"], _DELTA)
    broken = kept * len(table) < FALSE_ALARM
    worst = int(np.argmax(share))
    independent = table.where(kind=_ORTHOGONAL)
    law_share = independent["beyond_exact"] / independent["matrices"]
    expected = 1 - (1 - _DELTA / independent["vectors"]) ** independent["vectors"]
    chances = rarity(independent["beyond_exact"], independent["matrices"], expected)
    union = not too_rare(chances) and not too_rare(rarity_above(table["beyond_exact"], table["matrices"], _DELTA))
    saved = (table["exact_eps"] / table["printed_eps"])[small]
    return [
        Finding(
            claim=f"With probability 1 - δ all squared norms of a finite set Q change by less than √(6 ln(2|Q|/δ)/r), "
            f"where that is at most {_LARGEST_EPS:.3f}.",
            printed=f"at most {_DELTA:.0%} of the projections beyond",
            ours=f"{share[small].max():.1%} at most",
            holds=not broken[small].any(),
            reason="more projections fail than the lemma allows",
        ),
        Finding(
            claim="The same wherever that is at most 3.",
            printed=f"at most {_DELTA:.0%} of the projections beyond",
            ours=f"{share[worst]:.1%} at r = {table['r'][worst]:.0f}, |Q| = {table['vectors'][worst]:,.0f}, ε = "
            f"{table['printed_eps'][worst]:.2f} ({table.values('kind')[worst]})",
            holds=not broken.any(),
            reason="it stands on Lemma 23.3, whose bound is too small for a large ε",
            corrected=f"the same where ε is at most {_LARGEST_EPS:.3f}; for every ε the union over exact tails",
            corrected_holds=not broken[small].any() and union,
        ),
        Finding(
            claim="A union bound over the set is all that is needed.",
            printed="|Q| times the tail of one norm",
            ours=f"with exact tails {law_share.min():.1%} to {law_share.max():.1%} of the projections are beyond, for "
            f"orthogonal vectors; ε is {saved.min():.2f} to {saved.max():.2f} of the printed one",
            holds=union,
            reason="more or fewer projections are beyond than chance allows",
        ),
    ]


LEMMA23_4 = Item(
    name="uml2014.lemma23_4",
    title="The largest distortion over a finite set",
    experiment=Experiment(
        name="uml2014.sets",
        about="Orthogonal vectors, and differences of Gaussian points, projected by Gaussian matrices: the largest "
        "distortion of a squared norm, and how many projections are beyond what the lemma and the exact law promise.",
        columns=_COLUMNS,
        parts=_parts,
        measure=_measure,
    ),
    draw=_draw,
    judge=_judge,
    correction="9",
)
