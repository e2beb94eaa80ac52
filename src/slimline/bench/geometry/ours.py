"""Ours as contenders, and the limit beside them: what has to be done in any case, the Gram matrix of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slimline import geometry
from slimline.bench.case import Contender
from slimline.bench.geometry import names
from slimline.bench.geometry.answers import Answer, Arena
from slimline.bench.geometry.data_sets import Labelled
from slimline.bench.record import Role
from slimline.projections import Projection


def answering(name: str, role: Role, ask: Callable[[Labelled], Answer], arena: Arena, **more: Any) -> Contender:
    """Return a contender whose last answer is kept for the judge.

    Parameters
    ----------
    name : str
        Of the contender.
    role : {"ours", "peer"}
        Its part.
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

    def run(points: Labelled) -> Answer:
        answer = arena.answers[name] = ask(points)
        return answer

    return Contender(name, role, run, **more)


def gram_alone() -> Contender:
    """Return the limit."""
    return Contender(names.GRAM, "limit", lambda points: points.matrix.gram())


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
    proved = f"bracket proved, {len(support):,} support points"
    return proved if separable else f"not separable, {proved}"


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
        words = "distances, angles, inner products, quantiles"
        return Answer(None, value, (max(value - rounding, 0.0), value + rounding), words)

    return ask
