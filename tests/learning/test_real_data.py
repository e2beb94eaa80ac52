"""Real data: no certificate is violated by an independent float64 solution, and the steps that are promised suffice.

The full tier runs a part of the cases on some of the sets, the nightly tier on all of them; SLIMLINE_FULL=1 runs every
loss, C, intercept and standardising.
"""

import itertools
import os
import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from slimline import CertifiedClassifier
from slimline.learning import LOSSES, membership
from tests.estimators.certified import usual_constant
from tests.learning.real_sets import (
    NAMES,
    as_dense,
    exact_on,
    filled,
    real_set,
    some_rows,
    standardised,
)
from tests.learning.steps_table import REGRESSION_LOSSES, free_steps, row_scaled, steps_to
from tests.tiers import rest_nightly

pytestmark = [pytest.mark.data, pytest.mark.slow]
FULL = os.environ.get("SLIMLINE_FULL") == "1"
ROWS = 300 if FULL else 80
SETTINGS = list(itertools.product([1e-3, 1.0, 1e3], LOSSES, [False, True], [False, True]))


def chosen_settings(name):
    """Return what is run for a set: everything, or every seventh, from another start for each set."""
    return SETTINGS if FULL else SETTINGS[NAMES.index(name) % 7 :: 7]


def methods_of(name, standardise):
    """Return the routes that there are: the rows themselves where they are stored as they are used."""
    return ("gram", "sketch") if standardise or name == "hapmap3" else ("gram", "sketch", "direct")


@cache
def gram_and_data(folder, name, intercept, standardise):
    rows = some_rows(real_set(folder, name)[1], ROWS)
    X = as_dense(folder, name, rows)
    X = standardised(X) if standardise else filled(X)
    X = np.column_stack([X, np.full(len(X), usual_constant(X) if intercept else 0.0)])
    return X, X @ X.T


