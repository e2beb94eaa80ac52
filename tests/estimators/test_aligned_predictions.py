"""Aligned predictions beside covariates under attack: no value of an absent genotype leaves the bounds."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from slimline import CertifiedClassifier, CertifiedRegressor, open_matrix
from slimline.errors import ModelFileError
from slimline.estimators import aligned_decisions, aligned_predictions
from slimline.learning.score_bounds import ScoreBounds
from tests.estimators.aligned import cohort, named, with_facts
from tests.estimators.certified import quiet
from tests.refusals import refuses

N, D = 40, 30


def exact_ridge(X, U, y, C):
    """Return weights and effects of the squared loss by normal equations, in float64."""
    columns = np.column_stack([X, np.ones(len(y)), U])
    scale = np.linalg.norm(columns, axis=0)
    scale[: X.shape[1]] = 1.0
    V = columns / scale
    penalty = np.diag(np.r_[np.ones(X.shape[1]), np.zeros(U.shape[1] + 1)] / C)
    found = np.linalg.solve(V.T @ V + penalty, V.T @ y) / scale
    return found[: X.shape[1]], found[X.shape[1] :]


def as_trained(stored, rows):
    rows = rows if stored.fill is None else np.where(np.isnan(rows), stored.fill, rows)
    return rows if stored.centre is None else (rows - stored.centre) * stored.factor


@pytest.mark.parametrize("score_bounds", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_no_absent_genotype_leaves_the_bounds(tmp_path, standardize, score_bounds, global_random_seed):
    """All genotypes of all absent variants are tried on the exact solution, for the worst people that there can be."""
    rng = np.random.default_rng([global_random_seed, standardize])
    tightest = 0.0
    for case in range(3):
        people = cohort(rng, N, D, missing=0.05 if standardize else 0.0)
        U = np.column_stack([rng.uniform(20, 80, N), rng.integers(0, 2, N)])
        y = np.nan_to_num(people.values, nan=1.0) @ rng.standard_normal(D) + 0.1 * U[:, 0] + U[:, 1]
        settings = {"standardize": standardize, "score_bounds": score_bounds, "random_state": case}
        matrix = people.opened(tmp_path / f"{case}")
        model = CertifiedRegressor(0.05, tol=0.3, method="sketch", n_components=25, **settings)
        model = quiet(model, matrix, y, covariates=U)
        stored = with_facts(model, matrix)
        assert 0.01 < stored.relative_error[0] < 1.0
        w, b = exact_ridge(as_trained(stored, people.values), U, y, 0.05)

        gone = rng.permutation(D)[:case]
        worst = np.where(w > stored.weights[0, :-1], 2.0, 0.0)
        rows = np.vstack([worst, 2.0 - worst, rng.binomial(2, 0.5, (18, D))]).astype(float)
        covariates = np.column_stack([rng.uniform(-50, 150, 20), rng.integers(0, 2, 20)])
        swapped = rng.random(D) < 0.3
        there = rng.permutation(np.setdiff1d(np.arange(D), gone))
        file = people.changed(
            there,
            values=np.where(swapped, 2.0 - rows, rows)[:, there],
            allele1=np.where(swapped, people.allele2, people.allele1)[there],
            allele2=np.where(swapped, people.allele1, people.allele2)[there],
        )
        found, alignment = aligned_predictions(stored, file.opened(tmp_path / "new"), covariates)
        assert (alignment.absent, alignment.reordered) == (case, True)
        for genotypes in product((0.0, 1.0, 2.0), repeat=case):
            rows[:, gone] = genotypes
            truth = as_trained(stored, rows) @ w + b[0] + covariates @ b[1:]
            assert (found.lower <= truth).all() and (truth <= found.upper).all()
            if case:
                tightest = max(tightest, np.max(np.abs(truth - found.value) / found.error))
    assert tightest > 0.3 or not score_bounds  # bounds that are far too wide could not be attacked


def test_a_pass_more_sharpens_the_bounds_beside_absent_genotypes(tmp_path):
    rng = np.random.default_rng(0)
    people = cohort(rng, N, D)
    U = rng.standard_normal((N, 2))
    matrix, y = people.opened(tmp_path / "a"), people.values @ rng.standard_normal(D)
    file = people.changed(np.arange(2, D)).opened(tmp_path / "b")
    errors = []
    for score_bounds in (False, True):
        model = CertifiedRegressor(0.05, tol=0.3, method="sketch", n_components=25, score_bounds=score_bounds)
        model = quiet(model.set_params(random_state=0), matrix, y, covariates=U)
        found, _ = aligned_predictions(with_facts(model, matrix), file, U)
        errors.append(found.error)
    assert (errors[1] < 0.9 * errors[0]).all()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("score_bounds", [False, True])
def test_no_proved_label_changes_with_an_absent_genotype_beside_covariates(tmp_path, classes, score_bounds):
    rng = np.random.default_rng(classes)
    people = cohort(rng, 60, D)
    U = rng.standard_normal((60, 1))
    truth = (people.values - 1.0) @ rng.standard_normal((D, classes)) + U @ rng.standard_normal((1, classes))
    y = np.argmax(truth - truth.mean(axis=0), axis=1)
    matrix, settings = people.opened(tmp_path / "a"), {"C": 0.02, "loss": "logistic", "intercept": "free"}
    rough = CertifiedClassifier(**settings, score_bounds=score_bounds, tol=0.02, method="sketch", n_components=25)
    rough.set_params(random_state=0)
    exact = CertifiedClassifier(**settings, method="gram", tol=1e-9, max_passes=200)
    stored = with_facts(quiet(rough, matrix, y, covariates=U), matrix)
    quiet(exact, matrix, y, covariates=U)
    rows, covariates = cohort(rng, 80, D).values, rng.standard_normal((80, 1))
    gone = np.array([3, 11])
    kept = np.setdiff1d(np.arange(D), gone)
    new = people.changed(kept, values=rows[:, kept]).opened(tmp_path / "b")
    decisions, _ = aligned_decisions(stored, new, covariates)
    different = np.zeros(80, dtype=bool)
    for genotypes in product((0.0, 1.0, 2.0), repeat=2):
        rows[:, gone] = genotypes
        different |= exact.predict(open_matrix(rows, feature_names=people.ids), covariates) != decisions.labels
    assert not (different & decisions.proved).any()
    assert different.any() and decisions.proved.mean() > 0.05


@pytest.mark.parametrize("kind", ["classes", "targets"])
@pytest.mark.parametrize("standardize", [False, True])
def test_bounds_do_not_depend_on_the_order_of_features(kind, standardize):
    rng = np.random.default_rng(1)
    X, U = rng.standard_normal((50, 20)) + 1.0, rng.standard_normal((50, 2))
    names = [f"column {j}" for j in range(20)]
    y = np.column_stack([X[:, 0], X[:, 1] + U[:, 0]])
    shared = {"C": 0.1, "standardize": standardize, "score_bounds": True, "intercept": "free", "tol": 0.2}
    if kind == "targets":
        model = CertifiedRegressor(**shared, method="sketch").fit(named(X, names), y, covariates=U)
        expected, aligned = model.certified_predictions(named(X, names), U), aligned_predictions
    else:
        labels = np.digitize(y.sum(axis=1), [1.0, 3.0])
        model = CertifiedClassifier(**shared, method="sketch").fit(named(X, names), labels, covariates=U)
        expected, aligned = model.decide(named(X, names), U), aligned_decisions
    order = rng.permutation(23)
    turned = np.hstack([X, np.full((50, 3), np.nan)])[:, order]
    found, alignment = aligned(model, named(turned, np.array([*names, "a", "b", "c"])[order]), U)
    assert alignment.reordered and alignment.ignored == 3
    for name, part in vars(expected).items():
        np.testing.assert_allclose(getattr(found, name), part, rtol=1e-9, atol=1e-12)


def test_nothing_bounds_a_feature_that_is_absent():
    rng = np.random.default_rng(2)
    X, names = rng.standard_normal((50, 20)), [f"column {j}" for j in range(20)]
    matrix = named(X, names)
    for y, shape in ((X[:, 0], (50,)), (X[:, :1], (50, 1)), (X[:, :2], (50, 2))):
        model = CertifiedRegressor(standardize=True).fit(matrix, y)
        found, _ = aligned_predictions(model, matrix)
        expected = model.certified_predictions(matrix)
        for name, part in vars(expected).items():
            np.testing.assert_array_equal(getattr(found, name), part)
        found, _ = aligned_predictions(model, named(X[:, 1:], names[1:]))
        assert found.value.shape == found.lower.shape == shape and np.isfinite(found.value).all()
        assert (found.lower == -np.inf).all() and (found.upper == np.inf).all()


def test_covariates_of_a_frame_are_matched_by_name():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((50, 20))
    frame = pd.DataFrame(rng.standard_normal((50, 3)), columns=["age", "sex", "batch"])
    model = CertifiedRegressor().fit(X, X[:, 0] + frame["age"].to_numpy(), covariates=frame[["age", "sex"]])
    expected = model.predict(X, frame[["age", "sex"]])
    found, _ = aligned_predictions(model, X, frame[["batch", "sex", "age"]])
    np.testing.assert_allclose(found.value, expected, rtol=1e-12)
    for wrong in (frame[["age", "batch"]], frame[["age", "sex", "sex"]], None, np.ones((50, 3))):
        with refuses("covariates"):
            aligned_predictions(model, X, wrong)


def test_the_wrong_kind_of_model():
    X = np.random.default_rng(4).standard_normal((30, 5))
    with pytest.raises(ModelFileError):
        aligned_predictions(CertifiedClassifier(0.1).fit(X, X[:, 0] > 0), X)
    with pytest.raises(ModelFileError):
        aligned_decisions(CertifiedRegressor(0.1).fit(X, X[:, 0]), X)


@pytest.mark.parametrize("q", [1, 3])
def test_the_ball_counts_features_that_are_not_known(q, global_random_seed):
    """With a radius of 1 and nothing else, the bound is the largest norm of x - X̄ᵀu; one covariate attains it."""
    rng = np.random.default_rng([global_random_seed, q])
    explained, nothing = rng.standard_normal((q, 12)), np.zeros(q)
    bounds = ScoreBounds(nothing, np.eye(q), 1.0, np.zeros((q, q)), nothing, 0.0, np.full(q, 50.0), explained)
    known, unknown = rng.permutation(12)[:9], np.arange(12)
    unknown = np.setdiff1d(unknown, known)
    part = bounds.of_features(known, unknown)
    np.testing.assert_array_equal(part.explained, explained[:, known])
    X, u = rng.standard_normal((40, 12)), rng.standard_normal((40, q))
    against = -u @ explained[:, unknown]  # the worst values of what is not known
    X[:, unknown] = 2.5 * against / np.linalg.norm(against, axis=1)[:, None]
    inner = X[:, known] @ explained[:, known].T
    found = part.error(u, np.linalg.norm(X[:, known], axis=1), inner, None, 2.5)
    truth = np.linalg.norm(X - u @ explained, axis=1)
    assert (truth <= found).all()
    if q == 1:
        np.testing.assert_allclose(found, truth, rtol=1e-6)
    plain = replace(bounds, explained=None)
    assert plain.of_features(known, unknown) is plain
    wide = plain.error(u, np.linalg.norm(X[:, known], axis=1), None, None, 2.5)
    np.testing.assert_allclose(wide, np.linalg.norm(X, axis=1) + 50.0 * np.abs(u).sum(axis=1), rtol=1e-8)
