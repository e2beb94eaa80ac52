"""Simulated genotypes of populations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import chance, share, whole
from slimline.data._blocks import MISSING_CALL
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
    """Genotypes of some people of one population, for one group of variants."""

    #: Which people.
    rows: NDArray[np.intp]
    #: Which variants, with both ends.
    columns: slice
    #: 0, 1 or 2, or `MISSING_CALL`; of shape (people, variants).
    copies: NDArray[np.int8]
    #: The truth behind them, in all populations; of shape (n_populations, variants).
    frequencies: NDArray[np.float32]
    #: Whether this is the last piece with these variants.
    completes: bool


@dataclass(frozen=True)
class PopulationModel:
    """People from populations that drifted apart, within regions that did so before.

    Each variant has an ancestral frequency p, uniform on (0.05, 0.95). Its frequency in a region is
    Beta(p (1 - F)/F, (1 - p)(1 - F)/F), with mean p and variance F p (1 - p), F being `fst_region`; its frequency in
    a population is drawn in the same way from that of the region, with `fst` for F. A person has two independent
    copies. With a single region there is no such level: populations drift from the ancestral frequency.
    """

    #: People, shared out evenly among the populations and shuffled.
    n_samples: int
    #: Populations in all, shared out evenly among the regions.
    n_populations: int = 5
    #: Regions.
    n_regions: int = 1
    #: How far populations drifted apart within their region, in (0, 1).
    fst: float = 0.02
    #: How far regions did.
    fst_region: float = 0.1
    #: Probability, in [0, 1), that a call is missing; calls are lost independently.
    missing_rate: float = 0.0
    #: The same seed gives the same people; variants are drawn in groups of 512, each from its own stream, and
    #: which calls are lost comes from another.
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("n_samples", "n_populations", "n_regions"):
            whole(name, getattr(self, name))
        for name, most, of in (
            ("n_populations", self.n_samples, "samples"),
            ("n_regions", self.n_populations, "populations"),
        ):
            if (count := getattr(self, name)) > most:
                raise InvalidParameterError(
                    f"must be at most the number of {of}, {most:,}; got {count:,}.", name, count
                )
        chance("fst", self.fst)
        chance("fst_region", self.fst_region)
        share("missing_rate", self.missing_rate, "the calls")
        whole("seed", self.seed, 0)

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
        """Yield the genotypes, variants in order; fewer variants are the first of more."""
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


@dataclass(frozen=True)
class Genotypes:
    """Simulated people."""

    #: Copies of the allele: 0, 1 or 2; -127 for a missing call; of shape (n_samples, n_features).
    X: NDArray[np.int8]
    #: Population of each person, from 0; of shape (n_samples,).
    populations: NDArray[np.int64]
    #: Frequency of each allele in each population: the truth behind `X`; of shape (n_populations, n_features).
    frequencies: NDArray[np.float32]
    #: Region of each person, from 0; of shape (n_samples,).
    regions: NDArray[np.int64]


def simulate_genotypes(
    n_samples: int,
    n_features: int,
    n_populations: int = 5,
    fst: float = 0.02,
    seed: int = 0,
    *,
    n_regions: int = 1,
    fst_region: float = 0.1,
    missing_rate: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> Genotypes:
    """Return genotypes of samples from populations that drifted apart.

    Parameters
    ----------
    n_samples : int
        Number of samples, divided evenly among the populations and shuffled.
    n_features : int
        Number of variants.
    n_populations : int, default=5
        Number of populations.
    fst : float, default=0.02
        Drift F of a population, in (0, 1): 0.1 is about the distance between continents, 0.005 within one.
    seed : int, default=0
        The same seed gives the same genotypes; variants are drawn in groups of 512, each from its own stream.
    n_regions : int, default=1
        Number of regions among which the populations are divided; with more than one, populations drift from their
        region.
    fst_region : float, default=0.1
        Drift of the regions before.
    missing_rate : float, default=0
        Probability that a genotype is missing.
    progress : callable, optional
        Called with (variants done, variants in all).

    Returns
    -------
    genotypes : Genotypes
        Genotypes, populations and true frequencies.

    See Also
    --------
    write_genotypes : The same in files, of any size.

    Notes
    -----
    The model of Balding and Nichols [1]_: in each population the frequency of a variant is drawn from a beta
    distribution with mean p and variance F p(1 - p), p being its frequency before the populations separated. The two
    copies of a sample are independent, and so are variants and the samples of a population.

    References
    ----------
    .. [1] Balding, D. J.; Nichols, R. A. (1995). "A method for quantifying differentiation between populations at
       multi-allelic loci and its implications for investigating identity and paternity." Genetica 96, 3-12.

    Examples
    --------
    >>> from slimline.data import simulate_genotypes
    >>> people = simulate_genotypes(100, 2000, n_populations=3, fst=0.1, seed=0)
    >>> people.X.shape, people.X.dtype
    ((100, 2000), dtype('int8'))
    >>> [int((people.populations == k).sum()) for k in range(3)]
    [34, 33, 33]
    """
    model = PopulationModel(n_samples, n_populations, n_regions, fst, fst_region, missing_rate, seed)
    whole("n_features", n_features)
    X = np.empty((n_samples, n_features), dtype=np.int8)
    frequencies = np.empty((n_populations, n_features), dtype=np.float32)
    for piece in model.pieces(n_features):
        X[piece.rows, piece.columns] = piece.copies
        if piece.completes:
            frequencies[:, piece.columns] = piece.frequencies
            if progress is not None:
                progress(piece.columns.stop, n_features)
    populations = model.populations()
    return Genotypes(X, populations, frequencies, model.region_of_population[populations])
