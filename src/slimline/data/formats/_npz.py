"""NumPy .npz archives, dense and sparse."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.checks import missing_number
from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest, block_type, with_missing
from slimline.data._files import digest
from slimline.data._matrix import Matrix
from slimline.data._names import Names
from slimline.data._passes import BLOCK_BYTES, Buffers, block_memory
from slimline.data._storage import StorageTraits, from_number
from slimline.data.formats._dense import panel_width
from slimline.data.formats._npy import NpyMatrix
from slimline.data.formats._npz_archive import Archive, ArrayStream, Member
from slimline.data.formats._sparse import line_cuts, one_value_a_place
from slimline.errors import FileFormatError, InvalidParameterError

#: Names that are taken for the matrix, and for the labels, where there is a choice.
_MATRIX_NAMES = ("X", "data", "arr_0")
_LABEL_NAMES = ("y", "labels")


class NpzStoredMatrix(NpyMatrix):
    """An array that is not compressed: its numbers lie in the file as they are, and are read in place."""

    def __init__(
        self, archive: Archive, member: Member, labels: NDArray[Any] | None, missing: int | None = None
    ) -> None:
        n, d = member.shape
        super().__init__(archive.file, (n, d), member.dtype, member.fortran, archive.place(member), missing)
        self.names = Names(labels=labels)


class NpzCompressedMatrix(Matrix):
    """A compressed array: every pass decompresses it again, rows after rows (or columns, in Fortran order)."""

    def __init__(
        self, archive: Archive, member: Member, labels: NDArray[Any] | None, missing: int | None = None
    ) -> None:
        n, d = member.shape
        super().__init__((n, d), block_type(member.dtype), archive.file.path.name)
        self.traits = StorageTraits(whole_columns=member.fortran)
        self._archive, self._member, self.names = archive, member, Names(labels=labels)
        self._missing = missing_number(missing, member.dtype, str(archive))

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield rows, or columns of an array in Fortran order."""
        return from_number(request.start, self._decompressed())

    def _decompressed(self) -> Generator[Block]:
        n, d = self.shape
        fortran, dtype = self._member.fortran, self._member.dtype
        lines, length = (d, n) if fortran else (n, d)
        step = max(1, BLOCK_BYTES // max(length * dtype.itemsize, 1))
        if fortran:
            step = panel_width(step, d)
        buffers = Buffers()
        with self._archive.streams(self._member) as (stream,):
            for start in range(0, lines, step):
                stop = min(start + step, lines)
                out = buffers.array((stop - start, length), dtype)
                stream.fill(out)
                if stop == lines:
                    stream.finish()  # before the last block is used: the checksum may be wrong
                lines_here = slice(start, stop)
                rows, columns = (slice(0, n), lines_here) if fortran else (lines_here, slice(0, d))
                yield Block(rows, columns, *with_missing(out.T if fortran else out, self._missing))

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, type and pieces of the file."""
        kind = self._member.dtype, self._missing
        return digest("npz", self._member.name, self.shape, *kind, self._archive.file.fingerprint())

    def require_unchanged(self) -> None:
        """Raise if the file changed or is gone."""
        self._archive.file.require_unchanged()


def open_npz(
    path: Any, *, member: str | None = None, labels: str | None = None, missing: int | None = None, check: bool = True
) -> NpzStoredMatrix | NpzCompressedMatrix | NpzSparseMatrix:
    """Return a matrix of an `.npz` file: an array of `numpy.savez`, or what `scipy.sparse.save_npz` wrote.

    Compressed data are decompressed in every pass, never whole. Of a sparse matrix the positions of the rows (or
    columns) are held in memory.
    """
    archive = Archive(path)
    if is_sparse(archive):
        for option, given in (("member", member), ("missing", missing)):
            if given is not None:
                raise InvalidParameterError(
                    f"must be left out: {archive} holds a sparse matrix, where it has no meaning.", option, given
                )
        return open_sparse(archive, lambda n: _labels(archive, labels, n))
    chosen = _matrix(archive, member)
    values = _labels(archive, labels, chosen.shape[0])
    if not chosen.stored:
        return NpzCompressedMatrix(archive, chosen, values, missing)
    matrix = NpzStoredMatrix(archive, chosen, values, missing)
    if check:
        archive.check(chosen)
        matrix._counter.add()
    return matrix


def _matrix(archive: Archive, name: str | None) -> Member:
    members = archive.members
    if name is not None:
        if name not in members:
            raise InvalidParameterError(
                f"{name!r} is no array of {archive}, which has {', '.join(members) or 'none'}.", "member", name
            )
        if not _usable(members[name]):
            shape, dtype = members[name].shape, members[name].dtype
            raise FileFormatError(
                f"{archive}: {name} has the shape {shape} and elements of type {dtype}; a matrix has two dimensions "
                "and real numbers."
            )
        return members[name]
    for name in _MATRIX_NAMES:
        if name in members and not _usable(members[name]):
            archive.check(members[name])  # a damaged head is no reason to take another array
    found = [name for name, member in members.items() if _usable(member)]
    preferred = [name for name in _MATRIX_NAMES if name in found]
    if len(found) != 1 and not preferred:
        what = (
            f"several arrays that could be the matrix: {', '.join(found)}"
            if found
            else "no array of real numbers with two dimensions"
        )
        raise FileFormatError(f"{archive} holds {what}.", "Choose one with member=.", "dataset")
    return members[found[0] if len(found) == 1 else preferred[0]]


def _usable(member: Member) -> bool:
    return len(member.shape) == 2 and member.dtype.kind in "fiub" and not member.dtype.hasobject


def _labels(archive: Archive, name: str | None, n: int) -> NDArray[Any] | None:
    members = archive.members
    if name is None:
        for candidate in _LABEL_NAMES:
            member = members.get(candidate)
            if member is not None:
                if member.shape == (n,) and member.dtype.kind in "fiubUS":
                    return archive.array(member)
                archive.check(member)  # a damaged head is no reason to pass it over
        return None
    if name not in members:
        raise InvalidParameterError(
            f"{name!r} is no array of {archive}, which has {', '.join(members) or 'none'}.", "labels", name
        )
    if members[name].shape != (n,) or members[name].dtype.kind not in "fiubUS":
        raise FileFormatError(
            f"{archive}: {name} has the shape {members[name].shape} and elements of type {members[name].dtype}; "
            f"labels are {n} numbers or texts."
        )
    return archive.array(members[name])


#: Bytes of the name of a layout, at most.
_MOST_TEXT_BYTES = 64


class NpzSparseMatrix(Matrix):
    """A CSR or CSC matrix in an `.npz` file; indices and values are read side by side."""

    def __init__(
        self,
        archive: Archive,
        layout: str,
        shape: tuple[int, int],
        indptr: NDArray[np.int64],
        labels: NDArray[Any] | None,
    ) -> None:
        self._indices, self._data = archive.members["indices"], archive.members["data"]
        super().__init__(shape, block_type(self._data.dtype), archive.file.path.name)
        density = int(indptr[-1]) / max(shape[0] * shape[1], 1)
        self.traits = StorageTraits(whole_columns=layout == "csc", density=density)
        self._archive, self._layout, self._indptr, self.names = archive, layout, indptr, Names(labels=labels)

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield rows of a CSR matrix, columns of a CSC matrix."""
        return from_number(request.start, self._decompressed())

    def _decompressed(self) -> Generator[Block]:
        n, d = self.shape
        by_row = self._layout == "csr"
        values = BLOCK_BYTES // (self._indices.dtype.itemsize + self._data.dtype.itemsize)
        with self._archive.streams(self._indices, self._data) as (indices, data):
            cuts = line_cuts(self._indptr, values)
            for start, stop in pairwise(cuts):
                part = self._lines(indices, data, start, stop)
                if stop == cuts[-1]:
                    indices.finish()
                    data.finish()
                if by_row:
                    yield Block(slice(start, stop), slice(0, d), part)
                else:
                    yield Block(slice(0, n), slice(start, stop), part)

    def _lines(self, indices: ArrayStream, data: ArrayStream, start: int, stop: int) -> Any:
        by_row = self._layout == "csr"
        width = self.shape[1] if by_row else self.shape[0]
        pointer = self._indptr[start : stop + 1] - self._indptr[start]
        count = int(pointer[-1])
        positions = block_memory(count, self._indices.dtype)
        values = block_memory(count, self._data.dtype)
        indices.fill(positions)
        data.fill(values)
        if count and (positions.min() < 0 or positions.max() >= width):
            bad = int(np.flatnonzero((positions < 0) | (positions >= width))[0])
            line = start + int(np.searchsorted(pointer, bad, side="right")) - 1
            raise FileFormatError(
                f"{self._archive}: index {positions[bad]} in {'row' if by_row else 'column'} {line:,} lies outside of "
                f"the {width:,} {'columns' if by_row else 'rows'}: the file is damaged."
            )
        index_type = np.dtype(np.int32 if max(width, count) < 2**31 else np.int64)
        shape = (stop - start, width) if by_row else (width, stop - start)
        block: Any = (sp.csr_array if by_row else sp.csc_array)(shape, dtype=self.dtype)
        # assigned, so that SciPy does not check and copy them again
        block.data = values.astype(self.dtype, copy=False)
        block.indices = positions.astype(index_type, copy=False)
        block.indptr = pointer.astype(index_type, copy=False)
        return one_value_a_place(block, str(self._archive))

    @property
    def fingerprint(self) -> str:
        """Return a digest of layout, shape, type and pieces of the file."""
        return digest("npz", self._layout, self.shape, self.dtype, self._archive.file.fingerprint())

    def require_unchanged(self) -> None:
        """Raise if the file changed or is gone."""
        self._archive.file.require_unchanged()


def is_sparse(archive: Archive) -> bool:
    """Return whether `scipy.sparse.save_npz` wrote an archive."""
    return {"format", "shape", "data"} <= set(archive.members)


def open_sparse(archive: Archive, labels_for: Callable[[int], NDArray[Any] | None]) -> NpzSparseMatrix:
    """Return the sparse matrix of an archive.

    Its parts have been found to fit together, as far as that can be seen without going through them.
    """
    members = archive.members
    layout = _text(archive)
    if layout not in ("csr", "csc"):
        raise FileFormatError(f"{archive} holds a sparse matrix in {layout!r} layout: save it again after .tocsr().")
    if not {"indices", "indptr"} <= set(members):
        raise FileFormatError(f"{archive}: indices or indptr are not in the file: it is damaged.")
    for name, kinds in (("shape", "iu"), ("indptr", "iu"), ("indices", "iu"), ("data", "fiub")):
        if len(members[name].shape) != 1 or members[name].dtype.kind not in kinds:
            raise FileFormatError(f"{archive}: {name} has the wrong shape or element type: the file is damaged.")
    shape = [int(size) for size in archive.array(members["shape"])] if members["shape"].shape == (2,) else []
    if len(shape) != 2 or min(shape) < 0 or max(shape) >= 2**62:
        raise FileFormatError(f"{archive}: {shape} is not the shape of a matrix.")
    lines = shape[0] if layout == "csr" else shape[1]
    stored = members["data"].shape[0]
    if members["indptr"].shape != (lines + 1,) or members["indices"].shape != (stored,):
        raise FileFormatError(f"{archive}: indptr, indices and data do not fit together: the file is damaged.")
    indptr = archive.array(members["indptr"]).astype(np.int64)
    if indptr[0] != 0 or indptr[-1] != stored or bool((indptr[1:] < indptr[:-1]).any()):
        raise FileFormatError(f"{archive}: indptr does not ascend from 0 to {stored:,}: the file is damaged.")
    return NpzSparseMatrix(archive, layout, (shape[0], shape[1]), indptr, labels_for(shape[0]))


def _text(archive: Archive) -> str:
    member = archive.members["format"]
    if member.shape != () or member.dtype.kind not in "SU" or member.dtype.itemsize > _MOST_TEXT_BYTES:
        raise FileFormatError(f"{archive}: format is not a text: the file is damaged.")
    value = archive.array(member)[()]
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
