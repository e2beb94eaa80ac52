"""scikit-learn's callbacks, where the installed version has them (1.9 and later)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Frames that `with_callbacks` puts between a method and its caller: for warnings that point to the caller.
FRAMES_OF_WITH_CALLBACKS = 1
try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    FRAMES_OF_WITH_CALLBACKS = 0

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in: no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is."""
        return method


class StepCallbacks:
    """Tells the callbacks of an estimator about the steps of its fit.

    Parameters
    ----------
    estimator : object
        What is being fitted.
    X, y : object
        What `fit` was given.
    """

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
        """Tell that the fit is over.

        Parameters
        ----------
        X, y : object
            What `fit` was given.
        """
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator, X=X, y=y)


__all__ = ["FRAMES_OF_WITH_CALLBACKS", "CallbackSupportMixin", "StepCallbacks", "with_callbacks"]
