"""Degenerate data: the right answer or a clear error, and a certificate that is never wrong."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from slimline import CertifiedClassifier
from slimline.errors import DataError, SlimlineError
from slimline.learning import LOSSES, membership
from tests.learning.attack import KINDS, nasty
from tests.learning.exact import as_floats, distance, exact_weights
from tests.learning.exact_free import exact_optimum
from tests.tiers import each_once, pairs_then_all

NAMES = list(LOSSES)


def fitted(X, y, **parameters):
    """Return the model; that the certificate says what it could not prove is no failure here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return CertifiedClassifier(random_state=0, **parameters).fit(X, y)


def seen_by(model, X):
    """Return what the model was trained on: standardised by its own statistics, with the constant column."""
    X = np.asarray(X, dtype=np.float64)
    if model._centre is not None:
        X = (X.astype(np.longdouble) - model._centre) * model._factor
    return np.column_stack([X, np.full(len(X), model.intercept_scaling_)]).astype(np.float64)


def exact_model(model, whole, y, C):
    """Return the exact weights, a zero of the constant column among them, and a free intercept; None: not found."""
    if model._free is None:
        return exact_weights(model.loss, whole, y.astype(float), np.ones(len(y)), 1.0 / C), 0.0
    n = len(y)
    loss, ones = LOSSES[model.loss], np.ones(n)
    found = exact_optimum(loss, whole[:, :-1], y.astype(float), ones, 1.0 / C, np.zeros(n), ones[:, None])
    if found is None:
        return None
    w, b, _ = found
    return [*w, type(w[0])(0)], float(b[0])


def check(model, X, y, C, where):
    """Hold all claims of a model against the exact optimum; return the error, or None where no optimum is found."""
    whole = seen_by(model, X)
    found = exact_model(model, whole, y, C)
    if found is None:  # Newton steps in decimals do not get there
        assert model.loss == "logistic", where
        return None
    exact, intercept = found
    certificate = model.certificate_
    # a standardised column is itself rounded, which the products are not
    slack = 0.0 if model._centre is None else 1e-12 * np.linalg.norm(as_floats(exact))
    assert np.isfinite(certificate.weights).all(), where
    assert not np.isnan(certificate.radius).any(), where
    off = distance(exact, certificate.weights[0])
    assert off <= certificate.radius[0] * (1 + 1e-14) + slack, (where, off, certificate.radius)
    for j in range(X.shape[1]):
        one = exact[j : j + 1]
        near = distance(one, certificate.interval_centre[0, j : j + 1])
        assert near <= certificate.interval_radius[0, j] * (1 + 1e-14) + slack, (where, j)
    scores = whole @ as_floats(exact) + intercept
    proved = model.certified(X)
    expected = scores > 0
    np.testing.assert_array_equal((model.predict(X) == 1)[proved], expected[proved], err_msg=str(where))
    surely_in, _ = membership(certificate.interval_centre[0], certificate.interval_radius[0], 1)
    sizes = np.abs(as_floats(exact)[:-1])
    assert np.all(sizes[surely_in] >= sizes.max() - slack), where
    return off


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["gram", "sketch"])
def test_nasty_data_of_every_kind(name, method):
    rng = np.random.default_rng([NAMES.index(name), method == "sketch"])
    cases = list(itertools.product(KINDS, [False, True], [False, True]))
    checked = 0
    for number, (kind, intercept, standardise) in enumerate(cases):
        for C in ([1e-6, 1.0, 1e6][number % 3],):
            n, d = int(rng.integers(2, 5)), int(rng.integers(2, 5))
            X, y = nasty(rng, kind, n, d)
            y[:2] = [-1, 1]
            model = fitted(
                X,
                y,
                C=C,
                loss=name,
                method=method,
                n_components=1 if method == "sketch" else "auto",
                fit_intercept=intercept,
                standardize=standardise,
                max_passes=12,
            )
            if standardise and kind in ("huge", "minute"):
                assert np.isfinite(model.coef_).all()
            checked += check(model, X, y, C, (kind, n, d, C, intercept, standardise)) is not None
    assert checked > 0.7 * len(cases)


