import pickle
from fractions import Fraction
from io import BytesIO

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from slimline import CertifiedClassifier, HadamardProjection, SparseEmbedding
from slimline.data import open_matrix, write_genotypes
from slimline.errors import InvalidParameterError, ModelFileError
from slimline.estimators import CertifiedClassifierCV
from slimline.model_files import StoredModel, read_tensors, write_tensors
from tests.pairwise import pairwise
from tests.refusals import refuses

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 200))
TWO = np.where(X[:, 0] > 0, "well", "ill")
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
STATE = (
    "coef_",
    "intercept_",
    "classes_",
    "n_features_in_",
    "n_passes_",
    "n_iter_",
    "history_",
    "route_",
    "intercept_scaling_",
    "_centre",
    "_factor",
    "_fill",
)


def assert_same(one, other, timed=True):
    for name in STATE:
        if name == "history_" and not timed:
            continue
        a, b = getattr(one, name), getattr(other, name)
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)  # to the last bit
            assert a.dtype.kind == b.dtype.kind, name
        else:
            assert a == b, name
    for name, value in vars(one.certificate_).items():
        np.testing.assert_array_equal(value, getattr(other.certificate_, name))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.certified(X), other.certified(X))
    assert str(one.top_features(7)) == str(other.top_features(7))


@pytest.mark.parametrize(
    "loss, classes, standardize", pairwise(["squared_hinge", "logistic", "hinge", "squared"], [2, 3], [False, True])
)
def test_a_loaded_model_is_the_saved_one(tmp_path, loss, classes, standardize):
    labels = TWO if classes == 2 else THREE
    model = CertifiedClassifier(0.1, loss=loss, standardize=standardize, random_state=0).fit(X, labels)
    model.save(tmp_path / "m.slim")
    loaded = CertifiedClassifier.load(tmp_path / "m.slim")
    assert loaded.get_params() == model.get_params()
    assert_same(model, loaded)
    loaded.save(tmp_path / "again.slim")  # saving what was loaded loses nothing
    assert (tmp_path / "again.slim").read_bytes() == (tmp_path / "m.slim").read_bytes()


@pytest.mark.parametrize(
    "parameters",
    [
        {"projection": SparseEmbedding(64, nnz_per_feature=2), "method": "sketch", "n_components": 128},
        {"projection": SparseEmbedding(64, n_stacks=4, bucket_width=2), "method": "sketch", "n_components": 128},
        {"projection": HadamardProjection(64), "method": "sketch", "n_components": 100, "tol": 0.5},
        {"class_weight": {"ill": 2.0, "well": 1}},
        {"class_weight": "balanced", "fit_intercept": False},
        {
            "intercept": "penalised",
            "intercept_scaling": np.float32(2.0),
            "C": np.float64(0.5),
            "max_passes": np.int64(40),
        },
    ],
    ids=lambda parameters: "-".join(parameters),
)
def test_parameters_come_back(tmp_path, parameters):
    model = CertifiedClassifier(**{"C": 0.1, "random_state": 3, **parameters}).fit(X, TWO)
    model.save(tmp_path / "m.slim")
    loaded = CertifiedClassifier.load(tmp_path / "m.slim")
    for name, value in model.get_params(deep=False).items():
        own = getattr(loaded, name)
        assert repr(own) == repr(value) if name == "projection" else own == value
    assert_same(model, loaded)
    assert_same(model, loaded.fit(X, TWO), timed=False)  # and can be fitted again, to the same bits


def test_what_cannot_be_written_is_left_out(tmp_path):
    model = CertifiedClassifier(0.1, random_state=np.random.RandomState(0)).fit(X, TWO)
    model.save(tmp_path / "m.slim")
    loaded = CertifiedClassifier.load(tmp_path / "m.slim")
    assert loaded.random_state is None
    assert_same(model, loaded)


def test_a_search_over_penalties(tmp_path):
    model = CertifiedClassifierCV([0.01, 0.1], cv=3, random_state=0).fit(X, TWO)
    model.save(tmp_path / "m.slim")
    loaded = CertifiedClassifierCV.load(tmp_path / "m.slim")
    assert loaded.C_ == model.C_
    np.testing.assert_array_equal(loaded.Cs_, model.Cs_)
    np.testing.assert_array_equal(loaded.scores_, model.scores_)
    assert_same(model, loaded)
    assert isinstance(CertifiedClassifier.load(tmp_path / "m.slim"), CertifiedClassifierCV)


