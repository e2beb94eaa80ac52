"""Files of simulated genotypes, their populations and their traits."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import whole
from slimline.data._passes import read_ahead
from slimline.data._simulate import STREAM_VARIANTS, Piece, PopulationModel
from slimline.data._simulate_traits import (
    GeneticValues,
    components_of,
    covariate_lines,
    phenotype_lines,
    traits_of,
)
from slimline.data._write import BedWriter, NewFile, NewFiles, NpyWriter
from slimline.errors import InvalidParameterError

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
