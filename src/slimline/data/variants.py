"""What is known of the columns of genotypes, beside their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Variants:
    """What a `.bim` file says of each variant, beside its name.

    Parameters
    ----------
    chromosome : array of StringDType
        Chromosome, as it is written there.
    position : array of int64
        Base pairs.
    cm : array of float64
        Position in centimorgans; 0 where it is not known.
    allele1 : array of StringDType
        Allele whose copies are counted, most often the rarer one.
    allele2 : array of StringDType
        The other.
    """

    chromosome: NDArray[Any]
    position: NDArray[np.int64]
    cm: NDArray[np.float64]
    allele1: NDArray[Any]
    allele2: NDArray[Any]

    def of(self, columns: Any) -> Variants:
        """Return what is known of some of them.

        Parameters
        ----------
        columns : array of column numbers, mask or slice
            Which.

        Returns
        -------
        variants : Variants
            In that order.
        """
        parts = (self.chromosome, self.position, self.cm, self.allele1, self.allele2)
        return Variants(*(part[columns] for part in parts))
