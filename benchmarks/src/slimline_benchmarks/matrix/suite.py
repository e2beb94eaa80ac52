"""The cases of `slimline bench matrix`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slimline.errors import InvalidParameterError
from slimline_benchmarks.case import Case
from slimline_benchmarks.matrix.disk import without_page_cache
from slimline_benchmarks.matrix.format_cases import format_cases
from slimline_benchmarks.matrix.genotype_cases import genotype_cases
from slimline_benchmarks.matrix.genotypes import GenotypeSet
from slimline_benchmarks.matrix.sizes import PARTS, Sizes
from slimline_benchmarks.matrix.sparse_cases import sparse_cases


def matrix_cases(
    folder: Path,
    sizes: Sizes,
    *,
    threads: int = 1,
    only: Sequence[str] = PARTS,
    judged: bool = True,
    keep: bool = False,
    from_disk: bool = False,
) -> tuple[Case, ...]:
    """Return the cases of `slimline bench matrix`.

    Parameters
    ----------
    folder : Path
        Where data files are written, and found again.
    sizes : Sizes
        How large everything is.
    threads : int
        Threads that everyone is allowed.
    only : sequence of str
        Parts of the suite, from `PARTS`.
    judged : bool
        Whether there are targets; at small sizes they mean nothing.
    keep : bool
        Whether the files of the formats stay when their case is done.
    from_disk : bool
        Whether files are dropped from the page cache before each run; then data in memory are left out.

    Returns
    -------
    cases : tuple of Case
        Genotypes by storage and operation, CSR by operation, files by format.
    """
    for part in only:
        if part not in PARTS:
            raise InvalidParameterError(f"--only {part}: there is no such part. Choose from {', '.join(PARTS)}.")
    if from_disk and list(only) == ["sparse"]:
        raise InvalidParameterError(
            "--from-disk is about files, and --only sparse about data in memory: leave out one."
        )
    cases: list[Case] = []
    if "genotypes" in only:
        people = GenotypeSet(folder, sizes.samples, sizes.features, sizes.single_features)
        cases += genotype_cases(people, sizes, judged, from_disk)
    if "sparse" in only and not from_disk:
        cases += sparse_cases(sizes, judged)
    if "formats" in only:
        cases += format_cases(folder, sizes, threads, judged, keep)
    return tuple(map(without_page_cache, cases) if from_disk else cases)
