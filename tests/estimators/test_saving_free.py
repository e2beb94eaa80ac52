"""Files of models with a free intercept and covariates: every bit comes back, and damaged ones are refused."""

import numpy as np
import pandas as pd
import pytest

from slimline import CertifiedClassifier, CertifiedRegressor, open_matrix
from slimline.errors import CovariateWarning, ModelFileError
from slimline.estimators import CertifiedClassifierCV, CertifiedRegressorCV
from slimline.estimators._aligned import TrainingSamples
from slimline.model_files import StoredModel, read_tensors, write_tensors
from tests.pairwise import pairwise

rng = np.random.default_rng(0)
N = 60
X = rng.standard_normal((N, 90)) + 1.0
U = pd.DataFrame({"age": rng.integers(20, 80, N), "sex": rng.integers(0, 2, N), "ä": rng.standard_normal(N)})
Y = np.column_stack([X[:, 0] + U["sex"], 0.1 * U["age"] - X[:, 1]]) + rng.standard_normal((N, 2))
KINDS = {
    "CertifiedClassifier": CertifiedClassifier(0.1, intercept="free"),
    "CertifiedClassifierCV": CertifiedClassifierCV(
        [0.01, 0.1], cv=2, intercept="free", scoring="neg_log_loss", loss="logistic"
    ),
    "CertifiedRegressor": CertifiedRegressor(0.1, loss="huber"),
    "CertifiedRegressorCV": CertifiedRegressorCV([0.01, 0.1], cv=2),
}


def _fitted(kind, tasks=1, covariates=U, **settings):
    """Return a model of data with names, the data, and what it was fitted to."""
    model = KINDS[kind].set_params(**{"random_state": 0, "standardize": True, "score_bounds": True, **settings})
    y = Y[:, 0] if tasks == 1 else Y
    if "Classifier" in kind:
        y = np.array(["a", "b", "c"])[np.digitize(Y[:, 0], [1.0] if tasks == 1 else [0.5, 2.0])]
    data = open_matrix(X, feature_names=[f"gène {j}" for j in range(90)], sample_ids=[f"p{i}" for i in range(N)])
    return type(model)(**model.get_params(deep=False)).fit(data, y, covariates=covariates), data


def _claims(model, data, covariates):
    """Return everything that a model says of data and of its effects."""
    told = model.covariate_effects()
    if hasattr(model, "classes_"):
        parts = [*vars(model.decide(data, covariates)).values(), model.decision_function(data, covariates)]
    else:
        parts = [*vars(model.certified_predictions(data, covariates)).values(), model.predict(data, covariates)]
    parts += [told.effect, told.lower, told.upper, model.coef_, model.intercept_, model.covariate_coef_]
    return [*parts, *(np.asarray(value) for value in vars(model.certificate_).values())]


@pytest.mark.parametrize(
    ("kind", "tasks", "given", "score_bounds"), pairwise(list(KINDS), [1, 2], ["frame", "array", "none"], [True, False])
)
def test_every_bit_comes_back(tmp_path, kind, tasks, given, score_bounds):
    covariates = {"frame": U, "array": U.to_numpy(), "none": None}[given]
    model, data = _fitted(kind, tasks, covariates, score_bounds=score_bounds)
    model.save(tmp_path / "m.slim", trained_on=data)
    again = type(model).load(tmp_path / "m.slim")
    for one, other in zip(_claims(model, data, covariates), _claims(again, data, covariates), strict=True):
        assert one.shape == other.shape
        np.testing.assert_array_equal(one, other)
    assert again.get_params() == model.get_params()
    assert again._free.names == model._free.names and again._free.intercept
    again.save(tmp_path / "n.slim", trained_on=data)
    assert (tmp_path / "n.slim").read_bytes() == (tmp_path / "m.slim").read_bytes()
    stored = StoredModel.read(tmp_path / "m.slim")
    np.testing.assert_allclose(stored.mean, X.mean(axis=0), rtol=1e-12)
    assert TrainingSamples.of_model(stored).among(data.rows([3, 1])).all()
    assert (stored.free_explained is not None) == score_bounds


