"""Ours as contenders, and the limit beside them: what has to be done in any case, the Gram matrix of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slimline import geometry
from slimline.projections import Projection
from slimline_benchmarks.case import Contender, Work
from slimline_benchmarks.geometry import names
from slimline_benchmarks.geometry.answers import Answer
from slimline_benchmarks.labelled import Labelled
from slimline_benchmarks.search import Arena, remembering

#: A run is one run: as a rate of them, the share of the limit is the part of the time that the Gram matrix takes.
_RUN = Work(1.0, "runs/s")


def gram_alone() -> Contender:
    """Return the limit."""
    return Contender(names.GRAM, "limit", lambda points: points.matrix.gram(), work=_RUN)


def beside_gram(name: str, ask: Callable[[Labelled], Answer], arena: Arena, **more: Any) -> Contender:
    """Return one of ours, whose time is compared with that of the Gram matrix.

    Parameters
    ----------
    name : str
        Of the contender.
    ask : callable
        Takes the data.
    arena : Arena
        Where the answer is kept.
    **more : Any
        Other fields of the contender.

    Returns
    -------
    contender : Contender
        For a case.
    """
    return remembering(name, ask, arena, work=_RUN, limit=names.GRAM, **more)


def margin(intercept: bool) -> Callable[[Labelled], Answer]:
    """Return our margin, through the origin or with an intercept."""

    def ask(points: Labelled) -> Answer:
        found = geometry.margin(points.matrix, points.labels, intercept=intercept)
        return Answer(found.separator, found.value, (found.lower, found.upper), _words(found.separable, found.support))

    return ask


def ball(points: Labelled) -> Answer:
    """Return our ball."""
    found = geometry.enclosing_ball(points.matrix)
    return Answer(found.centre, found.value, (found.lower, found.upper), _words(True, found.support))


def _words(separable: bool | None, support: Any) -> str:
    points = f"{len(support):,} support points"
    return points if separable else f"not separable, {points}"


def embedding(projection: Projection) -> Callable[[Labelled], Answer]:
    """Return our embedding error."""

    def ask(points: Labelled) -> Answer:
        found = geometry.embedding_error(points.matrix, projection)
        return Answer(None, found.value, (found.lower, found.upper), f"rank {found.rank:,}")

    return ask


def distortions(projection: Projection, rows: int) -> Callable[[Labelled], Answer]:
    """Return our distortions; the largest one of a squared distance is compared."""

    def ask(points: Labelled) -> Answer:
        found = geometry.distortions(points.matrix, projection, rows=rows, random_state=0)
        value, rounding = found.distances.value, found.distances.rounding
        return Answer(None, value, (max(value - rounding, 0.0), value + rounding), "and quantiles")

    return ask
