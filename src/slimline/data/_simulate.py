"""Simulated genotypes of populations, in memory and in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import chance, share, whole
from slimline.data._blocks import MISSING_CALL
from slimline.data._passes import read_ahead
from slimline.data._simulate_traits import (
    GeneticValues,
    components_of,
    covariate_lines,
    phenotype_lines,
    traits_of,
)
from slimline.data._write import BedWriter, NewFile, NewFiles, NpyWriter
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


FORMATS = ("plink", "npy")
_CHROMOSOMES = 22
#: Base pairs between two variants, at most, and positions that still fit the 32 bits of PLINK.
_SPACING, _FIRST_POSITION, _LAST_POSITION = 5000, 10_000, 2_000_000_000
_ALLELES = ("A\tG", "C\tT", "A\tC", "G\tT")
#: Lines of text that are made at a time.
_LINES = 8192


class _GenotypeWriter(Protocol):
    def add(self, rows: NDArray[np.intp], columns: slice, copies: NDArray[np.int8]) -> None: ...

    def complete(self, columns: slice) -> None: ...


def write_genotypes(
    path: str | os.PathLike[str],
    n_samples: int,
    n_features: int,
    *,
    n_regions: int = 1,
    n_populations: int = 5,
    fst: float = 0.02,
    fst_region: float = 0.1,
    missing_rate: float = 0.0,
    seed: int = 0,
    formats: Iterable[str] = ("plink",),
    traits: bool = False,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Simulate genotypes and write them to files, of any size, in little memory.

    Files carry temporary names until they are complete; after an error they are removed.

    Parameters
    ----------
    path : str or path
        Beginning of the names: `path`.bed, .bim and .fam, `path`.npy, and `path`.labels.tsv with the population and
        region of each sample. An ending .bed or .npy is removed.
    n_samples : int
        Number of samples, divided evenly among the populations and shuffled.
    n_features : int
        Number of variants.
    n_regions : int, default=1
        Number of regions among which the populations are divided; with more than one, populations drift from their
        region.
    n_populations : int, default=5
        Number of populations in all.
    fst : float, default=0.02
        Drift of a population (within its region), in (0, 1).
    fst_region : float, default=0.1
        Drift of the regions before.
    missing_rate : float, default=0
        Probability that a genotype is missing.
    seed : int, default=0
        The same seed gives the same genotypes.
    formats : iterable of {"plink", "npy"}
        Formats to write; in a `.npy` file a genotype is an int8, rows are samples, and -127 is a missing genotype.
    traits : bool, default=False
        Whether to write `path`.pheno.tsv and `path`.covar.tsv as well: height and case (1 or 2) of each sample, and its
        age, sex (1: male, 2: female) and two principal components, PC1 and PC2, in the layout of PLINK.
    overwrite : bool, default=False
        Whether files that exist may be replaced.
    progress : callable, optional
        Called with (variants done, variants in all).

    Returns
    -------
    files : list of Path
        The files that were written.

    See Also
    --------
    simulate_genotypes : The same genotypes in memory, with the model and its source.

    Notes
    -----
    Memory beyond 128 bytes per sample stays below some tens of megabytes.

    A tenth of the variants has an effect on the traits. Their sum is half of the variance of height beside sex and age,
    and of the liability to be a case; 30 % of the samples are cases. Effects are no larger in one population than in
    another, but their sums differ, as they do between real populations. The principal components are those of the first
    512 variants.

    Examples
    --------
    >>> import tempfile
    >>> from slimline.data import open_matrix, write_genotypes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_genotypes(f"{folder}/cohort", 100, 2000, missing_rate=0.01, formats=("plink", "npy"))
    ...     bed, npy = open_matrix(f"{folder}/cohort.bed"), open_matrix(f"{folder}/cohort.npy", missing=-127)
    ...     bool((bed.column_stats().missing == npy.column_stats().missing).all())
    True
    >>> [file.name for file in files]
    ['cohort.labels.tsv', 'cohort.npy', 'cohort.fam', 'cohort.bim', 'cohort.bed']
    """
    model = PopulationModel(n_samples, n_populations, n_regions, fst, fst_region, missing_rate, seed)
    whole("n_features", n_features)
    names = output_paths(path, formats, traits=traits)
    _require_same_people(names, output_paths(path, FORMATS))
    n, d = int(n_samples), int(n_features)
    with NewFiles(names.values(), overwrite=overwrite) as files:
        writers: list[_GenotypeWriter] = []
        if "npy" in names:
            writers.append(NpyWriter(files.create(names["npy"]), (n, d), STREAM_VARIANTS))
        if "bed" in names:
            writers.append(BedWriter(files.create(names["bed"]), (n, d)))
        _write_lines(files.create(names["labels"]), _label_lines(model))
        if "bed" in names:
            _write_lines(files.create(names["fam"]), _fam_lines(n))
            _write_lines(files.create(names["bim"]), _bim_lines(d))
        genetic = GeneticValues(n, lambda group: model._generator(2, group), STREAM_VARIANTS) if traits else None
        _draw(model, d, [*writers, genetic] if genetic is not None else writers, progress)
        if genetic is not None:
            found = traits_of(genetic.values, components_of(model.pieces, n, d), model._generator(3))
            _write_lines(files.create(names["pheno"]), phenotype_lines(_people(n), found))
            _write_lines(files.create(names["covar"]), covariate_lines(_people(n), found))
    return list(names.values())


