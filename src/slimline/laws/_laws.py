"""Exact laws of a projected norm, cosine and inner product."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial.legendre import leggauss

from slimline.errors import InvalidParameterError
from slimline.laws._law import Law, Real, Values, in_sorted_pieces, log_complement, require, smallest_dimension, whole

FEW = 24  # up to this r the hypergeometric function comes from its recurrence in r; its series is slow there
# Γ(r+½)/(Γ(r)√r) in powers of 1/r, highest first (DLMF 5.11.13)
_GAMMA_RATIO = (39325 / 2**25, 869 / 2**22, -399 / 2**18, -21 / 2**15, 5 / 2**10, 1 / 2**7, -1 / 2**3, 1.0)


def log_cosh_of(x: Values) -> Values:
    """Return log cosh x, exact near 0 and without overflow."""
    x = np.abs(x)
    near: Values = np.log1p(2 * np.sinh(0.5 * np.minimum(x, 1.0)) ** 2)
    return np.where(x < 1.0, near, x + np.log1p(np.exp(-2 * x)) - np.log(2))


def half_gamma_ratio(r: Values) -> Values:
    """Return Γ(r+½)/Γ(r): the series at r + 16, and down again by Γ(x+1) = xΓ(x)."""
    up = np.arange(16.0)
    shifted = np.sqrt(r + 16) * np.polyval(_GAMMA_RATIO, 1 / (r + 16))
    return np.asarray(shifted * np.prod((r + up) / (r + up + 0.5), axis=1, keepdims=True))


def hypergeometric(r: Values, y: Values, one_less_y: Values) -> Values:
    """Return ₂F₁(½, ½; r+½; (1+y)/2) for the rows' r, in ascending order, and -1 < y < 1.

    `one_less_y` is 1 - y where y > 0: near y = 1 more digits of it count than y has.
    """
    if r[0, 0] > FEW:
        return _series(r, y)
    few = np.searchsorted(r[:, 0], FEW, side="right")
    out = np.empty_like(y)
    out[few:] = _series(r[few:], y[few:])
    # For y < 0 the recurrence cancels, but there the series converges like 2^-k.
    out[:few] = np.where(
        y[:few] > 0,
        _recurrence(r[:few], np.maximum(y[:few], 0.0), one_less_y[:few]),
        _series(r[:few], np.minimum(y[:few], 0.0)),
    )
    return out


def _series(r: Values, y: Values) -> Values:
    if not r.size:
        return y
    z = (1 + y) / 2
    largest, size, terms = z.max(), 1.0, 0
    while size > 1e-17:
        size *= largest * (terms + 0.5) ** 2 / ((r[0, 0] + 0.5 + terms) * (terms + 1))
        terms += 1
    total = np.ones_like(z)
    for k in range(terms - 1, -1, -1):
        total *= z
        total *= (k + 0.5) ** 2 / ((r + 0.5 + k) * (k + 1))
        total += 1
    return total


def _recurrence(r: Values, y: Values, one_less_y: Values) -> Values:
    """Go up from r = 1 (an arc sine) and r = 2; the terms are positive for y ≥ 0."""
    sine = np.sqrt(0.5 * one_less_y)
    before = (np.pi - 2 * np.arcsin(sine)) / np.sqrt(2 * (1 + y))  # arccos(-y) above, without its loss near y = 1
    now = 1.5 / (1 + y) * (sine + y * before)
    out = now.copy()
    for k in range(2, int(r[-1, 0])):
        rise = (k + 0.5) / (k * k * (1 + y))
        before, now = now, rise * ((2 * k - 1) * y * now + (k - 0.5) * one_less_y * before)
        np.copyto(out, now, where=r == k + 1)
    return out


class NormLaw(Law):
    """The law of ‖Rᵀx‖² / ‖x‖²; its mean is 1.

    It is the law of the inner product of x with itself, so c is 1 and need not be given.

    Examples
    --------
    >>> from slimline.laws import norm
    >>> round(norm.sf(1.1, 1000), 5)
    0.01461
    """

    def _log_upper(self, value: Values, r: Values, c: Values) -> Values:
        return inner_product._log_upper(value, r, _with_itself(c))

    def _log_lower(self, value: Values, r: Values, c: Values) -> Values:
        return inner_product._log_lower(value, r, _with_itself(c))


def _with_itself(c: Values) -> Values:
    if np.any(c != 1):
        raise InvalidParameterError("must be 1, the cosine of a vector with itself.", "c")
    return c


norm = NormLaw()


def norm_failure(n_components: Real, eps: Real) -> Any:
    """Return the probability that a squared norm changes by more than the factor 1 ± eps.

    Parameters
    ----------
    n_components : array-like of int
        Number of components, r ≥ 1.
    eps : array-like
        Distortion, above 0.

    Returns
    -------
    probability : float or ndarray
        Probability that ‖Rᵀx‖²/‖x‖² is not within 1 ± eps, the same for every x ≠ 0; exact for Gaussian R.

    See Also
    --------
    norm_dimension : The smallest r for a given probability.

    Notes
    -----
    With F the χ² distribution with r degrees of freedom, the probability is F(r(1 - ε)) + 1 - F(r(1 + ε)). The bound
    2 exp(-ε²r/6) of Lemma 23.3 in [1]_ holds for every r only if ε ≤ 0.787.

    References
    ----------
    .. [1] Shalev-Shwartz, S.; Ben-David, S. (2014). "Understanding machine learning." Cambridge University Press.

    Examples
    --------
    >>> from slimline.laws import norm_failure
    >>> round(norm_failure(1000, 0.1), 5)
    0.02533
    """
    eps = np.asarray(eps, np.float64)
    require(eps > 0, eps, "eps", "must be above 0")
    return norm.cdf(1 - eps, n_components) + norm.sf(1 + eps, n_components)


def norm_dimension(eps: Real, delta: Real, n_vectors: Real = 1) -> Any:
    """Return the smallest r for which `n_vectors` squared norms all stay within 1 ± eps, except with probability delta.

    Parameters
    ----------
    eps : array-like
        Distortion, in (0, 1).
    delta : array-like
        Failure probability, in (0, 1).
    n_vectors : array-like of int
        Number of vectors; the distances of n samples are n(n - 1)/2 of them.

    Returns
    -------
    n_components : int or ndarray of int
        Smallest r with n_vectors · `norm_failure(r, eps)` ≤ delta: the exact law and a union bound.

    See Also
    --------
    norm_failure : The probability for given r.
    slimline.bounds.get : "uml2014.23.4" is the theorem for the same event.

    Notes
    -----
    This is the lemma of Johnson and Lindenstrauss [1]_ with the exact tail in place of a bound. The vectors must not
    depend on R, which is Gaussian.

    References
    ----------
    .. [1] Johnson, W. B.; Lindenstrauss, J. (1984). "Extensions of Lipschitz mappings into a Hilbert space."
       Contemporary Mathematics 26, 189-206.

    Examples
    --------
    >>> from slimline.laws import norm_dimension
    >>> norm_dimension(0.1, 0.05, n_vectors=1)
    768
    """
    eps, delta, count = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in (eps, delta, n_vectors)))
    require((eps > 0) & (eps < 1), eps, "eps", "must lie in (0, 1)")
    require((delta > 0) & (delta < 1), delta, "delta", "must lie in (0, 1)")
    require((count >= 1) & (count < np.inf), count, "n_vectors", "must be at least 1, and finite")
    # the sum of both tails falls with r from the start, though the upper one alone may rise
    return whole(smallest_dimension(lambda r: np.asarray(count * norm_failure(r, eps) <= delta), eps.shape))


Flags = npt.NDArray[np.bool_]

DEPTH = 42.0  # the integral is cut where the integrand has fallen by exp(-42), below float64's rounding
NARROW = 4  # up to this r the law has heavy tails, and asks for more nodes


def _on_unit_interval(n: int) -> tuple[Values, Values]:
    x, weight = leggauss(n)
    return (x + 1) / 2, weight / 2


_NODES = {n: _on_unit_interval(n) for n in (28, 64)}


class CosineLaw(Law):
    """The law of cos(Rᵀw, Rᵀx), where cos(w, x) = c.

    Examples
    --------
    >>> from slimline.laws import cosine
    >>> f"{cosine.cdf(0.0, 208, 0.3):.4e}"
    '4.8493e-06'
    >>> cosine.dimension(0.0, 0.05 / 10_000, 0.3)
    208
    """

    def _log_lower(self, value: Values, r: Values, c: Values) -> Values:
        return _log_tail(value, r, c, value >= -1, value >= c, value >= 1)

    def _log_upper(self, value: Values, r: Values, c: Values) -> Values:
        # P(cos' > t) = P(-cos' < -t), and -cos' belongs to -c.
        return _log_tail(-value, r, -c, value < 1, value < c, value < -1)


def _log_tail(t: Values, r: Values, c: Values, least: Flags, kept: Flags, most: Flags) -> Values:
    """Return log P(cos' ≤ t), or with < for ≤: the flags say whether the atoms -1, c and 1 belong to the event."""
    with np.errstate(divide="ignore"):
        minus_one = np.where(c < 0, np.log1p(-np.arccos(np.abs(c)) / np.pi), np.log(np.arccos(np.abs(c)) / np.pi))
    one_column = np.where(most, 0.0, np.where(least, minus_one, -np.inf))
    log = np.where(
        np.abs(c) == 1, np.where(kept, 0.0, -np.inf), np.where(r == 1, one_column, np.where(t >= 1, 0.0, -np.inf))
    )
    continuous = (r > 1) & (np.abs(c) < 1) & (np.abs(t) < 1)
    below, above = continuous & (t <= c), continuous & (t > c)
    log[below] = in_sorted_pieces(_log_below, r[below], t[below], r[below], c[below])
    log[above] = log_complement(in_sorted_pieces(_log_below, r[above], -t[above], r[above], -c[above]))
    return log


def _log_below(t: Values, r: Values, c: Values) -> Values:
    """Return log P(cos' ≤ t) for flat arrays with -1 < t ≤ c < 1 and r ≥ 2."""
    x, weight = _NODES[64 if r[0] <= NARROW else 28]
    t, r, c = t[:, None], r[:, None], c[:, None]
    power = r - 0.5
    apart = 0.5 * np.log1p(2 * (c - t) / ((1 - c) * (1 + t)))  # ζ₀ - ζ ≥ 0
    drop = power * log_cosh_of(apart)
    depth = DEPTH * power / (r - 1)  # the true density falls like exp(-(r-1)|ζ|), ω counts with r - ½
    start = np.sqrt(2 * drop)
    reach = 2 * depth / (start + np.sqrt(start**2 + 2 * depth))
    step = reach * x
    omega = start + step
    fallen = step * (start + 0.5 * step)  # (ω² - ω₀²)/2
    log_cosh = (drop + fallen) / power
    tanh = np.sqrt(-np.expm1(-2 * log_cosh))
    zeta = np.arctanh(t) + apart - (log_cosh + np.log1p(tanh))
    density = np.exp(0.5 * (log_cosh_of(zeta) - log_cosh_of(np.arctanh(c))) - fallen) * omega / (power * tanh)
    size = np.abs(c)
    one_less_product = (1 - size) + size * 2 / (1 + np.exp(2 * np.abs(zeta)))  # 1 - |c tanh ζ|
    density *= hypergeometric(r, c * np.tanh(zeta), one_less_product)
    total: Values = (density @ weight) * (reach * (r - 1) / (np.sqrt(2 * np.pi) * half_gamma_ratio(r)))[:, 0]
    logarithm: Values = np.log(total) - drop[:, 0]
    return logarithm


cosine = CosineLaw()


STEP = 0.07  # of the trapezoidal rule
OPENING = np.pi / 7  # of the hyperbola, away from the vertical
FARTHEST, NEAREST = 1e150, 1e-307  # what is beyond counts as infinity and, where only one sign occurs, as zero


class InnerProductLaw(Law):
    """The law of ⟨Rᵀw, Rᵀx⟩ / (‖w‖‖x‖), where cos(w, x) = c; its mean is c.

    Examples
    --------
    >>> from slimline.laws import inner_product
    >>> f"{inner_product.cdf(0.2, 100, 0.3):.8f}"
    '0.16849394'
    """

    def _log_upper(self, value: Values, r: Values, c: Values) -> Values:
        log = np.where(value >= c, -np.inf, 0.0)  # what c = ±1 makes impossible or certain stays so
        inside = ((c > -1) | (value < -NEAREST)) & ((c < 1) | (value > NEAREST)) & (np.abs(value) < FARTHEST)
        above, below = inside & (value >= c), inside & (value < c)
        log[above] = _log_above(value[above], r[above], c[above])
        log[below] = log_complement(_log_above(-value[below], r[below], -c[below]))
        return log

    def _log_lower(self, value: Values, r: Values, c: Values) -> Values:
        return self._log_upper(-value, r, -c)  # no atoms


def _log_above(s: Values, r: Values, c: Values) -> Values:
    """Return log P(S > s) for flat arrays with s ≥ c."""
    plus, minus = 1 + c, 1 - c
    cross = plus * minus
    root = np.hypot(cross, 2 * s)
    # The factors 1 - (1+c)θ and 1 + (1-c)θ of D at the saddle, from the quadratic equation that each solves; sums of
    # s and the root without cancellation
    size = np.abs(s)
    toward = root + 2 * size
    against = cross**2 / toward
    with np.errstate(divide="ignore", invalid="ignore"):  # c = ±1 leaves one factor only
        first = np.where(plus == 0, 1.0, 2 * plus / (cross + np.where(s > 0, toward, against)))
        second = np.where(minus == 0, 1.0, 2 * minus / (cross + np.where(s > 0, against, toward)))
        branch = 1 / plus
    # 2cs + √(...), where it cancels: (√(...) - 2|s|) + 2|s|(1 - |c|)
    sum_of_both = np.where(c * s < 0, against + 2 * size * (1 - np.abs(c)), 2 * c * s + root)
    saddle = 2 * (s - c) / (cross + sum_of_both)
    deviation = np.sqrt(r) * np.hypot(np.sqrt(cross / (first * second)), np.sqrt(2) * s)  # √ of the curvature there
    # Near the mean the saddle is near the pole at 0: cross a standard deviation away, at a cost of exp(½)
    nearest = np.minimum(1 / np.sqrt(r * (1 + c**2)), 0.5 * branch)
    close = saddle < nearest
    crossing = np.where(close, nearest, saddle)
    first, second = np.where(close, 1 - plus * nearest, first), np.where(close, 1 + minus * nearest, second)
    scale = np.minimum(np.minimum(1 / deviation, crossing), first * branch)

    less = crossing * (2 * c + cross * crossing)  # 1 - D
    log_factors = np.where(np.abs(less) < 0.5, np.log1p(-np.minimum(less, 0.5)), np.log(first * second))
    # Along the path D grows like exp(2x) and never falls below cos(OPENING) of what it is at the crossing, while
    # exp(-rθs) falls like the exponential of cosh x: the shorter of two reaches is enough
    falls = np.maximum(size * scale * np.sin(OPENING), 1e-300)
    reach = np.minimum(3.2 + 40 / r, np.arccosh(1 + (40 / r - 0.5 * np.log(np.cos(OPENING))) / falls))
    # θ counts in units of `scale` from here on
    right, left = scale * (plus / first), scale * (minus / second)
    path = in_sorted_pieces(_path_integral, reach, reach, r, s * scale, crossing / scale, right, left)
    logarithm: Values = np.log(path) - r * (0.5 * log_factors + s * crossing)
    return logarithm


def _path_integral(reach: Values, r: Values, s: Values, crossing: Values, right: Values, left: Values) -> Values:
    """Return the integral relative to the value at the crossing; `right`, `left`: (1+c) and (1-c) over their factor."""
    x = STEP * (np.arange(np.ceil(reach.max() / STEP)) + 0.5)  # the other half is the complex conjugate
    r, s, crossing, right, left = (v[:, None] for v in (r, s, crossing, right, left))
    aside, along = np.sign(s) * np.sin(OPENING), np.cos(OPENING)
    sinh, cosh = np.sinh(x), np.cosh(x)
    away = aside * (cosh - 1) + 1j * (along * sinh)
    # D(θ)/D(crossing) - 1; its two factors turn opposite ways, so that one logarithm serves both
    change = away * (left - right - (right * left) * away)
    # numpy's complex log1p rounds near 0
    modulus = np.log1p(change.real * (2 + change.real) + change.imag**2)
    exponent = -r * (0.25 * modulus + s * away.real)
    phase = -r * (0.5 * np.arctan2(change.imag, 1 + change.real) + s * away.imag)
    factor = (aside * sinh + 1j * (along * cosh)) / (crossing + away)
    height = np.exp(exponent)
    turned = factor.imag * np.cos(phase) + factor.real * np.sin(phase)
    return np.asarray(STEP / np.pi * (height * turned).sum(axis=1))


inner_product = InnerProductLaw()
