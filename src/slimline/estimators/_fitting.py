"""One certified fit: parameters, callbacks, route and result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError
from slimline.learning import (
    BinaryProblem,
    Outcome,
    Step,
    Surrogate,
    TrainingData,
    direct_surrogate,
    exact_surrogate,
    growing,
    loss_named,
    recover_certified,
    recover_dual,
    recover_iterative,
    recover_naive,
    sketch_surrogate,
)
from slimline.learning.surrogate import EXACT
from slimline.learning.training_data import AUTO
from slimline.planning import Route
from slimline.projections import Projection
from slimline.projections._families import frozen_projection, require_family


class CallbackSupport:
    """What scikit-learn asks of an estimator that calls callbacks; nothing of it is imported before there is one."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks of `fit`; needs scikit-learn 1.9 or later.

        Parameters
        ----------
        *callbacks : callback instances
            For instance `sklearn.callback.ProgressBar()`.

        Returns
        -------
        self : object
            The estimator.
        """
        from sklearn.callback import CallbackSupportMixin

        CallbackSupportMixin.set_callbacks(self, *callbacks)
        return self

    def _init_callback_context(self, **options: Any) -> Any:
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin._init_callback_context(self, **options)

    def _with_callbacks(self, method: Any, *arguments: Any) -> Any:
        """Call a method, and afterwards let go of the callbacks that it used."""
        if not getattr(self, "_skl_callbacks", None):
            return method(self, *arguments)
        from sklearn.callback import with_callbacks

        return with_callbacks(method)(self, *arguments)


class StepCallbacks:
    """Tells the callbacks of an estimator about the steps of its fit."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self._estimator = estimator
        self._context = None
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def step(self) -> None:
        """Tell of one step."""
        if self._context is not None:
            part = self._context.subcontext(task_name="step")
            part.call_on_fit_task_begin(estimator=self._estimator)
            part.call_on_fit_task_end(estimator=self._estimator)

    def end(self, X: Any, y: Any) -> None:
        """Tell that the fit is over."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator, X=X, y=y)


Floats = NDArray[np.float64]


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that cannot work, before any data are read."""
    loss_named(estimator.loss)
    for name in ("C", "tol", "intercept_scaling"):
        value = getattr(estimator, name, 1.0)  # a search over C has no C
        if name == "intercept_scaling" and isinstance(value, str) and value == AUTO:
            continue
        if isinstance(value, bool) or not isinstance(value, Real) or not _size(value) > 0.0:
            either = f'"{AUTO}" or ' if name == "intercept_scaling" else ""
            raise InvalidParameterError(f"must be {either}a number above 0; got {value!r}.", name, value)
        if not 1e-100 <= _size(value) <= 1e100:
            raise InvalidParameterError(f"{name}={value!r:.50} is beyond what can be computed with: 1e-100 to 1e100.")
    for name, choices in (("method", ("auto", "sketch", "gram", "direct")), ("recovery", RECOVERIES)):
        if getattr(estimator, name) not in choices:
            raise InvalidParameterError(
                f"must be one of {choices}; got {getattr(estimator, name)!r}.", name, getattr(estimator, name)
            )
    for name in ("fit_intercept", "standardize"):
        if not isinstance(getattr(estimator, name), (bool, np.bool_, Integral)):
            raise InvalidParameterError(
                f"must be True or False; got {getattr(estimator, name)!r:.50}.", name, getattr(estimator, name)
            )
    require_family(estimator.projection)  # whichever route is taken
    r = estimator.n_components
    if r != "auto" and (isinstance(r, bool) or not isinstance(r, Integral) or r < 1):
        raise InvalidParameterError(f'must be "auto" or a whole number above 0; got {r!r}.', "n_components")
    if (
        isinstance(estimator.max_passes, bool)
        or not isinstance(estimator.max_passes, Integral)
        or estimator.max_passes < 1
    ):
        raise InvalidParameterError(f"must be a whole number above 0; got {estimator.max_passes!r}.", "max_passes")
    if estimator.recovery != "certified" and estimator.method not in ("auto", "sketch"):
        raise InvalidParameterError(
            f"recovery={estimator.recovery!r} needs a sketch: it cannot go with method={estimator.method!r}."
        )


def _size(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of more digits than a float has
        return float("inf") if value > 0 else float("-inf")  # type: ignore[operator]


def effective_samples(weight: Floats) -> float:
    """Return how many samples the cost model should think of: a weight of 2 is a row that comes twice."""
    n = len(weight)
    return float(np.clip(weight.sum(), n / 16.0, n * 16.0))


def require_weights(weight: Floats) -> None:
    """Refuse weights that cannot be computed with."""
    if not (weight.min() >= 1e-100 and weight.max() <= 1e100):
        raise InvalidParameterError("weights beyond 1e-100 to 1e100 cannot be computed with: rescale sample_weight.")


RECOVERIES = ("certified", "dual", "iterative", "naive")
#: A sketch may grow to so many components for each sample.
_MOST_COMPONENTS = 64
#: And to so many bytes.
_SKETCH_BYTES = 1 << 30


@dataclass(frozen=True)
class Fitting:
    """How an outcome is to be reached."""

    #: Sketch, Gram matrix or the data themselves.
    route: Route
    #: One of `RECOVERIES`.
    recovery: str
    #: Family, or a projection transformer.
    projection: Any
    #: Of the projection.
    seed: int
    #: Certified relative error to stop at.
    tol: float
    #: Passes at most.
    max_passes: int
    #: Whether another route may be taken where the sketch turns out to be too slow.
    may_switch: bool = False
    #: Projections that were drawn, in their order.
    drawn: list[Projection] = field(default_factory=list)

    def model(self, data: TrainingData, penalty: float) -> Surrogate:
        """Return what stands for the data in small problems."""
        if self.route.method == "gram":
            return exact_surrogate(data)
        if self.route.method == "direct":
            return direct_surrogate(data)
        first = self.draw(data.shape[1], 0, self.route.n_components)
        return sketch_surrogate(data, first, penalty=penalty)

    def outcome(
        self,
        data: TrainingData,
        tasks: Sequence[BinaryProblem],
        on_step: Callable[[Step], None],
        model: Surrogate | None = None,
    ) -> Outcome:
        """Return what is reached for all tasks together."""
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
            return recover_naive(data, tasks, sketch_surrogate(data, first, Z, penalty), Z, first, on_step=on_step)
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

        def improve(model: Surrogate, steps_left: float) -> Surrogate | None:
            return self._other_model(data, model, steps_left) or grow(model, steps_left)

        return recover_certified(data, tasks, model, improve=improve, **limits)

    def _other_model(self, data: TrainingData, model: Surrogate, steps_left: float) -> Surrogate | None:
        """Return the data themselves where so many steps with the sketch would take longer.

        The cost model counts on a sketch that contracts well. It does not where C is large for the scale of the data,
        which nobody knows before the first steps.
        """
        route = self.route
        if not self.may_switch or model.exact or model.is_full_problem:
            return None
        if steps_left * route.step_seconds <= min(route.gram_seconds, route.direct_seconds):
            return None
        return exact_surrogate(data) if route.gram_seconds <= route.direct_seconds else direct_surrogate(data)

    def draw(self, n_features: int, number: int, n_components: int) -> Projection:
        """Return the projection of the first sketch (0) or of a later one."""
        projection = frozen_projection(self.projection, n_features, n_components, (self.seed + number) % 2**32)
        self.drawn.append(projection)
        return projection