def test_the_wrong_class_is_named(tmp_path):
    CertifiedClassifier(0.1).fit(X, TWO).save(tmp_path / "m.slim")
    with pytest.raises(InvalidParameterError):
        CertifiedClassifierCV.load(tmp_path / "m.slim")


def test_names_of_columns(tmp_path):
    frame = pd.DataFrame(X[:, :20], columns=[f"gène {k}" for k in range(20)])
    model = CertifiedClassifier(0.1).fit(frame, TWO)
    model.save(tmp_path / "m.slim")
    loaded = CertifiedClassifier.load(tmp_path / "m.slim")
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"gène 0": "x"}))


def test_from_files_and_sparse_matrices(tmp_path):
    write_genotypes(tmp_path / "cohort", 60, 500, missing_rate=0.05, seed=0)
    genotypes = open_matrix(tmp_path / "cohort.bed")
    model = CertifiedClassifier(0.001, standardize=True).fit(genotypes, TWO)
    model.save(tmp_path / "m.slim")
    loaded = CertifiedClassifier.load(tmp_path / "m.slim")
    np.testing.assert_array_equal(loaded.decision_function(genotypes), model.decision_function(genotypes))
    sparse = CertifiedClassifier(0.1).fit(sp.csr_array(X), TWO)
    sparse.save(tmp_path / "s.slim")
    assert_same(sparse, CertifiedClassifier.load(tmp_path / "s.slim"))


@pytest.mark.parametrize("standardize", [False, True])
def test_what_is_known_of_the_columns(tmp_path, standardize):
    write_genotypes(tmp_path / "cohort", 60, 100, seed=0)
    genotypes = open_matrix(tmp_path / "cohort.bed")
    model = CertifiedClassifier(0.001, standardize=standardize).fit(genotypes, TWO)
    before = genotypes.passes
    model.save(tmp_path / "m.slim", trained_on=genotypes)
    assert genotypes.passes == before + (not standardize)
    stored, variants = StoredModel.read(tmp_path / "m.slim"), genotypes.variants
    np.testing.assert_allclose(stored.mean, genotypes.column_stats().mean, rtol=1e-14)
    np.testing.assert_array_equal(stored.position, variants.position)
    for name in ("chromosome", "allele1", "allele2"):
        assert list(getattr(stored, name)) == getattr(variants, name).tolist()
    np.testing.assert_array_equal(CertifiedClassifier.load(tmp_path / "m.slim").coef_, model.coef_)
    with pytest.raises(ValueError, match="give the data that it was trained on"):
        model.save(tmp_path / "n.slim", trained_on=genotypes.columns([0, 1]))
    standardised = genotypes.standardised("mean", "std", "mean")  # the weights are none of copies of an allele
    CertifiedClassifier(0.001).fit(standardised, TWO).save(tmp_path / "s.slim", trained_on=standardised)
    assert StoredModel.read(tmp_path / "s.slim").allele1 is None
    plain = CertifiedClassifier(0.1, standardize=standardize).fit(X, TWO)
    plain.save(tmp_path / "p.slim", trained_on=open_matrix(X))
    stored = StoredModel.read(tmp_path / "p.slim")
    np.testing.assert_allclose(stored.mean, X.mean(axis=0), rtol=1e-12)
    assert stored.allele1 is None and stored.position is None


