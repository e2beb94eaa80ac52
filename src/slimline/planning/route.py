"""The cost model: sketch, Gram matrix or the data themselves, and how many components.

Times are those of the parts, from the shapes and from measured speeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from slimline.data import Matrix
from slimline.planning.costs import (
    by_gram,
    direct_seconds,
    exact_seconds,
    gram_seconds,
    model_seconds,
    pass_seconds,
    small_seconds,
)
from slimline.planning.shape import DataShape

#: Steps that a well-chosen sketch takes to a certified error of 1e-2.
_STEPS = 4
#: With about as many components as samples it takes so many times the steps.
_NEAR = 3
#: And so many times with more samples than components; the logistic loss, being flat, hardly feels it.
_SLOWER_BY_ROWS = {"hinge": 4, "squared_hinge": 4, "squared": 2, "logistic": 1}
#: A sketch may take this much memory.
_SKETCH_BYTES = 1 << 29


@dataclass(frozen=True)
class Route:
    """How a problem is solved.

    Parameters
    ----------
    method : str
        "sketch", "gram" or "direct".
    n_components : int
        Components of the sketch; 0 for the others.
    sketch_seconds, gram_seconds, direct_seconds : float
        What the cost model expects of each; infinity where it cannot be used.
    step_seconds : float
        And of one step with the sketch.
    reason : str
        In words.
    """

    method: str
    n_components: int
    sketch_seconds: float
    gram_seconds: float
    direct_seconds: float
    step_seconds: float
    reason: str


def choose_route(
    matrix: Matrix | DataShape,
    samples: float,
    n_tasks: int,
    method: str = "auto",
    n_components: int | str = "auto",
    loss: str = "squared_hinge",
) -> Route:
    """Return the route that the cost model expects to be faster.

    Parameters
    ----------
    matrix : Matrix or DataShape
        X.
    samples : float
        Samples that count: the sum of the sample weights.
    n_tasks : int
        Problems that share the passes: classes.
    method : str
        "auto", "sketch", "gram" or "direct": one that is asked for is taken.
    n_components : int or "auto"
        Components of the sketch.
    loss : str
        The logistic loss, being flatter, needs fewer of them; the hinge takes longest to solve exactly.

    Returns
    -------
    route : Route
        With the times that decided.
    """
    shape = DataShape.of(matrix)
    n, d = max(samples, 1.0), shape.shape[1]
    r = default_components(shape, n, loss) if n_components == "auto" else int(n_components)
    together = pass_seconds(shape, n) * n_tasks**0.5  # a pass with as many right-hand sides as tasks
    gram = gram_seconds(shape, n) + 2.0 * together + exact_seconds(shape, n, n_tasks, loss)
    step = shape.normal_passes * together + small_seconds(shape, n, n_tasks, loss, r)
    slower = _SLOWER_BY_ROWS[loss] if not by_gram(n, r) else 1 if r >= 2 * n else _NEAR
    sketch = 2.0 * pass_seconds(shape, n) + model_seconds(n, r) + _STEPS * slower * step
    direct = direct_seconds(shape, n, n_tasks, loss)
    if method != "auto":
        chosen, reason = method, "asked for"
    elif gram < inf and min(n, d) <= 400:
        chosen, reason = "gram", "the problem is small"
    elif direct < min(sketch, gram):
        chosen, reason = "direct", "going through the rows themselves is expected to be cheaper than a sketch"
    elif gram == inf:
        chosen, reason = "sketch", "the Gram matrix would take too much memory"
    elif d <= r:
        chosen, reason = "gram", "the problem is small"
    else:
        chosen = "gram" if gram <= sketch else "sketch"
        reason = f"the cost model expects {sketch:.2g} s for the sketch and {gram:.2g} s for the Gram matrix"
    if chosen == "sketch" and r >= d:
        chosen, reason = "gram", "a sketch of as many components as there are features saves nothing"
    return Route(chosen, r if chosen == "sketch" else 0, sketch, gram, direct, step, reason)


def default_components(matrix: Matrix | DataShape, samples: float, loss: str) -> int:
    """Return the number of components that "auto" stands for.

    Four times the samples, twice that for standardised columns, whose spectrum is flat, and half of it for the logistic
    loss; up to sixteen times where samples are few, and at most a quarter of the features. Above 5,000 samples the rows
    of the sketch themselves are kept, and 4,096 components are taken.

    Parameters
    ----------
    matrix : Matrix or DataShape
        X.
    samples : float
        Samples that count.
    loss : str
        Its name.

    Returns
    -------
    n_components : int
        A multiple of 64.
    """
    shape = DataShape.of(matrix)
    n, d = max(samples, 1.0), shape.shape[1]
    times = (8.0 if shape.standardised else 4.0) * (0.5 if loss == "logistic" else 1.0)
    wanted = 4096.0 if n > 5000 else max(times * n, min(16.0 * n, 4096.0))
    wanted = min(wanted, d / 4.0, _SKETCH_BYTES / (4.0 * n))
    return max(64, int(wanted) // 64 * 64)
