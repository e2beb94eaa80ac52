"""PLINK's `.bed/.bim/.fam`: genotypes of two bits, variant by variant; read as they are stored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data._arrays import LazyGenotypes
from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest
from slimline.data._files import DataFile, digest
from slimline.data._matrix import Matrix
from slimline.data._names import Names, PackedStrings, Variants
from slimline.data._passes import BLOCK_BYTES, Buffers
from slimline.data._storage import StorageTraits
from slimline.data._text import line_of, read_text_columns
from slimline.data.formats._dense import panel_width
from slimline.errors import FileFormatError

_MAGIC = b"\x6c\x1b"
_VARIANT_MAJOR, _SAMPLE_MAJOR = 1, 0
_HEAD = 3  # bytes before the first genotype
_BIM = "chromosome, variant, centimorgans, position, allele 1, allele 2"
_FAM = "family, person, father, mother, sex, phenotype"
_LONGEST_NUMBER = 64
#: Blocks that are read as one: genotypes are packed, so what a block adds to is large beside it.
_BLOCKS_TOGETHER = 2
#: Bytes of a variant up to which kernels read by themselves: each of their threads holds some variants.
_LONGEST_LINE = 1 << 15
#: Variants whose last byte is checked for samples that the `.fam` file does not name.
_LOOKED_AT = 64
#: Missing phenotypes; 0 is one, too, if the others are 1 and 2.
_NO_PHENOTYPE = frozenset(("-9", "NA", "nan", "NaN", "."))


class PlinkMatrix(Matrix):
    """Samples × variants: 0, 1 or 2 copies of allele 1, or a missing call.

    Samples whose name is not unique are called family_person. Labels are the phenotypes, None if all are missing:
    whole numbers if all are, real numbers with NaN for a missing one, or texts.
    """

    # a byte is read in a fraction of the time that its four genotypes take
    traits = StorageTraits(whole_columns=True, packed=True, compute_bound=True)

    def __init__(self, bed: DataFile, bim: DataFile, fam: DataFile) -> None:
        self._bed, self._bim, self._fam = bed, bim, fam
        _require_bed(bed)
        (variant_ids,), _ = read_text_columns(bim, 6, (1,), _BIM)
        (families, people, phenotypes), skipped = read_text_columns(fam, 6, (0, 1, 5), _FAM)
        for file, names, what in ((bim, variant_ids, "variants"), (fam, people, "people")):
            if not len(names):
                raise FileFormatError(f"{file} names no {what}: it is empty.")
        super().__init__((len(people), len(variant_ids)), np.int8, bed.path.name)
        # most kernels read by themselves, in order, and the system fetches what follows
        self.traits = replace(self.traits, prefetch=-(-len(people) // 4) > _LONGEST_LINE)
        self._require_size()
        self._require_end_of_people()
        self._families_and_people = families, people
        self.names = Names(variant_ids, _unique_ids(families, people, fam, skipped), _labels(phenotypes))
        self._variants: Variants | None = None

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield panels of whole columns, packed; their genotypes are read when they are used."""
        n, d = self.shape
        size = -(-n // 4)
        step = panel_width(_BLOCKS_TOGETHER * BLOCK_BYTES // size, d)
        memory = Buffers()
        with self._bed.open() as file:
            for start in range(request.start * step, d, step):
                stop = min(start + step, d)
                values = LazyGenotypes(file, _HEAD + start * size, (n, stop - start), memory)
                yield Block(slice(0, n), slice(start, stop), values)

    @property
    def families_and_people(self) -> tuple[PackedStrings, PackedStrings]:
        """Return the first two columns of the `.fam` file, which together name a sample."""
        return self._families_and_people

    @property
    def variants(self) -> Variants:
        """Return chromosome, position and alleles of each variant; the first call reads the `.bim` file."""
        if self._variants is None:
            columns, skipped = read_text_columns(self._bim, 6, (0, 2, 3, 4, 5), _BIM)
            chromosome, cm, position, allele1, allele2 = columns
            self._variants = Variants(
                chromosome,
                _numbers(position, np.int64, self._bim, skipped, "position"),
                _numbers(cm, np.float64, self._bim, skipped, "position in centimorgans"),
                allele1,
                allele2,
            )
        return self._variants

    @property
    def fingerprint(self) -> str:
        """Return a digest of pieces of the three files."""
        self.require_unchanged()
        files = (self._bed, self._bim, self._fam)
        return digest("plink", self.shape, *(file.fingerprint() for file in files))

    def require_unchanged(self) -> None:
        """Raise if one of the three files changed or is gone."""
        for file in (self._bed, self._bim, self._fam):
            file.require_unchanged()

    def _require_size(self) -> None:
        n, d = self.shape
        needed = _HEAD + d * -(-n // 4)
        if self._bed.size == needed:
            return
        belongs = f"{n:,} people of {self._fam.path.name} and {d:,} variants of {self._bim.path.name} need {needed:,}"
        if self._bed.size < needed:
            raise FileFormatError(
                f"{self._bed} ends at byte {self._bed.size:,}, and {belongs}: "
                "it is truncated, or does not belong to them."
            )
        raise FileFormatError(
            f"{self._bed} goes on after byte {needed:,} (it has {self._bed.size:,}), and {belongs}: "
            "it does not belong to them, or they are truncated."
        )

    def _require_end_of_people(self) -> None:
        """Raise if a bit after the last sample is set: a few samples too few in the `.fam` file need as many bytes."""
        n, d = self.shape
        used = n % 4
        if not used:
            return
        size = -(-n // 4)
        last = np.zeros((1, 1), dtype=np.uint8)
        with self._bed.open() as file:
            for variant in sorted({(d - 1) * k // (_LOOKED_AT - 1) for k in range(_LOOKED_AT)}):
                byte = _HEAD + (variant + 1) * size - 1
                file.read_into(last, byte)
                if last[0, 0] >> (2 * used):
                    raise FileFormatError(
                        f"{self._bed}, byte {byte:,}: there are genotypes after the last of {n:,} people of "
                        f"{self._fam.path.name}, which has lost its end or belongs to another file. If it is complete, "
                        "another program left the unused bits in disorder: `plink --make-bed` writes the file anew."
                    )


def open_plink(
    path: str | os.PathLike[str],
    *,
    bim: str | os.PathLike[str] | None = None,
    fam: str | os.PathLike[str] | None = None,
) -> PlinkMatrix:
    """Return the matrix of a PLINK `.bed` file.

    Examples
    --------
    >>> import tempfile
    >>> from slimline.data import open_matrix, write_genotypes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_genotypes(f"{folder}/cohort", 100, 2000, seed=0)
    ...     X = open_matrix(f"{folder}/cohort.bed")
    ...     X, X.feature_names[0], str(X.variants.allele1[0])
    (<PlinkMatrix cohort.bed: 100 samples × 2,000 features, int8>, 'snp1', 'A')
    """
    bed = DataFile(path)
    stem = Path(path).with_suffix("") if bed.path.suffix.lower() == ".bed" else Path(path)
    return PlinkMatrix(bed, _companion(bim, stem, "bim", bed), _companion(fam, stem, "fam", bed))


def _companion(given: str | os.PathLike[str] | None, stem: Path, ending: str, bed: DataFile) -> DataFile:
    try:
        return DataFile(stem.with_name(f"{stem.name}.{ending}") if given is None else given)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{str(error).rstrip('.')}: {bed} needs it, beside it or given with {ending}=."
        ) from None


def _require_bed(bed: DataFile) -> None:
    with bed.open() as file:
        head = np.zeros((1, min(_HEAD, bed.size)), dtype=np.uint8)
        if head.size:
            file.read_into(head, 0)
    if head.size < _HEAD:
        raise FileFormatError(f"{bed} ends at byte {bed.size}, before its first genotype: it is truncated.")
    if head[0, :2].tobytes() != _MAGIC:
        raise FileFormatError(
            f"{bed} is not a PLINK .bed file: it begins with the bytes {head[0].tobytes().hex(' ')} "
            f"instead of {_MAGIC.hex(' ')} 01. (UCSC's .bed files of regions are something else.)"
        )
    if head[0, 2] == _SAMPLE_MAJOR:
        stem = bed.path.with_suffix("").name
        raise FileFormatError(
            f"{bed} is ordered by people (byte 2 is 00), an old layout: convert it with "
            f"`plink --bfile {stem} --make-bed --out {stem}_by_variant`."
        )
    if head[0, 2] != _VARIANT_MAJOR:
        raise FileFormatError(f"{bed}: byte 2 is {head[0, 2]:02x}; PLINK writes 01 there. The file is damaged.")


def _unique_ids(families: PackedStrings, people: PackedStrings, fam: DataFile, skipped: list[int]) -> PackedStrings:
    """Return the names of the samples, with their families if two have the same."""
    seen: set[bytes] = set()
    for piece in people.pieces():
        seen.update(piece)
    if len(seen) == len(people):
        return people
    both = zip(families.pieces(), people.pieces(), strict=True)
    texts = [b"%s %s" % pair for one, other in both for pair in zip(one, other, strict=True)]  # no name has a blank
    first: dict[bytes, int] = {}
    for row, text in enumerate(texts):
        if (before := first.setdefault(text, row)) != row:
            lines, person = (f"{line_of(k, skipped):,}" for k in (before, row)), text.decode(errors="backslashreplace")
            raise FileFormatError(
                f"{fam}, lines {' and '.join(lines)}: the same person twice, {person!r}. "
                "Family and person together must be unique."
            )
    joined = [text.replace(b" ", b"_") for text in texts]
    if len(set(joined)) == len(joined):
        texts = joined
    return PackedStrings(b"".join(texts), np.cumsum([len(text) for text in texts]))


def _labels(phenotypes: PackedStrings) -> NDArray[Any] | None:
    kinds = set(phenotypes)
    nothing = _NO_PHENOTYPE | ({"0"} if kinds <= _NO_PHENOTYPE | {"0", "1", "2"} else set())
    if kinds <= nothing:
        return None
    try:
        numbers = np.array([np.nan if text in nothing else float(text) for text in phenotypes])
    except ValueError:
        return phenotypes.to_array()
    whole = np.isfinite(numbers).all() and (numbers == np.rint(numbers)).all() and np.abs(numbers).max() < 2**53
    return numbers.astype(np.int64) if whole else numbers


def _numbers(texts: PackedStrings, dtype: Any, file: DataFile, skipped: list[int], what: str) -> NDArray[Any]:
    out = np.empty(len(texts), dtype=dtype)
    first = 0
    for piece in texts.pieces():
        part = _as_numbers(piece, dtype)
        if part is None:
            row = next(k for k, text in enumerate(piece) if _as_numbers([text], dtype) is None)
            shown = piece[row].decode(errors="backslashreplace")
            kind = "whole number" if np.dtype(dtype).kind == "i" else "number"
            line = line_of(first + row, skipped)
            raise FileFormatError(f"{file}, line {line:,}: the {what} is {shown[:60]!r}, not a {kind}.")
        out[first : first + len(piece)] = part
        first += len(piece)
    return out if out.any() else np.zeros_like(out)  # zeros take no memory before they are written to


def _as_numbers(texts: list[bytes], dtype: Any) -> NDArray[Any] | None:
    if max(len(text) for text in texts) > _LONGEST_NUMBER:
        return None  # an array of them would be as wide as the longest
    try:
        return np.array(texts).astype(dtype)
    except (ValueError, OverflowError):
        return None
