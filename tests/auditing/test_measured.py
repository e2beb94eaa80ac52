"""Every measured number against an independent computation, from draws that are rebuilt from their JSON lines."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from slimline import audit
from slimline.auditing._measures import Labels, _ruled_out, margins_of
from slimline.geometry import Points
from slimline.laws import cosine
from tests.auditing import independent


def two_classes(n=24, d=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, d)) + np.outer(2.0 * y - 1.0, rng.standard_normal(d)) * 0.6, y


def three_classes(n=15, d=40, seed=1):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.standard_normal((n, d)) + 2.0 * rng.standard_normal((3, d))[y], y


def by_name(found):
    return {kept.name: kept for kept in found.margins}


def compare_ratios(kept, eps):
    ratios = np.array(kept.after) / kept.before
    np.testing.assert_allclose(kept.ratios, ratios, rtol=1e-12)
    assert kept.within.held == sum(abs(ratio - 1.0) <= eps for ratio in ratios)
    assert kept.within.draws == len(ratios)


@pytest.mark.parametrize("family", ["gaussian", "srht", "osnap"])
def test_two_classes(family):
    X, y = two_classes()
    signs = 2.0 * y - 1.0
    found = audit(X, y, projection=family, n_components=32, repeats=3, eps=0.3, random_state=5)
    margins = by_name(found)
    ways = {
        "margin": independent.plain_margin,
        "normalised margin": independent.normalised_margin,
        "margin with intercept": independent.margin_with_intercept,
    }
    sketches = [X @ independent.dense(projection) for projection in independent.rebuilt(found)]
    for name, way in ways.items():
        kept = margins[name]
        assert kept.before == pytest.approx(way(X, signs), rel=1e-6)
        assert kept.after == pytest.approx([way(Z, signs) for Z in sketches], rel=1e-6)
        assert kept.positive.held == 3
        compare_ratios(kept, 0.3)
    assert found.ball.before == pytest.approx(independent.ball_radius(X), rel=1e-6)
    assert found.ball.after == pytest.approx([independent.ball_radius(Z) for Z in sketches], rel=1e-6)
    compare_ratios(found.ball, 0.3)


def test_the_same_separator_is_the_best_one_of_before():
    X, y = two_classes()
    signs = 2.0 * y - 1.0
    found = audit(X, y, n_components=32, repeats=3, random_state=5)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    # the dual of the normalised margin, by its optimality: u is the combination of the points on the margin
    u = separator(unit * signs[:, None])
    kept = by_name(found)["normalised margin, same separator"]
    before = signs * (unit @ u)
    assert kept.before == pytest.approx(before.min(), rel=1e-6)
    wrong = []
    for projection, after in zip(independent.rebuilt(found), kept.after, strict=True):
        R = independent.dense(projection)
        Z, v = X @ R, u @ R
        cosines = signs * (Z @ v) / (np.linalg.norm(Z, axis=1) * np.linalg.norm(v))
        assert after == pytest.approx(cosines.min(), abs=1e-5)
        wrong.append(int(np.sum(cosines <= 0.0)))
    assert found.wrong_side.after == tuple(wrong)
    assert found.wrong_side.before == 0
    # P(cos' ≤ 0) is a tail of Student's law: no integral
    tails = stats.t.cdf(-np.sqrt(32) * before / np.sqrt(1.0 - before**2), 32)
    assert found.wrong_side.predicted == pytest.approx(tails.sum(), rel=1e-4)
    np.testing.assert_allclose(np.sort(found.cosines_before), np.sort(before), atol=1e-5)
    promise = next(one for one in kept.promises if one.kind == "law" and one.low == 0.0)
    assert promise.predicted == pytest.approx(min(tails.sum(), 1.0), rel=1e-4)


@pytest.mark.parametrize("errors", [0.0, 0.1, 0.5])
def test_the_margin_of_most_points(errors):
    X, y = two_classes()
    signs = 2.0 * y - 1.0
    found = audit(X, y, n_components=32, repeats=3, eps=0.3, errors=errors, random_state=5)
    assert found.errors == errors
    kept = by_name(found)["error-allowed margin"]
    u = separator(X / np.linalg.norm(X, axis=1)[:, None] * signs[:, None])
    place = int(24 * errors)  # so many points are left out
    assert kept.before == pytest.approx(margins_about(X, u, signs)[place], abs=1e-6)
    after = [margins_about(X @ R, u @ R, signs)[place] for R in map(independent.dense, independent.rebuilt(found))]
    assert kept.after == pytest.approx(after, abs=1e-6)
    assert kept.positive.held == sum(value > 0.0 for value in after)
    compare_ratios(kept, 0.3)
    if errors == 0.0:
        same = by_name(found)["normalised margin, same separator"]
        assert kept.after == pytest.approx(same.after, rel=1e-9)


def margins_about(X, u, signs):
    return np.sort(signs * (X @ u) / (np.linalg.norm(X, axis=1) * np.linalg.norm(u)))


def test_the_margin_of_most_points_where_nothing_separates_all():
    X, y = two_classes()
    y[5] = 1 - y[5]
    X = np.r_[X, X[5:6]]
    y = np.r_[y, 1 - y[5]]  # the same point with both labels
    found = audit(X, y, n_components=50, repeats=3, errors=0.1)
    margins = by_name(found)
    assert "normalised margin, same separator" not in margins
    kept, wrong = margins["error-allowed margin"], found.wrong_side
    assert wrong.before >= 1 and kept.before > 0.0
    order = np.sort(found.cosines_before)
    assert kept.before == pytest.approx(order[2], rel=1e-9)
    assert {one.bound for one in kept.promises} == {"laws.cosine"}  # no theorem speaks of points on the wrong side


def separator(rows):
    """Return the direction of the least norm in the hull of the rows, by Clarabel."""
    m, k = rows.shape
    w = independent._solved(
        independent.sp.eye_array(k), np.zeros(k), -rows, -np.ones(m), [independent.clarabel.NonnegativeConeT(m)]
    )
    return w / np.linalg.norm(w)


def test_several_classes():
    X, y = three_classes()
    found = audit(X, y, n_components=20, repeats=3, eps=0.3, random_state=2)
    margins = by_name(found)
    projections = independent.rebuilt(found)
    sketches = [X @ independent.dense(projection) for projection in projections]
    crammer_singer, definition_7 = margins["Crammer-Singer margin"], margins["normalised multiclass margin"]
    assert crammer_singer.before == pytest.approx(independent.crammer_singer_margin(X, y, 3), rel=1e-6)
    expected = [independent.crammer_singer_margin(Z, y, 3) for Z in sketches]
    assert crammer_singer.after == pytest.approx(expected, rel=1e-6)
    compare_ratios(crammer_singer, 0.3)
    # some direction is orthogonal to all points, so the relaxed value is the margin, to the width that is asked for
    for value, upper, Z in zip(
        (definition_7.before, *definition_7.after),
        (definition_7.before_upper, *definition_7.after_upper),
        (X, *sketches),
        strict=True,
    ):
        relaxed = independent.relaxed_definition_7(Z, y, 3)
        assert value == pytest.approx(relaxed, rel=2e-3)
        assert value <= relaxed * (1.0 + 1e-9) and relaxed <= upper * (1.0 + 1e-9)
    one_parameter = margins["one-parameter margin"]
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    expected = independent.crammer_singer_margin(unit, y, 3) / np.sqrt(2.0)  # a part of v for each class
    assert one_parameter.before == pytest.approx(expected, rel=1e-6)
    compare_ratios(one_parameter, 0.3)
    expected = [independent.one_parameter_margin(X, y, 3, projection) for projection in projections]
    assert one_parameter.after == pytest.approx(expected, rel=1e-6)
    assert found.wrong_side is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_that_others_rule_out(n_classes):
    labels = Labels(np.arange(40) % n_classes, n_classes)
    Z = np.random.default_rng(4).standard_normal((40, 3))
    found, searched = (margins_of(Points(Z), labels, vectors=vectors) for vectors in (False, True))
    assert found.keys() == searched.keys()
    for name, one in found.items():
        assert one.value == one.lower == searched[name].value == 0.0
        assert one.upper <= 2e-7 * (1.0 if "normalised" in name else np.linalg.norm(Z, axis=1).max())
        assert ("any margin" in one.reached) == (name not in ("margin with intercept", "Crammer-Singer margin"))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_that_only_cosines_see_are_not_ruled_out(n_classes):
    rng = np.random.default_rng(5)
    labels = Labels(np.arange(12) % n_classes, n_classes)
    Z = rng.standard_normal((12, 30)) + 5.0 * rng.standard_normal((n_classes, 30))[labels.codes]
    Z[:6] *= 1e-10  # to distances they are all at the origin
    found, searched = (margins_of(Points(Z), labels, vectors=vectors) for vectors in (False, True))
    name = "normalised margin" if n_classes == 2 else "normalised multiclass margin"
    assert found[name].value == searched[name].value > 0.3
    # were the widest margin lost to rounding, it would say nothing of cosines with the tiny points
    widest = next(one for other, one in searched.items() if "normalised" not in other and other != "margin")
    lost = replace(widest, separable=False, value=0.0, lower=0.0, upper=1e-9)
    assert set(_ruled_out(Points(Z), lost, labels)) - {"margin"} == set()
    Z[:6] *= 1e10
    least = np.linalg.norm(Z, axis=1).min()
    assert _ruled_out(Points(Z), lost, labels)[name].upper == pytest.approx(
        1e-9 / least * (1.0 if n_classes == 2 else np.sqrt(3.0)), rel=1e-12
    )
    assert not _ruled_out(Points(Z), replace(lost, separable=None), labels)


@pytest.mark.filterwarnings("ignore:The number of components is higher")
def test_one_parameter_margins_come_back_with_many_components():
    X, y = three_classes()
    kept = by_name(audit(X, y, n_components=40_000, repeats=1))["one-parameter margin"]
    assert kept.ratios[0] == pytest.approx(1.0, abs=0.02)  # 15 points are off by some 1/200


def test_what_is_attained_is_no_more_than_what_can_be():
    rng = np.random.default_rng(3)
    for n_classes in (2, 3):
        y = np.arange(60) % n_classes
        X = rng.standard_normal((60, 5)) * 0.3 + 2.0 * np.eye(5)[y]  # more points than dimensions
        margins = by_name(audit(X, y, n_components=4, repeats=12, random_state=3))
        best = margins["normalised margin" if n_classes == 2 else "normalised multiclass margin"]
        same = margins["normalised margin, same separator"]
        assert same.before == pytest.approx(best.before, rel=1e-6)
        assert np.all(np.array(same.after) <= np.array(best.after_upper) + 1e-9)
        assert np.all(np.array(best.after) >= np.maximum(same.after, 0.0) - 1e-9)


@pytest.mark.parametrize("family", ["gaussian", "sign", "achlioptas", "very_sparse", "srht", "cw", "osnap"])
@pytest.mark.parametrize("r", [8, 32])
def test_pairs_and_embedding_error(family, r):
    X, _ = two_classes(n=14)
    X[3] = X[2]  # equal rows have an angle, and no distance
    found = audit(X, projection=family, n_components=r, repeats=3, eps=0.25, random_state=1)
    for k, projection in enumerate(independent.rebuilt(found)):
        R = independent.dense(projection)
        assert found.embedding.after[k] == pytest.approx(independent.embedding_error(X, R), rel=1e-6)
        assert found.embedding.after_lower[k] <= found.embedding.after[k] <= found.embedding.after_upper[k]
        for pairs in found.pairs:
            changes = np.abs(independent.pair_changes(X, X @ R)[pairs.name])
            assert pairs.n_pairs == len(changes)
            assert pairs.largest[k] == pytest.approx(changes.max(), rel=1e-9)
            assert pairs.share_within[k] == np.mean(changes <= 0.25)
            if k == 0:
                signed = independent.pair_changes(X, X @ R)[pairs.name]
                np.testing.assert_allclose(pairs.quantiles, np.quantile(signed, pairs.quantile_levels), atol=1e-10)
    assert found.embedding.within.held == sum(error <= 0.25 for error in found.embedding.after)
    for pairs in found.pairs:
        assert pairs.all_within.held == sum(value <= 0.25 for value in pairs.largest)
    assert found.rank == 13


def test_embedding_errors_within_eps():
    X, _ = two_classes(n=6)
    errors = audit(X, n_components=50, repeats=5, eps=0.5).embedding.after
    assert max(errors) < 0.99
    for place, error in enumerate(sorted(errors)):
        for eps, held in ((0.999 * error, place), (1.001 * error, place + 1)):
            assert audit(X, n_components=50, repeats=5, eps=eps).embedding.within.held == held


def test_predicted_shares_are_means_of_the_exact_laws():
    X, _ = two_classes(n=12)
    X[5] = -X[4]  # an angle of half a turn stays one
    found = audit(X, n_components=17, repeats=1, eps=0.15)
    cosines = [X[i] @ X[j] / np.linalg.norm(X[i]) / np.linalg.norm(X[j]) for i in range(12) for j in range(i)]
    cosines = np.clip(cosines, -1.0, 1.0)
    distances, angles, products = found.pairs
    chi = stats.chi2(17)
    assert distances.predicted == pytest.approx(chi.cdf(17 * 1.15) - chi.cdf(17 * 0.85), rel=1e-9)
    inside = [
        1.0
        if abs(abs(c) - 1.0) < 1e-12
        else cosine.cdf(min(c + 0.15, 1.0), 17, c) - cosine.cdf(max(c - 0.15, -1.0), 17, c)
        for c in cosines
    ]
    assert angles.predicted == pytest.approx(np.mean(inside), rel=1e-9)
    assert products.predicted == pytest.approx(np.mean([product_share(c, 17, 0.15) for c in cosines]), rel=1e-6)


def product_share(c, r, eps):
    """Return P(|S - c| ≤ ε) for r S = ((1+c) U - (1-c) V)/2, by the trapezoidal rule over V."""
    chi = stats.chi2(r)
    if 1.0 - abs(c) < 1e-12:
        return chi.cdf(r * (1.0 + eps)) - chi.cdf(r * (1.0 - eps))
    v = np.linspace(0.0, 12.0 * np.sqrt(2.0 * r) + r, 10_001)
    up, down = ((2.0 * r * (c + side * eps) + (1.0 - c) * v) / (1.0 + c) for side in (1.0, -1.0))
    return np.trapezoid((chi.cdf(up) - chi.cdf(down)) * chi.pdf(v), v)
