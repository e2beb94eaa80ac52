"""One pass over a matrix: blocks read ahead, counted, told of, and left out where their sums were kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from slimline.data.affine import Affine
from slimline.data.ahead import read_ahead
from slimline.data.block import Block, PackedGenotypes
from slimline.data.keeping import Kept, PassKeeper
from slimline.data.sparse_shift import shifted

if TYPE_CHECKING:
    from slimline.data.matrix import Matrix


def go_through(
    matrix: Matrix, operation: str, whole_columns: bool, kept: Kept | None, in_memory: bool, large: bool
) -> Iterator[tuple[Block, Affine]]:
    """Go through a matrix once.

    Parameters
    ----------
    matrix : Matrix
        The data.
    operation : str
        What is computed, for those who are told.
    whole_columns : bool
        Ask for whole columns, which the matrix must be able to give.
    kept : Kept, optional
        What the pass adds to: a keeper, where the matrix has one, fills it with what it has, and is shown it.
    in_memory : bool
        Whether the values of a block are needed in memory; else kernels that can do so read them by themselves.
    large : bool
        Whether nothing of a block is copied, so that large ones are welcome: threads wait for each other less often.

    Yields
    ------
    block, affine
        What is to be computed on, and what is to be done to its values before.
    """
    counter = matrix._counter
    keeper = None if kept is None else counter.keeper
    matrix.require_unchanged()
    matrix._tell(operation, 0.0)
    first: int | None = 0
    if keeper is not None and kept is not None:  # another view of the same data may be gone through in the same way
        first = keeper.begin(operation, {**kept.inputs(), "data": matrix.fingerprint}, kept.sums())
    if first is not None:
        if keeper is not None:  # which counts them: a fit that goes on may ask for another size
            blocks = matrix.blocks_after(first, whole_columns)
        else:
            blocks = (matrix.large_blocks if large else matrix.blocks)(whole_columns)
        if matrix.reads_ahead or (matrix.packed and in_memory):
            blocks = read_blocks_ahead(blocks)
        yield from _told(matrix, blocks, first, operation, keeper, kept)
        matrix.require_unchanged()
    if keeper is not None and kept is not None:
        keeper.end(None if first is None else kept.sums())
    counter.count += 1
    matrix._tell(operation, 1.0, done=True)


def _told(
    matrix: Matrix,
    blocks: Iterator[Block],
    first: int,
    operation: str,
    keeper: PassKeeper | None,
    kept: Kept | None,
) -> Iterator[tuple[Block, Affine]]:
    """Yield the blocks after the first ones, which were computed on before, and tell how far they are."""
    cells, all_cells = 0, max(matrix.shape[0] * matrix.shape[1], 1)
    try:
        for number, block in enumerate(blocks, first + 1):
            if block.values.shape[0] and block.values.shape[1]:  # a view may see nothing of it
                yield shifted(block, matrix._affine(block))
            cells += block.values.shape[0] * block.values.shape[1]
            matrix._tell(operation, min(cells / all_cells, 0.999))
            if keeper is not None and kept is not None:
                keeper.after_block(number, kept.sums)
    finally:  # at once: the traceback of an error would keep file and reading thread for as long as it is kept
        if (close := getattr(blocks, "close", None)) is not None:
            close()


def read_blocks_ahead(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield blocks that are in memory, each read by another thread while the one before it is in use.

    Parameters
    ----------
    blocks : iterator of Block
        Genotypes may be in their file still.

    Returns
    -------
    blocks : iterator of Block
        The same, read.
    """
    return read_ahead(_in_memory(blocks))


def _in_memory(blocks: Iterator[Block]) -> Iterator[Block]:
    try:
        for block in blocks:
            if isinstance(block.values, PackedGenotypes):
                _ = block.values.packed  # reads them
            yield block
    finally:
        if (close := getattr(blocks, "close", None)) is not None:
            close()