def test_not_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        CertifiedClassifier().save(tmp_path / "m.slim")
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_replaced_unasked(tmp_path):
    model = CertifiedClassifier(0.1).fit(X, TWO)
    model.save(tmp_path / "m.slim")
    with refuses("exists"):
        model.save(tmp_path / "m.slim")
    model.save(tmp_path / "m.slim", overwrite=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(kind="os.system"),
        lambda plain: plain["details"].pop("route"),
        lambda plain: plain["details"]["route"].update(surprise=1),
        lambda plain: plain["details"].update(history=[{"passes": 1}]),
        lambda plain: plain["details"].update(history=3),
        lambda plain: plain["details"].update(n_passes="many"),
        lambda plain: plain["parameters"].update(projection={"class": "Popen", "parameters": {}}),
        lambda plain: plain["parameters"].update(projection={"class": "SparseEmbedding", "parameters": {"x": 1}}),
        lambda plain: plain["parameters"].update(class_weight={"pairs": [[["a"], 1.0]]}),
        lambda plain: plain["parameters"].update(class_weight={"pairs": [["ill", "much"]]}),
        lambda plain: plain["parameters"].update(class_weight={"pairs": [["ill", None]]}),
        lambda plain: plain["parameters"].update(loss="absolute"),
        lambda plain: plain["parameters"].update(loss=["logistic"]),
        lambda plain: plain["parameters"].update(C="1"),
        lambda plain: plain["parameters"].update(C=0),
        lambda plain: plain["parameters"].update(C=10**400),
        lambda plain: plain["parameters"].update(tol=None),
        lambda plain: plain["parameters"].update(method="guess"),
        lambda plain: plain["parameters"].update(fit_intercept=[]),
        lambda plain: plain["parameters"].update(max_passes=0),
        lambda plain: plain["details"].update(n_passes=-1),
        lambda plain: plain["details"].update(history=[]),
        lambda plain: plain["details"].update(search={"C_": 1.0, "Cs_": [1.0], "scores_": [[1.0]]}),
        lambda plain: plain["details"]["route"].update(method="guess"),
        lambda plain: plain["details"]["route"].update(step_seconds="1"),
        lambda plain: plain["details"]["history"][-1].update(radius=[10.0]),
        lambda plain: plain["details"]["history"][-1].update(radius=[0.1, 0.1]),
        lambda plain: plain["details"]["history"][-1].update(relative_error=[None]),
    ],
)
def test_hostile_records(tmp_path, change):
    path = tmp_path / "m.slim"
    CertifiedClassifier(0.1).fit(X, TWO).save(path)
    arrays, plain = read_tensors(path)
    change(plain)
    write_tensors(path, arrays, plain, overwrite=True)
    StoredModel.read(path)
    with pytest.raises(ModelFileError, match=r"m\.slim"):
        CertifiedClassifier.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain["details"].update(search={}),
        lambda plain: plain["details"]["search"].update(C_=None),
        lambda plain: plain["details"]["search"].update(Cs_=[1.0]),
        lambda plain: plain["details"]["search"].update(scores_=[[1.0], [1.0, 2.0]]),
    ],
)
def test_hostile_searches(tmp_path, change):
    path = tmp_path / "m.slim"
    CertifiedClassifierCV([0.01, 0.1], cv=3, random_state=0).fit(X, TWO).save(path)
    arrays, plain = read_tensors(path)
    change(plain)
    write_tensors(path, arrays, plain, overwrite=True)
    with pytest.raises(ModelFileError, match=r"m\.slim"):
        CertifiedClassifierCV.load(path)


@pytest.mark.parametrize("recovery", ["certified", "iterative", "dual", "debiased_dual", "naive"])
def test_a_model_that_nothing_is_proved_of(tmp_path, recovery):
    settings = {"intercept": "penalised", "recovery": recovery, "n_components": 32}
    model = CertifiedClassifier(1e100, loss="logistic", random_state=0, **settings)
    with pytest.warns(ConvergenceWarning):
        model.fit(X * 1e100, THREE)
    assert np.isinf(model.certificate_.radius).any()
    model.save(tmp_path / "m.slim")
    loaded = CertifiedClassifier.load(tmp_path / "m.slim")
    for name, value in vars(model.certificate_).items():
        np.testing.assert_array_equal(value, getattr(loaded.certificate_, name))
    small = X * 1e60
    np.testing.assert_array_equal(loaded.predict(small), model.predict(small))
    assert not loaded.certified(small).any()
    assert not loaded.top_features(5).proved.any()
    loaded.save(tmp_path / "again.slim")
    assert (tmp_path / "again.slim").read_bytes() == (tmp_path / "m.slim").read_bytes()


def test_fractions_and_parameters_that_were_changed(tmp_path):
    model = CertifiedClassifier(Fraction(1, 10)).fit(X, TWO)
    model.save(tmp_path / "m.slim")
    assert CertifiedClassifier.load(tmp_path / "m.slim").C == 0.1
    with refuses("loss"):
        model.set_params(loss="absolute").save(tmp_path / "n.slim")
    assert not (tmp_path / "n.slim").exists()


def test_joblib_and_pickle():
    model = CertifiedClassifier(0.1, standardize=True).fit(X, THREE)
    stream = BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    assert_same(model, joblib.load(stream))
    assert_same(model, pickle.loads(pickle.dumps(model)))