@pytest.mark.parametrize("name", NAMES)
def test_separable_data_with_hardly_any_penalty(name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4, 4))
    y = np.array([-1, 1, -1, 1])
    X[:, 0] = 2.0 * y
    model = fitted(X, y, C=1e6, loss=name, fit_intercept=False)
    check(model, X, y, 1e6, "separable")
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["gram", "sketch"])
def test_one_sample_a_class(name, method):
    X = np.eye(3) + 0.1 * np.random.default_rng(1).standard_normal((3, 3))
    model = fitted(X, np.array(["a", "b", "c"]), loss=name, method=method, n_components=2, tol=1e-6)
    np.testing.assert_array_equal(model.predict(X), ["a", "b", "c"])
    for k in range(3):
        y = np.where(np.arange(3) == k, 1.0, -1.0)
        exact, _ = exact_model(model, seen_by(model, X), y, 1.0)
        assert distance(exact, model.certificate_.weights[k]) <= model.certificate_.radius[k] * (1 + 1e-14)


@pytest.mark.parametrize(
    "name, scale, dtype, sparse", pairs_then_all(NAMES, [1e-30, 1e30], [np.float32, np.float64], [False, True])
)
def test_scales_far_from_one(name, scale, dtype, sparse):
    rng = np.random.default_rng(2)
    X = (rng.standard_normal((4, 4)) * scale).astype(dtype)
    y = np.array([-1, 1, 1, -1])
    data = sp.csr_array(X) if sparse else X
    for method, C in itertools.product(("gram", "sketch"), (1.0, scale**-2)):
        model = fitted(data, y, C=C, loss=name, method=method, n_components=2, fit_intercept=False, max_passes=20)
        off = check(model, X, y, C, (scale, method, C))
        if C != 1.0:  # the penalty is on the scale of the data: that is as easy as with numbers near 1
            assert model.certificate_.relative_error[0] <= 1e-2
            assert off <= 1e-2 * np.linalg.norm(model.coef_) * 1.02


@pytest.mark.parametrize("name", NAMES)
def test_data_that_say_nothing(name):
    y = np.array([-1, 1, 1, -1])
    for X in (np.zeros((4, 3)), np.ones((4, 3)), np.full((4, 3), 1e6)):
        for intercept, standardise in itertools.product([False, True], [False, True]):
            model = fitted(X, y, loss=name, fit_intercept=intercept, standardize=standardise)
            check(model, X, y, 1.0, (X[0, 0], intercept, standardise))
            if X[0, 0] == 0 or standardise:
                np.testing.assert_array_equal(model.coef_, 0.0)


@pytest.mark.parametrize(
    "name, recovery", each_once(NAMES, ["naive", "dual", "debiased_dual", "iterative", "certified"])
)
def test_fewer_features_than_components(name, recovery):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4, 2))
    y = np.array([-1, 1, 1, -1])
    model = fitted(X, y, loss=name, method="sketch", recovery=recovery, n_components=500)
    assert model.route_.method == "gram" and model.certificate_.relative_error[0] <= 1e-2
    check(model, X, y, 1.0, "d < r")


@pytest.mark.parametrize("name", NAMES)
def test_duplicate_columns_share_their_weight(name):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((20, 3))
    y = np.where(x[:, 0] > 0, 1, -1)
    X = np.hstack([x, x, x])
    model = fitted(X, y, loss=name, tol=1e-6)
    shares = model.coef_.reshape(3, 3)
    np.testing.assert_allclose(shares[0], shares[1], atol=1e-12)
    np.testing.assert_allclose(shares[0], shares[2], atol=1e-12)


@pytest.mark.parametrize(
    "X, y, message",
    [
        (np.ones((3, 2)), [1, 1, 1], "only one class"),
        (np.array([[np.nan, 1.0], [0.0, 1.0]]), [0, 1], "NaN"),
        (np.array([[np.inf, 1.0], [0.0, 1.0]]), [0, 1], "infinit"),
        (np.full((4, 3), 1e300) * [[1], [-1], [2], [3]], [0, 1, 0, 1], r"too large|overflow|range|exceed"),
    ],
    ids=["one class", "NaN", "infinity", "squares that overflow"],
)
@pytest.mark.parametrize("method", ["gram", "sketch"])
def test_what_cannot_be_is_refused(X, y, message, method):
    with pytest.raises((SlimlineError, ValueError), match=message):
        CertifiedClassifier(method=method, n_components=1, fit_intercept=False).fit(X, y)


def test_one_class_left_by_the_weights():
    with pytest.raises(DataError):
        CertifiedClassifier().fit(np.eye(3), [0, 1, 1], sample_weight=[0, 1, 1])
