"""The model of Balding and Nichols (1995), with regions above the populations, drawn a few variants at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from slimline.data.block import MISSING_CALL
from slimline.errors import InvalidParameterError

#: Copies that are drawn at a time, at most: few enough for the cache.
_BLOCK_ENTRIES = 1 << 19
#: Variants that share a random stream: their number is part of what a seed means, so it never changes.
STREAM_VARIANTS = 512
#: Frequencies of the ancestral allele: common variants.
_LOWEST, _HIGHEST = 0.05, 0.95
#: A variant that is fixed in a region stays so, as nearly as a Beta law with positive parameters can say it.
_FIXED = 1e-9


@dataclass(frozen=True, slots=True)
class Piece:
    """Genotypes of some people of one population, for one group of variants.

    Parameters
    ----------
    rows : array of row numbers, ascending
        Which people.
    columns : slice
        Which variants, with both ends.
    copies : array of shape (people, variants), int8
        0, 1 or 2, or `MISSING_CALL`.
    frequencies : array of shape (n_populations, variants), float32
        The truth behind them, in all populations.
    completes : bool
        Whether this is the last piece with these variants.
    """

    rows: NDArray[np.intp]
    columns: slice
    copies: NDArray[np.int8]
    frequencies: NDArray[np.float32]
    completes: bool


@dataclass(frozen=True)
class PopulationModel:
    """People from populations that drifted apart, within regions that did so before.

    Each variant has an ancestral frequency p, uniform on (0.05, 0.95). Its frequency in a region is
    Beta(p (1 - F)/F, (1 - p)(1 - F)/F), with mean p and variance F p (1 - p), F being `fst_region`; its frequency in
    a population is drawn in the same way from that of the region, with `fst` for F. A person has two independent
    copies. With a single region there is no such level: populations drift from the ancestral frequency.

    Parameters
    ----------
    n_samples : int
        People, shared out evenly among the populations and shuffled.
    n_populations : int
        Populations in all, shared out evenly among the regions.
    n_regions : int
        Regions.
    fst : float
        How far populations drifted apart within their region, in (0, 1).
    fst_region : float
        How far regions did.
    missing_rate : float
        Probability, in [0, 1), that a call is missing; calls are lost independently.
    seed : int
        The same seed gives the same people; variants are drawn in groups of 512, each from its own stream, and
        which calls are lost comes from another.
    """

    n_samples: int
    n_populations: int = 5
    n_regions: int = 1
    fst: float = 0.02
    fst_region: float = 0.1
    missing_rate: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("n_samples", "n_populations", "n_regions"):
            require_count(name, getattr(self, name))
        for small, large in (("n_populations", "n_samples"), ("n_regions", "n_populations")):
            if getattr(self, small) > getattr(self, large):
                values = f"{small}={getattr(self, small)} is above {large}={getattr(self, large)}"
                raise InvalidParameterError(f"{values}: lower it.")
        for name in ("fst", "fst_region"):
            if not _is_real(getattr(self, name)) or not 0 < getattr(self, name) < 1:
                raise InvalidParameterError(f"{name} must lie in (0, 1); got {getattr(self, name)!r}.")
        if not _is_real(self.missing_rate) or not 0 <= self.missing_rate < 1:
            raise InvalidParameterError(f"missing_rate must lie in [0, 1); got {self.missing_rate!r}.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, Integral) or self.seed < 0:
            raise InvalidParameterError(f"seed must be a whole number, 0 or more; got {self.seed!r}.")

    @property
    def region_of_population(self) -> NDArray[np.int64]:
        """Return the region of each population, from 0."""
        return np.arange(self.n_populations, dtype=np.int64) * self.n_regions // self.n_populations

    def populations(self) -> NDArray[np.int64]:
        """Return the population of each person, from 0."""
        populations = np.arange(self.n_samples, dtype=np.int64) % self.n_populations
        self._generator(0).shuffle(populations)
        return populations

    def pieces(self, n_features: int) -> Iterator[Piece]:
        """Yield the genotypes, variants in order; fewer variants are the first of more.

        Parameters
        ----------
        n_features : int
            Variants.

        Yields
        ------
        Piece
            About half a megabyte of genotypes.
        """
        populations = self.populations()
        members = [np.flatnonzero(populations == k) for k in range(self.n_populations)]
        step = max(1, _BLOCK_ENTRIES // (2 * STREAM_VARIANTS))
        for group in range(-(-n_features // STREAM_VARIANTS)):
            columns = slice(group * STREAM_VARIANTS, min((group + 1) * STREAM_VARIANTS, n_features))
            # A whole group is drawn even where the last is cut short, so that fewer variants are the first of more.
            calls, losses = self._generator(1, group), self._generator(1, group, 0)
            frequencies = self._frequencies(calls)
            width = columns.stop - columns.start
            for k, rows in enumerate(members):
                for first in range(0, len(rows), step):
                    some = rows[first : first + step]
                    copies = _copies(calls, frequencies[k], len(some))
                    if self.missing_rate:
                        copies[_lost(losses, self.missing_rate, len(some))] = MISSING_CALL
                    last = k == self.n_populations - 1 and first + step >= len(rows)
                    yield Piece(some, columns, copies[:, :width], frequencies[:, :width], last)

    def _generator(self, *key: int) -> np.random.Generator:
        """Return a stream of its own; (1, 7) is the eighth that the second child of the seed would spawn."""
        return np.random.default_rng(np.random.SeedSequence(int(self.seed), spawn_key=key))

    def _frequencies(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return the frequency of each variant of a group in each population."""
        above = rng.uniform(_LOWEST, _HIGHEST, size=STREAM_VARIANTS)
        if self.n_regions > 1:
            regions = _drifted(rng, above, self.fst_region, self.n_regions)
            above = np.clip(regions, _FIXED, 1.0 - _FIXED)[self.region_of_population]
        return _drifted(rng, above, self.fst, self.n_populations).astype(np.float32)


def require_count(name: str, value: object) -> None:
    """Raise unless the value is a whole number, 1 or more."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InvalidParameterError(f"{name} must be a whole number, 1 or more; got {value!r}.")


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _drifted(rng: np.random.Generator, frequency: NDArray[np.float64], fst: float, groups: int) -> NDArray[np.float64]:
    spread = (1.0 - fst) / fst
    return rng.beta(frequency * spread, (1.0 - frequency) * spread, size=(groups, STREAM_VARIANTS))


def _copies(rng: np.random.Generator, frequency: NDArray[np.float32], people: int) -> NDArray[np.int8]:
    """Return two independent copies of each variant for each person."""
    # 16 bits a copy are enough for a frequency: a word of the generator serves four. Each person takes whole words,
    # so that blocks of any number of people take the same bits.
    threshold = np.minimum(np.rint(frequency.astype(np.float64) * 65536.0), 65535.0).astype(np.uint16)
    draws = _words(rng, people * STREAM_VARIANTS // 2).view("<u2").reshape(people, 2, STREAM_VARIANTS)
    carried = (draws < threshold).view(np.int8)
    return carried[:, 0] + carried[:, 1]


def _lost(rng: np.random.Generator, rate: float, people: int) -> NDArray[np.bool_]:
    """Return which calls are missing; 32 bits each, because a rate may be small."""
    draws = _words(rng, people * STREAM_VARIANTS // 2).view("<u4").reshape(people, STREAM_VARIANTS)
    return np.asarray(draws < np.uint32(min(round(rate * 2.0**32), 2**32 - 1)))


def _words(rng: np.random.Generator, count: int) -> NDArray[np.uint64]:
    return rng.bit_generator.random_raw(count).astype("<u8", copy=False)
