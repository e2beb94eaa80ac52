"""Tables beside the data, such as labels and covariates: their cells, and which line belongs to which sample."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slimline.cli._output import NUMBER, as_given, harmless
from slimline.errors import DataError, FileFormatError, InvalidParameterError

if TYPE_CHECKING:
    from slimline.data import Matrix

#: How PLINK calls the columns that together name a person.
_BOTH = ("fid", "iid")
#: Other words for a missing value than those that every table has; "None" is not one of them, since a group of
#: patients may be called that.
OTHER_MISSING = ("N/A", "n/a", "null", "NULL")
#: PLINK's for a phenotype or a covariate that nobody knows.
PLINK_MISSING = "-9"

#: Words for an infinite penalty factor.
_INFINITE = ("inf", "+inf", "infinity")
#: Columns of a file of penalty factors.
_TWO = 2


@dataclass(frozen=True)
class Table:
    """Cells of a file of text."""

    #: The file.
    path: Path
    #: Names of its columns.
    head: list[str]
    #: Its lines, without the names.
    body: list[list[str]]

    @property
    def is_plink(self) -> bool:
        """Return whether PLINK would read it: its first columns are FID and IID, or #IID."""
        first = [name.lower() for name in self.head[:2]]
        return first[0] == "#iid" or (first[0].lstrip("#"), *first[1:]) == _BOTH


def is_person(name: str) -> bool:
    """Return whether a column names people in PLINK's files."""
    return name.lstrip("#").lower() in (*_BOTH, "sid")


def is_number(cell: str) -> bool:
    """Return whether a cell is a finite number as people write them."""
    return NUMBER.fullmatch(cell) is not None and math.isfinite(float(cell))


def text_of(path: Path) -> str:
    """Return the text of a file, which may be compressed."""
    from slimline.data._files import DataFile, compression, decompressed

    file = DataFile(path)
    kind = compression(file)
    if kind is None:
        return _decoded(path.read_bytes(), path)
    with decompressed(file, kind) as stream:
        return _decoded(stream.read(), path)


def cells_of(path: Path) -> list[list[str]]:
    """Return the cells of each line that is not blank, all lines having as many."""
    lines = [(number, line) for number, line in enumerate(text_of(path).splitlines(), 1) if line.strip()]
    if not lines:
        raise FileFormatError(f"{path} is empty.")
    mark = _delimiter(lines[0][1])
    rows = (
        [line.split() for _, line in lines] if mark is None else list(csv.reader((x for _, x in lines), delimiter=mark))
    )
    for (number, _), row in zip(lines, rows, strict=False):
        if len(row) != len(rows[0]):
            raise FileFormatError(f"{path}, line {number:,}: {len(row)} cells, and the first line has {len(rows[0])}.")
    return [[cell.strip() for cell in row] for row in rows]


def table_of(path: Path, lines: list[list[str]], matrix: Matrix, name: str) -> Table:
    """Return the table of some lines.

    Where the first line begins with both names of a person of the data, as in PLINK's files without a header, there are
    no names of columns: these are then FID, IID and `name` with a number.
    """
    head = lines[0]
    people = getattr(matrix, "families_and_people", None)
    if people is None or len(head) < 3 or tuple(head[:2]) not in set(zip(*people, strict=True)):
        return Table(path, head, lines[1:])
    return Table(path, ["FID", "IID", *(f"{name}{k}" for k in range(1, len(head) - 1))], lines)


def penalty_factors_in_file(path: Path, matrix: Matrix) -> dict[str, float]:
    """Read penalty factors of features from a file of two columns, names and factors, with or without a header."""
    names = matrix.feature_names
    if names is None:
        raise InvalidParameterError(
            f"names features, and those of {matrix.name} have no names: give --feature-names FILE.",
            "penalty_factor",
            path,
        )
    lines = cells_of(path)
    if len(lines[0]) != _TWO:
        raise FileFormatError(f"{path} has {len(lines[0])} columns: give two, features and their factors.")
    if not _is_factor(lines[0][1]) and as_given(lines[0][0]) not in set(names):
        lines = lines[1:]
    factors: dict[str, float] = {}
    for cell, factor in lines:
        name = as_given(cell)
        if not _is_factor(factor):
            raise FileFormatError(f"{path}: the factor of {name} is {factor!r}, which is neither a number nor inf.")
        if name in factors:
            raise FileFormatError(f"{path} names {name} twice.")
        factors[name] = float(factor)
    return factors


def _is_factor(cell: str) -> bool:
    return is_number(cell) or cell.lower() in _INFINITE


def _decoded(raw: bytes, path: Path) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}, byte {error.start:,}: not UTF-8; save the file as UTF-8.") from None


def _delimiter(line: str) -> str | None:
    """Return what stands between the cells of a line; None: spaces."""
    if "\t" in line:
        return "\t"
    most = max((",", ";", "|"), key=line.count)
    if most in line:
        return most
    return "\t" if len(line.split()) == 1 else None  # one column: spaces below are part of a label


