"""The margin guarantee of data of several classes, the one-parameter method, and real data."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from slimline.bounds import (
    get,
    margin_dimension,
    margin_failure,
    multiclass_margin_dimension,
    multiclass_margin_failure,
    one_parameter_cosines,
)
from slimline.errors import InvalidParameterError
from slimline.laws import cosine
from slimline.projections import Gaussian
from tests.bounds.attack import assert_fails_at_most, gaussians
from tests.learning.real_sets import real_set
from tests.refusals import refuses


@pytest.fixture
def rng(global_random_seed):
    return np.random.default_rng(global_random_seed)


def unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def classes_and_points(rng, classes=4, d=8, points=12):
    """Return unit vectors of the classes, points near their own one, and labels."""
    U = unit(np.eye(classes, d) - 0.2 * np.eye(classes, d, 1))
    labels = np.arange(points) % classes
    return U, U[labels] + 0.15 * rng.standard_normal((points, d)), labels


def best_by_threshold(own, others, margin, r):
    """Return the union for one point over all thresholds, the best one."""
    thresholds = np.linspace(max(others) + margin, own, 2001)[1:-1]
    total = cosine.cdf(thresholds, r, own)
    return np.min(total + sum(cosine.sf(thresholds - margin, r, other) for other in others))


@pytest.mark.parametrize("margin", [-0.3, 0.0, 0.1, 0.6])
def test_failure_is_a_union_over_a_good_threshold(margin):
    rows = np.array([[0.7, 0.0, -0.1], [0.1, 0.9, 0.15], [0.8, -0.9, 0.05], [0.9, 0.95, 0.2]])
    labels = np.array([0, 1, 0, 1]) if margin <= 0 else np.array([0, 1, 0])
    rows = rows[: labels.size]
    for r in (5, 60, 200):
        best = sum(
            best_by_threshold(row[label], np.delete(row, label), margin, r)
            for row, label in zip(rows, labels, strict=True)
        )
        failure = multiclass_margin_failure(rows, labels, r, margin)
        assert best * (1 - 1e-9) <= failure or failure == 1.0
        assert failure <= min(1.0, 1.6 * best)  # the threshold is nearly the best one


@pytest.mark.parametrize("errors", [0, 2])
def test_dimension_is_the_smallest(errors, rng):
    U, X, labels = classes_and_points(rng)
    cosines = unit(X) @ U.T
    for delta in (1e-100, 1e-3, 0.1):
        r = multiclass_margin_dimension(cosines, labels, delta, 0.05, errors)
        assert multiclass_margin_failure(cosines, labels, r, 0.05, errors) <= delta
        assert multiclass_margin_failure(cosines, labels, r - 1, 0.05, errors) > delta


def test_two_opposite_classes_ask_for_what_two_classes_ask_for():
    c = np.linspace(0.2, 0.5, 30)
    binary = margin_dimension(c, 0.01)
    assert binary <= multiclass_margin_dimension(np.column_stack([c, -c]), np.zeros(30, int), 0.005) + 1
    # P(cos' < 0) of the own class and of its opposite are the same event, and counted twice
    double = multiclass_margin_failure(np.column_stack([c, -c]), np.zeros(30, int), 300)
    np.testing.assert_allclose(double, 2 * margin_failure(c, 300), rtol=1e-9)


@pytest.mark.parametrize("margin, errors", [(0.0, 0), (0.1, 0), (0.0, 2)])
def test_by_simulation(margin, errors, rng):
    U, X, labels = classes_and_points(rng)
    cosines = unit(X) @ U.T
    delta, trials = 0.3, 2000
    r = multiclass_margin_dimension(cosines, labels, delta, margin, errors)
    R = gaussians(rng, trials, X.shape[1], r)
    after = unit(X @ R) @ unit(U @ R).transpose(0, 2, 1)
    own = after[:, np.arange(labels.size), labels]
    after[:, np.arange(labels.size), labels] = -np.inf
    short = np.sum(own - after.max(axis=2) < margin, axis=1)
    assert_fails_at_most(np.sum(short > errors), trials, delta)


def test_one_parameter_by_simulation(rng):
    U, X, labels = classes_and_points(rng)
    classes, delta, trials = len(U), 0.3, 400
    stacked = one_parameter_cosines(unit(X) @ U.T, labels)
    assert stacked.shape == (labels.size * (classes - 1),)
    # the definition: u stacked, and (x, -x) in the places of two classes
    u = U.ravel()
    z = np.zeros((classes, X.shape[1]))
    z[labels[0]], z[(labels[0] + 1) % classes] = X[0], -X[0]
    np.testing.assert_allclose(stacked[0], unit(u) @ unit(z.ravel()), rtol=1e-12)
    for margin in (0.0, 0.05):
        r = margin_dimension(stacked, delta, margin)
        failures = 0
        for _ in range(trials):
            R = gaussians(rng, classes, X.shape[1], r)
            v = unit(np.einsum("cd,cdr->r", U, R))
            scores = np.einsum("nd,cdr->ncr", X, R)
            own = scores[np.arange(labels.size), labels]
            apart = own[:, None] - scores
            apart[np.arange(labels.size), labels] = v  # its own class is no rival
            failures += (unit(apart) @ v).min() < margin
        assert_fails_at_most(failures, trials, delta)


def test_below_the_theorem_for_several_classes(rng):
    U, X, labels = classes_and_points(rng)
    cosines = unit(X) @ U.T
    own = cosines[np.arange(labels.size), labels]
    others = np.where(np.eye(len(U), dtype=bool)[labels], -np.inf, cosines)
    gamma = (own - others.max(axis=1)).min()
    sizes = {"points": labels.size, "classes": len(U)}
    theorem = get("shi2012.8")
    asked = theorem.dimension(theorem.eps_keeping(0.0, multiclass_margin=gamma), 0.05, **sizes)
    assert multiclass_margin_dimension(cosines, labels, 0.05) * 10 < asked
    one = get("shi2012.9")
    asked = one.dimension(one.eps_keeping(0.0, multiclass_margin=gamma, classes=len(U)), 0.05, **sizes)
    assert margin_dimension(one_parameter_cosines(cosines, labels), 0.05) * 10 < asked


def test_edges():
    assert multiclass_margin_dimension([[1.0, -1.0]], [0], 1e-9, 1.9) == 1  # nothing moves
    assert multiclass_margin_failure([[1.0, -1.0]], [0], 1, 1.9) == 0.0
    # the own cosine does not move, so that all the room is for the other one
    r = multiclass_margin_dimension([[1.0, 0.5]], [0], 0.01, 0.1)
    assert cosine.sf(0.9, r, 0.5) <= 0.01 < cosine.sf(0.9, r - 1, 0.5)
    r = multiclass_margin_dimension([[-1.0, 0.5]], [1], 0.01, 0.1)
    assert cosine.cdf(-0.9, r, 0.5) <= 0.01
    assert multiclass_margin_dimension([[0.5, 0.4], [0.1, 0.9]], [0, 0], 0.05, errors=1) > 100
    with pytest.raises(InvalidParameterError):
        multiclass_margin_dimension([[0.5, 0.4], [0.1, 0.9]], [0, 0], 0.05)
    with pytest.raises(InvalidParameterError):
        multiclass_margin_dimension([[0.5, 0.25]], [0], 0.05, margin=0.25)


def test_many_points_and_classes(rng):
    cosines = rng.uniform(-0.3, 0.1, (20_000, 5))
    cosines[:, 0] = rng.uniform(0.3, 0.8, 20_000)
    labels = np.zeros(20_000, int)
    r = multiclass_margin_dimension(cosines, labels, 0.05)
    failures = [multiclass_margin_failure(cosines, labels, s) for s in (r, r - 1)]
    assert failures[0] <= 0.05 < failures[1]


WRONG = [
    *({"cosines": cosines} for cosines in ([0.3, 0.1], [[0.3]], [[0.3, 2.0]], np.zeros((0, 3)))),
    *({"labels": labels} for labels in ([2], [-1], [0, 1], [0.0], ["a"], 0)),
    {"margin": 2.0},
    {"errors": 1},
]


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_arguments(changes):
    given = {"cosines": [[0.3, 0.1]], "labels": [0], **changes}
    with refuses(next(iter(changes))):
        multiclass_margin_dimension(delta=0.05, **given)
    with refuses(next(iter(changes))):
        multiclass_margin_failure(r=10, **given)
    if not {"margin", "errors"} & set(changes):
        with refuses(next(iter(changes))):
            one_parameter_cosines(given["cosines"], given["labels"])


@pytest.mark.data
@pytest.mark.parametrize("name", ["golub", "alon"])
def test_real_data(name, data_dir, rng):
    X, y = real_set(data_dir, name)
    X = unit((X - X.mean(axis=0)) / X.std(axis=0).clip(1e-9))
    svm = LinearSVC(C=100.0, loss="squared_hinge", fit_intercept=False, tol=1e-6, max_iter=100_000, random_state=0)
    u = unit(svm.fit(X, y).coef_[0])
    c = y * (X @ u)
    r = margin_dimension(c, 0.05)
    theorem = get("shi2012.6")
    assert 10 * r < theorem.dimension(theorem.eps_keeping(0.0, margin=c.min()), 0.05, points=y.size)
    assert r < theorem.exact_dimension(theorem.eps_keeping(0.0, margin=c.min()), 0.05, points=y.size, margin=c.min())
    # In the coordinates of the rows' own subspace a Gaussian R is a Gaussian R; a few are drawn in full.
    span = np.linalg.svd(np.vstack([X, u]), full_matrices=False)[2]
    together = np.vstack([X, u])
    failures = 0
    for trial in range(200):
        if trial < 5:
            Z = Gaussian(X.shape[1], r, int(rng.integers(2**32))).apply(together)
        else:
            Z = (together @ span.T) @ gaussians(rng, 1, len(span), r)[0]
        failures += np.any(y * (Z[:-1] @ Z[-1]) < 0)
    assert_fails_at_most(failures, 200, 0.05)
