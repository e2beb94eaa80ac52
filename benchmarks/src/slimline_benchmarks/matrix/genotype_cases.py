"""Genotypes in memory, in a `.npy` file and in a PLINK file: every pass, raw and standardised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slimline_benchmarks.case import Case, Contender
from slimline_benchmarks.matrix import limits, names, operations, targets
from slimline_benchmarks.matrix.genotype_peers import peers
from slimline_benchmarks.matrix.genotypes import GenotypeSet
from slimline_benchmarks.matrix.operations import FAMILIES, WIDTHS, Measure
from slimline_benchmarks.matrix.sizes import Sizes
from slimline_benchmarks.matrix.subject import Subject


@dataclass(frozen=True)
class Storage:
    """One way in which the people are kept.

    Parameters
    ----------
    name : str
        Part of the names of its cases.
    words : str
        The same for the title.
    make : callable
        Returns the subject.
    samples, features : int
        Size of X.
    stored_bytes : int
        Bytes of X.
    kind : {"array", "npy", "plink"}
        What the peers are given.
    dtype : str
        Type of the entries.
    """

    name: str
    words: str
    make: Callable[[], Subject]
    samples: int
    features: int
    stored_bytes: int
    kind: str
    dtype: str = "i1"

    @property
    def in_memory(self) -> bool:
        """Return whether X is an array in memory."""
        return self.kind == "array"

    @property
    def measure(self) -> Measure:
        """Return how the speed of a pass is told."""
        if self.in_memory:
            return Measure(self.stored_bytes, names.READING, names.READING)
        return Measure(self.stored_bytes, names.BLOCKS, names.NORMAL_BLOCKS)


def genotype_cases(people: GenotypeSet, sizes: Sizes, judged: bool, from_disk: bool = False) -> list[Case]:
    """Return the cases of the genotypes: one for each storage and operation.

    Parameters
    ----------
    people : GenotypeSet
        The data.
    sizes : Sizes
        Columns of the sketches.
    judged : bool
        Whether there are targets.
    from_disk : bool
        Whether files alone are wanted, and nobody who maps them: what is mapped cannot be dropped from the page cache.

    Returns
    -------
    cases : list of Case
        For each storage sketch, dot, tdot, normal, gram and column statistics.
    """
    return [
        _case(storage, operation, sizes.components, judged, peers_too=not (from_disk and storage.kind == "npy"))
        for storage in _storages(people)
        if not (from_disk and storage.in_memory)
        for operation in ("sketch", "dot", "tdot", "normal", "gram", "stats")
    ]


def _storages(people: GenotypeSet) -> tuple[Storage, ...]:
    n, d, few = people.samples, people.features, people.single_features

    def written(make: Callable[[], Subject]) -> Callable[[], Subject]:
        def both() -> Subject:
            people.require_written()
            return make()

        return both

    return (
        Storage("memory", "int8 in memory", written(people.in_memory), n, d, n * d, "array"),
        Storage("float32", "float32 in memory", written(people.single), n, few, 4 * n * few, "array", "f4"),
        Storage("npy", "int8 .npy file", written(people.npy_file), n, d, n * d, "npy"),
        Storage("plink", "PLINK file, 2 bits each", written(people.plink_file), n, d, -(-n // 4) * d, "plink"),
    )


def _case(storage: Storage, operation: str, components: int, judged: bool, peers_too: bool) -> Case:
    n, d = storage.samples, storage.features
    ours = _ours(storage, operation, components)
    reading = (
        limits.reading_in_memory(storage.stored_bytes)
        if storage.in_memory
        else limits.reading_files(storage.stored_bytes, operation == "normal")
    )
    products: tuple[Contender, ...] = ()
    if operation == "sketch":
        products = (limits.gemm(names.GEMM_SINGLE, n, d, components),)
    elif operation == "gram":
        products = (limits.gemm(names.GEMM_DOUBLE, n, d, n),)
    size = f"{n:,} × {d:,} genotypes, {storage.words}"
    others = peers(operation, storage.kind, (n, d), storage.dtype, components) if peers_too else ()
    return Case(
        name=f"genotypes-{storage.name}-{operation}",
        title=f"{_WORDS[operation].format(r=components)}, {size}",
        make=storage.make,
        contenders=(*reading, *products, *ours, *others),
        input_bytes=storage.stored_bytes if storage.in_memory else 0,
        targets=targets.genotypes(operation, ours, storage.in_memory) if judged else (),
    )


_WORDS = {
    "sketch": "sketch to {r:,} components",
    "dot": "X W",
    "tdot": "Xᵀ A",
    "normal": "Xᵀ A and X Xᵀ A",
    "gram": "X Xᵀ",
    "stats": "statistics of the columns",
}


def _ours(storage: Storage, operation: str, components: int) -> tuple[Contender, ...]:
    n, d = storage.samples, storage.features
    measure = storage.measure
    views = (names.RAW, names.STANDARDISED)
    match operation:
        case "sketch":
            pairs = [(family, view) for family in FAMILIES for view in views] + [(names.CW, names.FIRST)]
            return tuple(operations.sketch(family, view, components, (n, d), measure) for family, view in pairs)
        case "gram":
            return tuple(operations.gram(view, n, d) for view in views)
        case "stats":
            return (operations.statistics(measure),)
    products = [operations.product(operation, view, k, measure) for k in WIDTHS for view in views]
    return (*products, operations.product(operation, names.FIRST, 1, measure))
