"""Labels of the rows: from a file of their own, or from the data."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline.cli._output import as_given, harmless
from slimline.errors import DataError, FileFormatError, InvalidParameterError

if TYPE_CHECKING:
    from slimline.data import Matrix

#: PLINK's for a phenotype that nobody knows.
_NO_PHENOTYPE = "-9"
#: How PLINK calls the columns that together name a person.
_BOTH = ("fid", "iid")
#: Other words for no label; "None" is not one of them, since a group of patients may be called that.
_NO_LABEL = ("N/A", "n/a", "null", "NULL")


@dataclass(frozen=True)
class Labels:
    """Classes of the rows of a matrix."""

    #: Label of each row that has one.
    values: NDArray[Any]
    #: Which rows these are.
    rows: NDArray[np.intp]
    #: Whether all rows have one.
    complete: bool
    #: Where they come from and how rows were matched, in words.
    source: str


def labels_in_file(path: Path, target: str | None, matrix: Matrix, id: str | None = None) -> Labels:
    """Read labels from a file of their own.

    Rows are matched by the ids of the samples, which a first or second column holds (or both together, as PLINK's
    FID and IID do). Only where the data name no samples does the order count.
    """
    from slimline.data.formats._npy import npy_vector

    n = matrix.shape[0]
    if path.suffix.lower() == ".npy":
        if target is not None:
            raise InvalidParameterError(f"{target}: {path} has no columns; leave it out.", "--target", target)
        _require_no_names(matrix, path)
        return _known(npy_vector(path, n), f"{path.name}, in the order of the rows")
    lines = _cells(path)
    if len(lines[0]) == 1 and target is None and len(lines) in (n, n + 1):
        _require_no_names(matrix, path)
        texts = [as_given(line[0]) for line in lines[len(lines) - n :]]
        return _known(np.array(texts, dtype=str), f"{path.name}, in the order of the rows")
    head, body = lines[0], lines[1:]
    column = _target(head, target, path)
    values = np.array([as_given(line[column]) for line in body], dtype=str)
    if matrix.sample_ids is None:
        if len(body) != n:
            raise DataError(
                f"{path} has {len(body):,} labels, and {matrix.name} {n:,} rows without names: give one label for each "
                "row in the same order."
            )
        return _known(values, f"{head[column]} of {path.name}, in the order of the rows")
    pairs = None if id is not None else _by_family_and_person(head, body, column, matrix)
    name, places = pairs or _matched(_candidates(head, body, column, id, path), matrix, path)
    all_values = np.where(places >= 0, values[places], "") if len(values) else np.full(n, "")
    return _known(all_values, f"{head[column]} of {path.name}, matched by {name}")


def labels_in_data(matrix: Matrix, asked: bool) -> Labels | None:
    """Return the labels that the data carry."""
    if matrix.labels is None:
        return None
    labels = _known(np.asarray(matrix.labels), f"from {matrix.name}")
    return labels if asked or len(np.unique(labels.values)) > 1 else None


def known_labels(matrix: Matrix, path: Path | None, target: str | None, id: str | None = None) -> Labels | None:
    """Return the labels of a file, or those that the data carry."""
    if path is None:
        labels = labels_in_data(matrix, asked=target is not None)
    else:
        labels = labels_in_file(path, target, matrix, id)
    if labels is not None:
        require_classes(labels)
    return labels


def require_classes(labels: Labels) -> None:
    """Refuse labels that are not classes."""
    from slimline.data._labels import class_labels

    name, rows = f"labels ({labels.source})", len(labels.values)
    classes, _ = class_labels(labels.values, name=name)
    if len(classes) > max(rows // 2, 2):
        raise DataError(
            f"{name}: {len(classes):,} different ones in {rows:,} rows are names or measurements, not classes.",
            parameter="label",
        )


def _known(values: NDArray[Any], source: str) -> Labels:
    """Return the labels without those that are missing."""
    from slimline.data._labels import as_one_type, missing_labels
    from slimline.data.formats._delimited import MISSING_TEXT

    rows = np.flatnonzero(~missing_labels(values))
    known = as_one_type(values[rows])
    if known.dtype.kind == "O":
        known = known.astype(str)
    if known.dtype.kind in "if":
        there = known != int(_NO_PHENOTYPE)
    elif known.dtype.kind in "US":
        there = ~np.isin(known, np.array((*MISSING_TEXT, *_NO_LABEL, _NO_PHENOTYPE)))
    else:
        there = np.ones(len(known), dtype=bool)
    rows, known = rows[there], known[there]
    left = len(values) - len(rows)
    if left:
        source += f"; {left:,} of {len(values):,} rows have none and are left out"
    return Labels(_whole(known), rows, not left, source)


def _whole(values: NDArray[Any]) -> NDArray[Any]:
    """Return labels that were real numbers only to have one for a missing label as the whole numbers that they are."""
    if values.dtype.kind != "f" or not (np.abs(values) < 2**53).all() or (values != np.rint(values)).any():
        return values
    return values.astype(np.int64)


def text_of(path: Path) -> str:
    """Return the text of a file, which may be compressed."""
    from slimline.data._files import DataFile, compression, decompressed

    file = DataFile(path)
    kind = compression(file)
    if kind is None:
        return _decoded(path.read_bytes(), path)
    with decompressed(file, kind) as stream:
        return _decoded(stream.read(), path)


def _cells(path: Path) -> list[list[str]]:
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


def _target(head: Sequence[str], target: str | None, path: Path) -> int:
    if target is None:
        if len(head) <= 2:
            return len(head) - 1
        raise InvalidParameterError(f"{path} has the columns {', '.join(head)}: say which with --target COLUMN.")
    if head.count(target) != 1:
        found = "several of that name" if target in head else "no such column"
        raise InvalidParameterError(
            f"{target}: {path} has {found}. Its first line: {', '.join(head)}.", "--target", target
        )
    return head.index(target)


def _candidates(
    head: Sequence[str], body: Sequence[Sequence[str]], target: int, id: str | None, path: Path
) -> dict[str, list[str]]:
    """Return the columns that may name the samples, by what they are called; none in which a name comes twice."""
    if id is not None and head.count(id) == 1:
        names = [line[head.index(id)] for line in body]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"--id {id}: {path} has {twice!r} more than once.")
        return {id: names}
    found = {head[k]: [line[k] for line in body] for k in range(min(2, len(head))) if k != target}
    if len(head) > 2 and target > 1:
        found[f"{head[0]}_{head[1]}"] = [f"{line[0]}_{line[1]}" for line in body]
    return {name: names for name, names in found.items() if len(set(names)) == len(names)}


def _by_family_and_person(
    head: Sequence[str], body: Sequence[Sequence[str]], target: int, matrix: Matrix
) -> tuple[str, NDArray[np.intp]] | None:
    """Match by both names that PLINK gives a person; None where the data or the file do not have both, or none fits."""
    known = getattr(matrix, "families_and_people", None)
    if known is None or len(head) < 3 or target < 2 or (head[0].lower().lstrip("#"), head[1].lower()) != _BOTH:
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


def _matched(candidates: dict[str, list[str]], matrix: Matrix, path: Path) -> tuple[str, NDArray[np.intp]]:
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
            f"{path}: no sample of {matrix.name} is named there ({found} and {wanted[0]!r} in the data). Labels are "
            "matched by the names of the samples, never by their order: put these into the first column, or name "
            "theirs with --id COLUMN."
        )
    return best[1:]


def _require_no_names(matrix: Matrix, path: Path) -> None:
    """Refuse labels without names for samples that have one: by their order they could go to the wrong rows."""
    ids = matrix.sample_ids
    if ids is not None:
        raise DataError(
            f"{path} does not name the samples, and {matrix.name} does ({ids[0]!r}, …). Labels are matched by the "
            "names of the samples, never by their order: give a file with two columns, names and labels."
        )
