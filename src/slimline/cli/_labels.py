"""Labels of the rows, classes or numbers: from a file of their own, or from the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline.cli._options import Task
from slimline.cli._output import as_given
from slimline.cli._tables import (
    OTHER_MISSING,
    PLINK_MISSING,
    Table,
    cells_of,
    is_number,
    is_person,
    matched_lines,
    require_no_names,
    table_of,
)
from slimline.errors import DataError, InvalidParameterError

if TYPE_CHECKING:
    from slimline.data import Matrix


#: More different numbers than these are measurements, unless they are codes 0, 1, … or 1, 2, … without a gap.
_MOST_CODES = 10


@dataclass(frozen=True)
class Labels:
    """Classes of the rows of a matrix, or the numbers of a regression."""

    #: Label of each row that has one; float64 for a regression.
    values: NDArray[Any]
    #: Which rows these are.
    rows: NDArray[np.intp]
    #: Whether all rows have one.
    complete: bool
    #: Where they come from and how rows were matched, in words.
    source: str
    #: Whether they are numbers of a regression.
    is_regression: bool = False
    #: Name; empty: they have none.
    name: str = ""


def labels_in_file(
    path: Path, target: str | None, matrix: Matrix, id: str | None = None, task: Task = Task.classification
) -> Labels:
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
        return _known(npy_vector(path, n), f"{path.name}, in the order of the rows", task)
    lines = cells_of(path)
    if len(lines[0]) == 1 and target is None and len(lines) in (n, n + 1):
        require_no_names(matrix, path)
        texts = [as_given(line[0]) for line in lines[len(lines) - n :]]
        return _known(np.array(texts, dtype=str), f"{path.name}, in the order of the rows", task)
    table = table_of(path, lines, matrix, "PHENO")
    column = _target(table, target)
    name, _, places = matched_lines(table, matrix, {column}, id)
    values = np.array([as_given(line[column]) for line in table.body], dtype=str)
    all_values = np.where(places >= 0, values[places], "") if len(values) else np.full(n, "")
    found = _known(all_values, f"{table.head[column]} of {path.name}, {name}", task, is_plink=table.is_plink)
    return replace(found, name=table.head[column])


def labels_in_data(matrix: Matrix, asked: bool, task: Task = Task.classification) -> Labels | None:
    """Return the labels that the data carry."""
    if matrix.labels is None:
        return None
    is_plink = hasattr(matrix, "families_and_people")
    labels = _known(np.asarray(matrix.labels), f"from {matrix.name}", task, is_plink=is_plink)
    return labels if asked or len(np.unique(labels.values)) > 1 else None


def known_labels(
    matrix: Matrix,
    path: Path | None,
    target: str | None,
    id: str | None = None,
    task: Task = Task.classification,
) -> Labels | None:
    """Return the labels of a file, or those that the data carry, after checking that they fit the task."""
    if path is None:
        labels = labels_in_data(matrix, target is not None, task)
    else:
        labels = labels_in_file(path, target, matrix, id, task)
    if labels is not None:
        (_require_different if labels.is_regression else require_classes)(labels)
    return labels


def require_classes(labels: Labels) -> None:
    """Refuse labels that are not classes."""
    from slimline.data._labels import class_labels

    name, rows = f"labels ({labels.source})", len(labels.values)
    classes, _ = class_labels(labels.values, name=name)
    if len(classes) > max(rows // 2, 2):
        texts = [text for text in map(str, classes.tolist()) if not is_number(text)]
        few = 0 < 10 * len(texts) < len(classes)
        raise DataError(
            f"{name}: {len(classes):,} different ones in {rows:,} rows are names or measurements, not classes."
            + (f" {texts[0]!r} is no number: write NA where a value is missing." if few else ""),
            parameter="label",
        )


def _require_different(labels: Labels) -> None:
    """Refuse numbers that are all the same."""
    if len(np.unique(labels.values)) < 2:
        held = f"all are {labels.values[0]:g}" if len(labels.values) else "there are none"
        raise DataError(f"labels ({labels.source}): {held}, and a regression needs different ones.", parameter="label")


def _known(values: NDArray[Any], source: str, task: Task, *, is_plink: bool = False) -> Labels:
    """Return the labels without those that are missing."""
    from slimline.data._labels import as_one_type, missing_labels
    from slimline.data.formats._delimited import MISSING_TEXT

    rows = np.flatnonzero(~missing_labels(values))
    known = as_one_type(values[rows])
    if known.dtype.kind == "O":
        known = known.astype(str)
    if known.dtype.kind in "US":
        there = ~np.isin(known, np.array((*MISSING_TEXT, *OTHER_MISSING)))
        rows, known = rows[there], known[there]
    numbers = None if task is Task.classification else _numbers(known)
    there = ~_is_minus_nine(known)
    if task is Task.regression:
        _require_numbers(numbers, known, source)
    elif numbers is not None and not _are_measured(numbers[there]):
        numbers = None
    if numbers is not None and not is_plink and (numbers[there] < 0.0).any():
        there[:] = True  # -9 is a number like others there
    rows, known = rows[there], _whole(known[there]) if numbers is None else numbers[there]
    left = len(values) - len(rows)
    if left:
        source += f"; {left:,} of {len(values):,} rows have none and are left out"
    return Labels(known, rows, not left, source, numbers is not None)


def _is_minus_nine(known: NDArray[Any]) -> NDArray[np.bool_]:
    if known.dtype.kind in "if":
        return np.asarray(known == int(PLINK_MISSING))
    return np.asarray(known == PLINK_MISSING) if known.dtype.kind in "US" else np.zeros(len(known), dtype=bool)


def _numbers(known: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return labels as finite numbers; None if one of them is none."""
    if known.dtype.kind in "US":
        if not all(is_number(text) for text in np.unique(known).tolist()):
            return None
    elif known.dtype.kind not in "iuf":
        return None
    numbers = known.astype(np.float64)
    return numbers if np.isfinite(numbers).all() else None


