"""One certified fit: parameters, callbacks, and the solver of its route."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import flag, is_auto, number, one_of, whole
from slimline.errors import InvalidParameterError
from slimline.learning import (
    SolverState,
    Step,
    Surrogate,
    TrainingData,
    direct_surrogate,
    exact_surrogate,
    growing,
    recover_certified,
    recover_debiased,
    recover_dual,
    recover_iterative,
    recover_naive,
    sketch_surrogate,
)
from slimline.learning.surrogate import EXACT
from slimline.planning import Route
from slimline.projections import Projection
from slimline.projections._families import frozen_projection, require_family

Floats = NDArray[np.float64]
RECOVERIES = ("certified", "dual", "debiased_dual", "iterative", "naive")
#: A sketch may grow to so many components for each sample.
_MOST_COMPONENTS = 64
#: A sketch may grow to so many bytes.
_SKETCH_BYTES = 1 << 30
#: An exact surrogate needs one step, and others where rounding is in the way.
_EXACT_STEPS = 6


class CallbackSupport:
    """Callbacks of scikit-learn, as an estimator supports them; imported only if there are any."""

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
    """Reports the steps of a fit to the callbacks of its estimator."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self._estimator = estimator
        self._context = None
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def step(self) -> None:
        """Report one step."""
        if self._context is not None:
            part = self._context.subcontext(task_name="step")
            part.call_on_fit_task_begin(estimator=self._estimator)
            part.call_on_fit_task_end(estimator=self._estimator)

    def end(self, X: Any, y: Any) -> None:
        """Report the end of the fit."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator, X=X, y=y)


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that cannot work, before any data are read."""
    one_of("loss", estimator.loss, estimator._losses)
    for name in ("C", "tol", "intercept_scaling"):
        value = getattr(estimator, name, 1.0)  # a search over C has no C
        if name == "intercept_scaling" and is_auto(value):
            continue
        if not 1e-100 <= number(name, value) <= 1e100:
            raise InvalidParameterError(f"must lie between 1e-100 and 1e100; got {value!r:.50}.", name, value)
    one_of("method", estimator.method, ("auto", "sketch", "gram", "direct"))
    one_of("recovery", estimator.recovery, RECOVERIES)
    one_of("intercept", estimator.intercept, ("penalised", "free"))
    if estimator.intercept == "free" and not is_auto(estimator.intercept_scaling):
        raise InvalidParameterError(
            'belongs to intercept="penalised": a free intercept has no penalty to scale.',
            "intercept_scaling",
            estimator.intercept_scaling,
        )
    for name in ("fit_intercept", "standardize", "score_bounds"):
        if not isinstance(getattr(estimator, name), Integral):  # 0 and 1, as scikit-learn accepts them
            flag(name, getattr(estimator, name))
    require_family(estimator.projection)  # whichever route is taken
    if not is_auto(estimator.n_components):
        whole("n_components", estimator.n_components, auto=True)
    whole("max_passes", estimator.max_passes)
    if estimator.recovery != "certified" and estimator.method not in ("auto", "sketch"):
        raise InvalidParameterError(
            f"{estimator.recovery!r} needs a sketch, and method={estimator.method!r} makes none.",
            "recovery",
            estimator.recovery,
        )


def effective_samples(weight: Floats) -> float:
    """Return how many samples the cost model should think of: a weight of 2 is a row that comes twice."""
    n = len(weight)
    return float(np.clip(weight.sum(), n / 16.0, n * 16.0))


def require_weights(weight: Floats) -> None:
    """Refuse weights whose squares are beyond what float64 holds."""
    if not (weight.min() >= 1e-100 and weight.max() <= 1e100):
        raise InvalidParameterError("must lie between 1e-100 and 1e100: rescale the weights.", "sample_weight")


