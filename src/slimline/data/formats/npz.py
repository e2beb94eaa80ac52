"""`.npz` files: arrays of `numpy.savez`, and SciPy's sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.ahead import BLOCK_BYTES, Buffers
from slimline.data.arguments import missing_number
from slimline.data.block import Block, with_missing
from slimline.data.digest import digest
from slimline.data.formats.dense import panel_width
from slimline.data.formats.npy import NpyMatrix
from slimline.data.formats.npz_archive import Archive, Member
from slimline.data.formats.npz_sparse import NpzSparseMatrix, is_sparse, open_sparse
from slimline.data.matrix import Matrix
from slimline.errors import FileFormatError, InvalidParameterError
from slimline.projections.blocks import KERNEL_TYPES

#: Names that are taken for the matrix, and for the labels, where there is a choice.
_MATRIX_NAMES = ("X", "data", "arr_0")
_LABEL_NAMES = ("y", "labels")


class NpzStoredMatrix(NpyMatrix):
    """An array that is not compressed: its numbers lie in the file as they are, and are read in place.

    Parameters
    ----------
    archive : Archive
        Where it is.
    member : Member
        Which array.
    labels : array, optional
        Label of each row.
    missing : int, optional
        Whole number that stands for a missing value; NaN always does.
    """

    def __init__(
        self, archive: Archive, member: Member, labels: NDArray[Any] | None, missing: int | None = None
    ) -> None:
        n, d = member.shape
        super().__init__(archive.file, (n, d), member.dtype, member.fortran, archive.place(member), missing)
        self._labels = labels

    @property
    def labels(self) -> NDArray[Any] | None:
        """Return the label of each row, where there are any."""
        return self._labels


class NpzCompressedMatrix(Matrix):
    """A compressed array: every pass decompresses it again, rows after rows (or columns, in Fortran order).

    Parameters
    ----------
    archive : Archive
        Where it is.
    member : Member
        Which array.
    labels : array, optional
        Label of each row.
    missing : int, optional
        Whole number that stands for a missing value; NaN always does.
    """

    def __init__(
        self, archive: Archive, member: Member, labels: NDArray[Any] | None, missing: int | None = None
    ) -> None:
        native = member.dtype.newbyteorder("=")
        n, d = member.shape
        super().__init__((n, d), native if native in KERNEL_TYPES else np.float64, archive.file.path.name)
        self.whole_columns = member.fortran
        self._archive, self._member, self._labels = archive, member, labels
        self._missing = missing_number(missing, member.dtype, str(archive))

    def blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield rows, or columns of an array in Fortran order."""
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
    def labels(self) -> NDArray[Any] | None:
        """Return the label of each row, where there are any."""
        return self._labels

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

    Parameters
    ----------
    path : str or path
        The file.
    member : str, optional
        Name of the array. Default: the only one with two dimensions, or X, data or arr_0.
    labels : str, optional
        Name of the array of labels. Default: y or labels, if there is one with an entry for each row.
    missing : int, optional
        Whole number that stands for a missing value in an array; NaN always does.
    check : bool
        Whether to read an array that is not compressed once, to compare its checksum; that counts as a pass. The
        checksum of compressed data is compared in every pass.

    Returns
    -------
    matrix : Matrix
        Compressed data are decompressed in every pass, never whole. Of a sparse matrix the positions of the rows (or
        columns) are held in memory.
    """
    archive = Archive(path)
    if is_sparse(archive):
        for option, given in (("member", member), ("missing", missing)):
            if given is not None:
                raise InvalidParameterError(f"{archive} holds a sparse matrix: the option {option} has no meaning.")
        return open_sparse(archive, lambda n: _labels(archive, labels, n))
    chosen = _matrix(archive, member)
    values = _labels(archive, labels, chosen.shape[0])
    if not chosen.stored:
        return NpzCompressedMatrix(archive, chosen, values, missing)
    matrix = NpzStoredMatrix(archive, chosen, values, missing)
    if check:
        archive.check(chosen)
        matrix._counter.count = 1
    return matrix


def _matrix(archive: Archive, name: str | None) -> Member:
    members = archive.members
    if name is not None:
        if name not in members:
            raise InvalidParameterError(f"{archive} has no array {name!r}; it has {', '.join(members) or 'none'}.")
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
        raise FileFormatError(f"{archive} holds {what}. Choose one with member=.")
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
        raise InvalidParameterError(f"{archive} has no array {name!r}; it has {', '.join(members) or 'none'}.")
    if members[name].shape != (n,) or members[name].dtype.kind not in "fiubUS":
        raise FileFormatError(
            f"{archive}: {name} has the shape {members[name].shape} and elements of type {members[name].dtype}; "
            f"labels are {n} numbers or texts."
        )
    return archive.array(members[name])
