"""Gaussian projection: entries N(0, 1/r)."""

from __future__ import annotations

import math
from functools import cached_property
from typing import ClassVar

from slimline._kernels import Rows, native_rows
from slimline.projections.row_drawn import RowDrawnProjection


class Gaussian(RowDrawnProjection):
    """R with independent N(0, 1/r) entries.

    The entries are float32 values, the same for all data types. Every law in :mod:`slimline.laws` is exact for it.
    """

    family: ClassVar[str] = "gaussian"

    @property
    def scale(self) -> float:
        """1 / √r."""
        return 1 / math.sqrt(self.n_components)

    @cached_property
    def _native(self) -> Rows:
        return native_rows("normal", self.seed, self.n_components)

    @property
    def kurtosis(self) -> float:
        """3, that of the normal law."""
        return 3.0
