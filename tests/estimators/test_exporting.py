import sys

import numpy as np
import pandas as pd
import pytest

from slimline import CertifiedClassifier, CertifiedRegressor
from slimline.errors import CovariateWarning, MissingReaderError
from slimline.estimators import CertifiedClassifierCV
from tests.refusals import refuses

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 120)).astype(np.float32)
LABELS = {"two": np.where(X[:, 0] > 0, "well", "ill"), "three": np.digitize(X[:, 0], [-0.5, 0.5])}


@pytest.fixture(params=["squared_hinge", "logistic", "hinge", "squared"])
def loss(request):
    return request.param


@pytest.fixture(params=["two", "three"])
def y(request):
    return LABELS[request.param]


@pytest.mark.parametrize("standardize", [False, True])
def test_scikit_learn_predicts_the_same(loss, y, standardize):
    model = CertifiedClassifier(0.1, loss=loss, standardize=standardize, random_state=0).fit(X, y)
    plain = model.to_sklearn()
    assert type(plain).__module__.startswith("sklearn.")
    np.testing.assert_allclose(plain.decision_function(X), model.decision_function(X), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))
    if loss == "logistic":
        np.testing.assert_allclose(plain.predict_proba(X), model.predict_proba(X), atol=1e-5)
    plain.coef_[:] = 0.0  # a model of its own
    assert model.coef_.any()


def test_the_penalty_of_a_search():
    model = CertifiedClassifierCV([0.01, 0.1], cv=2, loss="logistic").fit(X, LABELS["two"])
    assert model.to_sklearn().C == model.C_


def test_onnx_predicts_the_same(tmp_path, loss, y):
    onnx = pytest.importorskip("onnxruntime", reason="runs ONNX files")
    pytest.importorskip("skl2onnx", reason="writes ONNX files")
    model = CertifiedClassifier(0.1, loss=loss, random_state=0).fit(X, y)
    model.to_onnx(tmp_path / "m.onnx")
    labels, values = onnx.InferenceSession(tmp_path / "m.onnx").run(None, {"X": X})
    np.testing.assert_array_equal(np.asarray(labels).astype(y.dtype), model.predict(X))
    if loss == "logistic":
        np.testing.assert_allclose(values, model.predict_proba(X), atol=1e-5)
    with refuses("exists"):
        model.to_onnx(tmp_path / "m.onnx")


def _beside_covariates(model, y, frames=False):
    """Return a model of features and three covariates, of which the last depends on the others, and its data."""
    U = np.column_stack([rng.integers(20, 80, 80), rng.integers(0, 2, 80)])
    data, covariates = X, np.column_stack([U, U[:, 0] - 3.0 * U[:, 1]]).astype(np.float32)
    if frames:
        data = pd.DataFrame(data, columns=[f"gène {j}" for j in range(120)])
        covariates = pd.DataFrame(covariates, columns=["age", "sex", "both"])
    with pytest.warns(CovariateWarning):
        model.set_params(C=0.1, random_state=0).fit(data, y, covariates=covariates)
    return model, data, covariates


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("y", ["two", "three", "vector", "table", "targets"])
def test_a_plain_model_takes_covariates_behind_the_features(y, frames):
    targets = {"vector": X[:, 0], "table": X[:, :1], "targets": X[:, :2]}
    if y in targets:
        model = CertifiedRegressor(standardize=True)
        model, data, covariates = _beside_covariates(model, targets[y].astype(np.float64), frames)
    else:
        model = CertifiedClassifier(loss="logistic", intercept="free", standardize=True)
        model, data, covariates = _beside_covariates(model, LABELS[y], frames)
    plain, both = model.to_sklearn(), np.hstack([data, covariates])
    assert plain.n_features_in_ == 123 and np.isnan(model.covariate_coef_[:, 2]).all()
    if frames:
        names = [*data.columns, *covariates.columns]
        assert plain.feature_names_in_.tolist() == names
        both = pd.DataFrame(both, columns=names)
    else:
        assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(plain.predict(both).shape, model.predict(data, covariates).shape)
    if y in targets:
        np.testing.assert_allclose(plain.predict(both), model.predict(data, covariates), rtol=1e-4, atol=1e-4)
    else:
        np.testing.assert_allclose(
            plain.decision_function(both), model.decision_function(data, covariates), rtol=1e-4, atol=1e-4
        )
        np.testing.assert_array_equal(plain.predict(both), model.predict(data, covariates))


def test_names_of_features_alone_are_no_names_of_inputs():
    frame = pd.DataFrame(X, columns=[f"gène {j}" for j in range(120)])
    model = CertifiedRegressor(0.1).fit(frame, X[:, 0], covariates=rng.standard_normal((80, 1)))
    assert not hasattr(model.to_sklearn(), "feature_names_in_")


@pytest.mark.parametrize("kind", ["classes", "targets"])
def test_onnx_takes_covariates_behind_the_features(tmp_path, kind):
    onnx = pytest.importorskip("onnxruntime", reason="runs ONNX files")
    pytest.importorskip("skl2onnx", reason="writes ONNX files")
    if kind == "classes":
        model, data, U = _beside_covariates(CertifiedClassifier(loss="logistic", intercept="free"), LABELS["three"])
    else:
        model, data, U = _beside_covariates(CertifiedRegressor(), X[:, :2].astype(np.float64))
    model.to_onnx(tmp_path / "m.onnx")
    first, *_ = onnx.InferenceSession(tmp_path / "m.onnx").run(None, {"X": np.hstack([data, U])})
    np.testing.assert_allclose(np.asarray(first), model.predict(data, U), atol=1e-3)


def test_onnx_without_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    model = CertifiedClassifier(0.1).fit(X, LABELS["two"])
    with pytest.raises(MissingReaderError, match=r'pip install "slimline\[onnx\]"'):
        model.to_onnx(tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []
