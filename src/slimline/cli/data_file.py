"""Data and labels, as the options of a command name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slimline.errors import InvalidParameterError, SlimlineError

if TYPE_CHECKING:
    from slimline.data import Matrix

#: What each option is called where a format is opened; a format that is not named does not have it.
_KEYWORDS = {
    "--target": {"csv": "label", "parquet": "label", "hdf5": "label", "zarr": "label", "npz": "labels"},
    "--id": {"csv": "id", "parquet": "id"},
    "--missing": {"npy": "missing", "npz": "missing", "hdf5": "missing", "zarr": "missing"},
    "--dataset": {"hdf5": "dataset", "zarr": "array", "npz": "member"},
}


@dataclass(frozen=True)
class DataFileOptions:
    """Which file, and how it is opened.

    Parameters
    ----------
    path : Path
        The file.
    format : str, optional
        Where its ending does not tell.
    label : str, optional
        Column of it, or array in it, that holds the labels.
    id : str, optional
        Column of it that names the rows.
    missing : int, optional
        Whole number that stands for a missing value.
    dataset : str, optional
        Which matrix of the file.
    """

    path: Path
    format: str | None = None
    label: str | None = None
    id: str | None = None
    missing: int | None = None
    dataset: str | None = None

    def keywords(self) -> dict[str, Any]:
        """Return what `open_matrix` is given beside the path.

        Returns
        -------
        keywords : dict
            Named as the format names them; an option that it does not have is an error.
        """
        from slimline.data.open import format_of

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
    """Say whether a column of such a file can name its rows.

    Parameters
    ----------
    path : Path
        The file.
    format : str or None
        Its format, where the ending does not tell.

    Returns
    -------
    names : bool
        Whether `--id` means something for it.
    """
    from slimline.data.open import format_of

    return (format or format_of(path)) in _KEYWORDS["--id"]


@contextmanager
def explained_errors() -> Iterator[None]:
    """Make what the system says of a file that cannot be read one line of ours.

    Yields
    ------
    None
        Work that reads files.
    """
    try:
        yield
    except SlimlineError:
        raise
    except OSError as error:
        said = str(error) if error.strerror is None else f"{error.filename}: {error.strerror.lower()}."
        raise InvalidParameterError(said) from error
