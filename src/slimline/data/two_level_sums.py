"""Sums over blocks of columns that lose less to rounding than one long sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import products
from slimline.data.affine import Affine
from slimline.data.block import Block

Floats = NDArray[np.float64]


class TwoLevelSums:
    """Sums over the columns of a block, then over the blocks: what rounding can do grows with either, not with both.

    Blocks of part of the rows are added to the result at once: all their columns are there.

    Parameters
    ----------
    out : array of shape (n_samples, k)
        The result, zeros at first.
    n_features : int
        Columns of all blocks together.
    """

    def __init__(self, out: Floats, n_features: int) -> None:
        self._out = out
        self._n_features = n_features
        self._part = np.zeros_like(out)
        self._counts = np.zeros(3, dtype=np.int64)  # the widest block, blocks, the longest chain

    @property
    def summands(self) -> int:
        """Return how many additions follow one another at most."""
        widest, blocks, chain = self._counts.tolist()
        return int(max(widest + blocks, chain))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is written to: sums and counts."""
        return {"out": self._out, "counts": self._counts}

    def of(self, block: Block, affine: Affine) -> Floats:
        """Return where the products of a block are added.

        Parameters
        ----------
        block : Block
            What is multiplied.
        affine : Affine
            What is done to its columns.

        Returns
        -------
        sums : array of shape (n_samples, k)
            The result itself, or room for the block's part.
        """
        longest = products.longest_sum(block, affine)
        self._counts[0] = max(self._counts[0], longest)
        if not self._whole(block):
            if block.values.shape[1] < self._n_features:  # some rows, some columns: one after the other
                self._counts[2] += longest
            return self._out
        self._counts[1] += 1
        self._part[...] = 0.0
        return self._part

    def add(self, block: Block) -> None:
        """Add what the block gave to the result.

        Parameters
        ----------
        block : Block
            The one that `of` was asked about last.
        """
        if self._whole(block):
            self._out += self._part

    def _whole(self, block: Block) -> bool:
        return isinstance(block.rows, slice) and block.rows == slice(0, len(self._out))