@dataclass
class Solver:
    """Solves problems on the same data by a route: makes the surrogate, takes the steps, replaces a poor surrogate."""

    data: TrainingData
    #: Sketch, Gram matrix or the data themselves.
    route: Route
    #: Certified relative error to stop at.
    tol: float
    #: Passes at most.
    max_passes: int
    #: One of `RECOVERIES`.
    recovery: str = "certified"
    #: Family, or a projection transformer, and its seed.
    projection: Any = "auto"
    seed: int = 0
    #: Whether another route may be taken where the sketch turns out to be too slow.
    may_switch: bool = False
    #: Projections that were drawn, in their order.
    drawn: list[Projection] = field(default_factory=list)
    #: The one in use; those who solve more problems on the same data go on with it.
    surrogate: Surrogate | None = None

    def steps(self, states: Sequence[SolverState]) -> Iterator[Step]:
        """Take steps with all problems together, and yield what each reached."""
        data = self.data
        most = data.passes + self.max_passes
        penalty = min(state.problem.penalty for state in states)
        if self.route.method == "gram":  # whatever the recovery: there is no sketch
            surrogate = self.start(penalty)
            most = data.passes + _EXACT_STEPS * data.passes_of_a_step
            return recover_certified(data, states, surrogate, tol=min(self.tol, EXACT), max_passes=most)
        if self.recovery in ("naive", "debiased_dual"):  # which need the sketch itself
            first = self._draw(0, self.route.n_components)
            Z: NDArray[Any] = data.sketch(first)
            self.surrogate = sketch_surrogate(data, first, Z, penalty)
            if self.recovery == "debiased_dual":
                return recover_debiased(data, states, self.surrogate, Z)
            return recover_naive(data, states, self.surrogate, Z, first)
        surrogate = self.start(penalty)
        if self.recovery == "dual":
            return recover_dual(data, states, surrogate)
        if self.recovery == "iterative":
            return recover_iterative(data, states, surrogate, tol=self.tol, max_passes=most)
        improve = None if self.route.method == "direct" else self._improver(penalty)
        return recover_certified(data, states, surrogate, tol=self.tol, max_passes=most, improve=improve)

    def start(self, penalty: float) -> Surrogate:
        """Return the surrogate to begin with; a sketch is as precise as the smallest penalty needs."""
        if self.surrogate is not None:
            return self.surrogate
        if self.route.method == "gram":
            self.surrogate = exact_surrogate(self.data)
        elif self.route.method == "direct":
            self.surrogate = direct_surrogate(self.data)
        else:
            first = self._draw(0, self.route.n_components)
            self.surrogate = sketch_surrogate(self.data, first, penalty=penalty)
        return self.surrogate

    def _improver(self, penalty: float) -> Callable[[Surrogate, float], Surrogate | None]:
        """Return what makes a better surrogate: a larger sketch, or the data themselves."""
        n, d = self.data.shape
        largest = min(_MOST_COMPONENTS * n, d, _SKETCH_BYTES // (4 * n))
        grow = growing(self.data, self._draw, largest, penalty)

        def improve(surrogate: Surrogate, steps_left: float) -> Surrogate | None:
            better = self._unsketched(surrogate, steps_left) or grow(surrogate, steps_left)
            self.surrogate = better or surrogate
            return better

        return improve

    def _unsketched(self, surrogate: Surrogate, steps_left: float) -> Surrogate | None:
        """Return the data themselves where so many steps with the sketch would take longer.

        The cost model counts on a sketch that contracts well. It does not where C is large for the scale of the data,
        which nobody knows before the first steps.
        """
        route = self.route
        if not self.may_switch or surrogate.exact or surrogate.is_full_problem:
            return None
        if steps_left * route.step_seconds <= min(route.gram_seconds, route.direct_seconds):
            return None
        return exact_surrogate(self.data) if route.gram_seconds <= route.direct_seconds else direct_surrogate(self.data)

    def _draw(self, number: int, n_components: int) -> Projection:
        """Return the projection of the first sketch (0) or of a later one."""
        seed = (self.seed + number) % 2**32
        projection = frozen_projection(self.projection, self.data.shape[1], n_components, seed)
        self.drawn.append(projection)
        return projection