def matched_lines(
    table: Table, matrix: Matrix, values: Collection[int], id: str | None
) -> tuple[str, set[int], NDArray[np.intp]]:
    """Return which line of a table belongs to each sample (-1: none), and by which columns, in words and numbers.

    `values` are columns that name no samples. Only where the data name no samples does the order count.
    """
    if matrix.sample_ids is None:
        n = matrix.shape[0]
        if len(table.body) != n:
            raise DataError(
                f"{table.path} has {len(table.body):,} lines below its first, and {matrix.name} {n:,} rows without "
                "names: give one line for each row in the same order."
            )
        return "in the order of the rows", set(), np.arange(n)
    found = None if id is not None else _by_family_and_person(table, values, matrix)
    if found is None and id is None:
        _require_once(table, values, matrix)
    name, places = found or _best(_candidates(table, values, id), matrix, table.path)
    columns = {k for k, other in enumerate(table.head) if other == name}
    return f"matched by {name}", columns or {0, 1}, places


def _candidates(table: Table, values: Collection[int], id: str | None) -> dict[str, list[str]]:
    """Return the columns that may name the samples, by what they are called; none in which a name comes twice."""
    head, body = table.head, table.body
    if id is not None and head.count(id) == 1:
        names = [line[head.index(id)] for line in body]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"--id {id}: {table.path} has {twice!r} more than once.")
        return {id: names}
    found = {head[k]: [line[k] for line in body] for k in range(min(2, len(head))) if k not in values}
    if len(head) > 2 and not {0, 1} & set(values):
        found[f"{head[0]}_{head[1]}"] = [f"{line[0]}_{line[1]}" for line in body]
    return {name: names for name, names in found.items() if len(set(names)) == len(names)}


def _require_once(table: Table, values: Collection[int], matrix: Matrix) -> None:
    """Refuse a table of PLINK's that has a sample twice: which of its lines holds is unknown."""
    if not table.is_plink or {0, 1} & set(values):
        return
    known = getattr(matrix, "families_and_people", None)
    people: list[tuple[str, ...]]
    if len(table.head) > 1 and table.head[1].lower() == _BOTH[1]:
        people = [(line[0], line[1]) for line in table.body]
        samples = set() if known is None else set(zip(*known, strict=True))
    else:
        people, samples = [(line[0],) for line in table.body], {(name,) for name in matrix.sample_ids or ()}
    twice = next((name for name, count in Counter(people).items() if count > 1 and name in samples), None)
    if twice is not None:
        raise DataError(f"{table.path} has {' '.join(twice)!r} more than once: leave one line for each sample.")


def _by_family_and_person(table: Table, values: Collection[int], matrix: Matrix) -> tuple[str, NDArray[np.intp]] | None:
    """Match by both names that PLINK gives a person; None where the data or the file do not have both, or none fits."""
    known, head, body = getattr(matrix, "families_and_people", None), table.head, table.body
    if (
        known is None
        or len(head) < 3
        or {0, 1} & set(values)
        or (head[0].lower().lstrip("#"), head[1].lower()) != _BOTH
    ):
        return None
    lines = _lines_of([(line[0], line[1]) for line in body])
    places = np.array([lines.get(pair, -1) for pair in zip(*known, strict=True)], dtype=np.intp)
    if len({(line[0], line[1]) for line in body}) < len(body) or not (places >= 0).any():
        return None
    return f"{head[0]} and {head[1]}", places


def _lines_of(names: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    """Return the line of each name as it stands there, and as it is, where slimline may have written the file."""
    lines = {name: k for k, name in enumerate(names)}
    given = [tuple(map(as_given, name)) for name in names]
    if all(tuple(map(harmless, name)) == cells for name, cells in zip(given, names, strict=True)):
        lines.update((name, k) for k, name in enumerate(given))
    return lines


def _best(candidates: dict[str, list[str]], matrix: Matrix, path: Path) -> tuple[str, NDArray[np.intp]]:
    """Return the name of the column that holds the ids, and the line of each id (-1: none)."""
    wanted = list(matrix.sample_ids or ())
    best: tuple[int, str, NDArray[np.intp]] | None = None
    for name, names in candidates.items():
        lines = _lines_of([(name,) for name in names])
        places = np.array([lines.get((text,), -1) for text in wanted], dtype=np.intp)
        count = int((places >= 0).sum())
        if count and (best is None or count > best[0]):
            best = count, name, places
    if best is None:
        seen = next(((name, names[0]) for name, names in candidates.items() if names), None)
        found = (
            "it has no column of names, all different," if seen is None else f"{seen[1]!r} in the column {seen[0]!r}"
        )
        raise DataError(
            f"{path}: no sample of {matrix.name} is named there ({found} and {wanted[0]!r} in the data). Its lines are "
            "matched by the names of the samples, never by their order: put these into the first column, or name "
            "theirs with --id COLUMN."
        )
    return best[1:]


def require_no_names(matrix: Matrix, path: Path) -> None:
    """Refuse values without names for samples that have one: by their order they could go to the wrong rows."""
    ids = matrix.sample_ids
    if ids is not None:
        raise DataError(
            f"{path} does not name the samples, and {matrix.name} does ({ids[0]!r}, …). Its lines are matched by the "
            "names of the samples, never by their order: give a file with two columns, names and values."
        )
