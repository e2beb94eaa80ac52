"""The search over C: which values are tried, and which is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.errors import DataError, InvalidParameterError

Floats = NDArray[np.float64]
#: Returns scores and losses, each of shape (n_folds, n_penalties), of some penalties.
TryPenalties = Callable[[Floats], tuple[Floats, Floats]]

#: The automatic grid covers these powers of ten (in units of the data), and is extended up to those.
_FIRST, _FURTHEST = 4, 6
#: An extension steps on by no more than this factor, for so many steps.
_STEP, _STEPS = 10.0, 3
#: Mean losses that differ by less than this part of the loss of weights of 0 are equal, and the smaller C is taken.
_SAME_LOSS = 1e-2
#: Mean scores that differ by less than this differ by rounding.
_SAME_SCORE = 1e-12


@dataclass(frozen=True)
class PenaltySearch:
    """The values of C that were tried, rising, and how the fits did on the samples left out.

    Parameters
    ----------
    Cs : array of shape (n_penalties,)
        Values of C.
    scores, losses : arrays of shape (n_folds, n_penalties)
        Score and mean loss of each fit.
    zero_loss : float
        Mean loss of weights of 0.
    """

    Cs: Floats
    scores: Floats
    losses: Floats
    zero_loss: float

    @property
    def best(self) -> int:
        """Return the number of the best value."""
        return best_penalty(self.scores, self.losses, self.zero_loss)

    @property
    def edge(self) -> str:
        """Return which end of the range the best value is: "smallest", "largest", or "" for neither."""
        if len(self.Cs) == 1:
            return ""
        return {0: "smallest", len(self.Cs) - 1: "largest"}.get(self.best, "")


def search_penalties(Cs: Any, unit: float, zero_loss: float, try_penalties: TryPenalties) -> PenaltySearch:
    """Try penalties; extend an automatic grid as long as its best value is at one of its ends.

    Parameters
    ----------
    Cs : int or array-like
        How many values from 1e-4/unit to 1e4/unit; or the values, which are not extended.
    unit : float
        Weighted mean squared norm of the samples.
    zero_loss : float
        Mean loss of weights of 0.
    try_penalties : callable
        Fits and scores them.
    """
    automatic = isinstance(Cs, Integral)
    values = penalties(Cs, unit)
    search = PenaltySearch(values, *try_penalties(values), zero_loss)
    while automatic and search.edge:
        more = _beyond(search, unit)
        if not len(more):
            break
        scores, losses = try_penalties(more)
        order = np.argsort(np.concatenate([search.Cs, more]))
        search = PenaltySearch(
            np.concatenate([search.Cs, more])[order],
            np.hstack([search.scores, scores])[:, order],
            np.hstack([search.losses, losses])[:, order],
            zero_loss,
        )
    return search


def best_penalty(scores: Floats, losses: Floats, zero_loss: float) -> int:
    """Return which penalty is best.

    Parameters
    ----------
    scores, losses : arrays of shape (n_folds, n_penalties)
        Of rising values of C.
    zero_loss : float
        Mean loss of weights of 0.

    Returns
    -------
    number : int
        The one of the best mean score; of several, which is common for wide data, the one of the least mean loss; and
        of those whose loss differs by less than 1 % of the loss of weights of 0, the smallest C: past it nothing
        changes but the time that a fit takes.
    """
    means, costs = scores.mean(axis=0), losses.mean(axis=0)
    costs = np.where(means < means.max() - _SAME_SCORE, np.inf, costs)
    return int(np.flatnonzero(costs <= costs.min() + _SAME_LOSS * zero_loss)[0])


def penalties(Cs: Any, unit: float = 1.0) -> Floats:
    """Return the values of C to try first, rising.

    Parameters
    ----------
    Cs : int or array-like
        How many from 1e-4/unit to 1e4/unit, or the values.
    unit : float
        Weighted mean squared norm of the samples.
    """
    if isinstance(Cs, Integral) and not isinstance(Cs, bool) and int(Cs) >= 1:
        with np.errstate(over="ignore"):
            tried = np.asarray(np.logspace(-_FIRST, _FIRST, int(Cs)) if int(Cs) > 1 else np.ones(1)) / unit
        if not (tried[0] > 0.0 and np.isfinite(tried[-1])):
            raise DataError(
                f"the mean squared norm of the samples is {unit:.1g}, and no C goes with it: scale the data first."
            )
        return tried
    values = np.atleast_1d(np.asarray(Cs))
    fine = not isinstance(Cs, (bool, Real)) and values.ndim == 1 and values.size > 0 and values.dtype.kind in "fiu"
    if not fine or not np.isfinite(values).all() or (values <= 0).any():
        raise InvalidParameterError(f"Cs must be a whole number above 0 or numbers above 0; got {Cs!r:.100}.")
    return np.unique(values.astype(np.float64))


def _beyond(search: PenaltySearch, unit: float) -> Floats:
    """Return further values past the end where the best one is; none past the furthest."""
    step = min(search.Cs[1] / search.Cs[0], _STEP)
    powers = step ** np.arange(1.0, _STEPS + 1)
    with np.errstate(over="ignore"):
        more = search.Cs[-1] * powers if search.edge == "largest" else search.Cs[0] / powers[::-1]
        scaled = more * unit
    furthest = 10.0**_FURTHEST * (1.0 + 1e-9)
    within = (scaled <= furthest) & (scaled >= 1.0 / furthest)
    return np.asarray(more[within])
