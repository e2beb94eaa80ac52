"""Data, C and weights of extreme sizes end in an answer or in an error of slimline, never in a warning of NumPy."""

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import CertifiedClassifier
from slimline.errors import SlimlineError
from slimline.estimators import CertifiedClassifierCV
from tests.tiers import pairs_then_all

rng = np.random.default_rng(0)
X = rng.standard_normal((24, 40))
SPARSE = sp.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
LOSSES = ("squared_hinge", "logistic", "hinge", "squared")
STORAGES = {
    "dense": lambda scale: X * scale,
    "sparse": lambda scale: SPARSE * scale,
    "float32": lambda scale: (X * np.clip(scale, 1e-36, 1e36)).astype(np.float32),
    "mixed": lambda scale: X * np.logspace(-100, np.log10(max(scale, 1.0)), 40),
}


@pytest.fixture(autouse=True)
def _numpy_may_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.mark.slow
@pytest.mark.parametrize(
    "storage, method, scale", pairs_then_all(STORAGES, ["sketch", "gram", "direct"], [1e-300, 1e110, 1e150])
)
def test_fits_and_what_is_asked_of_them(tmp_path, storage, method, scale):
    data, y = STORAGES[storage](scale), np.arange(24) % 2
    weights = (None, np.logspace(-99, 99, 24))
    for number, (loss, C, weight) in enumerate(product(LOSSES, (1e-100, 1.0, 1e100), weights)):
        components = 16 if method == "sketch" else "auto"
        model = CertifiedClassifier(C, loss=loss, method=method, n_components=components, random_state=0, max_passes=4)
        try:
            model.fit(data, y if number % 3 else np.arange(24) % 3, sample_weight=weight)
            decisions = model.decide(data)
            if loss == "logistic":
                assert not np.isnan(model.predict_proba(data)).any()
        except SlimlineError:
            continue
        nothing = ~np.isfinite(model.certificate_.radius)
        assert not (nothing.any() and decisions.proved.any())
        model.save(tmp_path / f"{number}.slim")
        loaded = CertifiedClassifier.load(tmp_path / f"{number}.slim")
        np.testing.assert_array_equal(loaded.decide(data).proved, decisions.proved)


@pytest.mark.parametrize("search", ["certified", "sketch"])
@pytest.mark.parametrize("scale", [1e-300, 1e75, 1e150])
def test_searches(search, scale):
    for loss, Cs in product(LOSSES, (3, [1e-90, 1.0, 1e90])):
        try:
            model = CertifiedClassifierCV(Cs, cv=2, search=search, loss=loss, random_state=0, max_passes=4)
            model.fit(X * scale, np.arange(24) % 2).predict(X * scale)
        except SlimlineError:
            continue
        assert np.isfinite(model.C_)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_penalty_beyond_float32(loss):
    model = CertifiedClassifier(1e-100, loss=loss, method="sketch", n_components=16, random_state=0)
    model.fit(X.astype(np.float32), np.arange(24) % 2)
    assert np.isfinite(model.certificate_.radius).all()
