"""Names of features and samples, and genetic variants."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index as as_index
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from slimline.errors import FileFormatError, InvalidParameterError, SlimlineError

#: Texts that are made into Python strings at a time.
_AT_A_TIME = 8192
#: Bytes that labels may take whatever their lengths; and how often their own size beyond that.
_ALWAYS_HELD, _MOST_PADDING = 64 << 20, 64


class PackedStrings(Sequence[str]):
    r"""A sequence of texts that never change, kept as UTF-8 one after the other.

    Bytes that are no UTF-8 are shown as ``\xNN``.
    """

    def __init__(self, data: bytes, ends: NDArray[Any]) -> None:
        self._data = data
        small = len(self._data) < 2**32
        self._ends = np.ascontiguousarray(ends, dtype=np.uint32 if small else np.uint64)

    @classmethod
    def of(cls, texts: Iterable[str]) -> PackedStrings:
        """Return texts, packed."""
        if isinstance(texts, PackedStrings):
            return texts
        data, sizes = bytearray(), array("Q")
        for text in texts:
            encoded = str(text).encode(errors="backslashreplace")
            data += encoded
            sizes.append(len(encoded))
        return cls(bytes(data), np.cumsum(np.frombuffer(sizes, dtype=np.uint64), dtype=np.uint64))

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[Any]]:
        """Return the bytes of all texts, and where each ends."""
        return np.frombuffer(self._data, dtype=np.uint8), self._ends

    def __len__(self) -> int:
        return self._ends.size

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        position = as_index(index)
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexError(f"there are {len(self)} texts; got number {index}")
        return self._data[self._start(position) : int(self._ends[position])].decode(errors="backslashreplace")

    def __iter__(self) -> Iterator[str]:
        for piece in self.pieces():
            for text in piece:
                yield text.decode(errors="backslashreplace")

    def pieces(self) -> Iterator[list[bytes]]:
        """Yield the texts as bytes, some thousands at a time."""
        for first in range(0, len(self), _AT_A_TIME):
            ends = self._ends[first : first + _AT_A_TIME].tolist()
            starts = [self._start(first), *ends[:-1]]
            yield [self._data[start:end] for start, end in zip(starts, ends, strict=True)]

    def take(self, index: NDArray[np.intp]) -> PackedStrings:
        """Return some of the texts."""
        if not len(index):
            return PackedStrings(b"", np.zeros(0, dtype=np.uint32))
        starts = np.where(index > 0, self._ends[index - 1].astype(np.int64), 0)
        sizes = self._ends[index].astype(np.int64) - starts
        ends = np.cumsum(sizes)
        places = np.repeat(starts - ends + sizes, sizes)
        places += np.arange(len(places))
        return PackedStrings(np.frombuffer(self._data, dtype=np.uint8)[places].tobytes(), ends)

    def to_array(self) -> NDArray[Any]:
        """Return the texts as a NumPy array of `StringDType`: 16 bytes each, longer ones beside."""
        out = np.empty(len(self), dtype=np.dtypes.StringDType())
        first = 0
        for piece in self.pieces():
            out[first : first + len(piece)] = [text.decode(errors="backslashreplace") for text in piece]
            first += len(piece)
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("packed texts can only be copied to an array.")
        return np.asarray(self.to_array(), dtype=dtype)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedStrings):
            return self._data == other._data and np.array_equal(self._ends, other._ends)
        if isinstance(other, (list, tuple)):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(text) for text in self[:3])
        return f"<{len(self):,} texts: {shown}{', …' if len(self) > 3 else ''}>"

    def _start(self, position: int) -> int:
        return int(self._ends[position - 1]) if position else 0


class Variants:
    """The variants of a `.bim` file: everything beside their names.

    Texts are kept packed, which takes a quarter of the memory of arrays; an array is made when it is first requested.

    Parameters
    ----------
    chromosome : sequence of str
        Chromosome, as written in the file.
    position : array of int64
        Position in base pairs.
    cm : array of float64
        Position in centimorgans; 0 if it is not known.
    allele1 : sequence of str
        Allele whose copies are counted, most often the rarer one.
    allele2 : sequence of str
        The other allele.

    Attributes
    ----------
    chromosome, allele1, allele2 : arrays of StringDType
        The texts.
    packed : dict of PackedStrings
        The same texts, by these names.
    """

    def __init__(
        self,
        chromosome: Sequence[str] | NDArray[Any],
        position: NDArray[np.int64],
        cm: NDArray[np.float64],
        allele1: Sequence[str] | NDArray[Any],
        allele2: Sequence[str] | NDArray[Any],
    ) -> None:
        texts = {"chromosome": chromosome, "allele1": allele1, "allele2": allele2}
        self.packed = {name: PackedStrings.of(text) for name, text in texts.items()}
        self.position, self.cm = position, cm

    @cached_property
    def chromosome(self) -> NDArray[Any]:
        """Return the chromosomes."""
        return self.packed["chromosome"].to_array()

    @cached_property
    def allele1(self) -> NDArray[Any]:
        """Return the alleles whose copies are counted."""
        return self.packed["allele1"].to_array()

    @cached_property
    def allele2(self) -> NDArray[Any]:
        """Return the other alleles."""
        return self.packed["allele2"].to_array()

    def of(self, columns: Any) -> Variants:
        """Return what is known of some of them.

        Parameters
        ----------
        columns : array of column numbers, mask or slice
            Which.

        Returns
        -------
        variants : Variants
            In that order.
        """
        chosen = np.arange(len(self.position))[columns]
        chromosome, allele1, allele2 = (text.take(chosen) for text in self.packed.values())
        return Variants(chromosome, self.position[chosen], self.cm[chosen], allele1, allele2)


@dataclass(frozen=True)
class Names:
    """Names of columns and rows, and labels, if the data have them."""

    #: Names of columns and rows.
    features: Sequence[str] | None = None
    samples: Sequence[str] | None = None
    #: Label of each row; of shape (n_samples,).
    labels: NDArray[Any] | None = None

    @classmethod
    def given(cls, features: Any, samples: Any, labels: Any, shape: tuple[int, int], where: str) -> Names:
        """Return what a user said about data in memory, or raise if it does not fit them."""
        if labels is not None:
            try:
                labels = np.asarray(labels)
            except ValueError as error:  # lists of different lengths
                raise InvalidParameterError(f"must be a vector: {error}", "labels") from error
            if labels.ndim != 1:
                raise InvalidParameterError(f"must be a vector; got an array of shape {labels.shape}.", "labels")
        names = cls(_texts(features, "feature_names"), _texts(samples, "sample_ids"), labels)
        names.require_fit(shape, where, InvalidParameterError)
        return names

    def require_fit(self, shape: tuple[int, int], where: str, error: type[SlimlineError] = FileFormatError) -> None:
        """Raise if there are more or fewer of them than rows or columns."""
        for found, size, what in (
            (self.features, shape[1], "feature names"),
            (self.samples, shape[0], "sample ids"),
            (self.labels, shape[0], "labels"),
        ):
            if found is not None and len(found) != size:
                count = f"{len(found):,} {what[:-1] if len(found) == 1 else what}"
                raise error(f"{where} has {count}, and its matrix is {shape[0]:,} × {shape[1]:,}.")


def _texts(given: Any, what: str) -> Sequence[str] | None:
    """Return names that were given as any collection, as a sequence."""
    if given is None or (isinstance(given, Sequence) and not isinstance(given, (str, bytes))):
        return given
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise InvalidParameterError(f"must be a sequence of texts; got {given!r:.100}.", what)
    return [str(name) for name in given]


def text_labels(values: Sequence[str], where: str) -> NDArray[np.str_]:
    """Return labels as an array, which gives each the room of the longest."""
    lengths = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
    require_even(lengths, int(lengths.max(initial=0)), where)
    return np.array(values, dtype=np.str_)


def require_even(lengths: NDArray[np.integer[Any]], longest: int, where: str) -> None:
    """Raise if the longest label is so much longer than the others that an array of them would fill the memory."""
    needed = 4 * len(lengths) * longest
    if needed > _ALWAYS_HELD and needed > 4 * _MOST_PADDING * int(lengths.sum()):
        raise FileFormatError(
            f"{where} has a label of {longest:,} characters: {len(lengths):,} labels of that length do not fit into "
            "memory. Shorten it."
        )
