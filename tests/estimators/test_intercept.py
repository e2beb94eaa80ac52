"""The penalised intercept, in proportion to the weights: its value, its certificate, its use."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from slimline import CertifiedClassifier, CertifiedClassifierCV, open_matrix
from slimline.errors import DataError
from tests.data.plink_files import random_genotypes, write_plink
from tests.estimators.certified import NAMES, usual_constant
from tests.estimators.test_certified_degenerate import check, fitted
from tests.learning.attack import KINDS, nasty
from tests.pairwise import pairwise
from tests.refusals import refuses

penalised = partial(CertifiedClassifier, intercept="penalised")
fitted_penalised = partial(fitted, intercept="penalised")
ROUTES = [
    {"method": "gram"},
    {"method": "sketch", "n_components": 64},
    {"method": "direct"},
    {"recovery": "naive", "n_components": 64},
    {"recovery": "dual", "n_components": 64},
    {"recovery": "debiased_dual", "n_components": 64},
]


def unbalanced(n=60, d=400, seed=0):
    """Return data of two classes, four of one to one of the other, whose means differ a little; features far from 0."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 5 == 0
    X = 3.0 + rng.standard_normal((n, d)) * rng.uniform(0.1, 10.0, d)
    X[y] += 1.0
    return X, y


@pytest.mark.parametrize(
    "route, standardize, container",
    pairwise(
        ROUTES,
        [False, True],
        [np.ascontiguousarray, sp.csr_array, sp.csc_array, np.float32],
        where=lambda route, standardize, _: not standardize or route != {"method": "direct"},
    ),
    ids=str,
)
def test_the_constant_is_the_root_mean_square_norm_of_the_rows_and_takes_no_pass(route, standardize, container):
    X, y = unbalanced()
    stored = container(X)
    settings = {"C": 1e-4, "standardize": standardize, "tol": 0.5, "max_passes": 20, **route}
    model = fitted_penalised(open_matrix(stored), y, **settings)
    rows = stored.toarray() if sp.issparse(stored) else stored
    seen = np.asarray(rows, dtype=np.float64)
    seen = (seen - seen.mean(axis=0)) / seen.std(axis=0) if standardize else seen
    assert model.intercept_scaling_ == pytest.approx(usual_constant(seen), rel=1e-12)
    fixed = fitted_penalised(open_matrix(stored), y, **settings, intercept_scaling=model.intercept_scaling_)
    assert fixed.n_passes_ == model.n_passes_
    np.testing.assert_array_equal(fixed.coef_, model.coef_)


def test_weights_count_in_it():
    X, y = unbalanced()
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    weight[:2] = 1.0
    for standardize in (False, True):
        weighted = penalised(method="gram", standardize=standardize).fit(X, y, sample_weight=weight)
        again = np.repeat(np.arange(len(y)), weight.astype(int))
        repeated = penalised(method="gram", standardize=standardize).fit(X[again], y[again])
        assert weighted.intercept_scaling_ == pytest.approx(repeated.intercept_scaling_, rel=1e-12)


def test_imputed_calls_count_as_the_mean(tmp_path):
    genotypes = random_genotypes(40, 300, seed=2, missing=0.1)
    X = np.where(genotypes == -127, np.nan, genotypes)
    seen = np.nan_to_num((X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0))
    matrix = open_matrix(write_plink(tmp_path / "g", genotypes))
    for route in ({"method": "gram"}, {"method": "sketch", "n_components": 64}):
        model = penalised(C=1e-3, standardize=True, **route).fit(matrix, genotypes[:, 0] > 0)
        assert model.intercept_scaling_ == pytest.approx(usual_constant(seen), rel=1e-12)


def test_the_decision_does_not_depend_on_the_scale_of_the_data():
    X, y = unbalanced()
    plain = penalised(C=1e-3, tol=1e-6).fit(X, y)
    for scale in (1e-6, 1e6):
        scaled = penalised(C=1e-3 / scale**2, tol=1e-6).fit(X * scale, y)
        np.testing.assert_allclose(scaled.decision_function(X * scale), plain.decision_function(X), rtol=1e-4)


def test_rows_of_zeros_and_a_fixed_value():
    y = np.array([0, 0, 1])
    assert penalised().fit(np.zeros((3, 2)), y).intercept_scaling_ == 1.0
    X = np.random.default_rng(0).standard_normal((3, 2))
    assert penalised(intercept_scaling=7.0).fit(X, y).intercept_scaling_ == 7.0
    assert penalised(fit_intercept=False).fit(X, y).intercept_scaling_ == 0.0
    with pytest.raises(DataError):
        penalised().fit(X * 1e200, y)
    for wrong in ("mean", 0.0, -1.0, np.nan, True):
        with refuses("intercept_scaling"):
            penalised(intercept_scaling=wrong).fit(X, y)


def test_it_is_kept_with_the_model(tmp_path):
    X, y = unbalanced()
    model = penalised(C=1e-3).fit(X, y)
    model.save(tmp_path / "m.slim")
    again = CertifiedClassifier.load(tmp_path / "m.slim")
    assert again.intercept_scaling == "auto" and again.intercept_scaling_ == model.intercept_scaling_
    np.testing.assert_array_equal(again.certified(X), model.certified(X))


def test_it_is_liblinears_problem_with_that_constant():
    X, y = unbalanced(d=30)
    X = X - X.mean(axis=0)
    model = penalised(C=1e-3, tol=1e-8).fit(X, y)
    peer = LinearSVC(C=1e-3, dual=True, intercept_scaling=usual_constant(X), tol=1e-10, max_iter=10**6, random_state=0)
    np.testing.assert_allclose(model.intercept_, peer.fit(X, y).intercept_, rtol=1e-6)


@pytest.mark.parametrize("search", ["sketch", "certified"])
def test_rare_classes_of_standardised_data_are_found(search):
    """With a constant of 1 beside rows of norm √d every left-out row was given to the wrong side, or to one class."""
    X, y = unbalanced(n=80, d=1500)
    model = CertifiedClassifierCV(
        intercept="penalised", standardize=True, search=search, scoring="balanced_accuracy"
    ).fit(X[:50], y[:50])
    assert (model.predict(X[50:]) == y[50:]).mean() > 0.9


@pytest.mark.parametrize("cases", [12, pytest.param(60, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("route", ["gram", "sketch", "direct", "naive", "dual", "iterative"])
def test_no_certificate_is_violated(name, route, cases):
    rng = np.random.default_rng([NAMES.index(name), len(route), ord(route[0])])
    settings = {"method": route} if route in ("gram", "sketch", "direct") else {"recovery": route}
    if route not in ("gram", "direct"):
        settings["n_components"] = 1
    for _ in range(cases):
        n, d, kind = int(rng.integers(2, 6)), int(rng.integers(1, 6)), str(rng.choice(KINDS))
        X, y = nasty(rng, kind, n, d)
        y[:2] = [-1, 1]
        C = float(10.0 ** rng.uniform(-6, 6))
        standardize = bool(rng.random() < 0.5) and route != "direct"
        model = fitted_penalised(X, y, C=C, loss=name, standardize=standardize, max_passes=12, **settings)
        check(model, X, y, C, (kind, n, d, C, standardize))
