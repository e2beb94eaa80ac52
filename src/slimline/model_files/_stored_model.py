"""A linear model and its certificate, as stored in a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline.data._names import PackedStrings
from slimline.errors import InvalidParameterError, ModelFileError
from slimline.model_files._contradictions import contradiction
from slimline.model_files._tensors import read_tensors, write_tensors

#: Layout of the model files that this version writes, and the newest that it reads.
#:
#: To change it: raise the number; let `StoredModel.read` bring older layouts to the new one, each by a function of its
#: own, `from_1_to_2` and so on; write a small file with the last release and keep it in tests/model_files/old, where a
#: test opens every file there. What is only added, and may be absent, needs no new number.
PROTOCOL = 1


#: Kinds of NumPy types that are written as JSON numbers, truth values or texts.
_KINDS = {"i": int, "u": int, "f": float, "b": bool, "U": str, "O": str, "T": str}


def plain_labels(classes: NDArray[Any]) -> dict[str, Any]:
    """Return labels as JSON can hold them."""
    kind = classes.dtype.kind
    values = classes.tolist()
    if kind not in _KINDS or not all(isinstance(value, _KINDS[kind]) for value in values):
        raise InvalidParameterError(
            f"labels of type {classes.dtype} cannot be saved: use texts, numbers or truth values (got {values[:3]!r})."
        )
    if any(isinstance(value, str) and not _is_text(value) for value in values):
        raise InvalidParameterError(f"labels with halves of characters cannot be saved (got {values[:3]!r}).")
    return {"type": "object" if kind == "O" else "text" if kind in "UT" else classes.dtype.name, "values": values}


def labels_from_plain(plain: Any, path: str) -> NDArray[Any]:
    """Return the labels that `plain_labels` wrote."""
    try:
        name, values = plain["type"], plain["values"]
        texts = name in ("object", "text")
        dtype = np.dtype(object if name == "object" else str if name == "text" else name)
        kind = _KINDS[dtype.kind]
        good = isinstance(values, list) and len(values) >= 2 and all(type(value) is kind for value in values)
        classes = np.array(values, dtype=dtype) if good and (texts or dtype.kind in "iufb") else None
        if classes is not None and classes.tolist() == values and (classes[1:] > classes[:-1]).all():
            return classes
    except (TypeError, KeyError, ValueError, OverflowError):
        pass
    raise ModelFileError(f"{path} is damaged: its classes cannot be read.")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


Floats = NDArray[np.float64]

#: Arrays of one number a task; of one a task and feature; of one a feature, which may be absent.
_TASKS = ("intercept", "gap", "radius", "relative_error")
_WEIGHTS = ("coordinate_radius", "interval_centre", "interval_radius")
_COLUMNS = ("centre", "factor", "fill", "mean", "penalty_factor")
#: Arrays about columns without a penalty, absent where there are none, and the sizes of their axes: tasks, free
#: columns, features. The last one is absent unless one more pass was taken.
_FREE = {
    "free_effects": "tq",
    "free_transform": "qq",
    "free_square": "tqq",
    "free_linear": "tq",
    "free_size": "t",
    "free_reach": "tq",
    "free_explained": "tqd",
}
#: Of these, bounds.
_FREE_BOUNDS = ("free_linear", "free_size", "free_reach")
#: Bounds, which are infinite where nothing is proved.
_BOUNDS = ("gap", "radius", "relative_error", "coordinate_radius", "interval_radius")
#: Texts of one a feature, which may be absent.
_TEXTS = ("feature_names", "chromosome", "allele1", "allele2")
#: Arrays of one number a training sample, which may be absent.
_SAMPLES = {"sample_rows": np.int64, "sample_names": np.uint64}


@dataclass(frozen=True)
class StoredModel:
    """Everything that a fitted certified classifier knows, in arrays and plain data.

    Parameters
    ----------
    kind : str
        Name of the class that it was.
    parameters : dict
        What its constructor was given.
    classes : array of shape (n_classes,)
        Labels: whole numbers, numbers, truth values or texts; empty for a regression.
    constant : float
        Value of the constant column.
    passes : int
        Passes over the data that the certificate speaks of.
    weights : array of shape (n_tasks, n_features + 1)
        The vector that is certified.
    intercept, gap, radius, relative_error : arrays of shape (n_tasks,)
        As in the classifier and its certificate.
    coordinate_radius, interval_centre, interval_radius : arrays of shape (n_tasks, n_features)
        As in the certificate.
    centre, factor, fill : arrays of shape (n_features,), optional
        How the columns were standardised and scaled; the factor of a feature that is not penalised is 0.
    mean : array of shape (n_features,), optional
        Mean of each column in training, which stands for a column that is absent later.
    feature_names : sequence of str, optional
        Names of the columns.
    chromosome, allele1, allele2 : sequences of str, optional
        Of genetic variants.
    position : array of shape (n_features,), optional
        Of genetic variants, in base pairs.
    penalty_factor : array of shape (n_features,), optional
        Factors of the penalties of the features; 0: no penalty, infinite: left out.
    covariates : dict, optional
        Of columns without a penalty: "names" of the covariates or None, their "count", whether the first column is an
        "intercept", the numbers of the columns that were "kept", and of the "features" that are the last columns.
    free_effects, free_square, free_linear, free_size, free_reach, free_explained, free_transform : arrays, optional
        Effects of these columns and bounds of the scores, as in `slimline.learning.score_bounds.ScoreBounds`, one entry
        a task; the transform is the same for all.
    sample_source : str
        Fingerprint of the data that the training samples are rows of; empty if it is not known.
    sample_rows : array of int64, optional
        Which rows of these data the training samples are.
    sample_names : array of uint64, optional
        Digests of the names of the training samples, rising.
    details : dict
        Whatever else is worth keeping: history, route, data, versions. What JSON can hold.
    """

    kind: str
    parameters: dict[str, Any]
    classes: NDArray[Any]
    constant: float
    passes: int
    weights: Floats
    intercept: Floats
    gap: Floats
    radius: Floats
    relative_error: Floats
    coordinate_radius: Floats
    interval_centre: Floats
    interval_radius: Floats
    centre: Floats | None = None
    factor: Floats | None = None
    fill: Floats | None = None
    mean: Floats | None = None
    penalty_factor: Floats | None = None
    feature_names: PackedStrings | None = None
    chromosome: PackedStrings | None = None
    allele1: PackedStrings | None = None
    allele2: PackedStrings | None = None
    position: NDArray[np.int64] | None = None
    covariates: dict[str, Any] | None = None
    free_effects: Floats | None = None
    free_transform: Floats | None = None
    free_square: Floats | None = None
    free_linear: Floats | None = None
    free_size: Floats | None = None
    free_reach: Floats | None = None
    free_explained: Floats | None = None
    sample_source: str = ""
    sample_rows: NDArray[np.int64] | None = None
    sample_names: NDArray[np.uint64] | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_regression(self) -> bool:
        """Return whether it predicts numbers, not classes."""
        return not len(self.classes)

    @property
    def n_features(self) -> int:
        """Return the number of columns."""
        return int(self.weights.shape[1]) - 1

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the file; it appears when it is complete.

        Parameters
        ----------
        path : str or path
            Usually with the ending .slim.
        overwrite : bool
            Whether a file that exists may be replaced.
        """
        for name in ("weights", "intercept"):
            if not np.isfinite(getattr(self, name)).all():
                raise InvalidParameterError(
                    f"this model has values of {name} that are not finite, and cannot be saved: scale the data, or "
                    "take a smaller C."
                )
        arrays: dict[str, NDArray[Any]] = {}
        for name in ("weights", *_TASKS, *_WEIGHTS, *_COLUMNS, "position", *_SAMPLES, *_FREE):
            value = getattr(self, name)
            if value is not None:
                arrays[name] = value
        for name in _TEXTS:
            texts = getattr(self, name)
            if texts is not None:
                arrays[f"{name}.text"], arrays[f"{name}.ends"] = texts.arrays()
        plain = {
            "protocol": PROTOCOL,
            "kind": self.kind,
            "parameters": self.parameters,
            "classes": plain_labels(self.classes) if len(self.classes) else None,
            "constant": self.constant,
            "passes": self.passes,
            "sample_source": self.sample_source,
            "details": self.details,
        }
        if self.covariates is not None:
            plain["covariates"] = self.covariates
        write_tensors(path, arrays, plain, overwrite=overwrite)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file, and make sure that its parts belong together.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        model : StoredModel
            As it was written.
        """
        arrays, plain = read_tensors(path)
        read = _Reader(str(path), arrays, plain)
        read.require_protocol()
        weights = read.floats("weights", None)
        if weights is None or weights.ndim != 2 or weights.shape[0] < 1 or weights.shape[1] < 2:
            raise read.damaged("the weights are absent, or no table")
        tasks, d = weights.shape[0], weights.shape[1] - 1
        found: dict[str, Any] = {"weights": weights}
        found |= {name: read.floats(name, (tasks,), needed=True) for name in _TASKS}
        found |= {name: read.floats(name, (tasks, d), needed=True) for name in _WEIGHTS}
        found |= {name: read.floats(name, (d,)) for name in _COLUMNS}
        found |= {name: read.texts(name, d) for name in _TEXTS}
        found["position"] = read.array("position", np.int64, (d,))
        found |= {name: read.array(name, dtype, None) for name, dtype in _SAMPLES.items()}
        found |= read.free(tasks, d)
        found["sample_source"] = read.value("sample_source", str) if "sample_source" in plain else ""
        known = {"kind": str, "parameters": dict, "details": dict, "passes": int, "constant": float}
        found |= {name: read.value(name, kind) for name, kind in known.items()}
        found["classes"] = np.zeros(0)
        if plain.get("classes") is not None or not found["kind"].startswith("CertifiedRegressor"):
            found["classes"] = labels_from_plain(plain.get("classes"), str(path))
            classes = len(found["classes"])
            if tasks != (1 if classes == 2 else classes):
                raise read.damaged(f"{classes} classes and {tasks} vectors of weights")
        read.require_numbers(found)
        assert set(found) == {entry.name for entry in fields(cls)}
        model = cls(**found)
        if (what := contradiction(model)) is not None:
            raise read.damaged(what)
        return model


class _Reader:
    """Takes a file's content apart, and says what is wrong with it."""

    def __init__(self, path: str, arrays: dict[str, NDArray[Any]], plain: dict[str, Any]) -> None:
        self._path, self._arrays, self._plain = path, arrays, plain

    def damaged(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self._path} is damaged: {what}.")

    def require_protocol(self) -> None:
        number = self._plain.get("protocol")
        if type(number) is not int or number < 1:
            raise self.damaged("it does not say which layout it has")
        if number > PROTOCOL:
            raise ModelFileError(
                f"{self._path} has layout {number}, and this version of slimline reads up to {PROTOCOL}: update "
                "slimline."
            )

    def value(self, name: str, kind: type) -> Any:
        value = self._plain.get(name)
        if kind is float and type(value) is int and abs(value) <= 1e300:
            value = float(value)
        if type(value) is not kind:
            raise self.damaged(f"{name} is absent, or not what it should be")
        return value

    def array(self, name: str, dtype: Any, shape: tuple[int, ...] | None) -> NDArray[Any] | None:
        array = self._arrays.get(name)
        if array is None:
            return None
        if array.dtype != dtype or (shape is not None and array.shape != shape):
            raise self.damaged(f"{name} is {array.dtype} of shape {array.shape}")
        return array

    def floats(self, name: str, shape: tuple[int, ...] | None, needed: bool = False) -> Floats | None:
        array = self.array(name, np.float64, shape)
        if array is None and needed:
            raise self.damaged(f"{name} is absent")
        return array

    def free(self, tasks: int, d: int) -> dict[str, Any]:
        """Return what there is about columns without a penalty."""
        told = self._plain.get("covariates")
        if told is None:
            return {"covariates": None} | dict.fromkeys(_FREE)
        try:
            names, count, kept, features = told["names"], told["count"], told["kept"], told.get("features", [])
            columns = count + told["intercept"] + len(features)
            good = all(type(j) is int and 0 <= j < d for j in features) and sorted(set(features)) == features
            if not good:
                raise LookupError
            good = type(told["intercept"]) is bool and type(count) is int and 0 <= count < columns + 1 and kept
            good = good and all(type(k) is int and 0 <= k < columns for k in kept) and sorted(set(kept)) == kept
            good = good and (names is None or (len(names) == count and all(isinstance(name, str) for name in names)))
        except (LookupError, TypeError):
            good = False
        if not good or set(told) - {"features"} != {"names", "count", "kept", "intercept"}:
            raise self.damaged("what it says of covariates cannot be read")
        sizes = {"t": tasks, "q": len(kept), "d": d}
        found: dict[str, Any] = {"covariates": told}
        for name, axes in _FREE.items():
            shape = tuple(sizes[axis] for axis in axes)
            found[name] = self.floats(name, shape, needed=name != "free_explained")
            if name in _FREE_BOUNDS and not (found[name] >= 0.0).all():
                raise self.damaged(f"{name} has values below 0, or that are no numbers")
        return found

    def texts(self, name: str, count: int) -> PackedStrings | None:
        data, ends = (self._arrays.pop(f"{name}.{part}", None) for part in ("text", "ends"))
        if data is None and ends is None:
            return None
        if data is None or ends is None or data.dtype != np.uint8 or data.ndim != 1 or ends.dtype.kind != "u":
            raise self.damaged(f"{name} is no list of texts")
        if ends.shape != (count,) or (ends[1:] < ends[:-1]).any() or int(ends[-1]) != data.size:
            raise self.damaged(f"{name} has not one text a column")
        return PackedStrings(data.tobytes(), ends)

    def require_numbers(self, found: dict[str, Any]) -> None:
        for name, value in found.items():
            numbers = isinstance(value, np.ndarray) and value.dtype.kind == "f"
            if numbers and name not in (*_BOUNDS, *_FREE_BOUNDS, "penalty_factor") and not np.isfinite(value).all():
                raise self.damaged(f"{name} has values that are not finite")
        for name in (*_BOUNDS, "penalty_factor"):
            if found[name] is not None and not (found[name] >= 0.0).all():
                raise self.damaged(f"{name} has values below 0, or that are no numbers")
        for name in _SAMPLES:
            if found[name] is not None and found[name].ndim != 1:
                raise self.damaged(f"{name} is no list")
