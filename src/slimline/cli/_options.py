"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slimline.errors import FileFormatError, InvalidParameterError, NonFiniteError, SlimlineError

if TYPE_CHECKING:
    from slimline.data import Matrix


class Family(StrEnum):
    """Families of projections."""

    gaussian = "gaussian"
    sign = "sign"
    achlioptas = "achlioptas"
    very_sparse = "very_sparse"
    srht = "srht"
    cw = "cw"
    osnap = "osnap"


class Loss(StrEnum):
    """Losses."""

    squared_hinge = "squared_hinge"
    logistic = "logistic"
    hinge = "hinge"
    squared = "squared"


class Method(StrEnum):
    """Routes to the weights."""

    auto = "auto"
    sketch = "sketch"
    gram = "gram"
    direct = "direct"


#: What a table says of a cell that holds text.
_TEXT_CELL = re.compile(r"column .*: not a number: ")


def require_number(option: str, value: float | None, most: float | None, below: bool = False) -> None:
    """Refuse a number that is not above 0, or is above what is allowed; None is let through."""
    if value is None or (0 < value < float("inf") and (most is None or value < most or (value == most and not below))):
        return
    range_ = "above 0" if most is None else f"in (0, {most:g}{')' if below else ']'}"
    raise InvalidParameterError(f"{option} {value:g}: it must be a number {range_}.")


@contextmanager
def in_options(names: Mapping[str, str], standardize: bool) -> Iterator[None]:
    """Have messages speak of options, not of parameters."""
    try:
        yield
    except NonFiniteError as error:
        if standardize or "missing" not in str(error):
            raise
        said = str(error).split(": fill it")[0].rstrip(".")
        raise NonFiniteError(f"{said}. Here: --standardize fills it with the mean.") from None
    except FileFormatError as error:
        raise FileFormatError(said_of_file(str(error))) from None
    except InvalidParameterError as error:
        raise InvalidParameterError(said_in_options(str(error), names)) from None


def said_of_file(text: str) -> str:
    """Return a message about a file that speaks of options, not of parameters."""
    text = text.replace("open_matrix(path, format=...)", "--format NAME")
    if _TEXT_CELL.search(text):
        text += " If the column holds the names of the rows, give it with --id COLUMN; if labels, with --target COLUMN."
    return text


def said_in_options(text: str, names: Mapping[str, str]) -> str:
    """Return a message that speaks of options, not of parameters."""
    text = re.sub(r'\bmethod="(\w+)"', r"--method \1", text)
    for name, option in names.items():
        text = re.sub(rf"\b{name}\b", option, text)
    return text


#: What each option is called where a format is opened; a format that is not named does not have it.
_KEYWORDS = {
    "--target": {"csv": "label", "parquet": "label", "hdf5": "label", "zarr": "label", "npz": "labels"},
    "--id": {"csv": "id", "parquet": "id"},
    "--missing": {"npy": "missing", "npz": "missing", "hdf5": "missing", "zarr": "missing"},
    "--dataset": {"hdf5": "dataset", "zarr": "array", "npz": "member"},
}


@dataclass(frozen=True)
class DataFileOptions:
    """Which file, and how it is opened."""

    #: The file.
    path: Path
    #: Where its ending does not tell.
    format: str | None = None
    #: Column of it, or array in it, that holds the labels.
    label: str | None = None
    #: Column of it that names the rows.
    id: str | None = None
    #: Whole number that stands for a missing value.
    missing: int | None = None
    #: Which matrix of the file.
    dataset: str | None = None

    def keywords(self) -> dict[str, Any]:
        """Return what `open_matrix` is given beside the path."""
        from slimline.data._open import format_of

        kind = self.format or format_of(self.path)
        found: dict[str, Any] = {} if self.format is None else {"format": self.format}
        for option, value in (
            ("--target", self.label),
            ("--id", self.id),
            ("--missing", self.missing),
            ("--dataset", self.dataset),
        ):
            if value is None:
                continue
            if kind not in _KEYWORDS[option]:
                elsewhere = " Labels of their own file: add --labels FILE." if option == "--target" else ""
                raise InvalidParameterError(f"{option} means nothing for {self.path}, of format {kind}.{elsewhere}")
            found[_KEYWORDS[option][kind]] = value
        return found

    def open(self) -> Matrix:
        """Return the matrix."""
        from slimline.data import open_matrix

        return open_matrix(self.path, **self.keywords())

    def code(self) -> str:
        """Return the Python expression that opens the same."""
        given = "".join(f", {name}={value!r}" for name, value in self.keywords().items())
        return f"open_matrix({str(self.path)!r}{given})"


def names_rows(path: Path, format: str | None) -> bool:
    """Say whether a column of such a file can name its rows."""
    from slimline.data._open import format_of

    return (format or format_of(path)) in _KEYWORDS["--id"]


@contextmanager
def explained_errors() -> Iterator[None]:
    """Make what the system says of a file that cannot be read one line of ours."""
    try:
        yield
    except SlimlineError:
        raise
    except OSError as error:
        said = str(error) if error.strerror is None else f"{error.filename}: {error.strerror.lower()}."
        raise InvalidParameterError(said) from error
