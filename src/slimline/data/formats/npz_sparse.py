"""Sparse matrices as `scipy.sparse.save_npz` writes them: CSR in rows, CSC in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.data.ahead import BLOCK_BYTES
from slimline.data.block import Block
from slimline.data.block_memory import block_memory
from slimline.data.digest import digest
from slimline.data.formats.npz_archive import Archive, ArrayStream
from slimline.data.formats.sparse import line_cuts, one_value_a_place
from slimline.data.matrix import Matrix
from slimline.errors import FileFormatError
from slimline.projections.blocks import KERNEL_TYPES

#: Bytes of the name of a layout, at most.
_MOST_TEXT_BYTES = 64


class NpzSparseMatrix(Matrix):
    """A CSR or CSC matrix in an `.npz` file; indices and values go by side by side.

    Parameters
    ----------
    archive : Archive
        Where it is.
    layout : {"csr", "csc"}
        Whether rows or columns follow each other.
    shape : (int, int)
        Samples and features.
    indptr : array of int64
        Where each line begins.
    labels : array, optional
        Label of each row.
    """

    def __init__(
        self,
        archive: Archive,
        layout: str,
        shape: tuple[int, int],
        indptr: NDArray[np.int64],
        labels: NDArray[Any] | None,
    ) -> None:
        self._indices, self._data = archive.members["indices"], archive.members["data"]
        native = self._data.dtype.newbyteorder("=")
        super().__init__(shape, native if native in KERNEL_TYPES else np.float64, archive.file.path.name)
        self.whole_columns = layout == "csc"
        self.density = int(indptr[-1]) / max(shape[0] * shape[1], 1)
        self._archive, self._layout, self._indptr, self._labels = archive, layout, indptr, labels

    def blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield rows of a CSR matrix, columns of a CSC matrix."""
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
    def labels(self) -> NDArray[Any] | None:
        """Return the label of each row, where there are any."""
        return self._labels

    @property
    def fingerprint(self) -> str:
        """Return a digest of layout, shape, type and pieces of the file."""
        return digest("npz", self._layout, self.shape, self.dtype, self._archive.file.fingerprint())

    def require_unchanged(self) -> None:
        """Raise if the file changed or is gone."""
        self._archive.file.require_unchanged()


def is_sparse(archive: Archive) -> bool:
    """Say whether an archive is what `scipy.sparse.save_npz` writes."""
    return {"format", "shape", "data"} <= set(archive.members)


def open_sparse(archive: Archive, labels_for: Callable[[int], NDArray[Any] | None]) -> NpzSparseMatrix:
    """Return the sparse matrix of an archive.

    Parameters
    ----------
    archive : Archive
        Where it is.
    labels_for : callable
        Finds the labels, given the number of rows.

    Returns
    -------
    matrix : NpzSparseMatrix
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
