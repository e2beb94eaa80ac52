"""Numbers that are given, checked before any work is done."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from slimline.errors import InvalidParameterError


def number(name: str, value: Any, above: float, most: float = np.inf) -> float:
    """Return a number within (above, most], or refuse it.

    Parameters
    ----------
    name : str
        What the message calls it.
    value : object
        What was given.
    above, most : float
        Ends; an infinite one is excluded.

    Returns
    -------
    number : float
        The value.
    """
    real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not real or not above < float(value) <= most or not np.isfinite(float(value)):
        end = f" and at most {most:g}" if most < np.inf else ""
        raise InvalidParameterError(f"{name} must be a number above {above:g}{end}; got {value!r}.")
    return float(value)


def whole(name: str, value: Any, least: int = 1, most: float = np.inf) -> int:
    """Return a whole number within [least, most], or refuse it.

    Parameters
    ----------
    name : str
        What the message calls it.
    value : object
        What was given.
    least, most : int
        Ends.

    Returns
    -------
    number : int
        The value.
    """
    good = isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most
    if not good:
        end = f" and at most {int(most):,}" if most < np.inf else ""
        raise InvalidParameterError(f"{name} must be a whole number, at least {least:,}{end}; got {value!r}.")
    return int(value)


def chance(name: str, value: Any) -> float:
    """Return a number within (0, 1), or refuse it."""
    if not (isinstance(value, Real) and 0 < float(value) < 1):
        raise InvalidParameterError(f"{name} must be a number in (0, 1); got {value!r}.")
    return float(value)


def share(name: str, value: Any, of: str) -> float:
    """Return a number within [0, 1), or refuse it.

    Parameters
    ----------
    name, of : str
        What the message calls it, and what it is a share of.
    value : object
        What was given.

    Returns
    -------
    share : float
        The value.
    """
    real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not real or not 0.0 <= float(value) < 1.0:
        raise InvalidParameterError(f"{name} must be a share of {of}, in [0, 1); got {value!r}.")
    return float(value)


def seed_of(random_state: Any) -> int:
    """Return the seed that a number, a generator or None stands for, as in scikit-learn."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InvalidParameterError(f"random_state: {error}") from None
