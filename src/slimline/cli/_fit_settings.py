"""Settings of a fit, and its checkpoint."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slimline.cli._output import require_different, require_file
from slimline.errors import InvalidParameterError
from slimline.model_files._checkpoints import CheckpointFolder

if TYPE_CHECKING:
    from slimline.cli._fit_samples import Samples
    from slimline.estimators import CertifiedClassifier


def resume_folder(model: Path) -> Path:
    """Return the folder beside a model file that holds what is needed to go on."""
    return model.with_name(model.name + ".resume")


def job_key(path: Path, samples: Samples, settings: dict[str, Any]) -> str:
    """Return a text that is the same only for a fit that computes the same.

    Files of labels need no place in it since the labels have one; names of features decide nothing.
    """
    from slimline import __version__
    from slimline._kernels import instruction_set, thread_count

    labels = hashlib.sha256(np.char.encode(samples.y_labelled.astype(str), "utf-8").tobytes()).hexdigest()
    key = {
        "slimline": __version__,
        "kernels": instruction_set(),
        "threads": thread_count(),  # sums are taken in another order
        "data": samples.train.fingerprint,
        "files": _times(path),
        "labels": labels,
        **settings,
    }
    return json.dumps(key, sort_keys=True)


def _times(path: Path) -> str:
    """Return a digest of size and times of change of every file: the fingerprint looks at pieces of them only."""
    from slimline.data._files import DataFolder, digest

    if path.is_dir():
        files = [Path(file.path) for file in DataFolder(path).files()]
    else:
        stem = path.with_suffix("") if path.suffix.lower() == ".bed" else path
        genotypes = (stem.with_name(f"{stem.name}.{ending}") for ending in ("bim", "fam"))
        files = [path, *(file for file in genotypes if file.exists())]
    return digest(*sorted((os.path.relpath(file, path.parent), *_state(file.stat())) for file in files))


def _state(state: os.stat_result) -> tuple[int, ...]:
    # whoever writes into a file can set back the second time, but not the third
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns


#: Penalties that `--C auto` tries, and parts of the rows that it puts aside in turn.
_PENALTIES, _FOLDS = 10, 5


@dataclass(frozen=True)
class FitSettings:
    """Settings of the fit."""

    #: Penalty; None: by cross-validation.
    C: float | None = None
    #: Score by which the cross-validation chooses.
    scoring: str = "accuracy"
    #: As in `CertifiedClassifier`.
    loss: str = "squared_hinge"
    method: str = "auto"
    recovery: str = "certified"
    projection: str = "auto"
    #: Certified relative error asked for.
    tol: float = 1e-2
    #: Columns of the sketch; None: the cost model's.
    n_components: int | None = None
    #: Whether columns are standardised; None: genotypes are.
    standardize: bool | None = None
    #: "balanced", or none.
    class_weight: str | None = None
    #: Whether there is one.
    intercept: bool = True
    #: Share of the rows that is held out; 0: none.
    holdout: float = 0.2
    #: Of the projection, of the rows held out and of the folds.
    seed: int = 0
    #: Passes over the data at most.
    max_passes: int = 50
    #: Whether the final model is trained on the rows that were held out, too, after they were used to measure.
    refit: bool = True

    def parameters(self, standardize: bool) -> dict[str, Any]:
        """Return the parameters of the classifier that are not its defaults."""
        given = {
            "loss": self.loss,
            "tol": self.tol,
            "method": self.method,
            "recovery": self.recovery,
            "projection": self.projection,
            "n_components": "auto" if self.n_components is None else self.n_components,
            "max_passes": self.max_passes,
            "fit_intercept": self.intercept,
            "standardize": standardize,
            "class_weight": self.class_weight,
        }
        plain = FitSettings().__dict__ | {"n_components": "auto", "fit_intercept": True, "standardize": False}
        return {name: value for name, value in given.items() if value != plain[name]} | {"random_state": self.seed}

    def classifier(self, standardize: bool, smallest_class: int) -> CertifiedClassifier:
        """Return the classifier, not fitted."""
        from slimline.estimators import CertifiedClassifier, CertifiedClassifierCV

        parameters = self.parameters(standardize)
        if self.C is not None:
            return CertifiedClassifier(C=self.C, **parameters)
        from sklearn.model_selection import StratifiedKFold

        if smallest_class < 2:
            raise InvalidParameterError(
                "--C auto compares penalties on rows that are put aside, and a class has one row only to train on: "
                "give --C X, or leave that class out."
            )
        folds = StratifiedKFold(min(_FOLDS, smallest_class), shuffle=True, random_state=self.seed)
        return CertifiedClassifierCV(Cs=_PENALTIES, cv=folds, **self._search(), **parameters)

    def code(self, standardize: bool) -> str:
        """Return the Python expression that makes the classifier."""
        own: dict[str, Any] = self._search() if self.C is None else {"C": self.C}
        given = ", ".join(f"{name}={value!r}" for name, value in (own | self.parameters(standardize)).items())
        return f"CertifiedClassifier{'CV' if self.C is None else ''}({given})"

    def _search(self) -> dict[str, Any]:
        """Return the parameters of the search over C that are not its defaults."""
        return {"search": "sketch"} | ({} if self.scoring == "accuracy" else {"scoring": self.scoring})


@dataclass(frozen=True)
class Outputs:
    """Paths of the results."""

    #: Files; None: not written.
    model: Path | None
    report: Path | None
    #: Whether files that exist may be replaced.
    overwrite: bool

    def check(self, key: str | None = None) -> None:
        """Refuse files that could not be written, before any work is done."""
        for option, path in (("--model", self.model), ("--report", self.report)):
            if path is None:
                continue
            require_file(option, path)
            if os.path.lexists(path) and not (self.overwrite or self._stopped_job_wrote(path, key)):
                raise InvalidParameterError(
                    f"{path} exists: choose another name, or replace it with --force.", option, path
                )
        require_different({"--model": self.model, "--report": self.report})

    def can_resume(self) -> bool:
        """Return whether a job that was stopped left anything to go on from."""
        return self.model is not None and CheckpointFolder(resume_folder(self.model)).holds_passes()

    def _stopped_job_wrote(self, path: Path, key: str | None) -> bool:
        return self.model is not None and CheckpointFolder(resume_folder(self.model)).wrote(path, key)


def command_line(words: list[str], settings: FitSettings, threads: int | None) -> str:
    """Return the command that does the same again."""
    plain = FitSettings()
    said = ["slimline", "fit", *words]
    names = {"class_weight": "--class-weight", "max_passes": "--max-passes", "n_components": "--components"}
    for entry in fields(settings):
        value = getattr(settings, entry.name)
        if value == getattr(plain, entry.name) and entry.name != "seed":
            continue
        if entry.name in ("intercept", "refit"):
            said.append(f"--no-{entry.name}")
        elif entry.name == "standardize":
            said.append("--standardize" if value else "--no-standardize")
        else:
            said += [names.get(entry.name, f"--{entry.name}"), str(value)]
    if threads is not None:
        said += ["--threads", str(threads)]
    return shlex.join(said)
