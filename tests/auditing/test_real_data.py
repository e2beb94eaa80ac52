"""All numbers of an audit of public data, once more from the rows in float64: only R is the library's."""

from math import floor

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.stats import binomtest, chi2, t

from slimline import audit
from tests.auditing import independent
from tests.geometry.exact import clarabel_ball, clarabel_margin, clarabel_simplex, coordinates
from tests.learning.real_sets import real_set

pytestmark = pytest.mark.data

EPS, DELTA, ERRORS, DRAWS = 0.15, 0.1, 0.05, 2
#: Data, family and components: with more than rows, with half as many, and with too few.
CASES = [
    ("golub", "gaussian", 300),
    ("alon", "srht", 128),
    ("arcene", "osnap", 64),
    ("arcene", "gaussian", 12),
    ("newsgroups", "cw", 256),
    ("newsgroups", "very_sparse", 40),
]


def rows_of(folder, name):
    """Return some rows that are not zero, dense, with labels of ±1."""
    X, y = real_set(folder, name)
    X = X.tocsr() if sp.issparse(X) else X
    if name == "newsgroups":
        there = np.flatnonzero(np.asarray(np.abs(X).sum(axis=1)).ravel())
        chosen = np.concatenate([there[y[there] == sign][:50] for sign in (1.0, -1.0)])
        X, y = X[chosen], y[chosen]
    return X, (X.toarray() if sp.issparse(X) else np.asarray(X)).astype(np.float64), y


def exact_margin(Z, y, intercept=False):
    """Return the hard margin; 0 where a linear program proves that no plane separates."""
    rows = -y[:, None] * np.c_[Z / np.abs(Z).max(), np.full((len(Z), int(intercept)), 1.0)]
    program = linprog(np.zeros(rows.shape[1]), rows, -np.ones(len(rows)), bounds=(None, None), method="highs")
    assert program.status in (0, 2)
    return clarabel_margin(Z, y, intercept) if program.status == 0 else 0.0


def unit(Z):
    return Z / np.linalg.norm(Z, axis=1)[:, None]


def separator_of(X, y):
    """Return the normal of the plane with the largest margin in cosines: the hull's nearest point to the origin."""
    rows = y[:, None] * unit(X)
    _, weights = clarabel_simplex(rows @ rows.T, np.zeros(len(rows)), np.zeros(len(rows), dtype=int))
    return weights @ rows


def changes_of(X, Z):
    """Return the changes of squared distances, cosines and scaled inner products, from differences of rows."""
    K, L = unit(X) @ unit(X).T, unit(Z) @ unit(Z).T
    lengths = np.linalg.norm(Z, axis=1) / np.linalg.norm(X, axis=1)
    upper = np.triu_indices(len(X), 1)
    distances = []
    for i in range(len(X) - 1):
        before = np.sum(np.square(X[i + 1 :] - X[i]), axis=1)
        after = np.sum(np.square(Z[i + 1 :] - Z[i]), axis=1)
        distances.append(after[before > 0.0] / before[before > 0.0] - 1.0)
    angles, products = (L - K)[upper], (L * np.outer(lengths, lengths) - K)[upper]
    return {"distances": np.concatenate(distances), "angles": angles, "inner products": products}


def assert_frequency(found, held):
    low, high = binomtest(sum(held), len(held)).proportion_ci(0.95, method="exact")
    assert (found.held, found.draws) == (sum(held), len(held))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name, family, r", CASES, ids=[f"{name}-{family}-{r}" for name, family, r in CASES])
def test_all_numbers(data_dir, name, family, r):
    stored, X, y = rows_of(data_dir, name)
    found = audit(
        stored, y, projection=family, n_components=r, repeats=DRAWS, eps=EPS, delta=DELTA, errors=ERRORS, random_state=9
    )
    n, d = X.shape
    assert (found.n_rows, found.n_features, found.n_classes) == (n, d, 2)
    matrices = [independent.dense(projection) for projection in independent.rebuilt(found)]
    sketches = [X @ R for R in matrices]
    span = coordinates(X)
    margins = {kept.name: kept for kept in found.margins}
    compare_margins(margins, span, sketches, y)
    compare_separator(found, margins, X, matrices, y, r)
    compare_ball_and_embedding(found, X, span, matrices, sketches)
    for pairs in found.pairs:
        changes = [changes_of(X, Z)[pairs.name] for Z in sketches]
        assert pairs.n_pairs == len(changes[0])
        assert pairs.largest == pytest.approx([np.abs(one).max() for one in changes], rel=1e-7)
        assert pairs.share_within == pytest.approx(
            [np.mean(np.abs(one) <= EPS) for one in changes], abs=1.5 / len(changes[0])
        )
        np.testing.assert_allclose(pairs.quantiles, np.quantile(changes[0], pairs.quantile_levels), atol=1e-8)
        assert_frequency(pairs.all_within, [np.abs(one).max() <= EPS for one in changes])
    chi = chi2(r)
    assert found.pairs[0].predicted == pytest.approx(chi.cdf(r * (1 + EPS)) - chi.cdf(r * (1 - EPS)), rel=1e-9)


