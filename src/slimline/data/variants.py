"""What is known of the columns of genotypes, beside their names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.packed_strings import PackedStrings


class Variants:
    """What a `.bim` file says of each variant, beside its name.

    Texts are kept packed, which takes a quarter of the memory of arrays; an array is made when it is first asked for.

    Parameters
    ----------
    chromosome : sequence of str
        Chromosome, as it is written there.
    position : array of int64
        Base pairs.
    cm : array of float64
        Position in centimorgans; 0 where it is not known.
    allele1 : sequence of str
        Allele whose copies are counted, most often the rarer one.
    allele2 : sequence of str
        The other.

    Attributes
    ----------
    chromosome, allele1, allele2 : arrays of StringDType
        The texts.
    packed : dict of PackedStrings
        The same texts, by these names.
    """

    def __init__(
        self,
        chromosome: Sequence[str] | NDArray[Any],
        position: NDArray[np.int64],
        cm: NDArray[np.float64],
        allele1: Sequence[str] | NDArray[Any],
        allele2: Sequence[str] | NDArray[Any],
    ) -> None:
        texts = {"chromosome": chromosome, "allele1": allele1, "allele2": allele2}
        self.packed = {name: PackedStrings.of(text) for name, text in texts.items()}
        self.position, self.cm = position, cm

    @cached_property
    def chromosome(self) -> NDArray[Any]:
        """Return the chromosomes."""
        return self.packed["chromosome"].to_array()

    @cached_property
    def allele1(self) -> NDArray[Any]:
        """Return the alleles whose copies are counted."""
        return self.packed["allele1"].to_array()

    @cached_property
    def allele2(self) -> NDArray[Any]:
        """Return the other alleles."""
        return self.packed["allele2"].to_array()

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
        chosen = np.arange(len(self.position))[columns]
        chromosome, allele1, allele2 = (text.take(chosen) for text in self.packed.values())
        return Variants(chromosome, self.position[chosen], self.cm[chosen], allele1, allele2)
