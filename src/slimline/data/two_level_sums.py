"""Sums over blocks of columns that lose less to rounding than one long sum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import products
from slimline.data.affine import Affine
from slimline.data.block import Block

Floats = NDArray[np.float64]


class TwoLevelSums:
    """Sums over the columns of a panel, then over the panels: what rounding can do grows with either, not with both.

    A panel is a block of whole columns, or as many of them as have √n_features columns together: adding a panel to the
    result takes as long as several columns do. Blocks of part of the rows are added to the result at once: all their
    columns are there.

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
        self._enough = math.isqrt(max(n_features - 1, 0)) + 1
        # additions in the longest panel, panels, the longest chain, additions in this panel
        self._counts = np.zeros(4, dtype=np.int64)

    @property
    def summands(self) -> int:
        """Return how many additions, one after the other, lose as much as the sums did, at most."""
        widest, panels, chain, _ = self._counts.tolist()
        return int(max(widest + panels, chain))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is written to: sums and counts."""
        return {"out": self._out, "part": self._part, "counts": self._counts}

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
            The result itself, or the sums of the panel.
        """
        longest = products.longest_sum(block, affine)
        if not self._whole(block):
            self._counts[0] = max(self._counts[0], longest)
            if block.values.shape[1] < self._n_features:  # some rows, some columns: one after the other
                self._counts[2] += longest
            return self._out
        self._counts[3] += longest
        return self._part

    def add(self, block: Block) -> None:
        """Add the panel to the result, if the block filled it.

        Parameters
        ----------
        block : Block
            The one that `of` was asked about last.
        """
        if self._whole(block) and self._counts[3] >= self._enough:
            self.finish()

    def finish(self) -> None:
        """Add the panel to the result, whatever it has, and begin another; to be called after the last block, too."""
        if self._counts[3]:
            with np.errstate(over="ignore"):  # who asked for the sums looks at them
                self._out += self._part
            self._part[...] = 0.0
            self._counts[:2] = max(self._counts[0], self._counts[3]), self._counts[1] + 1
            self._counts[3] = 0

    def _whole(self, block: Block) -> bool:
        return isinstance(block.rows, slice) and block.rows == slice(0, len(self._out))
