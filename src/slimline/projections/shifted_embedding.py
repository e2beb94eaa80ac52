"""A stretch of a longer sparse embedding, as a projection of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from slimline.errors import InvalidParameterError
from slimline.projections.sparse_embedding import GROUP, HashEmbedding


@dataclass(frozen=True)
class ShiftedEmbedding(HashEmbedding):
    """Rows `first`, …, `first` + n_features - 1 of the `HashEmbedding` of the same seed.

    Entries are drawn by coordinate, so stretches that do not overlap are independent projections of one seed. A
    stretch begins at a multiple of 16: the grouped hash draws 16 rows together.
    """

    first: int = 0

    family: ClassVar[str] = "shifted_embedding"

    def __post_init__(self) -> None:
        """Refuse a stretch that would share a group of rows with the one before it."""
        super().__post_init__()
        first = self.first
        whole = isinstance(first, (int, np.integer)) and not isinstance(first, bool)
        if not whole or first < 0 or first % GROUP or first + self.n_features >= 2**62:
            raise InvalidParameterError(f"first must be a multiple of {GROUP}, 0 or more, below 2**62; got {first!r}.")
        object.__setattr__(self, "first", int(first))

    def _kernel_row(self, feature: int) -> int:
        return self.first + feature
