"""What each way to the certified weights will cost: the cost model, corrected by what was measured on the sample."""

from __future__ import annotations

from math import inf, isfinite

from slimline.planning.costs import (
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
from slimline.planning.problem import Problem
from slimline.planning.records import Cost
from slimline.planning.shape import DataShape
from slimline.recovery.build import GRAM_SAMPLES

FAMILIES = ("osnap", "cw", "srht", "very_sparse", "sign", "achlioptas", "gaussian")
#: Seconds that a fit and a step take however small the data.
_FIT, _STEP = 4e-3, 1.5e-3
#: Vectors of the length of the features, and of the samples, that are held for every task.
_VECTORS = 12


def predict(shape: DataShape, problem: Problem, found: Findings, n_components: int) -> tuple[Cost, ...]:
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

    Returns
    -------
    costs : tuple of Cost
        Sketches by family, the Gram matrix, and the rows themselves.
    """
    n, tasks, loss = float(problem.n_samples), problem.n_tasks, problem.loss
    slow = slowness()
    model = slow * pass_seconds(shape, n) * tasks**0.5 * shape.normal_passes
    normal = model if found.normal_seconds is None else found.normal_seconds
    read = normal / shape.normal_passes
    more = max(n / found.sample, 1.0)
    vectors = 8.0 * _VECTORS * tasks * (shape.shape[1] + problem.n_samples)

    exact = (
        max(slow * exact_seconds(shape, n, tasks, loss), found.exact.step_seconds * more**2)
        if more > 1
        else (found.exact.step_seconds * len(found.exact.errors))
    )
    gram = gram_seconds(shape, n)
    costs = [
        Cost(
            "gram",
            "",
            0,
            len(found.exact.errors),
            1 + shape.normal_passes * len(found.exact.errors),
            _FIT + max(slow * gram, read) + normal + exact,
            vectors + 16.0 * n * min(n, float(shape.shape[1])),
            "" if isfinite(gram) else "n × n numbers are too many",
        )
    ]
    direct = direct_seconds(shape, n, tasks, loss)
    note = "" if isfinite(direct) else "needs sparse rows, or float rows in memory, not standardised"
    copied = 12.0 * shape.cells if shape.density is not None else 0.0
    costs.append(Cost("direct", "", 0, 2, 1 + 2 * shape.normal_passes, _FIT + slow * direct, vectors + copied, note))

    steps = found.sketched.steps_to(problem.tol)
    grown = 1 if found.sketched.growth > 1.0 else 0
    small = found.sketched.step_seconds
    if more > 1:
        small = max(slow * small_seconds(shape, n, tasks, loss, n_components), small * more)
    held = 4.0 * n * n_components + (16.0 * n * n if n <= max(GRAM_SAMPLES, n_components) else 0.0)
    too_wide = n_components >= shape.shape[1]
    for family in FAMILIES:
        once = max(slow * sketch_seconds(shape, n, family, n_components), read) + slow * model_seconds(n, n_components)
        seconds = _FIT + (1 + grown) * once + steps * (_STEP + normal + small)
        costs.append(
            Cost(
                "sketch",
                family,
                n_components,
                steps,
                1 + grown + steps * shape.normal_passes,
                inf if too_wide else seconds,
                vectors + held,
                "no fewer columns than there are features" if too_wide else "",
            )
        )
    return tuple(costs)
