"""Words beside curves: which of them share a label, what it says, and where there is room for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from slimline.planning import Curve, Guarantee, Plan

Floats = NDArray[np.float64]

#: Curves that differ by less, wherever both speak, are one line to the eye.
_SAME = 0.02
_PRINTED = ", printed"


@dataclass(frozen=True)
class CurveLabel:
    """The label of one curve, or of several that run together.

    Parameters
    ----------
    curves : tuple of Curve
        All of one kind.
    keeps : tuple of str
        Lines that say what is kept.
    names : tuple of str
        Lines that name the statements.
    """

    curves: tuple[Curve, ...]
    keeps: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Return how many lines it takes."""
        return len(self.keeps) + len(self.names)

    @property
    def end(self) -> tuple[float, float]:
        """Return the smallest eps of its curves, and the dimension there."""
        first = min(self.curves, key=lambda curve: curve.eps[0])
        return first.eps[0], first.dimension[0]


def curve_labels(plan: Plan, width: int) -> tuple[CurveLabel, ...]:
    """Return the labels of the curves of a plan.

    Parameters
    ----------
    plan : Plan
        Its curves, and its guarantees, which say what each keeps.
    width : int
        Letters of a line.

    Returns
    -------
    labels : tuple of CurveLabel
        Each curve is in one of them.
    """
    return tuple(_label(plan, together, width) for together in run_together(plan.curves))


def run_together(curves: Sequence[Curve]) -> list[list[Curve]]:
    """Return the curves in groups that the eye cannot tell apart.

    Parameters
    ----------
    curves : sequence of Curve
        All of them.

    Returns
    -------
    groups : list of list of Curve
        In the order of their first members.
    """
    groups: list[list[Curve]] = []
    for curve in curves:
        own = next((group for group in groups if _runs_with(curve, group[0])), None)
        if own is None:
            groups.append([curve])
        else:
            own.append(curve)
    return groups


def spread_out(wanted: Floats, heights: Floats, low: float, high: float) -> Floats:
    """Return places as near as can be to those wanted, at which nothing overlaps.

    Parameters
    ----------
    wanted : array
        Middle that each would like, in any order.
    heights : array
        Room that each needs.
    low, high : float
        Ends of the room there is; where it is too small for all, they overlap evenly.

    Returns
    -------
    places : array
        Middles: of all that keep this order, those with the least sum of squares of the ways moved.
    """
    order = np.argsort(wanted, kind="stable")
    total = float(heights.sum())
    size = heights[order] * min(1.0, (high - low) / total if total else 1.0)
    # With the room below each taken off, not to overlap is not to descend.
    below = np.cumsum(size) - size / 2.0
    freed = np.asarray(isotonic_regression(wanted[order] - below).x) if len(order) else np.empty(0)
    places = np.empty(len(order))
    places[order] = np.clip(freed, low, high - float(size.sum())) + below
    return places


def _runs_with(curve: Curve, other: Curve) -> bool:
    if curve.kind != other.kind:
        return False
    low, high = max(curve.eps[0], other.eps[0]), min(curve.eps[-1], other.eps[-1])
    if low >= high:
        return False
    at = np.linspace(np.log(low), np.log(high), 32)
    one, two = (np.interp(at, np.log(c.eps), np.log(c.dimension)) for c in (curve, other))
    return bool(np.abs(one - two).max() < _SAME)


def _label(plan: Plan, curves: Sequence[Curve], width: int) -> CurveLabel:
    keeps = "; ".join(_by_family([_kept(plan.guarantees, curve) for curve in curves]))
    kind = curves[0].kind
    if kind == "exact":
        return CurveLabel(tuple(curves), tuple(wrap(f"exact law: {keeps}", width)), ())
    said = {"printed": " (as printed: does not hold)", "order": " (as printed, constant 1)"}.get(kind, "")
    keeps += said
    names = _short([curve.name.removesuffix(_PRINTED) for curve in curves])
    if len(keeps) + len(names) + 3 <= width:
        return CurveLabel(tuple(curves), (f"{keeps} · {names}",), ())
    return CurveLabel(tuple(curves), tuple(wrap(keeps, width)), tuple(wrap(names, width)))


def _kept(guarantees: Sequence[Guarantee], curve: Curve) -> str:
    """Return what a curve's guarantee keeps."""
    if curve.kind == "exact":
        return curve.name.partition(": ")[2]
    if curve.name == f"paul2013.cw{_PRINTED}":  # printed of one family, true of nearly all
        return "the row space, CW"
    name, _, family = curve.name.removesuffix(_PRINTED).rstrip(")").partition(" (")
    told = [row.about for row in guarantees if row.name == name and row.about.endswith(family)]
    return told[0] if told else curve.name


def _by_family(kept: Sequence[str]) -> list[str]:
    """Return what is kept, the projection that several have in common named once, behind them."""
    families: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    for one in dict.fromkeys(kept):
        what, _, family = one.partition(", ")
        spelled.setdefault(family.lower(), family)
        whats = families.setdefault(family.lower(), [])
        if what not in whats:
            whats.append(what)
    return [", ".join([*whats, *([spelled[family]] if family else [])]) for family, whats in families.items()]


def _short(names: Sequence[str]) -> str:
    """Return names, a document once where it goes on: "paul2013.1, .2"."""
    shown: list[str] = []
    document = ""
    for name in dict.fromkeys(name.partition(" (")[0] for name in names):
        begins, _, rest = name.partition(".")
        shown.append(f".{rest}" if begins == document else name)
        document = begins
    return ", ".join(shown)
