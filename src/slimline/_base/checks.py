"""Checks of parameters: numbers, choices, sizes and right-hand sides.

Each check takes the name of the parameter, which the error carries, and returns the value in a plain type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from slimline.errors import InvalidParameterError


def number(name: str, value: Any, above: float = 0.0, most: float = np.inf) -> float:
    """Return a finite number within (above, most]."""
    real = _as_float(value)
    if not above < real <= most or real == np.inf:
        end = f" and at most {most:g}" if most < np.inf else ""
        raise InvalidParameterError(f"must be a number above {above:g}{end}; got {value!r:.100}.", name, value)
    return real


def at_least_zero(name: str, value: Any) -> float:
    """Return a finite number that is not negative."""
    real = _as_float(value)
    if not 0.0 <= real < np.inf:
        raise InvalidParameterError(f"must be a number, at least 0; got {value!r:.100}.", name, value)
    return real


def whole(name: str, value: Any, least: int = 1, most: float = np.inf, *, auto: bool = False) -> int:
    """Return a whole number within [least, most]; `auto` only says in the message that "auto" is allowed, too."""
    good = isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most
    if not good:
        either, end = '"auto" or ' if auto else "", f" and at most {int(most):,}" if most < np.inf else ""
        raise InvalidParameterError(
            f"must be {either}a whole number, at least {least:,}{end}; got {value!r:.100}.", name, value
        )
    return int(value)


def is_auto(value: Any) -> bool:
    """Return whether a parameter is "auto"; an array, for instance, is not."""
    return isinstance(value, str) and value == "auto"


def chance(name: str, value: Any) -> float:
    """Return a number within (0, 1)."""
    real = _as_float(value)
    if not 0.0 < real < 1.0:
        raise InvalidParameterError(f"must be a number in (0, 1); got {value!r:.100}.", name, value)
    return real


def share(name: str, value: Any, of: str) -> float:
    """Return a number within [0, 1)."""
    real = _as_float(value)
    if not 0.0 <= real < 1.0:
        raise InvalidParameterError(f"must be a share of {of}, in [0, 1); got {value!r:.100}.", name, value)
    return real


def one_of(name: str, value: Any, choices: Iterable[Any]) -> Any:
    """Return one of the choices."""
    known = list(choices)
    if not any(isinstance(value, type(choice)) and value == choice for choice in known):
        *first, last = (json.dumps(choice) if isinstance(choice, str) else repr(choice) for choice in known)
        raise InvalidParameterError(f"must be {', '.join(first)} or {last}; got {value!r:.100}.", name, value)
    return value


def flag(name: str, value: Any) -> bool:
    """Return a truth value."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameterError(f"must be True or False; got {value!r:.100}.", name, value)
    return bool(value)


def _as_float(value: Any) -> float:
    """Return a real number as a float, infinite if it has too many digits for one; NaN for anything else."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")  # type: ignore[operator]


def seed_of(random_state: Any) -> int:
    """Return the seed that a number, a generator or None stands for, as in scikit-learn."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InvalidParameterError(f"is no seed: {error}", "random_state", random_state) from None


def sample_weights(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Return the weights as float64, or raise; None stays None."""
    if sample_weight is None:
        return None
    weight = np.ascontiguousarray(real_array(sample_weight, "sample_weight"), dtype=np.float64)
    if weight.shape != (n,):
        raise InvalidParameterError(
            f"must have one entry for each of {n} samples; got {weight.shape}.", "sample_weight"
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise InvalidParameterError("must hold finite numbers, 0 or more.", "sample_weight")
    if n and not 0 < weight.sum() < np.inf:
        raise InvalidParameterError("must have a finite sum above 0.", "sample_weight")
    return weight


def right_hand_sides(V: Any, size: int, name: str, of: str) -> tuple[NDArray[np.float64], bool]:
    """Return k vectors side by side, in float64 and C order, and whether one came alone; or raise."""
    V = real_array(V, name)
    flat = V.ndim == 1
    if V.ndim not in (1, 2) or V.shape[0] != size:
        raise InvalidParameterError(f"must have one row for each of {size} {of}s; got shape {V.shape}.", name)
    V = np.ascontiguousarray(V.reshape(size, -1) if size else V.reshape(0, 1 if flat else V.shape[1]), dtype=np.float64)
    if not np.isfinite(V).all():
        raise InvalidParameterError("holds NaN or an infinity.", name)
    return V, flat


def real_array(values: Any, name: str) -> NDArray[Any]:
    """Return an array of real numbers, of any shape, or raise."""
    if sp.issparse(values):
        raise InvalidParameterError(f"must be dense: pass {name}.toarray().", name)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:  # lists of different lengths, for instance
        raise InvalidParameterError(f"cannot be made an array: {error}", name) from error
    if array.dtype.kind not in "fiub":
        raise InvalidParameterError(f"must hold real numbers; got element type {array.dtype}.", name)
    return array


def missing_number(missing: Any, dtype: np.dtype[Any], name: str) -> int | None:
    """Return the whole number that stands for a missing value, or raise where the storage cannot hold it."""
    if missing is None:
        return None
    whole = isinstance(missing, (int, np.integer)) and not isinstance(missing, bool)
    if not whole and not (isinstance(missing, (float, np.floating)) and float(missing).is_integer()):
        raise InvalidParameterError(
            f"must be a whole number (NaN is missing anyway); got {missing!r}.", "missing", missing
        )
    number = int(missing)
    if dtype.kind == "f":
        if abs(number) > int(np.finfo(dtype).max) or int(dtype.type(number)) != number:
            raise InvalidParameterError(f"cannot be {number} in {name}, which holds {dtype.name}.", "missing", missing)
        return number
    lowest, highest = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not lowest <= number <= highest:
        raise InvalidParameterError(
            f"must be a number from {lowest} to {highest} in {name}, which holds {dtype.name}; got {number}.",
            "missing",
            missing,
        )
    return number
