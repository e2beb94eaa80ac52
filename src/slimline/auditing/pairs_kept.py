"""What became of distances, angles and inner products."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from slimline.auditing.chances import frequency
from slimline.auditing.draws import Draw
from slimline.auditing.kept import chance_of_distances
from slimline.auditing.promises import Asked, largest_theorem, law_promise
from slimline.auditing.records import PairsKept, Promise
from slimline.geometry.distortion import LEVELS, Distortion
from slimline.laws import cosine, inner_product, norm_failure

Floats = NDArray[np.float64]

#: Pairs that the law of each is evaluated for.
_MOST_PAIRS = 2000


def pairs_kept(draws: Sequence[Draw], asked: Asked) -> tuple[PairsKept, ...]:
    """Return what became of the pairs of points.

    Parameters
    ----------
    draws : sequence of Draw
        The first with its record.
    asked : Asked
        What theorems are asked with.

    Returns
    -------
    kept : tuple of PairsKept
        Distances, angles, inner products.
    """
    return (
        _one(draws, "distances", asked, _distances, _about_distances),
        _one(draws, "angles", asked, _angles, _about_angles),
        _one(draws, "inner_products", asked, _products, _about_products),
    )


def _one(
    draws: Sequence[Draw],
    name: str,
    asked: Asked,
    law: Callable[[Distortion, Asked], float],
    about: Callable[[Sequence[float], int, Asked], tuple[Promise, ...]],
) -> PairsKept:
    found = [draw.pairs[name] for draw in draws]
    first = found[0].record
    assert first is not None
    largest = [one.largest for one in found]
    any_pairs = first.n_pairs > 0
    return PairsKept(
        name=name.replace("_", " "),
        about=first.measures,
        n_pairs=first.n_pairs,
        largest=tuple(largest),
        share_within=tuple(one.share_within for one in found),
        predicted=law(first, asked) if any_pairs else None,
        all_within=frequency(value <= asked.eps for value in largest),
        promises=about(largest, first.n_pairs, asked) if any_pairs else (),
        quantiles=tuple(float(value) for value in first.quantiles),
        quantile_levels=tuple(LEVELS),
        sample_before=first.before,
        sample_after=first.after,
    )


def _distances(record: Distortion, asked: Asked) -> float:
    return 1.0 - float(norm_failure(asked.r, asked.eps))


def _angles(record: Distortion, asked: Asked) -> float:
    c = np.clip(_some(record.before), -1.0, 1.0)
    return float(np.mean(cosine.cdf(c + asked.eps, asked.r, c) - cosine.cdf(c - asked.eps, asked.r, c)))


def _products(record: Distortion, asked: Asked) -> float:
    c = np.clip(_some(record.before), -1.0, 1.0)
    return float(np.mean(inner_product.cdf(c + asked.eps, asked.r, c) - inner_product.cdf(c - asked.eps, asked.r, c)))


def _some(values: Floats) -> Floats:
    return values[:: max(1, len(values) // _MOST_PAIRS)]


def _about_distances(largest: Sequence[float], n_pairs: int, asked: Asked) -> tuple[Promise, ...]:
    def failure(eps: float) -> float:
        return chance_of_distances(n_pairs, asked.r, eps)

    said = f"all squared distances change by at most {100.0 * asked.eps:.4g} %"
    return (
        largest_theorem("uml2014.23.4", asked, largest, lambda eps: eps, share=1.0, failure=failure, vectors=n_pairs),
        law_promise("laws.norm", said, asked, largest, failure(asked.eps), high=asked.eps),
    )


def _about_angles(largest: Sequence[float], n_pairs: int, asked: Asked) -> tuple[Promise, ...]:
    # κc ± 2ε/(1-ε), κ = (1+ε)/(1-ε), is off by at most 2ε(1+|c|)/(1-ε)
    def end(eps: float) -> float:
        return 4.0 * eps / (1.0 - eps)

    return (largest_theorem("shi2012.5.sharp", asked, largest, end, share=1.0 / n_pairs, most=2.0),)


def _about_products(largest: Sequence[float], n_pairs: int, asked: Asked) -> tuple[Promise, ...]:
    n = asked.points
    return (largest_theorem("fard2012.1", asked, largest, lambda eps: eps, share=1.0 / n, vectors=max(n - 1, 1)),)
