"""Settings of a fit, and its checkpoint."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slimline._base.checks import chance
from slimline.cli._output import require_different, require_file
from slimline.errors import InvalidParameterError
from slimline.model_files._checkpoints import CheckpointFolder

if TYPE_CHECKING:
    from slimline.cli._fit_samples import Samples
    from slimline.estimators import CertifiedClassifier, CertifiedRegressor


def resume_folder(model: Path) -> Path:
    """Return the folder beside a model file that holds what is needed to go on."""
    return model.with_name(model.name + ".resume")


def job_key(path: Path, samples: Samples, settings: dict[str, Any]) -> str:
    """Return a text that is the same only for a fit that computes the same.

    Files of labels and covariates need no place in it since their values have one; names of features decide nothing.
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
        "regression": samples.is_regression,
        "covariates": None if samples.covariates_labelled is None else samples.covariates_labelled.fingerprint,
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


#: Losses that have a parameter.
_LOSSES_WITH = {
    "delta": ("huber",),
    "epsilon": ("epsilon_insensitive", "squared_epsilon_insensitive"),
    "quantile": ("quantile",),
}
#: Penalties that `--C auto` tries, and parts of the rows that it puts aside in turn.
_PENALTIES, _FOLDS = 10, 5


@dataclass(frozen=True)
class FitSettings:
    """Settings of the fit."""

    #: Penalty; None: by cross-validation.
    C: float | None = None
    #: Score by which the cross-validation chooses; None: accuracy, or R² of a regression.
    scoring: str | None = None
    #: As in `CertifiedClassifier` and `CertifiedRegressor`; None: their defaults.
    loss: str | None = None
    delta: float | None = None
    epsilon: float | None = None
    quantile: float | None = None
    standardize_target: bool = False
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
    #: "free", "penalised" or "none".
    intercept: str = "free"
    #: Share of the second class in the population, if it is not that of the samples.
    prevalence: float | None = None
    #: Share of the rows that is held out; 0: none.
    holdout: float = 0.2
    #: Of the projection, of the rows held out and of the folds.
    seed: int = 0
    #: Passes over the data at most.
    max_passes: int = 50
    #: Whether the final model is trained on the rows that were held out, too, after they were used to measure.
    refit: bool = True

    def check(self, samples: Samples) -> None:
        """Refuse settings that do not fit the task."""
        from slimline.learning.losses import LOSSES
        from slimline.learning.regression_losses import REGRESSION_LOSSES

        if samples.is_regression:
            known: Collection[str] = REGRESSION_LOSSES
            wrong: dict[str, Any] = {
                "class_weight": self.class_weight,
                "prevalence": self.prevalence,
                "scoring": None if self.scoring == "r2" else self.scoring,
            }
            task, other = "a regression (the labels are numbers)", "classification"
        else:
            known = LOSSES
            names = ("delta", "epsilon", "quantile")
            wrong = {name: getattr(self, name) for name in names}
            wrong |= {"standardize_target": self.standardize_target or None}
            wrong |= {"scoring": "r2" if self.scoring == "r2" else None}
            task, other = "classification", "regression"
        if self.loss is not None and self.loss not in known:
            raise InvalidParameterError(
                f"must be one of {', '.join(known)} for {task}; got {self.loss}. --task {other} decides otherwise.",
                "loss",
                self.loss,
            )
        for name, value in wrong.items():
            if value is not None:
                raise InvalidParameterError(f"does not apply to {task}. --task {other} decides otherwise.", name, value)
        self._check_parameters_of_loss(self.loss)
        if self.intercept == "penalised" and samples.covariates is not None:
            raise InvalidParameterError("must be free beside covariates.", "intercept", self.intercept)
        n_classes = 0 if samples.is_regression else len(np.unique(samples.y))
        if self.prevalence is not None:
            self._check_prevalence(n_classes)
        if self.scoring == "roc_auc" and n_classes > 2:
            raise InvalidParameterError(f"roc_auc needs two classes; there are {n_classes}.", "scoring", self.scoring)
        if self.scoring == "neg_log_loss" and self.loss != "logistic":
            raise InvalidParameterError("neg_log_loss needs --loss logistic.", "scoring", self.scoring)

    def _check_parameters_of_loss(self, loss: str | None) -> None:
        for name, losses in _LOSSES_WITH.items():
            if getattr(self, name) is not None and loss not in losses:
                raise InvalidParameterError(
                    f"belongs to --loss {' or '.join(losses)}; got --loss {loss or 'squared'}.", name
                )

    def _check_prevalence(self, n_classes: int) -> None:
        chance("prevalence", self.prevalence)
        for wrong, words in (
            (n_classes > 2, f"needs two classes; there are {n_classes}"),
            (self.loss != "logistic", "needs --loss logistic"),
            (self.intercept != "free", "needs a free intercept, which alone it moves"),
            (self.class_weight is not None, "needs the classes as they are: leave --class-weight out"),
        ):
            if wrong:
                raise InvalidParameterError(f"{words}.", "prevalence", self.prevalence)

    def parameters(self, standardize: bool, is_regression: bool) -> dict[str, Any]:
        """Return the parameters of the estimator that are not its defaults."""
        from slimline.estimators import CertifiedClassifier, CertifiedRegressor

        given = {
            "loss": self.loss,
            "delta": self.delta,
            "epsilon": self.epsilon,
            "quantile": self.quantile,
            "standardize_target": self.standardize_target,
            "tol": self.tol,
            "method": self.method,
            "recovery": self.recovery,
            "projection": self.projection,
            "n_components": "auto" if self.n_components is None else self.n_components,
            "max_passes": self.max_passes,
            "fit_intercept": self.intercept != "none",
            "intercept": "free" if self.intercept == "none" else self.intercept,
            "standardize": standardize,
            "class_weight": self.class_weight,
        }
        plain = (CertifiedRegressor if is_regression else CertifiedClassifier)().get_params()
        kept = {name: given[name] for name in given if name in plain and given[name] not in (None, plain[name])}
        return kept | {"random_state": self.seed}

    def estimator(
        self,
        standardize: bool,
        smallest_class: int,
        *,
        is_regression: bool = False,
        penalty_factor: Mapping[str, float] | None = None,
    ) -> CertifiedClassifier | CertifiedRegressor:
        """Return the classifier or regression, not fitted."""
        from slimline.estimators import (
            CertifiedClassifier,
            CertifiedClassifierCV,
            CertifiedRegressor,
            CertifiedRegressorCV,
        )

        parameters = self.parameters(standardize, is_regression) | {"penalty_factor": penalty_factor}
        if self.C is not None:
            return (CertifiedRegressor if is_regression else CertifiedClassifier)(C=self.C, **parameters)
        from sklearn.model_selection import KFold, StratifiedKFold

        if smallest_class < 2:
            raise InvalidParameterError(
                "--C auto compares penalties on rows that are put aside, and a class has one row only to train on: "
                "give --C X, or leave that class out."
            )
        division = KFold if is_regression else StratifiedKFold
        folds = division(min(_FOLDS, smallest_class), shuffle=True, random_state=self.seed)
        search: dict[str, Any] = {"search": "sketch"} | ({} if self.scoring is None else {"scoring": self.scoring})
        if not is_regression:
            return CertifiedClassifierCV(Cs=_PENALTIES, cv=folds, **search, **parameters)
        if self.loss not in (None, "squared"):  # for these, one sample is left out at a time
            search["cv"] = folds
        return CertifiedRegressorCV(Cs=_PENALTIES, **search, **parameters)


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
    for entry in fields(settings):
        value, option = getattr(settings, entry.name), f"--{entry.name.replace('_', '-')}"
        if value == getattr(plain, entry.name) and entry.name != "seed":
            continue
        if entry.name == "n_components":
            said += ["--components", str(value)]
        elif isinstance(value, bool):
            said.append(option if value else option.replace("--", "--no-"))
        else:
            said += [option, str(value)]
    if threads is not None:
        said += ["--threads", str(threads)]
    return shlex.join(said)
