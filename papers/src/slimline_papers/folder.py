"""Folder of a replay: its files, and what a second run finds there.

For each document a folder: EXPERIMENT.csv with what was measured, EXPERIMENT.json with what it was measured with,
ITEM.png and ITEM.svg. Pieces of experiments that are not finished lie in `.parts`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from slimline.errors import InvalidParameterError
from slimline_papers.fingerprint import fingerprint
from slimline_papers.item import Experiment, Item
from slimline_papers.kept import read_record, write_files, write_record
from slimline_papers.pieces import Pieces
from slimline_papers.result import Measured
from slimline_papers.study import Study
from slimline_papers.table import Table

_SIZES = ("miniature", "default", "full")
#: What EXPERIMENT.json must have.
_FIELDS = ("size", "seed", "seconds", "machine", "sources", "code", "sha256")


@dataclass(frozen=True)
class ResultFolder:
    """The folder of a replay.

    Parameters
    ----------
    path : Path
        Where it is; made when something is written.
    """

    path: Path

    def require_usable(self) -> None:
        """Refuse a path that cannot be a folder, or not be written to, before hours are spent."""
        nearest = next(path for path in (self.path, *self.path.absolute().parents) if path.exists())
        if not nearest.is_dir():
            raise InvalidParameterError(f"{nearest} is a file: name a folder for the results.")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise InvalidParameterError(f"{nearest} cannot be written to: name another folder for the results.")

    def csv(self, experiment: Experiment) -> Path:
        """Return the file of what an experiment measured."""
        return self._file(experiment.name, ".csv")

    def figure(self, item: Item, ending: str) -> Path:
        """Return the file of an item's figure."""
        return self._file(item.name, ending)

    @property
    def page(self) -> Path:
        """The page of all results."""
        return self.path / "index.html"

    @property
    def findings(self) -> Path:
        """The table of all findings."""
        return self.path / "findings.csv"

    def read(self, experiment: Experiment, study: Study | None = None) -> Measured | None:
        """Return what an experiment measured before, if that is what would be measured now.

        Parameters
        ----------
        experiment : Experiment
            Which.
        study : Study, optional
            The setting that is asked for; more than asked for serves as well. Any, if there is none.

        Returns
        -------
        measured : Measured or None
            None where there is nothing, or something else: of other code, another seed, a smaller size.
        """
        known = read_record(self._record(experiment), _FIELDS)
        path = self.csv(experiment)
        if known is None or known["code"] != fingerprint(experiment) or not path.is_file():
            return None
        possible = ([experiment.own_source], list(experiment.sources))
        if known["size"] not in _SIZES or known["sources"] not in possible:
            return None
        if study is not None:
            enough = _SIZES.index(known["size"]) >= _SIZES.index(study.size)
            if known["seed"] != study.seed or not enough:
                return None
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != known["sha256"]:
            return None  # edited by hand, or damaged: not what was measured
        table = Table.from_csv(content.decode(), str(path))
        return Measured(
            table, known["size"], known["seed"], known["seconds"], known["machine"], tuple(known["sources"])
        )

    def write(self, experiment: Experiment, measured: Measured) -> None:
        """Keep what an experiment measured, and drop its pieces.

        Parameters
        ----------
        experiment : Experiment
            Which.
        measured : Measured
            What it gave.
        """
        text = measured.table.to_csv()
        known = {
            "experiment": experiment.name,
            "about": experiment.about,
            "size": measured.size,
            "seed": measured.seed,
            "seconds": measured.seconds,
            "machine": measured.machine,
            "sources": measured.sources,
            "code": fingerprint(experiment),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        }
        write_files({self.csv(experiment): text.encode()})
        write_record(self._record(experiment), known)
        shutil.rmtree(self._parts(experiment), ignore_errors=True)

    def pieces(self, experiment: Experiment, study: Study, sources: tuple[str, ...]) -> Pieces:
        """Return what is finished of an experiment in a setting.

        Parameters
        ----------
        experiment : Experiment
            Which.
        study : Study
            The setting.
        sources : tuple of str
            Data sets that it is measured on.

        Returns
        -------
        pieces : Pieces
            To be read, and written.
        """
        setting = "-".join([study.size, str(study.seed), *sources, fingerprint(experiment)[:12]])
        return Pieces(self._parts(experiment) / setting)

    def forget(self, experiment: Experiment) -> None:
        """Drop what was measured of an experiment, whole or in pieces.

        Parameters
        ----------
        experiment : Experiment
            Which.
        """
        self._record(experiment).unlink(missing_ok=True)  # first: without it nobody believes the CSV
        self.csv(experiment).unlink(missing_ok=True)
        shutil.rmtree(self._parts(experiment), ignore_errors=True)

    def _file(self, name: str, ending: str) -> Path:
        document, _, rest = name.partition(".")
        return self.path / document / f"{rest}{ending}"

    def _record(self, experiment: Experiment) -> Path:
        return self._file(experiment.name, ".json")

    def _parts(self, experiment: Experiment) -> Path:
        return self.path / ".parts" / experiment.name
