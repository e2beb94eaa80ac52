"""Labels of the rows: from a file of their own, or from the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline.cli._output import as_given
from slimline.cli._tables import OTHER_MISSING, PLINK_MISSING, cells_of, matched_lines, require_no_names, table_of
from slimline.errors import DataError, InvalidParameterError

if TYPE_CHECKING:
    from slimline.data import Matrix


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
        require_no_names(matrix, path)
        return _known(npy_vector(path, n), f"{path.name}, in the order of the rows")
    lines = cells_of(path)
    if len(lines[0]) == 1 and target is None and len(lines) in (n, n + 1):
        require_no_names(matrix, path)
        texts = [as_given(line[0]) for line in lines[len(lines) - n :]]
        return _known(np.array(texts, dtype=str), f"{path.name}, in the order of the rows")
    table = table_of(path, lines, matrix, "PHENO")
    column = _target(table.head, target, path)
    name, _, places = matched_lines(table, matrix, {column}, id)
    values = np.array([as_given(line[column]) for line in table.body], dtype=str)
    all_values = np.where(places >= 0, values[places], "") if len(values) else np.full(n, "")
    return _known(all_values, f"{table.head[column]} of {path.name}, {name}")


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
        there = known != int(PLINK_MISSING)
    elif known.dtype.kind in "US":
        there = ~np.isin(known, np.array((*MISSING_TEXT, *OTHER_MISSING, PLINK_MISSING)))
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
