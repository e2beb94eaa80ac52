r"""The law of a projected cosine: cos' = cos(Rᵀw, Rᵀx) for Gaussian R, where cos(w, x) = c.

It is the law of the correlation of r pairs of normals about their known mean (Hotelling 1953, "New light on the
correlation coefficient and its transforms", J. R. Stat. Soc. B 15). In Fisher's ζ = artanh cos', ζ₀ = artanh c the
density is

    (r-1) Γ(r) / (√(2π) Γ(r+½)) · √(cosh ζ / cosh ζ₀) · cosh(ζ-ζ₀)^-(r-½) · ₂F₁(½, ½; r+½; (1 + c tanh ζ)/2),

nearly a function of ζ - ζ₀ alone. With ω²/2 = (r-½) log cosh(ζ-ζ₀) it becomes a normal density times a slowly varying
factor, and a tail is the integral from ω₀ on: Gauss-Legendre nodes over the part that matters give it to rounding.
Every term is positive and the value at ω₀ is taken out, so that no tail is too deep. ζ-ζ₀ is formed from the
differences t - c, 1 - c and 1 + t, which are exact.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.polynomial.legendre import leggauss

from slimline.laws.law import Law, Values, in_sorted_pieces, log_complement
from slimline.laws.special import half_gamma_ratio, hypergeometric, log_cosh_of

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
