"""A file of every format: the passes beside reading it and doing nothing, and the memory that they take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from slimline.data import open_matrix
from slimline_benchmarks.case import Case, Contender
from slimline_benchmarks.matrix import limits, names, targets
from slimline_benchmarks.matrix.files import KINDS, FileKind, remove, require_modules, require_reader, write_once
from slimline_benchmarks.matrix.loaders import loading
from slimline_benchmarks.matrix.operations import Measure, product, sketch
from slimline_benchmarks.matrix.probe import SKETCH, peaks_in_fresh_process
from slimline_benchmarks.matrix.sizes import Sizes
from slimline_benchmarks.matrix.subject import Subject

_PRODUCTS = ("dot", "tdot", "normal")
_OPERATIONS = (SKETCH, *_PRODUCTS)


def format_cases(folder: Path, sizes: Sizes, threads: int, judged: bool, keep: bool) -> list[Case]:
    """Return one case for each format.

    Parameters
    ----------
    folder : Path
        Where the files are written.
    sizes : Sizes
        How large.
    threads : int
        Threads of the process that measures the memory.
    judged : bool
        Whether there are targets.
    keep : bool
        Whether the files stay when their case is done.

    Returns
    -------
    cases : list of Case
        CW sketch, dot, tdot and normal of each file.
    """
    return [_case(kind, folder, sizes, threads, judged, keep) for kind in KINDS]


def _case(kind: FileKind, folder: Path, sizes: Sizes, threads: int, judged: bool, keep: bool) -> Case:
    size = sizes.text_bytes if kind.text else sizes.file_bytes
    measure = Measure(size, names.BLOCKS, names.NORMAL_BLOCKS)

    def make() -> Subject:
        require_reader(kind.reader)
        require_modules(kind.requires)
        path = write_once(kind, folder, size)
        return Subject(open_matrix(path), path, filled=kind.reader == "plink")

    def peak(subject: Subject, operation: str) -> int | None:
        if not subject.peaks:  # one process for all of them
            found = peaks_in_fresh_process(
                subject.source, _OPERATIONS, sizes.file_components, threads, kind.requires, subject.filled
            )
            subject.peaks.update(found)
        return subject.peaks[operation]

    def with_memory(contender: Contender, operation: str) -> Contender:
        return replace(contender, task=operation, memory=lambda state: peak(state.subject, operation))

    sketched = sketch(names.CW, names.RAW, sizes.file_components, (0, 0), measure)
    multiplied = [product(operation, names.RAW, 1, measure) for operation in _PRODUCTS]
    ours = tuple(with_memory(c, operation) for c, operation in zip((sketched, *multiplied), _OPERATIONS, strict=True))
    return Case(
        name=f"format-{kind.name}",
        title=f"{kind.words}, {size / 1e6:,.4g} MB",
        make=make,
        contenders=(*limits.reading_files(size, with_normal=True), *ours, *loading(kind, size)),
        input_bytes=0,
        targets=targets.files(ours) if judged else (),
        discard=None if keep else lambda subject: remove(subject.source),
    )
