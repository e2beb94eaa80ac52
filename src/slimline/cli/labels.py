"""Labels of the rows: from a file of their own, or from the data."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline.errors import DataError, FileFormatError, InvalidParameterError

if TYPE_CHECKING:
    from slimline.data import Matrix


@dataclass(frozen=True)
class Labels:
    """Classes of the rows of a matrix.

    Parameters
    ----------
    values : array
        Label of each row that has one.
    rows : array of int
        Which rows these are.
    complete : bool
        Whether all rows have one.
    source : str
        Where they come from and how rows were matched, in words.
    """

    values: NDArray[Any]
    rows: NDArray[np.intp]
    complete: bool
    source: str


def labels_in_file(path: Path, target: str | None, matrix: Matrix) -> Labels:
    """Read labels from a file of their own.

    Rows are matched by the ids of the samples, if a first or second column holds them (or both together, as PLINK's
    FID and IID do); else by their order.

    Parameters
    ----------
    path : Path
        Text in columns, the first line naming them; a single column without a name; or a vector in a .npy file.
        Text may be compressed.
    target : str, optional
        Name of the column; may be left out where there is no choice.
    matrix : Matrix
        The data.

    Returns
    -------
    labels : Labels
        Rows without one are left out.
    """
    n = matrix.shape[0]
    if path.suffix.lower() == ".npy":
        if target is not None:
            raise InvalidParameterError(f"--target {target}: {path} has no columns; leave it out.")
        return _known(_vector(path, n), f"{path.name}, in the order of the rows")
    lines = _cells(path)
    if len(lines[0]) == 1 and target is None and len(lines) in (n, n + 1):
        texts = [line[0] for line in lines[len(lines) - n :]]
        return _known(np.array(texts, dtype=str), f"{path.name}, in the order of the rows")
    head, body = lines[0], lines[1:]
    column = _target(head, target, path)
    values = np.array([line[column] for line in body], dtype=str)
    found = _matched(head, body, column, matrix.sample_ids)
    if found is None:
        if len(body) != n:
            raise DataError(
                f"{path} has {len(body):,} labels, and {matrix.name} {n:,} rows: give one for each row in the same "
                f"order, or name the samples in the first column{_as_in(matrix)}."
            )
        _require_no_other_names(head, body, column, matrix, path)
        return _known(values, f"{head[column]} of {path.name}, in the order of the rows")
    name, places = found
    all_values = np.where(places >= 0, values[places], "")
    return _known(all_values, f"{head[column]} of {path.name}, matched by {name}")


def labels_in_data(matrix: Matrix, asked: bool) -> Labels | None:
    """Return the labels that the data carry.

    Parameters
    ----------
    matrix : Matrix
        The data.
    asked : bool
        Whether they were asked for; else they are passed over if all are the same, as in many PLINK files.

    Returns
    -------
    labels : Labels or None
        None where they carry none.
    """
    if matrix.labels is None:
        return None
    labels = _known(np.asarray(matrix.labels), f"from {matrix.name}")
    return labels if asked or len(np.unique(labels.values)) > 1 else None


def known_labels(matrix: Matrix, path: Path | None, target: str | None) -> Labels | None:
    """Return the labels of a file, or those that the data carry.

    Parameters
    ----------
    matrix : Matrix
        The data.
    path : Path, optional
        File with the labels; None: the data have them.
    target : str, optional
        Column of them.

    Returns
    -------
    labels : Labels or None
        Two classes or more; None where there are no labels.
    """
    labels = labels_in_data(matrix, asked=target is not None) if path is None else labels_in_file(path, target, matrix)
    if labels is not None:
        require_classes(labels)
    return labels


def require_classes(labels: Labels) -> None:
    """Refuse labels that are not classes.

    Parameters
    ----------
    labels : Labels
        To be looked at.
    """
    classes, rows = len(np.unique(labels.values)), len(labels.values)
    if classes < 2:
        shown = f"only one class, {str(labels.values[0])!r}" if rows else "no label at all"
        raise DataError(f"labels ({labels.source}): {shown}. Choose others with --labels FILE --target COLUMN.")
    if classes > max(rows // 2, 2):
        raise DataError(
            f"labels ({labels.source}): {classes:,} different ones in {rows:,} rows are names or measurements, not "
            "classes. Choose others with --labels FILE --target COLUMN."
        )


def _known(values: NDArray[Any], source: str) -> Labels:
    """Return the labels without those that are missing."""
    from slimline.data.formats.delimited import MISSING_TEXT

    if values.dtype.kind == "f":
        there = ~np.isnan(values)
    elif values.dtype.kind in "US":
        there = ~np.isin(values, np.array(MISSING_TEXT))
    else:
        there = np.ones(len(values), dtype=bool)
    rows = np.flatnonzero(there)
    left = len(values) - len(rows)
    if left:
        source += f"; {left:,} of {len(values):,} rows have none and are left out"
    return Labels(values[rows], rows, not left, source)


def _vector(path: Path, n: int) -> NDArray[Any]:
    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileFormatError(f"{path} is not a .npy file of numbers or texts: {error}") from None
    if values.shape != (n,):
        raise DataError(f"{path} has the shape {values.shape}: give a vector of {n:,} labels, one a row.")
    return np.asarray(values)


def _cells(path: Path) -> list[list[str]]:
    """Return the cells of each line that is not blank, all lines having as many."""
    from slimline.data.compressed import compression, decompressed
    from slimline.data.files import DataFile

    file = DataFile(path)
    kind = compression(file)
    if kind is None:
        text = _decoded(path.read_bytes(), path)
    else:
        with decompressed(file, kind) as stream:
            text = _decoded(stream.read(), path)
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
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
    return most if most in line else None


def _target(head: Sequence[str], target: str | None, path: Path) -> int:
    if target is None:
        if len(head) <= 2:
            return len(head) - 1
        raise InvalidParameterError(f"{path} has the columns {', '.join(head)}: say which with --target COLUMN.")
    if head.count(target) != 1:
        found = "several of that name" if target in head else "no such column"
        raise InvalidParameterError(f"--target {target}: {path} has {found}. Its first line: {', '.join(head)}.")
    return head.index(target)


def _matched(
    head: Sequence[str], body: Sequence[Sequence[str]], target: int, ids: Sequence[str] | None
) -> tuple[str, NDArray[np.intp]] | None:
    """Return the name of the column that holds the ids, and the line of each id (-1: none); None where none does."""
    if ids is None:
        return None
    candidates = {head[k]: [line[k] for line in body] for k in range(min(2, len(head))) if k != target}
    if len(head) > 2 and target > 1:
        candidates[f"{head[0]}_{head[1]}"] = [f"{line[0]}_{line[1]}" for line in body]
    wanted = list(ids)
    best: tuple[int, str, NDArray[np.intp]] | None = None
    for name, names in candidates.items():
        lines = {text: k for k, text in enumerate(names)}
        if len(lines) < len(names):  # no id: it comes twice
            continue
        places = np.array([lines.get(text, -1) for text in wanted], dtype=np.intp)
        count = int((places >= 0).sum())
        if count and (best is None or count > best[0]):
            best = count, name, places
    return None if best is None else best[1:]


def _require_no_other_names(
    head: Sequence[str], body: Sequence[Sequence[str]], target: int, matrix: Matrix, path: Path
) -> None:
    """Refuse names of samples that are not those of the data: by their order, labels would go to the wrong rows."""
    if matrix.sample_ids is None or target == 0:
        return
    names = [line[0] for line in body]
    if len(set(names)) == len(names) and not all(_is_number(name) for name in names):
        raise DataError(
            f"{path}: no sample of {matrix.name} is named in the column {head[0]!r} ({names[0]!r} there, "
            f"{matrix.sample_ids[0]!r} in the data). Give the names of the data, or leave the column out if the labels "
            "are in the order of the rows."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _as_in(matrix: Matrix) -> str:
    ids = matrix.sample_ids
    return "" if ids is None else f", as {matrix.name} does ({ids[0]!r}, …)"
