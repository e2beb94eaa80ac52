r"""The law of a projected inner product: S = ⟨Rᵀw, Rᵀx⟩ / (‖w‖‖x‖) for Gaussian R, where cos(w, x) = c.

r S = ((1+c) U - (1-c) V)/2 with U, V independent χ² of r degrees of freedom, so E exp(r θ S) = D(θ)^(-r/2) with
D(θ) = (1 - (1+c)θ)(1 + (1-c)θ), and

    P(S > s) = 1/(2πi) ∫ D(θ)^(-r/2) exp(-rθs) dθ/θ

over any path that crosses the real line between 0 and 1/(1+c). We take a hyperbola through the saddle point (or a
standard deviation from the pole at 0, if that is nearer) that opens to where exp(-rθs) falls. The trapezoidal rule in
its natural variable converges geometrically, relative to the value at the crossing: no tail is too deep.
"""

from __future__ import annotations

import numpy as np

from slimline.laws.law import Law, Values, in_sorted_pieces, log_complement

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