def trained(folder, name, method, C, loss, intercept, standardise):
    X, y = real_set(folder, name)
    rows = some_rows(y, ROWS)
    if name == "hapmap3":
        part = X.rows(rows)
        X = part if standardise else part.standardised(None, None, "mean")
    else:
        X = X[rows]
    model = CertifiedClassifier(
        C,
        loss=loss,
        method=method,
        n_components=max(1, X.shape[1] // 4),
        fit_intercept=intercept,
        intercept="penalised",  # test_real_covariates.py has free ones
        standardize=standardise,
        max_passes=20,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # raw data and C = 1000: the certificate says so
        model.fit(X, y[rows])
    assert model.route_.method == method
    proved = model.certified(X)
    return model, proved


def violations(model, proved, X, truth, slack, k=20):
    """Return the names of the claims that the exact solution contradicts."""
    certificate = model.certificate_
    slack = slack + 1e-12 * np.linalg.norm(truth)  # statistics of columns, computed twice
    bad = []
    if np.linalg.norm(certificate.weights[0] - truth) > certificate.radius[0] + slack:
        bad.append("norm")
    if np.linalg.norm(certificate.weights[0] - truth) / np.linalg.norm(truth) > certificate.relative_error[0] + 1e-9:
        bad.append("relative error")
    w = truth[:-1]
    if np.any(np.abs(certificate.interval_centre[0] - w) > certificate.interval_radius[0] + slack):
        bad.append("intervals")
    inside = certificate.coordinate_radius[0] / (1.0 if model._factor is None else np.abs(model._factor))
    if np.any(np.abs(certificate.weights[0, :-1] - w) > inside * (1 + 1e-12) + slack):
        bad.append("coordinates")
    scores = X @ truth
    wrong = (X @ certificate.weights[0] > 0) != (scores > 0)
    if np.any(wrong & proved & (np.abs(scores) > slack * np.linalg.norm(X, axis=1))):
        bad.append("predictions")
    surely_in, surely_out = membership(certificate.interval_centre[0], certificate.interval_radius[0], k)
    order = np.sort(np.abs(w))[::-1]
    if np.any(np.abs(w[surely_in]) < order[k - 1] - 2 * slack) or np.any(np.abs(w[surely_out]) > order[k] + 2 * slack):
        bad.append("top features")
    return bad


#: Of the sets of each kind (spectra, genes, words, genotypes), one is in the full tier.
TIERED = rest_nightly(["arcene", "golub", "newsgroups", "farm ads", "hapmap3"], NAMES)


@pytest.mark.parametrize("name", TIERED)
def test_no_certificate_is_violated(data_dir, name):
    failed, tightest = [], np.inf
    for C, loss, intercept, standardise in chosen_settings(name):
        X, K = gram_and_data(data_dir, name, intercept, standardise)
        y = real_set(data_dir, name)[1][some_rows(real_set(data_dir, name)[1], ROWS)]
        truth, slack = exact_on(loss, X, K, y, 1.0 / C)
        for method in methods_of(name, standardise):
            model, proved = trained(data_dir, name, method, C, loss, intercept, standardise)
            bad = violations(model, proved, X, truth, slack)
            certified = float(model.certificate_.relative_error[0])
            tightest = min(tightest, certified)
            if FULL:
                true = np.linalg.norm(model.certificate_.weights[0] - truth) / np.linalg.norm(truth)
                print(
                    f"{name}|{loss}|C={C:g}|intercept={intercept:d}|standardise={standardise:d}|{method}"
                    f"|steps={model.n_iter_}|passes={model.n_passes_}|certified={certified:.1e}|true={true:.1e}"
                    f"|proved={proved.mean():.2f}|{','.join(bad) or 'ok'}",
                    flush=True,
                )
            if bad:
                failed.append((C, loss, intercept, standardise, method, bad))
    gram_and_data.cache_clear()
    assert not failed
    assert tightest < 1e-2  # what holds because it says nothing is no success


@pytest.mark.parametrize(
    "name", rest_nightly(["newsgroups", "rcv1"], ["newsgroups", "rcv1", "farm ads", "dorothea", "dorothea scaled"])
)
def test_no_certificate_of_sparse_rows_is_violated(data_dir, name):
    """Every loss on every sparse set, with more rows than above: nothing but the data is gone through."""
    y = real_set(data_dir, name)[1]
    rows = some_rows(y, 600 if FULL else 200)
    X = as_dense(data_dir, name, rows)
    X = np.column_stack([X, np.full(len(rows), usual_constant(X))])
    K, failed = X @ X.T, []
    for loss, C in itertools.product(LOSSES, [1e-3, 1.0, 1e3] if FULL else [1.0]):
        truth, slack = exact_on(loss, X, K, y[rows], 1.0 / C)
        model = CertifiedClassifier(C, loss=loss, method="direct", intercept="penalised")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(real_set(data_dir, name)[0][rows], y[rows])
        bad = violations(model, model.certified(X[:, :-1]), X, truth, slack)
        if bad:
            failed.append((loss, C, bad))
        assert C > 1.0 or model.certificate_.relative_error[0] <= 1e-2, (loss, C)
    assert not failed


SETS = [name for name in NAMES if name != "dorothea"]
STEP_LIMITS = {"squared": (4, 8), "squared_hinge": (4, 8), "logistic": (3, 5)}


@pytest.mark.parametrize("loss", list(STEP_LIMITS))
@pytest.mark.parametrize("name", SETS)
def test_few_steps_are_enough_on_rows_of_norm_one(data_dir, name, loss):
    (first, second), _ = steps_to(*row_scaled(data_dir, name), loss)
    assert first is not None
    assert second is not None
    assert first[0] <= STEP_LIMITS[loss][0]
    assert second[0] <= STEP_LIMITS[loss][1]


SMOOTH = [*(("classes", loss) for loss in STEP_LIMITS), *(("trait", loss) for loss in REGRESSION_LOSSES)]


@pytest.mark.parametrize(("name", "task", "loss"), rest_nightly(
    [("golub", "classes", "logistic"), ("newsgroups", "trait", "huber"), ("hapmap3", "classes", "squared_hinge")],
    [(name, *smooth) for name in SETS for smooth in SMOOTH],
))  # fmt: skip
def test_columns_without_a_penalty_take_no_more_steps(data_dir, name, task, loss):
    found = free_steps(data_dir, name, loss, task)
    assert None not in found.penalised
    assert found.exceeding == []


@pytest.mark.parametrize("name", ["golub", "rcv1", "dorothea scaled"])
def test_the_hinge_gets_better_with_every_step(data_dir, name):
    _, model = steps_to(*row_scaled(data_dir, name), "hinge", (1e-3,))
    primal, dual = ([getattr(step, side)[0] for step in model.history_] for side in ("primal", "dual"))
    assert np.all(np.diff(primal) <= 1e-13 * primal[0])
    assert np.all(np.diff(dual) >= -1e-13 * primal[0])
    assert model.certificate_.relative_error[0] < 0.2
