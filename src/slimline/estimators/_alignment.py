"""Alignment of new data with the features of a model, by name or by variant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import ColumnStats, Matrix, Variants
from slimline.data._names import PackedStrings
from slimline.data._standardised import Standardised
from slimline.data._views import View
from slimline.data.formats._svmlight import FeatureNumbers, SvmlightMatrix
from slimline.errors import DataError
from slimline.model_files import StoredModel

Mask = NDArray[np.bool_]
#: Names that name nothing, and alleles that nobody has seen.
NO_NAME = frozenset((".", ""))
_NO_ALLELE = ("0", ".")
#: Chromosomes that have a number and a letter.
_NUMBERS = {"X": "23", "Y": "24", "XY": "25", "MT": "26", "M": "26"}
#: Pairs of letters that the other strand has as well.
_PALINDROMES = (("A", "T"), ("C", "G"))
#: Share of a model's columns that may be filled in, at most.
MOST_ABSENT = 0.1
#: Columns whose alleles are compared at a time.
_COLUMNS = 1 << 16
#: How many names a message lists.
_NAMES_SHOWN = 3


def column_facts(model: Any, matrix: Matrix, stats: ColumnStats | None = None) -> dict[str, Any]:
    """Return the means of the columns in training, and where they are on the genome, as `StoredModel` has them.

    `mean`, and for genotypes `chromosome`, `position`, `allele1` and `allele2`; not where they were standardised
    before, since the weights are then none of copies of an allele.
    """
    if matrix.shape[1] != model.n_features_in_:
        raise DataError(
            f"{matrix.name} has {matrix.shape[1]:,} columns, and the model {model.n_features_in_:,}: give the data "
            "that it was trained on."
        )
    mean = next((part for part in (model._fill, model._centre) if part is not None), None)
    if mean is None:
        mean = (matrix.column_stats() if stats is None else stats).mean
    facts: dict[str, Any] = {"mean": mean}
    variants = matrix.variants
    if variants is not None and not _changed(matrix):
        facts |= variants.packed | {"position": variants.position}
    return facts


def source_details(matrix: Matrix) -> dict[str, Any]:
    """Return what has to be known to open other files as this one was opened, for the details of a `StoredModel`.

    `zero_based` for svmlight files: a file in which the first column is never used would be taken for another.
    """
    while isinstance(matrix, View):
        matrix = matrix.base
    return {"zero_based": matrix.zero_based} if isinstance(matrix, SvmlightMatrix) else {}


def _changed(matrix: Matrix) -> bool:
    if not isinstance(matrix, Standardised):
        return False
    return matrix.transform.centre is not None or matrix.transform.factor is not None


def stored_variants(stored: StoredModel) -> Variants | None:
    """Return chromosome, position and alleles of the columns of a model."""
    chromosome, position, allele1, allele2 = stored.chromosome, stored.position, stored.allele1, stored.allele2
    if chromosome is None or position is None or allele1 is None or allele2 is None:
        return None
    return Variants(chromosome, position, np.zeros(stored.n_features), allele1, allele2)


def variant_keys(names: Sequence[str], variants: Variants | None) -> list[str]:
    """Return what columns are told by: their names, and where they have none, place and alleles."""
    keys = list(names)
    if variants is not None:
        for column, name in enumerate(keys):
            if name in NO_NAME:
                keys[column] = _place(variants, column)
    return keys


def told_apart(keys: Sequence[str], variants: Variants, unclear: set[str]) -> list[str]:
    """Return keys in which names that come more than once have place and alleles beside them."""
    return [f"{key} ({_place(variants, j)})" if key in unclear else key for j, key in enumerate(keys)]


def compared_alleles(one: Variants, two: Variants) -> tuple[Mask, Mask]:
    """Return where two lists of variants count the same allele, and where each counts the other's second one.

    An allele that nobody has seen (0) may be any, as long as the other one is the same.
    """
    same = _agree(one.allele1, two.allele1, one.allele2, two.allele2)
    swapped = _agree(one.allele1, two.allele2, one.allele2, two.allele1)
    return same & ~swapped, swapped & ~same


def palindromic(variants: Variants) -> Mask:
    """Return which variants are A/T or C/G."""
    a, b = variants.allele1, variants.allele2
    found = np.zeros(len(a), dtype=bool)
    for one, other in _PALINDROMES:
        found |= ((a == one) & (b == other)) | ((a == other) & (b == one))
    return found


def _agree(a: NDArray[np.str_], b: NDArray[np.str_], c: NDArray[np.str_], d: NDArray[np.str_]) -> Mask:
    """Return where a is b and c is d, one of the pairs being known for sure."""
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


@dataclass(frozen=True)
class Alignment:
    """The match between the columns of a model and those of the data."""

    #: How columns were matched: by their order, where the model or the data do not name them.
    matched_by: str
    #: Columns of the model.
    n_columns: int
    #: How many of them the data have, swapped ones included.
    used: int
    #: How many count the other allele there; they are counted the other way.
    swapped: int
    #: How many of the swapped ones are A/T or C/G: a file of the other strand would look the same.
    palindromic: int
    #: How many the data do not have; their means in training stand for them.
    absent: int
    #: How many the data have with other alleles; they are filled as well.
    other_alleles: int
    #: Columns of the data that are not used.
    ignored: int
    #: Whether the data have them in another order.
    reordered: bool
    #: Whether the model and the data both say which alleles are counted.
    alleles_compared: bool

    @property
    def as_trained(self) -> bool:
        """Return whether the data have the columns of the model, all as they were in training, and no others."""
        return not (self.filled or self.ignored or self.swapped or self.reordered)

    @property
    def filled(self) -> int:
        """Return how many columns were filled in."""
        return self.absent + self.other_alleles


@dataclass(frozen=True)
class ColumnPlaces:
    """Positions of the features of a model in the data."""

    #: Number of the column of the data; -1 where it has to be filled; of shape (n_columns,).
    column: NDArray[np.intp]
    #: Whether the other allele is counted there; of shape (n_columns,).
    swapped: NDArray[np.bool_]


def align_columns(stored: StoredModel, matrix: Matrix) -> tuple[ColumnPlaces, Alignment]:
    """Find the columns of a model in new data; nothing but names is read."""
    own_names, names = stored.feature_names, matrix.feature_names
    numbers = isinstance(names, FeatureNumbers)
    if own_names is None or names is None or (numbers and first_number(own_names) is None):
        return _by_order(stored, matrix)
    own, other = stored_variants(stored), matrix.variants
    if own is None or other is None:
        own = other = None
    if _same_names(own_names, names):
        column = np.arange(len(own_names), dtype=np.intp)
    else:
        column = _matched(variant_keys(own_names, own), variant_keys(names, other), own, other, matrix.name)
    swapped, differ = np.zeros((2, len(column)), dtype=bool)
    if own is not None and other is not None:
        for start in range(0, len(column), _COLUMNS):
            found = start + np.flatnonzero(column[start : start + _COLUMNS] >= 0)
            same, other_way = compared_alleles(own.of(found), other.of(column[found]))
            swapped[found], differ[found] = other_way, ~(same | other_way)
        column[differ] = -1
    if numbers and (column < 0).any():  # not one that is missing, but one whose value is 0 in every row
        raise DataError(
            f"{matrix.name} was opened with the features {names[0]} to {names[-1]}, and the model has {own_names[0]} "
            f"to {own_names[-1]}: open it with n_features={stored.n_features}, zero_based={own_names[0] == '0'}."
        )
    _require_enough(own_names, names, column, differ, matrix.name)
    used = column[column >= 0]
    return ColumnPlaces(column, swapped), Alignment(
        matched_by="name" if own is None else "variant",
        n_columns=len(column),
        used=len(used),
        swapped=int(swapped.sum()),
        palindromic=0 if own is None else int(palindromic(own.of(swapped)).sum()),
        absent=len(column) - len(used) - int(differ.sum()),
        other_alleles=int(differ.sum()),
        ignored=matrix.shape[1] - len(used),
        reordered=bool((used[1:] < used[:-1]).any()),
        alleles_compared=own is not None,
    )


def first_number(names: Sequence[str]) -> int | None:
    """Return the first number, where names are nothing but numbers one after the other."""
    first = int(names[0]) if len(names) and names[0].isdecimal() else None
    if first is None or any(name != str(first + j) for j, name in enumerate(names)):
        return None
    return first


def _by_order(stored: StoredModel, matrix: Matrix) -> tuple[ColumnPlaces, Alignment]:
    d = stored.n_features
    if matrix.shape[1] != d:
        nameless = f"{matrix.name} does" if stored.feature_names is not None else "the model does"
        raise DataError(
            f"{matrix.name} has {matrix.shape[1]:,} columns, and the model {d:,}: {nameless} not name its columns, so "
            "they are taken in their order, and there must be as many."
        )
    places = ColumnPlaces(np.arange(d, dtype=np.intp), np.zeros(d, dtype=bool))
    return places, Alignment("order", d, d, 0, 0, 0, 0, 0, False, False)


def _same_names(own: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether columns have the same names in the same order, each a name of its own, so none need matching."""
    if not isinstance(own, PackedStrings) or own != other:
        return False
    digests = np.fromiter((hash(text) for piece in own.pieces() for text in piece), dtype=np.int64, count=len(own))
    nameless = np.isin(digests, [hash(name.encode()) for name in NO_NAME]).any()
    digests.sort()
    return not nameless and bool((digests[1:] != digests[:-1]).all())