def compare_margins(margins, span, sketches, y):
    ways = {
        "margin": lambda Z: exact_margin(Z, y),
        "normalised margin": lambda Z: exact_margin(unit(Z), y),
        "margin with intercept": lambda Z: exact_margin(Z, y, intercept=True),
    }
    for name, way in ways.items():
        kept, before, after = margins[name], way(span), [way(Z) for Z in sketches]
        assert kept.before == pytest.approx(before, rel=1e-6)
        assert kept.after == pytest.approx(after, rel=1e-6)
        assert_frequency(kept.positive, [value > 0.0 for value in after])
        assert_frequency(kept.within, [abs(value / before - 1.0) <= EPS for value in after])


def compare_separator(found, margins, X, matrices, y, r):
    u = separator_of(X, y)

    def about(Z, v):
        return np.sort(y * (unit(Z) @ v) / np.linalg.norm(v))

    before, after = about(X, u), [about(X @ R, u @ R) for R in matrices]
    np.testing.assert_allclose(np.sort(found.cosines_before), before, atol=1e-5)
    np.testing.assert_allclose(np.sort(found.cosines_after), after[0], atol=1e-5)
    place = floor(ERRORS * len(X))
    for name, k in (("normalised margin, same separator", 0), ("error-allowed margin", place)):
        kept = margins[name]
        assert kept.before == pytest.approx(before[k], abs=1e-5)
        assert kept.after == pytest.approx([one[k] for one in after], abs=1e-5)
    assert found.wrong_side.before == 0
    assert found.wrong_side.after == tuple(int(np.sum(one <= 0.0)) for one in after)

    def tails(r):
        return t.cdf(-np.sqrt(r) * before / np.sqrt(1.0 - before**2), r).sum()

    assert found.wrong_side.predicted == pytest.approx(tails(r), rel=1e-3)
    law = next(one for one in margins["normalised margin, same separator"].promises if one.low == 0.0)
    assert law.predicted == pytest.approx(min(tails(r), 1.0), rel=1e-3)
    near = found.needed_dimension
    assert tails(near * 0.999) >= DELTA >= tails(near * 1.001)


def compare_ball_and_embedding(found, X, span, matrices, sketches):
    ball, after = clarabel_ball(span), [clarabel_ball(Z) for Z in sketches]
    assert found.ball.before == pytest.approx(ball, rel=1e-7)
    assert found.ball.after == pytest.approx(after, rel=1e-7)
    assert_frequency(found.ball.within, [abs(value / ball - 1.0) <= EPS for value in after])
    errors = [independent.embedding_error(X, R) for R in matrices]
    assert found.rank == np.linalg.matrix_rank(X)
    assert found.embedding.after == pytest.approx(errors, rel=1e-6)
    assert_frequency(found.embedding.within, [error <= EPS for error in errors])
    measured = {kept.name: (kept.before, kept.after) for kept in found.margins}
    measured["enclosing ball"] = ball, after
    assert [check.about for check in found.brackets] == ["margin", "margin with intercept", "enclosing ball"]
    for check in found.brackets:
        before, later = measured[check.about]
        squares = np.square(np.array(later) / before)
        assert np.all(np.abs(squares - 1.0) <= np.array(errors) * (1.0 + 1e-6))  # paul2013, with the error as it is
        assert (check.held, check.draws, check.ends_used) == (DRAWS, DRAWS, sum(error < 1.0 for error in errors))
        nearest = max(np.abs(squares - 1.0) / np.array(errors))
        assert check.nearest == pytest.approx(nearest, rel=1e-5)
