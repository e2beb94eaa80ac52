"""Where a replay leaves its files, and what it finds there when it is run again.

For each document a folder: EXPERIMENT.csv with what was measured, EXPERIMENT.json with what it was measured with,
ITEM.png and ITEM.svg. Pieces of experiments that are not finished lie in `.parts`.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from slimline.data.write.new_files import NewFiles
from slimline.errors import InvalidParameterError
from slimline.papers.item import Experiment, Item
from slimline.papers.result import Measured
from slimline.papers.study import Study
from slimline.papers.table import Table

#: Number of the layout of EXPERIMENT.json. Raise it when a field changes its meaning or goes away.
LAYOUT = 1
_SIZES = ("miniature", "default", "full")


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
        known = self._record(self._file(experiment.name, ".json"), ("size", "seed", "seconds", "machine", "sha256"))
        path = self.csv(experiment)
        if known is None or known.get("code") != _code(experiment) or not path.is_file():
            return None
        if known["size"] not in _SIZES:
            return None
        if study is not None:
            enough = _SIZES.index(known["size"]) >= _SIZES.index(study.size)
            if known["seed"] != study.seed or not enough:
                return None
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != known["sha256"]:
            return None  # edited by hand, or damaged: not what was measured
        table = Table.from_csv(content.decode(), str(path))
        return Measured(table, known["size"], known["seed"], known["seconds"], known["machine"])

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
            "layout": LAYOUT,
            "experiment": experiment.name,
            "about": experiment.about,
            "size": measured.size,
            "seed": measured.seed,
            "seconds": measured.seconds,
            "machine": measured.machine,
            "code": _code(experiment),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        }
        self.write_files({self.csv(experiment): text.encode()})
        self.write_files({self._file(experiment.name, ".json"): json.dumps(known, indent=1).encode()})
        shutil.rmtree(self._parts(experiment), ignore_errors=True)

    def read_part(self, experiment: Experiment, study: Study, number: int) -> tuple[Table, float] | None:
        """Return a piece that an interrupted run had finished, and the seconds it took.

        Parameters
        ----------
        experiment : Experiment
            Of which.
        study : Study
            The setting.
        number : int
            Which piece, from 0.

        Returns
        -------
        piece : (Table, float) or None
            None where there is none of this code and setting.
        """
        known = self._record(self._part(experiment, study, number), ("csv", "seconds", "sha256"))
        if known is None or hashlib.sha256(str(known["csv"]).encode()).hexdigest() != known["sha256"]:
            return None
        return Table.from_csv(known["csv"], f"piece {number}"), float(known["seconds"])

    def write_part(self, experiment: Experiment, study: Study, number: int, table: Table, seconds: float) -> None:
        """Keep a piece that is finished.

        Parameters
        ----------
        experiment : Experiment
            Of which.
        study : Study
            The setting.
        number : int
            Which piece, from 0.
        table : Table
            Its rows.
        seconds : float
            Time that it took.
        """
        text = table.to_csv()
        kept = {
            "layout": LAYOUT,
            "csv": text,
            "seconds": seconds,
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        }
        self.write_files({self._part(experiment, study, number): json.dumps(kept).encode()})

    def forget(self, experiment: Experiment) -> None:
        """Drop what an experiment had finished.

        Parameters
        ----------
        experiment : Experiment
            Which.
        """
        shutil.rmtree(self._parts(experiment), ignore_errors=True)

    def write_files(self, contents: dict[Path, bytes]) -> None:
        """Write files, all of them or none.

        Parameters
        ----------
        contents : dict of Path to bytes
            What is to be where; folders are made, files of that name are replaced.
        """
        for path in contents:
            path.parent.mkdir(parents=True, exist_ok=True)
        with NewFiles(list(contents), overwrite=True) as files:
            for path, content in contents.items():
                files.create(path).write(content)

    def _file(self, name: str, ending: str) -> Path:
        document, _, rest = name.partition(".")
        return self.path / document / f"{rest}{ending}"

    def _parts(self, experiment: Experiment) -> Path:
        return self.path / ".parts" / experiment.name

    def _part(self, experiment: Experiment, study: Study, number: int) -> Path:
        setting = f"{study.size}-{study.seed}-{_code(experiment)[:12]}"
        return self._parts(experiment) / setting / f"{number:05d}.json"

    @staticmethod
    def _record(path: Path, fields: tuple[str, ...]) -> dict[str, Any] | None:
        """Return what a file says; None where there is none, or it is damaged."""
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        whole = isinstance(known, dict) and known.get("layout") == LAYOUT and all(field in known for field in fields)
        return known if whole else None


def _code(experiment: Experiment) -> str:
    """Return what tells versions of an experiment apart: the library's, and the code of its document that it uses."""
    from slimline import __version__

    sources: dict[str, str] = {}
    waiting = [experiment.measure.__module__]
    package = waiting[0].rpartition(".")[0]
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        module = import_module(name)
        sources[name] = inspect.getsource(module)
        used = {getattr(value, "__module__", None) or "" for value in vars(module).values()}
        waiting += [other for other in used if other.startswith(f"{package}.")]
    text = "\n".join([__version__, *(sources[name] for name in sorted(sources))])
    return hashlib.sha256(text.encode()).hexdigest()
