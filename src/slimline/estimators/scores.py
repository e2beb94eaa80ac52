"""From the scores of the classes to labels and probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

Floats = NDArray[np.float64]


def class_of_scores(scores: Floats) -> NDArray[np.intp]:
    """Return the number of the class with the highest score.

    Parameters
    ----------
    scores : array of shape (n_samples,) or (n_samples, n_classes)
        For two classes one score: above 0 means the second.

    Returns
    -------
    index : array of shape (n_samples,)
        Class numbers.
    """
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


def log_probabilities(scores: Floats) -> Floats:
    """Return logarithms of the probabilities that the logistic loss gives each class; none is infinite.

    Parameters
    ----------
    scores : array of shape (n_samples,) or (n_samples, n_classes)
        One against the rest where there are more than two.

    Returns
    -------
    logarithms : array of shape (n_samples, n_classes)
        Of probabilities that sum to 1.
    """
    if scores.ndim == 1:
        return np.column_stack([log_expit(-scores), log_expit(scores)])
    each = log_expit(scores)
    return np.asarray(each - logsumexp(each, axis=1, keepdims=True))


def probabilities(scores: Floats) -> Floats:
    """Return the probabilities that the logistic loss gives each class.

    Parameters
    ----------
    scores : array of shape (n_samples,) or (n_samples, n_classes)
        One against the rest where there are more than two.

    Returns
    -------
    probability : array of shape (n_samples, n_classes)
        They sum to 1.
    """
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return np.exp(log_probabilities(scores))
