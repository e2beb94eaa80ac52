import sys

import numpy as np
import pytest

from slimline import CertifiedClassifier
from slimline.errors import MissingReaderError
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


def test_onnx_without_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    model = CertifiedClassifier(0.1).fit(X, LABELS["two"])
    with pytest.raises(MissingReaderError, match=r'pip install "slimline\[onnx\]"'):
        model.to_onnx(tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []
