"""What is done to each value on its way into a sum: a missing one filled, then centred, then scaled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Affine:
    """x -> (x - centre) * factor, column by column, with a missing x taken for `fill`.

    Parameters
    ----------
    centre : array of shape (d,), optional
        Subtracted (none: nothing is).
    factor : array of shape (d,), optional
        Multiplied with (none: 1).
    fill : array of shape (d,), optional
        Stands for a missing value (none: a missing value is an error).
    far : array of shape (d,), bool, optional
        Columns whose centre is far above their spread (see `sparse_shift`); none: not known.
    """

    centre: Vector | None = None
    factor: Vector | None = None
    fill: Vector | None = None
    far: NDArray[np.bool_] | None = None

    def of(self, columns: slice) -> Affine:
        """Return the part that belongs to a range of columns."""
        far = None if self.far is None else self.far[columns]
        centre, factor, fill = (None if v is None else v[columns] for v in (self.centre, self.factor, self.fill))
        return Affine(centre, factor, fill, far)

    @property
    def trivial(self) -> bool:
        """Say whether nothing is done at all."""
        return self.centre is None and self.factor is None and self.fill is None


#: Data as they are.
PLAIN = Affine()
