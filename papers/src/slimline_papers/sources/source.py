"""Description of a data set: its origin, and the checksums that identify it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Source:
    """A public data set.

    Parameters
    ----------
    name : str
        Short name.
    folder : str
        Name of its folder.
    about : str
        What it is and who made it.
    read : callable
        Takes the folder and returns the data.
    files : mapping of str to str
        SHA-256 sums by file; of a .gz file, of what is in it, so that it may be compressed anew.
    choices : tuple of tuples of str
        Further files, of each tuple one: the first is what an archive has. `read` checks what is in them, which is
        the same whatever the kind of file.
    layout : str
        What the folder holds, where that is not a list of files.
    address : str
        Of a .zip archive, or of the folder on the network that the files are in; empty where there is none.
    stand_in_for : str
        The document's data that this takes the place of; empty where it is the document's own.
    """

    name: str
    folder: str
    about: str
    read: Callable[[Path], Any]
    files: Mapping[str, str] = field(default_factory=dict)
    choices: tuple[tuple[str, ...], ...] = ()
    layout: str = ""
    address: str = ""
    stand_in_for: str = ""

    @property
    def contents(self) -> str:
        """Contents that the folder needs, in words."""
        return self.layout or ", ".join([*self.files, *(" or ".join(names) for names in self.choices)])

    def missing(self, folder: Path) -> list[str]:
        """Return what a folder lacks.

        Parameters
        ----------
        folder : Path
            Where the files should be.

        Returns
        -------
        names : list of str
            Files that are not there; the folder's own name where it is not there at all.
        """
        if not folder.is_dir():
            return [folder.name]
        lacking = [name for name in self.files if not (folder / name).is_file()]
        return lacking + [
            " or ".join(names) for names in self.choices if not any((folder / name).is_file() for name in names)
        ]
