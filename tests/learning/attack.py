"""Helpers of tests of certificates: nasty data, pairs of points, every claim held against the exact optimum."""

import numpy as np

from slimline import open_matrix
from slimline.learning import (
    LOSSES,
    BinaryProblem,
    TrainingData,
    certificate_of,
    membership,
    solve_gram,
)
from slimline.learning.certificate import bound_gap, gap_parts, intervals
from slimline.learning.problem import DualPoint, ExactSubspace, Point, SolverState
from tests.learning.exact import as_floats, distance, exact_weights

KINDS = [
    "plain",
    "ill-scaled",
    "separable",
    "duplicated",
    "constant",
    "empty",
    "opposite",
    "tiny column",
    "huge",
    "minute",
]


def nasty(rng, kind, n, d):
    """Return data and labels."""
    X = rng.standard_normal((n, d))
    y = rng.choice([-1.0, 1.0], n)
    if kind == "ill-scaled":
        X *= 10.0 ** rng.uniform(-6, 6, d)
    elif kind == "separable":
        X[:, 0] = y * rng.uniform(0.5, 1.5, n)
    elif kind == "duplicated":
        X[n // 2 :], y[n // 2 :] = X[: n - n // 2], y[: n - n // 2]
        X[:, d // 2 :] = X[:, : d - d // 2]
    elif kind == "constant":
        X[:, 0] = rng.choice([1.0, 1e3, -1e-3])
    elif kind == "empty":
        X[rng.random(n) < 0.4] = 0.0
        X[:, rng.random(d) < 0.4] = 0.0
    elif kind == "opposite":
        X[n // 2 :], y[n // 2 :] = X[: n - n // 2], -y[: n - n // 2]
    elif kind == "tiny column":
        X[:, -1] *= 10.0 ** rng.uniform(-12, -3)
    elif kind == "huge":
        X *= 1e30
    elif kind == "minute":
        X *= 1e-30
    return X, y


def with_constant(X, constant):
    return np.column_stack([X, np.full(len(X), constant)])


def point_at(data, w):
    values, terms = data.values(w[:, None])
    return Point(w, values[:, 0], data.values_error(float(np.linalg.norm(w)), terms))


def dual_point_at(data, task, a):
    """Return the dual point of a, after a pass as the recovery makes it."""
    beta = task.representer(a)
    W, F, terms = data.normal(beta[:, None])
    weights = W[0] / task.penalty
    error = data.values_error(float(np.linalg.norm(weights)), terms)
    return DualPoint(weights, F[:, 0] / task.penalty, error, a=a, weights_error=data.weights_error(beta) / task.penalty)


def near_dual(task, X):
    """Return dual variables close to the optimal ones."""
    used = task.weights > 0
    problem = BinaryProblem(task.loss, task.labels[used], task.weights[used], task.penalty, np.zeros(int(used.sum())))
    with np.errstate(all="ignore"):
        found = solve_gram(X[used] @ X[used].T, problem).dual / problem.weights
    a = task.loss.project(np.zeros(len(used)))
    a[used] = task.loss.project(np.nan_to_num(found))
    return a


def pairs(rng, data, task, X, optimum):
    """Yield pairs of points: the best that float64 has, near ones, and bad ones."""
    n, size = len(task.labels), np.linalg.norm(optimum) + 1e-300
    best = near_dual(task, X)
    inside = 1.0 if np.isfinite(task.loss.upper) else 3.0
    for noise in (0.0, 1e-9, 1e-2):
        a = task.loss.project(best + noise * rng.standard_normal(n))
        w = optimum + noise * size * rng.standard_normal(len(optimum)) / len(optimum) ** 0.5
        yield point_at(data, w), dual_point_at(data, task, a)
    dual = dual_point_at(data, task, task.loss.project(inside * rng.uniform(0, 1, n)))
    yield dual, dual
    yield point_at(data, rng.standard_normal(len(optimum)) * size * 10.0 ** rng.uniform(-3, 3)), dual
    yield point_at(data, np.zeros(len(optimum))), dual_point_at(data, task, task.loss.project(np.zeros(n)))


def check_claims(data, task, point, dual, exact, where):
    """Hold everything that is claimed about a pair against the exact optimum; return the proof."""
    truth = as_floats(exact)
    size = np.linalg.norm(truth)
    proof = bound_gap(task, point, dual, data.row_bounds)
    parts = gap_parts(task, point, dual, data.row_bounds)
    assert np.isfinite(proof.radius), where
    off = distance(exact, proof.weights)
    assert off <= proof.radius * (1 + 1e-14), (where, off, proof.radius)
    if size > 0:
        assert off / size <= proof.relative_error * (1 + 1e-14), where
    both = distance(exact, point.weights) ** 2 + distance(exact, dual.weights) ** 2
    # w_α itself is known to within its rounding
    lost = dual.weights_error * (2 * np.sqrt(both) + dual.weights_error)
    assert 0.5 * task.penalty * (both - lost) <= proof.gap * (1 + 1e-14), where
    centre, radius = intervals(task, point, dual, parts, data.column_squares)
    state = SolverState(task, point, dual, ExactSubspace(len(dual.a)), bound=proof)
    certificate = certificate_of(data, [state], None)
    for j in range(len(truth)):
        assert distance(exact[j : j + 1], centre[j : j + 1]) <= radius[j] * (1 + 1e-14), (where, j)
        if j < len(truth) - 1:
            one = exact[j : j + 1]
            claims = (
                (certificate.interval_centre, certificate.interval_radius),
                (certificate.weights, certificate.coordinate_radius),
            )
            for middle, around in claims:
                assert distance(one, middle[0, j : j + 1]) <= around[0, j] * (1 + 1e-14), (where, j)
    check_membership(certificate.interval_centre[0], certificate.interval_radius[0], exact[:-1], where)
    return proof


def check_membership(centre, radius, exact, where):
    sizes = [abs(value) for value in exact]
    for k in range(1, len(sizes) + 1):
        surely_in, surely_out = membership(centre, radius, k)
        assert not np.any(surely_in & surely_out), where
        for j, size in enumerate(sizes):
            others = [other for i, other in enumerate(sizes) if i != j]
            if surely_in[j]:
                assert sum(other >= size for other in others) <= k - 1, (where, k, j)
            if surely_out[j]:
                assert sum(other > size for other in others) >= k, (where, k, j)


def random_case(rng, name, kind=None, rows=4, columns=4):
    """Return data with a constant column, the task and the exact optimum."""
    n, d = int(rng.integers(1, rows + 1)), int(rng.integers(1, columns + 1))
    kind = KINDS[int(rng.integers(len(KINDS)))] if kind is None else kind
    X, y = nasty(rng, kind, n, d)
    s = rng.uniform(0.1, 3.0, n) * 10.0 ** rng.uniform(-2, 2) if rng.random() < 0.5 else np.ones(n)
    if n > 1 and rng.random() < 0.1:
        s[0] = 0.0
    constant = float(rng.choice([0.0, 0.0, 1.0, 10.0]))
    penalty = float(10.0 ** rng.uniform(-6, 6))
    task = BinaryProblem(LOSSES[name], y, s, penalty)
    data = TrainingData(open_matrix(X), constant, s)
    whole, used = with_constant(X, constant), s > 0
    exact = exact_weights(name, whole[used], y[used], s[used], penalty)
    return data, task, whole, exact, (kind, n, d, penalty, constant)
