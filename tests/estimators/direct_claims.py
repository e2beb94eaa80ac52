"""Helpers of tests of method="direct": sparse data, and every claim held against the exact weights."""

import numpy as np
import scipy.sparse as sp

from slimline.learning import membership
from tests.estimators.certified import exact, usual_constant


def thin(seed=0, n=60, d=300, classes=2, share=0.1):
    """Return an array most of whose values are 0, with an empty row, an empty column and repeated rows, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < share)
    X[3], X[:, 5] = 0.0, 0.0
    X[7] = X[8]
    X[:, 9] = X[:, 8]
    y = np.argmax(X @ rng.standard_normal((d, classes)) + rng.standard_normal((n, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return X, y


STORAGES = {
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "csr32": lambda X: sp.csr_array(X.astype(np.float32)),
    "array": np.ascontiguousarray,
    "array32": lambda X: X.astype(np.float32),
}


def signs_of(y):
    """Return labels of 0 and 1 for each task."""
    classes = np.unique(y)
    return [(y == k).astype(int) for k in (classes[1:] if len(classes) == 2 else classes)]


def check_claims(model, X, y, loss, C, s=None, constant=None, k=10):
    """Hold the certificate of a fit to X, an array of float64, against optima with bounds of their own error."""
    constant = usual_constant(X, s) if constant is None else constant
    certificate, whole = model.certificate_, np.column_stack([X, np.full(len(y), constant)])
    scores, slacks = [], []
    for task, sign in enumerate(signs_of(y)):
        truth, slack = exact(X, sign, loss, C, s, constant)
        away = np.linalg.norm(certificate.weights[task] - truth)
        assert away <= certificate.radius[task] + slack
        assert away <= certificate.relative_error[task] * np.linalg.norm(truth) + slack
        w = truth[:-1]
        centre, around = certificate.interval_centre[task], certificate.interval_radius[task]
        assert np.all(np.abs(centre - w) <= around + slack)
        assert np.all(np.abs(certificate.weights[task, :-1] - w) <= certificate.coordinate_radius[task] + slack)
        surely_in, surely_out = membership(centre, around, k)
        order = np.sort(np.abs(w))[::-1]
        assert np.all(np.abs(w[surely_in]) >= order[k - 1] - 2 * slack)
        assert np.all(np.abs(w[surely_out]) <= order[k] + 2 * slack)
        np.testing.assert_array_equal(model.coef_[task], certificate.weights[task, :-1])
        np.testing.assert_allclose(model.intercept_[task], constant * certificate.weights[task, -1], rtol=1e-12)
        scores.append(whole @ truth)
        slacks.append(slack * np.linalg.norm(whole, axis=1))
    proved, predicted = model.certified(X), model.predict(X)
    if len(scores) == 1:
        best, sure = (scores[0] > 0).astype(int), np.abs(scores[0]) > slacks[0]
    else:
        order = np.sort(scores, axis=0)
        best, sure = np.argmax(scores, axis=0), order[-1] - order[-2] > 2 * np.max(slacks, axis=0)
    assert np.all((predicted == model.classes_[best])[proved & sure])
    return proved
