"""What each way to the certified weights will cost: the cost model, corrected by what was measured on the sample."""

from __future__ import annotations

from math import inf, isfinite

from slimline.bounds.embeddings import FAMILIES
from slimline.planning.costs import (
    by_gram,
    direct_seconds,
    exact_seconds,
    gram_seconds,
    model_seconds,
    pass_seconds,
    sketch_seconds,
    small_seconds,
)
from slimline.planning.findings import Findings
from slimline.planning.machine import slowness
from slimline.planning.memory import fit_bytes
from slimline.planning.problem import Problem
from slimline.planning.records import Cost
from slimline.planning.rehearsal import SMALLEST_STEP
from slimline.planning.shape import DataShape

#: Seconds that a fit takes however small the data,
_FIT = 4e-3
#: and what is done with the Gram matrix beside factorising, for each of its elements.
_PAIR = 3e-8


def predict(
    shape: DataShape, problem: Problem, found: Findings, n_components: int, carried: float = 0.0
) -> tuple[Cost, ...]:
    """Return the cost of every projection and route.

    Parameters
    ----------
    shape : DataShape
        Of all the data.
    problem : Problem
        What is to be solved.
    found : Findings
        What a look at the data told.
    n_components : int
        Columns of the sketch.
    carried : float
        Bytes of names and the like, which come with the data.

    Returns
    -------
    costs : tuple of Cost
        Sketches by family, the Gram matrix, and the rows themselves.
    """
    n, tasks, loss = float(problem.n_samples), problem.n_tasks, problem.loss
    slow = slowness()
    model = slow * pass_seconds(shape, n) * tasks**0.5 * shape.normal_passes
    normal = model if found.normal_seconds is None else found.normal_seconds
    # What a pass takes beyond the arithmetic is reading, and every pass has to read.
    read = max(normal - model, 0.0) / shape.normal_passes
    more = max(n / found.sample, 1.0)

    held_rows = found.exact.support**3  # a factorisation takes the cube of its rows
    exact = found.exact.step_seconds * len(found.exact.errors)
    if more > 1:
        exact = max(slow * held_rows * exact_seconds(shape, n, tasks, loss), _grown(exact, more**2))
        exact += slow * _PAIR * n * n
    gram = gram_seconds(shape, n)
    costs = [
        Cost(
            method="gram",
            projection="",
            n_components=0,
            steps=len(found.exact.errors),
            passes=1 + shape.normal_passes * len(found.exact.errors),
            seconds=_FIT + slow * gram + read + normal + exact,
            nbytes=fit_bytes(shape, tasks, "gram", len(found.exact.errors), carried=carried),
            note="" if isfinite(gram) else "n × n numbers are too many",
        )
    ]
    direct = slow * direct_seconds(shape, n, tasks, loss)
    often = 1
    if found.direct is not None and isfinite(direct):
        often = found.direct.steps_to(problem.tol)
        longer = max(n / found.direct_sample, 1.0) ** found.direct_growth
        direct = 2.0 * normal / shape.normal_passes + often * _grown(found.direct.step_seconds, longer)
    costs.append(
        Cost(
            method="direct",
            projection="",
            n_components=0,
            steps=often,
            passes=1 + often * shape.normal_passes,
            seconds=_FIT + direct,
            nbytes=fit_bytes(shape, tasks, "direct", often, carried=carried),
            note="" if isfinite(direct) else "needs sparse rows, or float rows in memory, not standardised",
        )
    )

    steps = found.sketched.steps_to(problem.tol)
    grown = 1 if found.sketched.growth > 1.0 else 0
    square = by_gram(n, n_components)
    small = found.sketched.step_seconds
    if more > 1:
        small = slow * small_seconds(shape, n, tasks, loss, n_components) * (held_rows if square else 1.0)
        dense = square and loss == "logistic"  # every row counts, in every factorisation
        small = max(small, _grown(found.sketched.step_seconds, more**2 if dense else more))
    nbytes = fit_bytes(shape, tasks, "sketch", steps, n_components, carried)
    too_wide = n_components >= shape.shape[1]
    for family in FAMILIES:
        once = read + slow * (sketch_seconds(shape, n, family, n_components) + model_seconds(n, n_components))
        seconds = _FIT + (1 + grown) * once + steps * (normal + small)
        costs.append(
            Cost(
                method="sketch",
                projection=family,
                n_components=n_components,
                steps=steps,
                passes=1 + grown + steps * shape.normal_passes,
                seconds=inf if too_wide else seconds,
                nbytes=nbytes,
                note="no fewer columns than there are features" if too_wide else "",
            )
        )
    return tuple(costs)


def _grown(seconds: float, factor: float) -> float:
    """Return the time for more rows than were rehearsed: what any step takes does not grow."""
    return min(seconds, SMALLEST_STEP) + factor * max(seconds - SMALLEST_STEP, 0.0)