def output_paths(path: str | os.PathLike[str], formats: Iterable[str], *, traits: bool = False) -> dict[str, Path]:
    """Return the files that `write_genotypes` would write, in the order in which they appear."""
    chosen = {formats} if isinstance(formats, str) else set(formats)
    if not chosen or chosen - set(FORMATS):
        raise InvalidParameterError(f"must be some of {', '.join(FORMATS)}; got {sorted(map(str, chosen))}.", "formats")
    stem = Path(path)
    if stem.suffix.lower() in (".bed", ".npy"):
        stem = stem.with_suffix("")
    if stem.name in ("", ".", "..") or stem.is_dir():
        raise InvalidParameterError(f"{path}: give the beginning of file names, such as {stem / 'cohort'}.")
    endings = {"labels": "labels.tsv"} | ({"pheno": "pheno.tsv", "covar": "covar.tsv"} if traits else {})
    endings |= {"npy": "npy"} if "npy" in chosen else {}
    if "plink" in chosen:
        # The .bed file last: without it the others cannot be taken for a data set.
        endings |= {ending: ending for ending in ("fam", "bim", "bed")}
    return {kind: stem.with_name(f"{stem.name}.{ending}") for kind, ending in endings.items()}


def _require_same_people(names: dict[str, Path], of_all_formats: dict[str, Path]) -> None:
    """Refuse to replace labels that a file of the other format, which would stay, may need."""
    staying = [file for kind, file in of_all_formats.items() if kind not in names and file.exists()]
    if staying and names["labels"].exists():
        raise InvalidParameterError(
            f"{names['labels']} belongs to {staying[-1].name}, too, which would be left with the labels of others: "
            "write both formats, remove it, or choose another name."
        )


def _draw(
    model: PopulationModel,
    n_features: int,
    writers: list[_GenotypeWriter],
    progress: Callable[[int, int], None] | None,
) -> None:
    with closing(_ahead(model.pieces(n_features))) as pieces:
        for piece in pieces:
            for writer in writers:
                writer.add(piece.rows, piece.columns, piece.copies)
                if piece.completes:
                    writer.complete(piece.columns)
            if piece.completes and progress is not None:
                progress(piece.columns.stop, n_features)


def _ahead(pieces: Iterator[Piece]) -> Generator[Piece, None, None]:
    """Yield the pieces, each drawn while the one before it is written; closing it ends the drawing."""
    yield from read_ahead(pieces)


def _write_lines(file: NewFile, lines: Iterator[str]) -> None:
    some: list[str] = []
    for line in lines:
        some.append(line)
        if len(some) == _LINES:
            file.write("".join(some).encode())
            some.clear()
    file.write("".join(some).encode())


def _label_lines(model: PopulationModel) -> Iterator[str]:
    yield "FID\tIID\tpopulation\tregion\n"
    populations, regions = _numbered("POP", model.n_populations), _numbered("REG", model.n_regions)
    region_of = model.region_of_population.tolist()
    for name, k in zip(_people(model.n_samples), model.populations().tolist(), strict=True):
        yield f"{name}\t{name}\t{populations[k]}\t{regions[region_of[k]]}\n"


def _fam_lines(n_samples: int) -> Iterator[str]:
    return (f"{name} {name} 0 0 0 -9\n" for name in _people(n_samples))


def _bim_lines(n_features: int) -> Iterator[str]:
    longest = -(-n_features // _CHROMOSOMES)
    spacing = max(1, min(_SPACING, (_LAST_POSITION - _FIRST_POSITION) // longest))
    for start in range(0, n_features, longest):
        chromosome = start // longest + 1
        for k in range(start, min(start + longest, n_features)):
            position = _FIRST_POSITION + spacing * (k - start)
            yield f"{chromosome}\tsnp{k + 1}\t0\t{position}\t{_ALLELES[k % 4]}\n"


def _people(n_samples: int) -> Iterator[str]:
    digits = len(str(n_samples))
    return (f"person{k:0{digits}d}" for k in range(1, n_samples + 1))


def _numbered(word: str, count: int) -> list[str]:
    digits = len(str(count))
    return [f"{word}{k:0{digits}d}" for k in range(1, count + 1)]
