"""Exact laws: what every law offers, and the search for a dimension."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from slimline.errors import InvalidParameterError, NoDimensionError

Real = npt.ArrayLike
Values = npt.NDArray[np.float64]


class Law(ABC):
    """Exact distribution of a quantity after a Gaussian projection to r components.

    It depends on r and on c, the cosine of the two vectors before the projection. All arguments broadcast; scalars give
    a float.

    See Also
    --------
    slimline.GaussianProjection : The projection for which the laws hold.
    slimline.bounds.margin_dimension : The margin of given data, by these laws.

    Notes
    -----
    R has independent N(0, 1/r) entries, and c = cos(w, x). The values of this class are

    - `norm`: r‖Rᵀx‖²/‖x‖² has the χ² distribution with r degrees of freedom ([1]_, proof of Lemma 23.3).
    - `cosine`: cos(Rᵀw, Rᵀx) is distributed as the uncentred correlation of r independent pairs of normal numbers whose
      correlation is c. In particular P(cos ≤ 0) = F(-√r c/√(1 - c²)), F being Student's t distribution with r degrees
      of freedom. Far in the tails Hotelling's density [2]_ is integrated in the logarithm.
    - `inner_product`: r⟨Rᵀw, Rᵀx⟩/(‖w‖‖x‖) is distributed as ((1 + c)U - (1 - c)V)/2, U and V being independent χ²
      variables with r degrees of freedom.

    Relative errors of the probabilities are below 1e-10, provided that these are above 1e-20 and r is below 10⁹. The
    logarithms remain finite where a probability is too small for float64.

    References
    ----------
    .. [1] Shalev-Shwartz, S.; Ben-David, S. (2014). "Understanding machine learning." Cambridge University Press.
    .. [2] Hotelling, H. (1953). "New light on the correlation coefficient and its transforms." Journal of the Royal
       Statistical Society B 15(2), 193-232.

    Examples
    --------
    >>> from slimline import laws
    >>> f"{laws.cosine.cdf(0.0, 208, 0.3):.3e}"
    '4.849e-06'
    >>> laws.cosine.dimension(0.0, 1e-6, 0.3)
    241
    """

    def cdf(self, value: Real, r: Real, c: Real = 1.0) -> Any:
        """Return the probability of at most this value.

        Parameters
        ----------
        value : array-like
            Value of the quantity.
        r : array-like of int
            Number of components.
        c : array-like
            The cosine before the projection; 1 for a vector with itself.

        Returns
        -------
        probability : float or ndarray
            Small probabilities have the same relative accuracy as large ones.
        """
        return _answer(lambda *given: np.exp(self._log_lower(*given)), value, r, c)

    def sf(self, value: Real, r: Real, c: Real = 1.0) -> Any:
        """Return the probability of more than this value.

        Parameters
        ----------
        value : array-like
            Value of the quantity.
        r : array-like of int
            Number of components.
        c : array-like
            The cosine before the projection; 1 for a vector with itself.

        Returns
        -------
        probability : float or ndarray
            Small probabilities have the same relative accuracy as large ones.
        """
        return _answer(lambda *given: np.exp(self._log_upper(*given)), value, r, c)

    def logcdf(self, value: Real, r: Real, c: Real = 1.0) -> Any:
        """Return the logarithm of `cdf`, also if the probability is too small for float64.

        Parameters
        ----------
        value : array-like
            Value of the quantity.
        r : array-like of int
            Number of components.
        c : array-like
            The cosine before the projection; 1 for a vector with itself.

        Returns
        -------
        logarithm : float or ndarray
            Minus infinity for an impossible event.
        """
        return _answer(self._log_lower, value, r, c)

    def logsf(self, value: Real, r: Real, c: Real = 1.0) -> Any:
        """Return the logarithm of `sf`, also if the probability is too small for float64.

        Parameters
        ----------
        value : array-like
            Value of the quantity.
        r : array-like of int
            Number of components.
        c : array-like
            The cosine before the projection; 1 for a vector with itself.

        Returns
        -------
        logarithm : float or ndarray
            Minus infinity for an impossible event.
        """
        return _answer(self._log_upper, value, r, c)

    def dimension(self, value: Real, probability: Real, c: Real = 1.0) -> Any:
        """Return the smallest r such that from r on the value is passed with at most this probability.

        Parameters
        ----------
        value : array-like
            Other than c. Below c, the event is a result of at most `value`; above c, one of more.
        probability : array-like
            Largest probability of the event, in (0, 1).
        c : array-like
            The cosine before the projection; 1 for a vector with itself.

        Returns
        -------
        r : int or ndarray of int
            The target is met at r and every larger number, and not at r - 1.

        Notes
        -----
        A tail need not fall with r from the start: near c it first rises towards ½, and with one component the cosine
        is ±1. So some smaller r may meet the target too, but between it and the result another one fails.
        """
        given = np.asarray(probability, np.float64)
        require((given > 0) & (given < 1), given, "probability", "must lie in (0, 1)")
        value, logp, c = np.broadcast_arrays(np.asarray(value, np.float64), np.log(given), np.asarray(c, np.float64))
        if np.any(value == c):
            raise InvalidParameterError("must not be c itself, the cosine before the projection.", "value")

        def tail(r: Dimensions) -> Values:
            return np.asarray(np.where(value < c, self.logcdf(value, r, c), self.logsf(value, r, c)))

        def met(r: Dimensions) -> npt.NDArray[np.bool_]:
            return np.asarray(tail(r) <= logp)

        # From r = 2 on every tail rises, if at all, and then falls for good (tests/laws/test_dimension.py)
        one, two = np.ones(value.shape, np.int64), np.full(value.shape, 2)
        highest = highest_dimension(tail, value.shape) if np.any(met(two)) else two
        failing = np.zeros(value.shape, np.int64)
        for r in (one, two, highest):
            failing = np.where(met(r), failing, r)
        return whole(smallest_dimension(met, value.shape, failing))

    @abstractmethod
    def _log_lower(self, value: Values, r: Values, c: Values) -> Values:
        """Return the logarithm of the lower tail for flat arrays of one length."""

    @abstractmethod
    def _log_upper(self, value: Values, r: Values, c: Values) -> Values:
        """Return the logarithm of the upper tail for flat arrays of one length."""


def require(good: npt.NDArray[np.bool_], values: Values, parameter: str, must: str) -> None:
    """Raise an error that says what must hold and names the first of the values for which it does not."""
    if not np.all(good):
        wrong = float(values[~good][0])
        raise InvalidParameterError(f"{must}; got {wrong!r}.", parameter, wrong)


def _checked(value: Real, r: Real, c: Real) -> tuple[Values, Values, Values]:
    x, r, c = np.broadcast_arrays(np.asarray(value, np.float64), np.asarray(r, np.float64), np.asarray(c, np.float64))
    require((r >= 1) & (r == np.floor(r)) & (r < np.inf), r, "r", "must be a whole number of dimensions, at least 1")
    require(np.abs(c) <= 1, c, "c", "(the cosine) must lie in [-1, 1]")
    require(~np.isnan(x), x, "value", "(where the law is asked for) must be a number")
    return x, r, c


def _answer(law: Callable[[Values, Values, Values], Values], value: Real, r: Real, c: Real) -> Any:
    x, r, c = _checked(value, r, c)
    answer = law(x.ravel(), r.ravel(), c.ravel()).reshape(x.shape)
    return answer if answer.ndim else float(answer)


def in_sorted_pieces(tail: Callable[..., Values], key: Values, *arguments: Values) -> Values:
    """Return `tail` of flat arrays, in pieces of similar `key`, on which its cost depends, that fit in cache."""
    out = np.empty(key.size)
    order = np.argsort(key, kind="stable")
    for start in range(0, key.size, 1024):
        piece = order[start : start + 1024]
        out[piece] = tail(*(argument[piece] for argument in arguments))
    return out


def log_complement(logarithm: Values) -> Values:
    """Return log(1 - p) from log p, to full relative precision."""
    with np.errstate(divide="ignore"):
        return np.where(logarithm > -0.693, np.log(-np.expm1(logarithm)), np.log1p(-np.exp(logarithm)))


LARGEST = 2**40  # a search gives up beyond it: no projection is that wide

Dimensions = npt.NDArray[np.int64]


def smallest_dimension(
    met: Callable[[Dimensions], npt.NDArray[np.bool_]], shape: tuple[int, ...] = (), failing: Dimensions | int = 0
) -> Dimensions:
    """Return the smallest r ≥ 1 that meets a target which, once met, stays met."""
    low = np.broadcast_to(np.asarray(failing, np.int64), shape)
    high = np.maximum(2 * low, 1)
    while not np.all(enough := met(high)):
        low, high = np.where(enough, low, high), np.where(enough, high, 2 * high)
        if np.any(high > LARGEST):
            raise NoDimensionError("No dimension below 2⁴⁰ meets this target: allow more distortion or failure.")
    while np.any(high - low > 1):
        middle = (low + high) // 2
        enough = met(np.maximum(middle, 1)) & (middle > low)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def highest_dimension(tail: Callable[[Dimensions], npt.NDArray[np.float64]], shape: tuple[int, ...]) -> Dimensions:
    """Return the r ≥ 2 with the largest tail, where it rises with r up to there and falls from there on."""
    left, right = np.full(shape, 2, np.int64), np.full(shape, LARGEST, np.int64)
    while np.any(right > left):
        third = (right / left) ** (1 / 3)
        first = np.minimum((left * third).astype(np.int64), right - 1)
        second = np.clip((left * third**2).astype(np.int64), first + 1, right)
        first, second = np.maximum(first, left), np.maximum(second, left)
        rises = tail(first) < tail(second)
        left, right = np.where(rises, first + 1, left), np.where(rises, right, np.maximum(second - 1, left))
    return left


def whole(dimensions: Dimensions) -> Any:
    """Return an int for one dimension, the array for several."""
    return int(dimensions) if dimensions.ndim == 0 else dimensions
