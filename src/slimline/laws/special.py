"""The special functions of the laws, vectorised, for the arguments that occur there."""

from __future__ import annotations

import numpy as np

from slimline.laws.law import Values

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
