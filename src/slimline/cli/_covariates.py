"""Covariates of the samples, from a table: columns, coding of texts, missing values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline._base.text import counted
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
from slimline.data._files import digest
from slimline.errors import DataError, FileFormatError, InvalidParameterError, ModelFileError

if TYPE_CHECKING:
    from slimline.data import Matrix
    from slimline.model_files import StoredModel

Floats = NDArray[np.float64]
Coding = Mapping[str, Mapping[str, int]]
_OPTION = "--covariate-columns"
#: Values that a column of text may have.
_MOST_VALUES = 2
#: How many names a sentence lists.
_SHOWN = 5


@dataclass(frozen=True)
class CovariateTable:
    """Covariates of samples. Estimators read its names and numbers as those of a data frame."""

    #: One a covariate.
    names: tuple[str, ...]
    #: Of shape (n_samples, n_covariates); NaN where a value is missing.
    values: Floats
    #: Where they come from and how samples were matched, in words.
    source: str
    #: The number of each text, of columns that hold texts.
    coding: Coding = field(default_factory=dict)
    #: Notes for the reader: which samples lack values, and how texts are coded.
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names."""
        return self.names

    def to_numpy(self) -> Floats:
        """Return the numbers."""
        return self.values

    def __getitem__(self, names: Sequence[str]) -> Self:
        """Return some of the covariates, in another order."""
        places = [self.names.index(name) for name in names]
        return type(self)(tuple(names), self.values[:, places], self.source, self.coding, self.notes)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Return the complete cases."""
        return np.flatnonzero(np.isfinite(self.values).all(axis=1))

    def of(self, rows: NDArray[np.intp]) -> Self:
        """Return the covariates of some samples."""
        return type(self)(self.names, self.values[rows], self.source, self.coding, self.notes)

    @property
    def fingerprint(self) -> str:
        """Return a digest of names and numbers."""
        return digest(self.names, self.values.shape, self.values.tobytes())

    def details(self) -> dict[str, Any]:
        """Return the entry of a model file; `covariates_of_model` reads the coding."""
        return {
            "source": self.source,
            "columns": list(self.names),
            "coding": {k: dict(v) for k, v in self.coding.items()},
        }


def covariates_in_file(
    path: Path,
    matrix: Matrix,
    columns: str | Sequence[str] | None = None,
    id: str | None = None,
    coding: Coding | None = None,
) -> CovariateTable:
    """Read covariates from a file.

    Samples are matched by name, as for labels. `columns` are names, or a text of names and ranges; by default all that
    do not name samples. A column of two texts is coded 0 and 1 in their order, or by `coding`, if there is one.
    """
    if path.suffix.lower() == ".npy":
        return _in_order(path, matrix, columns)
    table = table_of(path, cells_of(path), matrix, "COVAR")
    wanted = [] if columns is None else _chosen(table, columns)
    how, ids, places = matched_lines(table, matrix, set(wanted), id)
    numbers = wanted or [k for k, name in enumerate(table.head) if k not in ids and not is_person(name)]
    _require_columns(table, numbers)
    found = places >= 0
    values = np.full((len(places), len(numbers)), np.nan)
    codes: dict[str, dict[str, int]] = {}
    for j, k in enumerate(numbers):
        cells = [as_given(table.body[place][k]) for place in places[found]]
        values[found, j] = _column(table, k, cells, coding, codes)
    names = tuple(table.head[k] for k in numbers)
    source = f"{_listed(names)} of {path.name}, {how}"
    notes = [f"{name}: {', '.join(f'{text} = {code}' for text, code in of.items())}" for name, of in codes.items()]
    return CovariateTable(names, values, source, codes, (*_left_out(path, names, values, found), *notes))


def covariates_of_model(path: Path, stored: StoredModel, matrix: Matrix, id: str | None = None) -> CovariateTable:
    """Read the covariates that a model was trained with, texts coded as they were then."""
    of_training = stored.covariates or {}
    names, count = of_training.get("names"), int(of_training.get("count", 0))
    table = covariates_in_file(path, matrix, names, id, _coding_of(stored) if names else {})
    if len(table.names) != count:
        raise DataError(f"{path} has {counted(len(table.names), 'covariate')}, and the model was trained with {count}.")
    return table


def _coding_of(stored: StoredModel) -> Coding:
    coding: Coding = (stored.details.get("covariates") or {}).get("coding", {})
    good = isinstance(coding, dict) and all(
        isinstance(of, dict) and all(type(code) is int for code in of.values()) for of in coding.values()
    )
    if not good:
        raise ModelFileError("the model file is damaged: the coding of its covariates cannot be read.")
    return coding


def _in_order(path: Path, matrix: Matrix, columns: str | Sequence[str] | None) -> CovariateTable:
    """Return the numbers of a `.npy` file."""
    from slimline.data.formats._npy import npy_header

    if isinstance(columns, str):
        raise InvalidParameterError(f"{columns}: {path} has no names of columns; leave it out.", _OPTION, columns)
    require_no_names(matrix, path)
    with path.open("rb") as stream:
        shape, _, dtype, _ = npy_header(stream, str(path))
    n = matrix.shape[0]
    if len(shape) not in (1, 2) or shape[0] != n or 0 in shape or dtype.kind not in "fiub":
        raise FileFormatError(
            f"{path} holds an array of shape {shape} and type {dtype}: give numbers with one row for each of {n:,} "
            "samples, and one column for each covariate."
        )
    try:
        values = np.load(path, allow_pickle=False).astype(np.float64).reshape(n, -1)
    except ValueError as error:
        raise FileFormatError(f"{path} is truncated: {error}") from None
    names = tuple(columns or (f"u{j}" for j in range(values.shape[1])))
    lost = _left_out(path, names, values, np.ones(n, dtype=bool))
    return CovariateTable(names, values, f"{path.name}, in the order of the rows", notes=lost)


def _chosen(table: Table, columns: str | Sequence[str]) -> list[int]:
    """Return the numbers of columns, each once, in the order in which they are asked for."""
    names = [name.strip() for name in columns.split(",")] if isinstance(columns, str) else columns
    if not isinstance(columns, str) and (lost := [name for name in names if table.head.count(name) != 1]):
        raise InvalidParameterError(
            f"{table.path}: it must have one column for each of {', '.join(names)}, with which the model was trained, "
            f"and has none, or several, for {', '.join(lost)}. Its columns: {', '.join(table.head)}.",
            "--covariates",
            table.path,
        )
    found: dict[int, None] = {}
    for name in names:
        ends = [_place(table, name)] if name in table.head or not isinstance(columns, str) else _range(table, name)
        found.update(dict.fromkeys(range(ends[0], ends[-1] + 1)))
    return list(found)


def _range(table: Table, text: str) -> list[int]:
    """Return the first and the last column of a range such as PC1-PC10; names may have hyphens, too."""
    for mark in re.finditer("-", text):
        first, last = text[: mark.start()].strip(), text[mark.end() :].strip()
        if first in table.head and last in table.head:
            ends = [_place(table, first), _place(table, last)]
            if ends[0] > ends[1]:
                raise InvalidParameterError(
                    f"{text}: in {table.path}, {last} comes before {first}. A range goes from left to right.",
                    _OPTION,
                    text,
                )
            return ends
    return [_place(table, text)]


def _place(table: Table, name: str) -> int:
    if table.head.count(name) != 1:
        found = "several columns" if name in table.head else "no column"
        raise InvalidParameterError(
            f"{name or 'an empty name'}: {table.path} has {found} of that name. Its columns: {', '.join(table.head)}.",
            _OPTION,
            name,
        )
    return table.head.index(name)


def _require_columns(table: Table, numbers: Sequence[int]) -> None:
    names = [table.head[k] for k in numbers]
    if not names:
        raise DataError(f"{table.path} has no column beside the names of the samples: it holds no covariates.")
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{table.path} has several columns {name!r}: give each its own name.")


def _column(
    table: Table, number: int, cells: Sequence[str], coding: Coding | None, codes: dict[str, dict[str, int]]
) -> Floats:
    """Return a column as numbers, NaN for a missing one; put the numbers of texts into `codes`."""
    from slimline.data.formats._delimited import MISSING_TEXT

    name = table.head[number]
    missing = {*MISSING_TEXT, *OTHER_MISSING}
    if table.is_plink or not any(cell.startswith("-") and cell != PLINK_MISSING for cell in cells):
        missing.add(PLINK_MISSING)
    known = coding.get(name) if coding is not None else None
    texts = sorted({cell for cell in cells if cell not in missing and (known is not None or not is_number(cell))})
    if not texts:
        return np.array([np.nan if cell in missing else float(cell) for cell in cells])
    if known is None:
        known = _codes(table, name, texts, cells, missing, coding is not None)
    if strange := [text for text in texts if text not in known]:
        raise DataError(
            f"{table.path}: {name} is {strange[0]!r} there, and the model was trained with "
            f"{' and '.join(repr(text) for text in known)} only."
        )
    codes[name] = dict(known)
    return np.array([np.nan if cell in missing else known[cell] for cell in cells], dtype=np.float64)


def _codes(
    table: Table, name: str, texts: Sequence[str], cells: Sequence[str], missing: set[str], only_numbers: bool
) -> dict[str, int]:
    """Return the codes of two texts; refuse more, or texts among numbers."""
    if only_numbers or any(is_number(cell) for cell in cells if cell not in missing):
        remedy = "" if only_numbers else f", or leave the column out with {_OPTION}"
        raise DataError(
            f"{table.path}: {name} is {texts[0]!r} there, which is not a number. Write NA where a value is "
            f"missing{remedy}."
        )
    if len(texts) > _MOST_VALUES:
        raise DataError(
            f"{table.path}: {name} holds {len(texts):,} different texts ({_listed(texts)}). Make a column of 0 and 1 "
            f"for each of them but one, or leave the column out with {_OPTION}."
        )
    return {text: code for code, text in enumerate(texts)}


def _left_out(path: Path, names: Sequence[str], values: Floats, found: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return who lacks covariates, in words; refuse a table that has all of nobody."""
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        raise DataError(f"{path}: {names[int(infinite.argmax())]} is infinite for a sample.")
    missing = np.isnan(values[found])
    absent, incomplete = int((~found).sum()), int(missing.any(axis=1).sum())
    if not absent and not incomplete:
        return ()
    by_column = [f"{name} {count:,}" for name, count in zip(names, missing.sum(axis=0).tolist(), strict=True) if count]
    reasons = [f"{absent:,} are not in {path.name}"] if absent else []
    reasons += [f"{incomplete:,} lack a value ({_listed(by_column)})"] if incomplete else []
    said = f"{absent + incomplete:,} of {counted(len(found), 'row')} have no covariates: {', '.join(reasons)}."
    if absent + incomplete == len(found):
        raise DataError(f"{path}: {said}")
    return (said,)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
