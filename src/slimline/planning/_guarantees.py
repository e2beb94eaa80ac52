"""The dimension that each guarantee asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.bounds import Bound, get, margin_dimension, multiclass_margin_dimension
from slimline.errors import NoDimensionError
from slimline.planning._prediction import Findings
from slimline.planning._problem import Problem
from slimline.planning._records import Curve, Guarantee

#: "Most" rows are all but one in so many.
_ONE_IN = 100
#: Families whose embedding bounds are shown.
_SHOWN = ("gaussian", "srht", "osnap")
#: Families whose theorems on angles and margins are those of a Gaussian R.
_SIGNS = "random signs or Achlioptas"
#: Points of a curve.
_POINTS = 60
#: Its ends, unless a smaller or a larger eps is asked for, or the statement does not speak of so large a one.
_SMALLEST_EPS, _LARGEST_EPS = 0.02, 0.9
#: Theorems about margins and classes, and why a regression has none of them.
_OF_CLASSES = ("shi2012.6", "shi2012.8", "shi2012.9", "balcan2006", "paul2013.1")
NEEDS_CLASSES = "needs classes"
Sizes = dict[str, Any]


@dataclass(frozen=True)
class KeptMargin:
    """The margin, and the dimensions that keep it positive."""

    #: None where it is not known.
    value: float | None
    #: For all rows, and for all but one in a hundred; None where no dimension that one could use does.
    dimension: int | None
    most: int | None
    #: What that stands on.
    note: str


def given_margin(margin: float, problem: Problem, delta: float) -> KeptMargin:
    """Return what keeps a given margin, all points having just that.

    With several classes, the cosines are taken to be half of it and minus half of it: nearest to 0, where a cosine
    varies most.
    """
    n = problem.n_samples
    note = f"all {n:,} points taken to have the given margin"
    cosines = np.full((1, problem.n_classes), -0.5 * margin)
    cosines[0, 0] = 0.5 * margin
    if problem.n_classes > 2:
        note += ", half of it on either side of 0"

    def dimension(errors: int) -> int:
        share = delta * (errors + 1) / n
        if problem.n_classes == 2:
            return margin_dimension([margin], share)
        return multiclass_margin_dimension(cosines, [0], share)

    return KeptMargin(margin, _if_any(dimension, 0), _if_any(dimension, n // _ONE_IN), note)


def found_margin(found: Findings, codes: NDArray[np.intp] | None, problem: Problem, delta: float) -> KeptMargin:
    """Return the margin of a separator of the data, and what keeps it."""
    if problem.n_targets:
        return KeptMargin(None, None, None, NEEDS_CLASSES)
    if found.cosines is None or codes is None:
        return KeptMargin(None, None, None, "no labels, no margin")
    room = cosines = found.cosines
    if problem.n_classes > 2:
        own = cosines[np.arange(len(codes)), codes]
        others = np.where(np.arange(cosines.shape[1]) == codes[:, None], -np.inf, cosines)
        room = own - others.max(axis=1)

    def dimension(errors: int) -> int:
        if problem.n_classes == 2:
            return margin_dimension(room, delta, errors=errors)
        return multiclass_margin_dimension(cosines, codes, delta, errors=errors)

    lost = int(np.sum(room <= 0.0))
    those = f"the {len(room):,} rows at hand" if len(room) < problem.n_samples else f"all {len(room):,} rows"
    note = f"a separator of {found.sample:,} rows, through the origin, and {those}"
    if lost:
        note += f"; not counting {lost:,} on the wrong side of it already"
    if lost == len(room):
        return KeptMargin(float(room.min()), None, None, note)
    most = min(lost + len(room) // _ONE_IN, len(room) - 1)
    return KeptMargin(float(room.min()), _if_any(dimension, lost), _if_any(dimension, most), note)


def _if_any(dimension: Callable[[int], int], errors: int) -> int | None:
    try:
        return dimension(errors)
    except NoDimensionError:  # a row lies on the boundary, but for rounding
        return None


def guarantees(sizes: Sizes, eps: float, delta: float) -> tuple[Guarantee, ...]:
    """Return what each theorem asks for."""
    return tuple(
        _without_classes(bound, about)
        if sizes["classes"] == 0 and bound.name.startswith(_OF_CLASSES)
        else _row(bound, own, about, note, sizes, eps, delta)
        for bound, own, about, note in _asked(sizes)
    )


def _without_classes(bound: Bound, about: str) -> Guarantee:
    return Guarantee(bound.name, about, None, False, kind=_kind(bound), note=NEEDS_CLASSES)


def curves(sizes: Sizes, eps: float, delta: float) -> tuple[Curve, ...]:
    """Return the dimension that each statement asks for, against eps."""
    found = []
    for bound, own, about, _ in _asked(sizes):
        if not bound.needs_eps or bound.name == "balcan2006":
            continue
        if sizes["classes"] == 0 and bound.name.startswith(_OF_CLASSES):
            continue
        family = f" ({own['family']})" if "family" in own else ""
        found.append(_curve(bound, own, bound.name + family, sizes, eps, delta))
        printed = _other_formula(bound, sizes)
        if printed is not None:
            own_printed = {name: own.get(name, sizes.get(name)) for name in printed.needs}
            found.append(_curve(printed, own_printed, f"{bound.name}, printed", sizes, eps, delta))
        if bound.name in ("uml2014.23.4", "shi2012.6") and set(bound.exact_needs) <= own.keys() | sizes.keys():
            found += _exact_curve(bound, own, sizes, about, eps, delta)
    return tuple(curve for curve in found if curve.eps)


def _asked(sizes: Sizes) -> Iterator[tuple[Bound, Sizes, str, str]]:
    """Yield the bounds, with the sizes that each is asked with and what that means."""
    m, d = sizes["points"], sizes["features"]
    pairs = max(m * (m - 1) // 2, 1)
    rank = {"rank": sizes["rank"]}
    family = [rank | {"features": d, "family": name} for name in _SHOWN]
    points = {"points": m}
    classes = points | {"classes": sizes["classes"]}
    yield get("uml2014.23.3"), {}, "one norm", ""
    yield get("uml2014.23.4"), {"vectors": pairs}, "all distances", ""
    yield get("shi2012.10"), {}, "one norm", ""
    yield get("shi2012.10.subgaussian"), {}, f"one norm, {_SIGNS}", ""
    yield get("shi2012.4"), {}, "inner products, on average", "whatever the dimension"
    cosine = f"a cosine of {sizes['cosine']:.2g}" if "cosine" in sizes else "one cosine"
    yield get("shi2012.5"), {}, cosine, ""
    yield get("shi2012.5.sharp"), {}, cosine, ""
    yield get("shi2012.5.subgaussian"), {}, f"{cosine}, {_SIGNS}", ""
    yield get("fard2012.1"), {"vectors": m}, "inner products of one vector with all points", ""
    if sizes.get("sparsity"):
        k = {"features": d, "sparsity": sizes["sparsity"]}
        yield get("fard2012.2"), k, f"inner products with all {sizes['sparsity']}-sparse vectors", ""
    if sizes["classes"] <= 2:
        yield get("shi2012.6"), points, "margin γ - 2ε/(1-ε)", ""
        yield get("shi2012.6.sharp"), points, "margin κγ - 2ε/(1-ε)", ""
        yield get("shi2012.6.subgaussian"), points, f"margin κγ - 2ε/(1-ε), {_SIGNS}", ""
    else:
        yield get("shi2012.8"), classes, "multiclass margin κγ - 4ε/(1-ε)", ""
        yield get("shi2012.8.subgaussian"), classes, f"multiclass margin κγ - 4ε/(1-ε), {_SIGNS}", ""
        yield get("shi2012.8.unnormalised"), classes, "Crammer-Singer margin (γ - √2 εB)/√(1+ε)", ""
        yield get("shi2012.9"), classes, "margin of one parameter vector", ""
        yield get("shi2012.9.subgaussian"), classes, f"margin of one parameter vector, {_SIGNS}", ""
    if "margin" in sizes:
        share = "here ε is the share of points that may fall short"
        yield get("balcan2006"), {"margin": sizes["margin"]}, "margin γ/2 of all but a share ε", share
    yield get("paul2013.srht"), rank | {"features": d}, "the row space, SRHT", ""
    yield get("paul2013.sign"), rank, "the row space, random signs", ""
    yield get("paul2013.cw"), rank, "the row space, any family but very sparse signs", ""
    yield get("paul2013.cw.generalised"), rank, "the row space, generalised CW", ""
    yield get("embedding.very_sparse"), rank | {"features": d}, "the row space, very sparse signs", ""
    yield get("vaswani2013.c1"), rank, "the row space, Gaussian", ""
    yield get("vaswani2013.3"), rank, "the row space, in the limit", ""
    yield get("vaswani2013.c2"), rank, "the row space, Gaussian", ""
    yield get("vaswani2013.c2.algebra"), rank, "the row space, in the limit", ""
    for own in family:
        yield get("paul2013.1"), own, f"margin of an SVM, {own['family']}", ""
    for own in family:
        yield get("paul2013.1.soft"), own, f"objective of an SVM, {own['family']}", ""
    for own in family:
        yield get("paul2013.2"), own, f"enclosing ball, {own['family']}", ""
    yield get("paul2013.2.distances"), points, "enclosing ball, Gaussian", ""
    yield get("vaswani2013.1"), rank, "naive recovery is bad", ""
    yield get("vaswani2013.2"), rank, "dual recovery errs by ε/(1-ε)", ""


def _row(bound: Bound, own: Sizes, about: str, note: str, sizes: Sizes, eps: float, delta: float) -> Guarantee:
    kind = _kind(bound)
    if not _speaks(bound, eps):
        end = "at most" if bound.eps_closed else "below"
        return Guarantee(bound.name, about, None, False, kind=kind, note=f"only for eps {end} {bound.eps_below:.3g}")
    dimension = _dimension(bound, eps, delta, own)
    if dimension is None:
        return Guarantee(bound.name, about, None, False, kind=kind, note="more dimensions than a number can hold")
    printed = None
    other = _other_formula(bound, sizes)
    if other is not None and _speaks(other, eps):
        printed = _dimension(other, eps, delta, {name: own.get(name, sizes.get(name)) for name in other.needs})
        note = "printed is an O(·), shown with the constant 1" if other.order_only else note
    known = own | {name: sizes[name] for name in ("margin", "cosine", "multiclass_margin") if sizes.get(name)}
    exact = _exact(bound, eps, delta, known)
    left = _left(bound, eps, sizes)
    if left is not None:
        note = f"leaves {left:.2g}" if left > 0.0 else "leaves nothing of the margin at this ε"
    useful = dimension < sizes["features"] and (left is None or left > 0.0)
    return Guarantee(bound.name, about, dimension, useful, printed, exact, kind, note)


def _kind(bound: Bound) -> str:
    return "order" if bound.order_only else "limit" if bound.asymptotic else "theorem"


def _left(bound: Bound, eps: Any, sizes: Sizes) -> Any:
    """Return the margin that a guarantee leaves of the one that the data have; None for other guarantees."""
    if not bound.name.startswith(("shi2012.6", "shi2012.8", "shi2012.9")):
        return None
    if not set(bound.guarantee_needs) <= sizes.keys():
        return None
    return bound.guarantee(eps, **{name: sizes[name] for name in bound.guarantee_needs}).lower


def _dimension(bound: Bound, eps: float, delta: float, own: Sizes) -> int | None:
    """Return the dimension asked for, also where it is larger than arrays can count."""
    real = float(bound.required(eps, delta, **own))
    return max(ceil(real), 1) if isfinite(real) else None


def _exact(bound: Bound, eps: float, delta: float, known: Sizes) -> int | None:
    if bound.exact is None or not set(bound.exact_needs) <= known.keys():
        return None
    try:
        return int(bound.exact_dimension(eps, delta, **{name: known[name] for name in bound.exact_needs}))
    except NoDimensionError:  # a margin of next to nothing
        return None


def _other_formula(bound: Bound, sizes: Sizes) -> Bound | None:
    """Return the statement as printed, where it asks for another dimension."""
    printed = bound.printed
    if printed is None or printed.formula is bound.formula or not set(printed.needs) <= sizes.keys():
        return None
    return printed


def _speaks(bound: Bound, eps: float) -> bool:
    return not bound.needs_eps or eps < bound.eps_below or (bound.eps_closed and eps == bound.eps_below)


def _grid(bound: Bound, asked: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    largest = min(bound.eps_below * 0.999, max(_LARGEST_EPS, asked))
    return np.geomspace(min(_SMALLEST_EPS, asked, largest / 2.0), largest, _POINTS)


def _curve(bound: Bound, own: Sizes, name: str, sizes: Sizes, asked: float, delta: float) -> Curve:
    eps = _useful(bound, _grid(bound, asked), sizes)
    kind = (
        "order" if bound.order_only else "printed" if bound.as_printed else "limit" if bound.asymptotic else "theorem"
    )
    real = np.broadcast_to(bound.required(eps, delta, **own), eps.shape)
    return Curve(name, kind, tuple(map(float, eps)), tuple(float(max(r, 1.0)) for r in real))


def _exact_curve(bound: Bound, own: Sizes, sizes: Sizes, about: str, asked: float, delta: float) -> list[Curve]:
    eps = _useful(bound, _grid(bound, asked), sizes)
    given = {name: own.get(name, sizes.get(name)) for name in bound.exact_needs}
    try:
        exact = bound.exact_dimension(eps, delta, **given)
    except NoDimensionError:  # for the smallest eps
        return []
    return [Curve(f"exact law: {about}", "exact", tuple(map(float, eps)), tuple(map(float, exact)))]


def _useful(bound: Bound, eps: Any, sizes: Sizes) -> Any:
    """Return those eps that leave something of a margin, where that is known."""
    left = _left(bound, eps, sizes)
    return eps if left is None else eps[np.asarray(left) > 0.0]
