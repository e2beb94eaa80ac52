"""Subject of a case: a matrix, its views, its factors and its origin."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix
from slimline.data._standardised import Standardised
from slimline_benchmarks.matrix import names

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Subject:
    """A matrix under measurement.

    Parameters
    ----------
    matrix : Matrix
        As it was opened.
    source : array, sparse matrix or path
        What the peers are given.
    filled : bool
        Whether the data have missing values, so that "raw" means with 0 in their place.
    peaks : dict
        Peak memory of the operations, where it was measured in another process.
    """

    matrix: Matrix
    source: Any
    filled: bool = False
    peaks: dict[str, int | None] = field(default_factory=dict)

    @cached_property
    def raw(self) -> Matrix:
        """Return the matrix without standardising."""
        return self.matrix.standardised(centre=None, scale=None, fill=0.0) if self.filled else self.matrix

    @cached_property
    def standardised(self) -> Matrix:
        """Return the standardised view, its statistics known."""
        view = self.fresh()
        view.transform  # noqa: B018 - takes the pass that it needs
        return view

    def fresh(self) -> Standardised:
        """Return a standardised view that has yet to find its statistics."""
        return self.matrix.standardised(fill="mean" if self.filled else None)

    def view(self, name: str) -> Matrix:
        """Return one of the two views."""
        return self.raw if name == names.RAW else self.standardised

    def array(self) -> Any:
        """Return what the peers take for X: the array itself, or a memory map of the file."""
        return np.load(self.source, mmap_mode="r") if isinstance(self.source, Path) else self.source


def right_hand_sides(size: int, k: int, dtype: Any = np.float64) -> NDArray[Any]:
    """Return k vectors as the columns of a matrix, or a vector for k = 1."""
    drawn = np.random.default_rng(size).standard_normal((size, k)).astype(dtype)
    return drawn[:, 0] if k == 1 else drawn
