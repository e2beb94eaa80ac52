"""From checked data to an outcome: routes, projections and recovery wired together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from slimline.estimators.make_projection import transformer_of
from slimline.planning import Route
from slimline.projections import Projection
from slimline.recovery import (
    Model,
    Outcome,
    Step,
    Task,
    TrainingData,
    direct_model,
    exact_model,
    growing,
    recover_certified,
    recover_dual,
    recover_iterative,
    recover_naive,
    sketch_model,
)
from slimline.recovery.build import EXACT

RECOVERIES = ("certified", "dual", "iterative", "naive")
#: A sketch may grow to so many components for each sample.
_MOST_COMPONENTS = 64
#: And to so many bytes.
_SKETCH_BYTES = 1 << 30


@dataclass(frozen=True)
class Fitting:
    """How an outcome is to be reached.

    Parameters
    ----------
    route : Route
        Sketch, Gram matrix or the data themselves.
    recovery : str
        One of `RECOVERIES`.
    projection : str or transformer
        Family, or a projection transformer.
    seed : int
        Of the projection.
    tol : float
        Certified relative error to stop at.
    max_passes : int
        Passes at most.
    may_switch : bool
        Whether another route may be taken where the sketch turns out to be too slow.
    drawn : list of Projection
        Projections that were drawn, in their order.
    """

    route: Route
    recovery: str
    projection: Any
    seed: int
    tol: float
    max_passes: int
    may_switch: bool = False
    drawn: list[Projection] = field(default_factory=list)

    def model(self, data: TrainingData, penalty: float) -> Model:
        """Return what stands for the data in small problems.

        Parameters
        ----------
        data : TrainingData
            X.
        penalty : float
            The smallest λ that it is to be used with; 0 where that is not known.

        Returns
        -------
        model : Model
            Exact, of a sketch, or the rows themselves.
        """
        if self.route.method == "gram":
            return exact_model(data)
        if self.route.method == "direct":
            return direct_model(data)
        first = self.draw(data.shape[1], 0, self.route.n_components)
        return sketch_model(data, first, penalty=penalty)

    def outcome(
        self, data: TrainingData, tasks: Sequence[Task], on_step: Callable[[Step], None], model: Model | None = None
    ) -> Outcome:
        """Return what is reached for all tasks together.

        Parameters
        ----------
        data : TrainingData
            X.
        tasks : sequence of Task
            Problems over its rows.
        on_step : callable
            Told of every step.
        model : Model, optional
            One that was made before.

        Returns
        -------
        outcome : Outcome
            Points, proofs and history.
        """
        n, d = data.shape
        most = data.passes + self.max_passes
        penalty = min(task.penalty for task in tasks)
        if self.route.method == "gram":
            model = model or self.model(data, penalty)
            most = data.passes + 6 * data.passes_of_a_step
            return recover_certified(data, tasks, model, tol=min(self.tol, EXACT), max_passes=most, on_step=on_step)
        if self.recovery == "naive":
            first = self.draw(d, 0, self.route.n_components)
            Z: NDArray[Any] = data.sketch(first)
            return recover_naive(data, tasks, sketch_model(data, first, Z, penalty), Z, first, on_step=on_step)
        model = model or self.model(data, penalty)
        if self.recovery == "dual":
            return recover_dual(data, tasks, model, on_step=on_step)
        limits: dict[str, Any] = {"tol": self.tol, "max_passes": most, "on_step": on_step}
        if self.route.method == "direct":
            return recover_certified(data, tasks, model, **limits)
        if self.recovery == "iterative":
            return recover_iterative(data, tasks, model, **limits)
        largest = min(_MOST_COMPONENTS * n, d, _SKETCH_BYTES // (4 * n))
        grow = growing(data, lambda k, components: self.draw(d, k, components), largest, penalty)

        def improve(model: Model, steps_left: float) -> Model | None:
            return self._other_model(data, model, steps_left) or grow(model, steps_left)

        return recover_certified(data, tasks, model, improve=improve, **limits)

    def _other_model(self, data: TrainingData, model: Model, steps_left: float) -> Model | None:
        """Return the data themselves where so many steps with the sketch would take longer.

        The cost model counts on a sketch that contracts well. It does not where C is large for the scale of the data,
        which nobody knows before the first steps.
        """
        route = self.route
        if not self.may_switch or model.exact or model.lossless:
            return None
        if steps_left * route.step_seconds <= min(route.gram_seconds, route.direct_seconds):
            return None
        return exact_model(data) if route.gram_seconds <= route.direct_seconds else direct_model(data)

    def draw(self, n_features: int, number: int, n_components: int) -> Projection:
        """Return the projection of the first sketch (0) or of a later one.

        Parameters
        ----------
        n_features : int
            d.
        number : int
            Which one.
        n_components : int
            r.

        Returns
        -------
        projection : Projection
            Frozen.
        """
        projection = frozen_projection(self.projection, n_features, n_components, self.seed + number)
        self.drawn.append(projection)
        return projection


def frozen_projection(projection: Any, n_features: int, n_components: int, seed: int) -> Projection:
    """Return the frozen projection that a family name or a transformer stands for.

    Parameters
    ----------
    projection : str or transformer
        A name of `make_projection`, or one of the projection transformers.
    n_features, n_components : int
        Sizes.
    seed : int
        Seed.

    Returns
    -------
    projection : Projection
        Of these sizes.
    """
    transformer = transformer_of(projection, n_components).set_params(random_state=int(seed % (2**32)))
    frozen: Projection = transformer.projection_for((1, n_features))
    return frozen
