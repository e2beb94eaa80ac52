"""Columns of a sparse block whose mean is far above their spread: centred value by value, so that no digit is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.data.affine import Affine
from slimline.data.block import Block
from slimline.data.statistics import ColumnStats
from slimline.projections.blocks import require_sound

#: Means of so many standard deviations: below, subtracting sums costs three bits at most.
_FAR = 8.0


def far_columns(stats: ColumnStats) -> NDArray[np.bool_]:
    """Say which columns have a mean so far above their spread that sums must not be subtracted from each other."""
    spread = stats.std
    spread *= _FAR
    return np.asarray(np.abs(stats.mean) > spread)


def shifted(block: Block, affine: Affine) -> tuple[Block, Affine]:
    """Return an equal block in which far columns are centred already, entry by entry, and what is left to be done.

    Such a column is stored nearly everywhere, so writing out all of it is no more than doubling it.

    Parameters
    ----------
    block : Block
        Any; only sparse ones are changed.
    affine : Affine
        What is to be done to its columns.

    Returns
    -------
    block : Block
        With float64 values, if there are such columns.
    affine : Affine
        Its centre is 0 there.
    """
    x: Any = block.values
    if affine.centre is None or not sp.issparse(block.values) or x.shape[0] == 0:
        return block, affine
    far = affine.far
    if far is None:
        require_sound(x)
        far = 2 * _stored(x) > x.shape[0]
        if affine.factor is not None:
            far &= np.abs(affine.centre * affine.factor) > _FAR
    far = far & (affine.centre != 0)
    if not far.any():
        return block, affine
    require_sound(x)
    left = Affine(np.where(far, 0.0, affine.centre), affine.factor, affine.fill, affine.far)
    return Block(block.rows, block.columns, _written_out(x, np.flatnonzero(far), affine), block.missing), left


def _stored(x: Any) -> NDArray[Any]:
    return np.asarray(np.diff(x.indptr) if x.format == "csc" else np.bincount(x.indices, minlength=x.shape[1]))


def _written_out(x: Any, columns: NDArray[np.intp], affine: Affine) -> sp.csr_array:
    n, width = x.shape
    entries = x.tocoo()
    row, column = entries.coords
    place = np.full(width, -1)
    place[columns] = np.arange(columns.size)
    inside = place[column] >= 0
    whole = np.zeros((n, columns.size))
    whole[row[inside], place[column[inside]]] = entries.data[inside]
    if affine.fill is not None:
        whole = np.where(np.isnan(whole), affine.fill[columns], whole)
    assert affine.centre is not None
    whole -= affine.centre[columns]
    rows = np.concatenate([row[~inside], np.repeat(np.arange(n), columns.size)])
    places = np.concatenate([column[~inside], np.tile(columns, n)])
    values = np.concatenate([entries.data[~inside].astype(np.float64), whole.ravel()])
    return sp.csr_array((values, (rows, places)), shape=x.shape)