def test_a_covariate_that_was_left_out_stays_so(tmp_path):
    doubled = U.assign(twice=2.0 * U["age"])
    with pytest.warns(CovariateWarning):
        model, data = _fitted("CertifiedRegressor", 2, doubled)
    model.save(tmp_path / "m.slim")
    again = CertifiedRegressor.load(tmp_path / "m.slim")
    assert np.isnan(again.covariate_coef_[:, 3]).all()
    for one, other in zip(_claims(model, data, doubled), _claims(again, data, doubled), strict=True):
        np.testing.assert_array_equal(one, other)


def _changed(name, change):
    def damage(arrays, plain):
        arrays[name] = np.ascontiguousarray(change(arrays[name]))

    return damage


def _told(**changes):
    return lambda arrays, plain: plain["covariates"].update(changes)


DAMAGE = {
    "no effects": lambda arrays, plain: arrays.pop("free_effects"),
    "no transform": lambda arrays, plain: arrays.pop("free_transform"),
    "no names": lambda arrays, plain: plain["covariates"].pop("names"),
    "more": _told(more=1),
    "few names": _told(names=["age", "sex"]),
    "numbers for names": _told(names=[1, 2, 3]),
    "a count that is none": _told(count=True),
    "another count": _told(count=2),
    "an intercept that is none": _told(intercept=1),
    "nothing kept": _told(kept=[]),
    "kept twice": _told(kept=[0, 1, 1, 3]),
    "kept too many": _told(kept=[0, 1, 2, 4]),
    "few kept": _told(kept=[0, 1, 2]),
    "other intercept": _changed("free_effects", lambda array: array + 1.0),
    "effects that are none": _changed("free_effects", lambda array: array * np.nan),
    "effects of others": _changed("free_effects", lambda array: array[:, :-1]),
    "bounds below 0": _changed("free_linear", lambda array: -1.0 - array),
    "a size below 0": _changed("free_size", lambda array: -1.0 - array),
    "no number for a bound": _changed("free_reach", lambda array: array * np.nan),
    "other types": _changed("free_linear", lambda array: array.astype(np.float32)),
    "a radius of scores below 0": _changed("free_square", lambda array: -1.0 - array),
    "features of others": _changed("free_explained", lambda array: array[:, :, :-1]),
    "a reach that is too small": _changed("free_reach", lambda array: 1e-3 * array),
    "a transform that is none": _changed("free_transform", lambda array: np.zeros_like(array)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_effects_are_refused(tmp_path, name):
    model, _ = _fitted("CertifiedClassifier", 2, loss="logistic")
    path = tmp_path / "m.slim"
    model.save(path)
    StoredModel.read(path)
    arrays, plain = read_tensors(path)
    DAMAGE[name](arrays, plain)
    write_tensors(path, arrays, plain, overwrite=True)
    with pytest.raises(ModelFileError, match=r"m\.slim is damaged"):
        CertifiedClassifier.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda details: details.pop("delta"),
        lambda details: details.update(delta=[1.0]),
        lambda details: details.update(delta=["1", "2"]),
        lambda details: details.update(delta=[-1.0, 1.0]),
        lambda details: details.update(table="yes"),
    ],
    ids=range(5),
)
def test_damaged_details_of_a_regression(tmp_path, change):
    model, _ = _fitted("CertifiedRegressor", 2)
    path = tmp_path / "m.slim"
    model.save(path)
    arrays, plain = read_tensors(path)
    change(plain["details"])
    write_tensors(path, arrays, plain, overwrite=True)
    with pytest.raises(ModelFileError, match=r"m\.slim"):
        CertifiedRegressor.load(path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("loss", "scale", "C"), [("logistic", 1e100, 1.0), ("logistic", 1e-100, 1e100), ("squared_hinge", 1e100, 1e100)]
)
def test_extreme_models_come_back(tmp_path, loss, scale, C):
    """Bounds that are infinite are part of a file, not a sign of damage."""
    covariates = U[["sex", "ä"]][:16].to_numpy()
    model = CertifiedClassifier(C, loss=loss, intercept="free", method="gram", max_passes=2)
    small = scale * X[:16, :12]
    model.fit(small, X[:16, 0] + covariates[:, 1] > 1, covariates=covariates).save(tmp_path / "m.slim")
    again = CertifiedClassifier.load(tmp_path / "m.slim")
    for one, other in zip(_claims(model, small, covariates), _claims(again, small, covariates), strict=True):
        np.testing.assert_array_equal(one, other)
