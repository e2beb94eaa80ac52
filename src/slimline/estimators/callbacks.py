"""scikit-learn's callbacks, where the installed version has them (1.9 and later)."""

from __future__ import annotations

from typing import Any, Self


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
