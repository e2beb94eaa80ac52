"""Genetic variants of a model and of new data: which are the same, and which allele is counted.

Alleles are compared by their letters. A file of the other strand is not flipped: for A/T and C/G nobody could tell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slimline.data import Variants
from slimline.model_files import StoredModel

Mask = NDArray[np.bool_]

#: Names that name nothing, and alleles that nobody has seen.
NO_NAME = frozenset((".", ""))
_NO_ALLELE = ("0", ".")
#: Chromosomes that have a number and a letter.
_NUMBERS = {"X": "23", "Y": "24", "XY": "25", "MT": "26", "M": "26"}
#: Pairs of letters that the other strand has as well.
_PALINDROMES = (("A", "T"), ("C", "G"))


def stored_variants(stored: StoredModel) -> Variants | None:
    """Return chromosome, position and alleles of the columns of a model.

    Parameters
    ----------
    stored : StoredModel
        The model.

    Returns
    -------
    variants : Variants or None
        None where it was not trained on genotypes, or does not say.
    """
    chromosome, position, allele1, allele2 = stored.chromosome, stored.position, stored.allele1, stored.allele2
    if chromosome is None or position is None or allele1 is None or allele2 is None:
        return None
    return Variants(chromosome, position, np.zeros(stored.n_features), allele1, allele2)


def variant_keys(names: Sequence[str], variants: Variants | None) -> list[str]:
    """Return what columns are told by: their names, and where they have none, place and alleles.

    Parameters
    ----------
    names : sequence of str
        Names.
    variants : Variants, optional
        Places and alleles.

    Returns
    -------
    keys : list of str
        The same for the same variant, whichever of its alleles is counted.
    """
    keys = list(names)
    if variants is not None:
        for column, name in enumerate(keys):
            if name in NO_NAME:
                keys[column] = _place(variants, column)
    return keys


def told_apart(keys: Sequence[str], variants: Variants, unclear: set[str]) -> list[str]:
    """Return keys in which names that come more than once have place and alleles beside them.

    Parameters
    ----------
    keys : sequence of str
        As `variant_keys` returns them.
    variants : Variants
        Places and alleles.
    unclear : set of str
        Those that come more than once.

    Returns
    -------
    keys : list of str
        The others as they were.
    """
    return [f"{key} ({_place(variants, j)})" if key in unclear else key for j, key in enumerate(keys)]


def compared_alleles(one: Variants, two: Variants) -> tuple[Mask, Mask]:
    """Say where two lists of variants count the same allele, and where each counts the other's second one.

    An allele that nobody has seen (0) may be any, as long as the other one is the same.

    Parameters
    ----------
    one, two : Variants
        As many of each.

    Returns
    -------
    same, swapped : arrays of bool
        Where neither holds, the alleles are others, or cannot be told.
    """
    same = _agree(one.allele1, two.allele1, one.allele2, two.allele2)
    swapped = _agree(one.allele1, two.allele2, one.allele2, two.allele1)
    return same & ~swapped, swapped & ~same


def palindromic(variants: Variants) -> Mask:
    """Say which variants are A/T or C/G.

    Parameters
    ----------
    variants : Variants
        Any.

    Returns
    -------
    mask : array of bool
        One entry a variant.
    """
    a, b = variants.allele1, variants.allele2
    found = np.zeros(len(a), dtype=bool)
    for one, other in _PALINDROMES:
        found |= ((a == one) & (b == other)) | ((a == other) & (b == one))
    return found


def _agree(a: NDArray[np.str_], b: NDArray[np.str_], c: NDArray[np.str_], d: NDArray[np.str_]) -> Mask:
    """Say where a is b and c is d, one of the pairs being known for sure."""
    first, second = a == b, c == d
    known = (first & ~_unseen(a)) | (second & ~_unseen(c))
    return np.asarray(known & (first | _unseen(a) | _unseen(b)) & (second | _unseen(c) | _unseen(d)))


def _unseen(allele: NDArray[np.str_]) -> Mask:
    return np.asarray((allele == _NO_ALLELE[0]) | (allele == _NO_ALLELE[1]))


def _place(variants: Variants, column: int) -> str:
    chromosome, *alleles = (text[column] for text in variants.packed.values())
    chromosome = chromosome.upper().removeprefix("CHR")
    alleles.sort()
    return ":".join((_NUMBERS.get(chromosome, chromosome), str(variants.position[column]), *alleles))
