"""Whatever a user does to `coef_`: what is proved stays what it was."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from slimline import CertifiedClassifier, CertifiedClassifierCV
from tests.estimators.certified import wide

pytestmark = pytest.mark.filterwarnings(  # two values of C are no search
    "ignore::slimline.errors.SearchWarning", "ignore::slimline.errors.AccuracyWarning"
)

X, TWO = wide()
THREE = wide(classes=3)[1]


def claims(model):
    """Return everything that the model claims, as copies."""
    certificates = [model.certificate_, *getattr(model, "certificates_path_", [])]
    arrays = [np.copy(value) for certificate in certificates for value in vars(certificate).values()]
    decisions = model.decide(X)
    top = model.top_features(5)
    return [*arrays, decisions.labels, decisions.scores, decisions.proved, model.certified(X), *vars(top).values()]


def arrays_of(certificate):
    return [value for value in vars(certificate).values() if isinstance(value, np.ndarray)]


@pytest.fixture(params=[False, True], ids=["raw", "standardized"])
def standardize(request):
    return request.param


@pytest.fixture(params=["two", "three", "search"])
def model(request, standardize):
    y = THREE if request.param == "three" else TWO
    if request.param == "search":
        return CertifiedClassifierCV(Cs=[1e-3, 1e-2], cv=3, random_state=0, standardize=standardize).fit(X, y)
    return CertifiedClassifier(1e-2, random_state=0, standardize=standardize).fit(X, y)


def test_changed_coefficients_change_no_claim(model, tmp_path):
    before, coefficients, intercept = claims(model), model.coef_.copy(), model.intercept_.copy()
    path = np.copy(getattr(model, "coefs_path_", 0.0))
    model.coef_ *= 2.0
    model.intercept_ += 1.0
    for was, is_ in zip(before, claims(model), strict=True):
        np.testing.assert_array_equal(was, is_)
    np.testing.assert_array_equal(getattr(model, "coefs_path_", 0.0), path)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T.squeeze() + model.intercept_)
    model.save(tmp_path / "m.slim")
    loaded = type(model).load(tmp_path / "m.slim")
    np.testing.assert_array_equal(loaded.coef_, coefficients)
    np.testing.assert_array_equal(loaded.intercept_, intercept)
    own = loaded.certificate_.weights.copy()
    loaded.coef_ *= 2.0
    np.testing.assert_array_equal(loaded.certificate_.weights, own)


def test_certificates_are_read_only(model, tmp_path):
    model.save(tmp_path / "m.slim")
    joblib.dump(model, tmp_path / "m.joblib")
    copies = [
        type(model).load(tmp_path / "m.slim"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        joblib.load(tmp_path / "m.joblib", mmap_mode="c"),
        clone(model).fit(X, TWO),
    ]
    for one in [model, *copies]:
        for certificate in [one.certificate_, *getattr(one, "certificates_path_", [])]:
            assert all(not array.flags.writeable for array in arrays_of(certificate))
            assert not any(np.shares_memory(one.coef_, array) for array in arrays_of(certificate))
        with pytest.raises(ValueError, match="read-only"):
            one.certificate_.weights[0, 0] = 1.0
        assert one.coef_.flags.writeable
