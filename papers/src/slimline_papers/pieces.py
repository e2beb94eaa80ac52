"""Pieces of an experiment that is not finished."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from slimline_papers.kept import read_record, write_record
from slimline_papers.table import Table


@dataclass(frozen=True)
class Pieces:
    """Finished parts of an experiment, of one size, seed, code and data.

    Parameters
    ----------
    path : Path
        Folder of these pieces, and of no others.
    """

    path: Path

    def read(self, number: int) -> tuple[Table, float] | None:
        """Return a piece that an interrupted run had finished, and the seconds it took.

        Parameters
        ----------
        number : int
            Which piece, from 0.

        Returns
        -------
        piece : (Table, float) or None
            None where there is none.
        """
        known = read_record(self._file(number), ("csv", "seconds", "sha256"))
        if known is None or _sum(str(known["csv"])) != known["sha256"]:
            return None
        return Table.from_csv(known["csv"], f"piece {number}"), float(known["seconds"])

    def write(self, number: int, table: Table, seconds: float) -> None:
        """Keep a piece that is finished.

        Parameters
        ----------
        number : int
            Which piece, from 0.
        table : Table
            Its rows.
        seconds : float
            Time that it took.
        """
        text = table.to_csv()
        write_record(self._file(number), {"csv": text, "seconds": seconds, "sha256": _sum(text)})

    def _file(self, number: int) -> Path:
        return self.path / f"{number:05d}.json"


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
