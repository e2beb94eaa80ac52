"""Labels of classes as plain data, and back, type included."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError, ModelFileError

#: Kinds of NumPy types that are written as JSON numbers, truth values or texts.
_KINDS = {"i": int, "u": int, "f": float, "b": bool, "U": str, "O": str, "T": str}


def plain_labels(classes: NDArray[Any]) -> dict[str, Any]:
    """Return labels as JSON can hold them.

    Parameters
    ----------
    classes : array of shape (n_classes,)
        Numbers, truth values or texts.

    Returns
    -------
    plain : dict
        Their type and values.
    """
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
    """Return the labels that `plain_labels` wrote.

    Parameters
    ----------
    plain : object
        What the file has.
    path : str
        Name of the file, for the message.

    Returns
    -------
    classes : array of shape (n_classes,)
        Two or more, sorted.
    """
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
