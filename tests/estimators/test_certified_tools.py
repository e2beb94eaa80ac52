"""CertifiedClassifier among scikit-learn's tools: copies, searches, callbacks, messages."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from slimline import CertifiedClassifier, SparseEmbedding, open_matrix
from slimline.errors import InvalidParameterError
from tests.estimators.certified import quiet, wide
from tests.refusals import refuses


class TestTools:
    """scikit-learn's machinery around it."""

    def test_clone_and_pickle(self):
        X, y = wide()
        model = CertifiedClassifier(C=3.0, projection=SparseEmbedding(n_components=7), random_state=0)
        fitted = clone(model).set_params(method="sketch", n_components=64).fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        np.testing.assert_array_equal(again.certified(X), fitted.certified(X))
        assert again.certificate_.passes == fitted.certificate_.passes

    def test_grid_search_and_pipeline(self):
        X, y = wide()
        search = GridSearchCV(
            make_pipeline(MaxAbsScaler(), CertifiedClassifier(random_state=0)),
            {"certifiedclassifier__C": [1e-3, 1e-2], "certifiedclassifier__loss": ["hinge", "logistic"]},
            cv=2,
        )
        quiet(search, X, y)
        assert search.best_score_ > 0.5
        assert search.best_estimator_.predict(X).shape == y.shape

    def test_equal_seeds_give_equal_models(self):
        X, y = wide()
        models = [
            CertifiedClassifier(method="sketch", n_components=64, random_state=seed).fit(X, y).coef_
            for seed in (0, 0, 1)
        ]
        np.testing.assert_array_equal(models[0], models[1])
        assert np.any(models[0] != models[2])

    @pytest.mark.parametrize("projection", ["gaussian", "sign", "srht", "cw", "osnap", "auto"])
    def test_every_family_is_certified(self, projection):
        X, y = wide()
        model = CertifiedClassifier(method="sketch", n_components=128, projection=projection, random_state=0)
        assert model.fit(X, y).certificate_.relative_error[0] <= 1e-2

    def test_unknown_projections_are_refused(self):
        X, y = wide()
        with refuses("projection"):
            CertifiedClassifier(method="sketch", n_components=64, projection=3).fit(X, y)

    @pytest.mark.parametrize(
        "parameter",
        [
            {"C": 0.0},
            {"C": np.inf},
            {"C": True},
            {"C": "1"},
            {"tol": -1.0},
            {"tol": np.nan},
            {"intercept_scaling": 0},
            {"method": "exact"},
            {"recovery": "best"},
            {"n_components": 0},
            {"n_components": "all"},
            {"n_components": 2.5},
            {"max_passes": 0},
            {"max_passes": 1.5},
            {"loss": "exponential"},
        ],
    )
    def test_parameters_that_cannot_be(self, parameter):
        X, y = wide()
        with refuses(next(iter(parameter))):
            CertifiedClassifier(**parameter).fit(X, y)

    def test_published_recoveries_need_a_sketch(self):
        X, y = wide()
        with pytest.raises(InvalidParameterError):
            CertifiedClassifier(method="gram", recovery="dual").fit(X, y)

    def test_the_warning_says_what_was_reached(self):
        X, y = wide()
        model = CertifiedClassifier(C=1e4, method="sketch", n_components=64, max_passes=3, random_state=0)
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(X, y)
        assert caught[0].filename == __file__
        assert "after 3 passes" in str(caught[0].message) and "0.01" in str(caught[0].message)
        assert model.n_passes_ == 3

    def test_verbose_prints_a_line_a_step(self, capsys):
        X, y = wide()
        model = CertifiedClassifier(method="sketch", n_components=64, verbose=1, random_state=0).fit(X, y)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == model.n_iter_
        assert all(line.startswith("pass ") and "certified relative error" in line for line in lines)
        CertifiedClassifier().fit(X, y)
        assert capsys.readouterr().out == ""

    def test_who_listened_before_listens_after(self):
        X, y = wide()
        heard = []
        matrix = open_matrix(X, progress=heard.append)
        CertifiedClassifier(verbose=1).fit(matrix, y)
        heard.clear()
        matrix.row_norms()
        assert heard

    def test_callbacks_hear_of_every_step(self):
        callback = pytest.importorskip("sklearn.callback")
        seen = []

        class Recorder:
            """The protocol of scikit-learn's callbacks."""

            def setup(self, estimator, context):
                seen.append("setup")

            def teardown(self, estimator, context):
                seen.append("teardown")

            def on_fit_task_begin(self, estimator, context, **arguments):
                seen.append(("begin", context.task_name))

            def on_fit_task_end(self, estimator, context, **arguments):
                seen.append(("end", context.task_name))

        assert isinstance(Recorder(), callback.FitCallback)
        X, y = wide()
        model = CertifiedClassifier(method="sketch", n_components=64, random_state=0).set_callbacks(Recorder())
        model.fit(X, y)
        assert seen.count(("end", "step")) == model.n_iter_
        assert seen.count(("begin", "step")) == model.n_iter_
        assert seen[0] == "setup"
        assert seen[-1] == "teardown"


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("standardize", [False, True])
def test_decisions_are_what_the_other_methods_say_in_one_pass(classes, standardize):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 80))
    y = np.digitize(X[:, 0], [0.0] if classes == 2 else [-0.5, 0.5])
    model = CertifiedClassifier(0.1, standardize=standardize, tol=1e-3).fit(X, y)
    matrix = open_matrix(X)
    found = model.decide(matrix)
    assert matrix.passes == 1
    np.testing.assert_array_equal(found.labels, model.predict(X))
    np.testing.assert_allclose(found.scores, model.decision_function(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.proved, model.certified(X))