def _matched(
    wanted: Sequence[str], there: Sequence[str], own: Variants | None, other: Variants | None, name: str
) -> NDArray[np.intp]:
    """Return the column of the data for each key of the model, -1 where there is none."""
    (mine, mine_twice), (first, twice) = _numbered(wanted), _numbered(there)
    unclear = {key for key in mine_twice | twice if key in mine and key in first}
    if unclear and own is not None and other is not None:
        return _matched(told_apart(wanted, own, unclear), told_apart(there, other, unclear), None, None, name)
    if unclear:
        where = "the model" if unclear & mine_twice else name
        raise DataError(
            f"the column {min(unclear)!r} comes twice in {where}: give each column a name of its own, so that it can "
            "be told which is meant."
        )
    return np.array([first.get(key, -1) for key in wanted], dtype=np.intp)


def _numbered(keys: Sequence[str]) -> tuple[dict[str, int], set[str]]:
    """Return the number of each key, and those that come more than once."""
    first: dict[str, int] = {}
    twice = {key for number, key in enumerate(keys) if first.setdefault(key, number) != number}
    return first, twice


def _require_enough(
    wanted: Sequence[str], there: Sequence[str], column: NDArray[np.intp], differ: NDArray[np.bool_], name: str
) -> None:
    """Raise where so many columns are absent that what is filled in would decide."""
    absent = np.flatnonzero((column < 0) & ~differ)
    filled, d = len(absent) + int(differ.sum()), len(column)
    if filled <= MOST_ABSENT * d:
        return
    parts = []
    if len(absent):
        parts.append(f"{len(absent):,} are not in {name} ({_shown(wanted, absent)}; it has {_shown(there)})")
    if differ.any():
        parts.append(f"{int(differ.sum()):,} have other alleles there ({_shown(wanted, np.flatnonzero(differ))})")
    advice = "Give data that were prepared as those of the training were: the same columns, under the same names"
    if differ.any():
        advice += ", and variants on the same strand (plink --flip turns them)"
    raise DataError(
        f"of the model's {d:,} columns {' and '.join(parts)}: {filled / d:.0%}, and at most {MOST_ABSENT:.0%} may be "
        f"filled with their means in training. {advice}."
    )


def _shown(names: Sequence[str], index: NDArray[np.intp] | None = None) -> str:
    count = len(names) if index is None else len(index)
    chosen = range(min(count, _NAMES_SHOWN)) if index is None else index[:_NAMES_SHOWN]
    return ", ".join(str(names[int(j)]) for j in chosen) + (", …" if count > _NAMES_SHOWN else "")