def _are_measured(numbers: NDArray[np.float64]) -> bool:
    """Return whether numbers are measurements, not codes of classes."""
    different = np.unique(numbers)
    k = len(different)
    if k > max(len(numbers) // 2, 2):
        return True
    if (different != np.rint(different)).any():
        return k > 2
    return k > _MOST_CODES and not ((np.diff(different) == 1.0).all() and different[0] in (0.0, 1.0))


def _require_numbers(numbers: NDArray[np.float64] | None, known: NDArray[Any], source: str) -> None:
    if numbers is None:
        texts = [str(value) for value in np.unique(known).tolist()]
        strange = next((text for text in texts if not is_number(text)), texts[0])
        raise DataError(
            f"labels ({source}): {strange!r} is no finite number, and a regression needs numbers.", parameter="label"
        )


def _whole(values: NDArray[Any]) -> NDArray[Any]:
    """Return labels that were real numbers only to have one for a missing label as the whole numbers that they are."""
    if values.dtype.kind != "f" or not (np.abs(values) < 2**53).all() or (values != np.rint(values)).any():
        return values
    return values.astype(np.int64)


def _target(table: Table, target: str | None) -> int:
    """Return which column holds the labels."""
    head, path = table.head, table.path
    if target is None:
        columns = [k for k in range(len(head)) if not (table.is_plink and is_person(head[k]))]
        if len(columns) == 1 or len(head) <= 2:
            return columns[-1] if columns else len(head) - 1
        raise InvalidParameterError(f"{path} has the columns {', '.join(head)}: say which with --target COLUMN.")
    if head.count(target) != 1:
        found = "several of that name" if target in head else "no such column"
        raise InvalidParameterError(
            f"{target}: {path} has {found}. Its first line: {', '.join(head)}.", "--target", target
        )
    return head.index(target)
