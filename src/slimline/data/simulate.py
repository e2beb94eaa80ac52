"""Simulated genotypes: populations that drifted apart, by the model of Balding and Nichols (1995)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError

#: Copies that are drawn at a time, at most.
_BLOCK_ENTRIES = 1 << 22
#: Variants that share a random stream: their number is part of what a seed means, so it never changes.
_STREAM_VARIANTS = 512
#: Frequencies of the ancestral allele: common variants.
_LOWEST, _HIGHEST = 0.05, 0.95


@dataclass(frozen=True)
class Genotypes:
    """Simulated people.

    Parameters
    ----------
    X : array of shape (n_samples, n_features), int8
        Copies of the allele: 0, 1 or 2.
    populations : array of shape (n_samples,), int64
        Population of each person, from 0.
    frequencies : array of shape (n_populations, n_features), float32
        Frequency of each allele in each population: the truth behind `X`.
    """

    X: NDArray[np.int8]
    populations: NDArray[np.int64]
    frequencies: NDArray[np.float32]


def simulate_genotypes(
    n_samples: int,
    n_features: int,
    n_populations: int = 5,
    fst: float = 0.02,
    seed: int = 0,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Genotypes:
    """Return genotypes of people from populations that drifted apart.

    Each variant has an ancestral frequency p, uniform on (0.05, 0.95); its frequency in a population is
    Beta(p (1 - F)/F, (1 - p)(1 - F)/F), with mean p and variance F p (1 - p), F being `fst`; a person has two
    independent copies. Variants are independent, and the people of a population too.

    Parameters
    ----------
    n_samples : int
        People, shared out evenly among the populations and shuffled.
    n_features : int
        Variants.
    n_populations : int, default=5
        Populations.
    fst : float, default=0.02
        How far they drifted apart, in (0, 1): 0.1 is about the distance between continents, 0.005 within one.
    seed : int, default=0
        The same seed gives the same people; variants are drawn in groups of 512, each from its own stream.
    progress : callable, optional
        Told of (variants done, variants in all).

    Returns
    -------
    genotypes : Genotypes
        Genotypes, populations and true frequencies.

    Examples
    --------
    >>> from slimline.data import simulate_genotypes
    >>> people = simulate_genotypes(100, 2000, n_populations=3, fst=0.1, seed=0)
    >>> people.X.shape, people.X.dtype
    ((100, 2000), dtype('int8'))
    >>> [int((people.populations == k).sum()) for k in range(3)]
    [34, 33, 33]
    """
    _check(n_samples, n_features, n_populations, fst, seed)
    root = np.random.SeedSequence(seed)
    labels_stream, variants_stream = root.spawn(2)
    populations = np.arange(n_samples, dtype=np.int64) % n_populations
    np.random.default_rng(labels_stream).shuffle(populations)
    X = np.empty((n_samples, n_features), dtype=np.int8)
    frequencies = np.empty((n_populations, n_features), dtype=np.float32)
    members = [np.flatnonzero(populations == k) for k in range(n_populations)]
    for stream, start in zip(
        variants_stream.spawn(-(-n_features // _STREAM_VARIANTS)), range(0, n_features, _STREAM_VARIANTS), strict=True
    ):
        # A whole group is drawn even where the last is cut short, so that fewer variants are the first of more.
        rng = np.random.default_rng(stream)
        stop = min(start + _STREAM_VARIANTS, n_features)
        drawn = _frequencies(rng, n_populations, fst)
        frequencies[:, start:stop] = drawn[:, : stop - start]
        for k, rows in enumerate(members):
            copies = _copies(rng, drawn[k], len(rows))
            X[rows, start:stop] = copies[:, : stop - start]
        if progress is not None:
            progress(stop, n_features)
    return Genotypes(X, populations, frequencies)


def _frequencies(rng: np.random.Generator, n_populations: int, fst: float) -> NDArray[np.float32]:
    ancestral = rng.uniform(_LOWEST, _HIGHEST, size=_STREAM_VARIANTS)
    spread = (1.0 - fst) / fst
    drifted = rng.beta(ancestral * spread, (1.0 - ancestral) * spread, size=(n_populations, _STREAM_VARIANTS))
    return drifted.astype(np.float32)


def _copies(rng: np.random.Generator, frequency: NDArray[np.float32], people: int) -> NDArray[np.int8]:
    """Return two independent copies of each variant for each person."""
    copies = np.empty((people, frequency.size), dtype=np.int8)
    # 16 bits a copy are enough for a frequency, and a quarter of the time of float64. Over their full range no draw
    # is rejected, so that blocks of any number of people take the same bits.
    threshold = np.minimum(np.rint(frequency.astype(np.float64) * 65536.0), 65535.0).astype(np.uint16)
    step = max(1, _BLOCK_ENTRIES // (2 * frequency.size))
    for first in range(0, people, step):
        rows = slice(first, min(first + step, people))
        draws = rng.integers(0, 65536, size=(rows.stop - rows.start, 2, frequency.size), dtype=np.uint16)
        carried = draws < threshold
        np.add(carried[:, 0], carried[:, 1], out=copies[rows], dtype=np.int8, casting="unsafe")
    return copies


def _check(n_samples: int, n_features: int, n_populations: int, fst: float, seed: int) -> None:
    sizes = {"n_samples": n_samples, "n_features": n_features, "n_populations": n_populations}
    for name, value in sizes.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise InvalidParameterError(f"{name} must be a whole number, 1 or more; got {value!r}.")
    if n_populations > n_samples:
        raise InvalidParameterError(f"n_populations={n_populations} is above n_samples={n_samples}: lower it.")
    if isinstance(fst, bool) or not isinstance(fst, Real) or not 0 < fst < 1:
        raise InvalidParameterError(f"fst must lie in (0, 1); got {fst!r}.")
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InvalidParameterError(f"seed must be a whole number, 0 or more; got {seed!r}.")
