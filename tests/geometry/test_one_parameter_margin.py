"""The margin of one vector for all classes against Clarabel, with R written out, and against its theorem."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from slimline import GaussianProjection, OneParameterClassifier, bounds, open_matrix
from slimline.errors import DataError, InvalidParameterError, NonFiniteError
from slimline.estimators._one_parameter import ClassProjections
from slimline.geometry import Points, multiclass_margin, one_parameter_margin
from slimline.geometry import _one_parameter as one_parameter
from slimline.projections import Gaussian, HashEmbedding, Identity, SubsampledHadamard
from tests.families import FAMILIES
from tests.geometry.cones import all_pairs, least_norm_margin
from tests.geometry.several_classes import clusters, real_classes
from tests.geometry.storages import written_out
from tests.refusals import refuses
from tests.tiers import once_then_all


def differences(X, codes, projections, denominator):
    """Return (R_yᵀx - R_y'ᵀx) over its size for every pair, by loops."""
    sketches = [np.asarray(X, dtype=np.float64) @ written_out(projection) for projection in projections]
    rows = []
    for i, own, rival in all_pairs(codes, len(projections)):
        a, b = sketches[own][i], sketches[rival][i]
        size = np.linalg.norm(a - b) if denominator == "difference" else np.hypot(np.linalg.norm(a), np.linalg.norm(b))
        rows.append((a - b) / size)
    return np.array(rows)


def check(X, y, projections, denominator="difference", given=None, tolerance=1e-7, **parameters):
    """Compare with Clarabel; look at bracket, vector and proof; return the record and the relative error."""
    names, codes = np.unique(y, return_inverse=True)
    given = X if given is None else given
    found = one_parameter_margin(given, y, projections, denominator=denominator, **parameters)
    Z = differences(X, codes, projections, denominator)
    exact = least_norm_margin(Z)
    error = abs(found.value / exact - 1.0)
    assert error < tolerance and found.separable
    assert found.lower <= exact * (1.0 + tolerance) and exact <= found.upper * (1.0 + tolerance)
    assert found.relative_gap <= 1e-8
    assert np.linalg.norm(found.vector) == pytest.approx(1.0, abs=1e-12)
    assert (Z @ found.vector).min() == pytest.approx(found.value, rel=tolerance)
    assert proof(Z, codes, found) == pytest.approx(found.upper, rel=tolerance)
    assert found.classes == tuple(names.tolist())
    return found, error


def proof(Z, codes, found):
    """Return the norm of the combination of pairs that proves the upper end."""
    places = {(i, rival): k for k, (i, _, rival) in enumerate(all_pairs(codes, len(found.classes)))}
    index = [places[int(i), int(rival)] for i, rival in zip(found.support, found.rivals, strict=True)]
    assert found.multipliers.sum() == pytest.approx(1.0, abs=1e-12) and (found.multipliers > 0.0).all()
    return float(np.linalg.norm(found.multipliers @ Z[index]))


@pytest.mark.parametrize("family, denominator", once_then_all(FAMILIES, ["difference", "printed"]))
def test_equals_the_least_norm_in_every_family(family, denominator, global_random_seed):
    X, y = clusters(20, 300, 3, global_random_seed)
    projections = [FAMILIES[family](300, 64, 7 * global_random_seed + k) for k in range(3)]
    check(X, y, projections, denominator)


@pytest.mark.parametrize("denominator", ["difference", "printed"])
@pytest.mark.parametrize("n,n_classes,r", [(2, 2, 2), (5, 5, 16), (30, 2, 10), (40, 4, 100), (21, 7, 200)])
def test_other_sizes(n, n_classes, r, denominator):
    X, y = clusters(n, 250, n_classes, 1)
    check(X, y, [Gaussian(250, r, k) for k in range(n_classes)], denominator)


def test_families_may_differ_between_classes():
    X, y = clusters(20, 256, 3, 2)
    check(X, y, (Gaussian(256, 40, 1), SubsampledHadamard(256, 40, 1), HashEmbedding(256, 40, 1)))


def test_a_single_projection_stands_for_independent_ones_of_its_family():
    X, y = clusters(20, 300, 3, 3)
    single = HashEmbedding(300, 64, 11, 2)
    drawn = one_parameter._of_each_class(single, 3, X.shape)
    assert len({projection.seed for projection in drawn}) == 3
    assert all(dataclasses.replace(projection, seed=11) == single for projection in drawn)
    found = one_parameter_margin(X, y, single)
    assert found == one_parameter_margin(X, y, single)  # the seed decides
    assert found.value == check(X, y, drawn)[0].value
    assert found.value != one_parameter_margin(X, y, HashEmbedding(300, 64, 12, 2)).value
    # the first classes have the same projections whatever the number of classes is
    assert one_parameter._of_each_class(single, 5, X.shape)[:3] == drawn
    transformer = GaussianProjection(64, random_state=5).fit(X)
    assert one_parameter_margin(X, y, transformer) == one_parameter_margin(X, y, transformer.projection_)
    assert one_parameter_margin(X, y, GaussianProjection(64, random_state=5)).separable


def test_a_fitted_classifier_s_projections(global_random_seed):
    X, y = clusters(40, 300, 4, global_random_seed)
    X /= np.linalg.norm(X, axis=1)[:, None]
    model = OneParameterClassifier(n_components=64, fit_intercept=False, random_state=global_random_seed).fit(X, y)
    own = ClassProjections(300, 64, model.seed_, False)
    found, _ = check(X, y, [own.of(k, 300) for k in range(4)])
    Z = differences(X, y, [own.of(k, 300) for k in range(4)], "difference")
    # no vector does better than the margin, that of the model either
    assert (Z @ model.vector_).min() / np.linalg.norm(model.vector_) <= found.upper
    assert (model.predict(X) == y).all() == bool((Z @ model.vector_).min() > 0.0)


def test_the_same_projection_for_all_classes_leaves_no_difference():
    X, y = clusters(20, 300, 3, 4)
    with pytest.raises(DataError, match="rows 0, 1, 2, 3, 4 and 15 more are the same for two classes"):
        one_parameter_margin(X, y, [Gaussian(300, 20, 1)] * 3)
    found = one_parameter_margin(X, y, [Gaussian(300, 20, 1)] * 3, denominator="printed")
    assert found.separable is False and found.upper < 1e-7


def test_too_few_components_are_proved_not_to_separate():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((60, 200)), np.arange(60) % 3
    projections = [Gaussian(200, 4, k) for k in range(3)]
    for denominator in ("difference", "printed"):
        found = one_parameter_margin(X, y, projections, denominator=denominator)
        Z = differences(X, y, projections, denominator)
        assert found.separable is False and found.value == found.lower == 0.0
        assert proof(Z, y, found) <= found.upper + 1e-14 and found.upper <= 1e-7
    X = np.concatenate([X[:4], X[:1]])  # the same point under two labels
    found = one_parameter_margin(X, [0, 1, 2, 0, 1], [Gaussian(200, 50, k) for k in range(3)])
    assert found.separable is False


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from(["difference", "printed"]))
def test_what_must_not_change_it(seed, n_classes, denominator):
    X, y = clusters(4 * n_classes, 200, n_classes, seed)
    rng = np.random.default_rng(seed)
    projections = [Gaussian(200, 60, seed + k) for k in range(n_classes)]
    expected = one_parameter_margin(X, y, projections, denominator=denominator)
    order, names = rng.permutation(len(y)), rng.permutation(n_classes)
    renamed = [projections[k] for k in np.argsort(names)]
    for other, labels, drawn in (
        (X[order], y[order], projections),
        (X * rng.uniform(0.01, 100.0, (len(y), 1)), y, projections),
        (np.concatenate([X, X[:3]]), np.append(y, y[:3]), projections),
        (X, names[y], renamed),
    ):
        found = one_parameter_margin(other, labels, drawn, denominator=denominator)
        assert found.value == pytest.approx(expected.value, rel=1e-7)
    some = one_parameter_margin(X[n_classes:], y[n_classes:], projections, denominator=denominator)
    assert some.upper >= expected.lower  # fewer points, no smaller margin


def test_a_working_set_proves_the_same(monkeypatch):
    X, y = clusters(100, 200, 4, 6)
    projections = [Gaussian(200, 100, k) for k in range(4)]
    monkeypatch.setattr(one_parameter, "FIRST", 10)
    found, _ = check(X, y, projections)
    assert "of 300 pairs" in found.reached and "all 300" not in found.reached


@pytest.mark.parametrize("kind", ["csr", "float32", "int8", "memory map", "path", "view", "points"])
def test_every_storage(kind, tmp_path):
    X, y = clusters(24, 200, 3, 2)
    X = np.round(20.0 * X).clip(-100, 100).astype(np.int8)
    np.save(tmp_path / "x.npy", X)
    given = {
        "csr": lambda: sp.csr_array(X.astype(float)),
        "float32": lambda: X.astype(np.float32),
        "int8": lambda: X,
        "memory map": lambda: np.load(tmp_path / "x.npy", mmap_mode="r"),
        "path": lambda: tmp_path / "x.npy",
        "view": lambda: open_matrix(np.concatenate([X, X])[::-1]).rows(np.arange(23, -1, -1)),
        "points": lambda: Points(X.astype(float)),
    }[kind]()
    # sketches of data that are not float64 are in float32
    exact = kind in ("csr", "points")
    check(X, y, [HashEmbedding(200, 64, k, 4) for k in range(3)], given=given, tolerance=1e-7 if exact else 1e-4)


@pytest.mark.data
@pytest.mark.parametrize("name,rows", [("orlraws10P", 60), ("digits", 60), ("newsgroups", 48)])
@pytest.mark.parametrize("denominator", ["difference", "printed"])
def test_real_sets_against_clarabel(data_dir, name, rows, denominator, record_property):
    X, y = real_classes(data_dir, name, rows)
    dense = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    given = sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else dense
    projections = [HashEmbedding(X.shape[1], 512, k, 4) for k in range(len(np.unique(y)))]
    _, error = check(dense, y, projections, denominator, given, tolerance=1e-6)
    record_property("worst relative error", error)


def test_theorem_9_holds_as_often_as_it_says():
    """P(the cosine of the stacked vector is below the promise) ≤ δ; more than `most` draws below it: P < 1e-6."""
    draws, delta, n_classes = 60, 0.1, 3
    X, y = np.eye(n_classes, 200), np.arange(n_classes)
    before = multiclass_margin(X, y)
    theorem = bounds.get("shi2012.9")
    eps = 0.9 * theorem.eps_keeping(0.0, classes=n_classes, multiclass_margin=before.lower)
    r = math.ceil(theorem.dimension(eps, delta=delta, points=len(y), classes=n_classes))
    kept = float(theorem.kept(np.asarray(eps), np.asarray(before.lower), np.asarray(float(n_classes)))[0])
    assert 0.0 < kept < before.lower / math.sqrt(2.0 * n_classes)
    below = 0
    for draw in range(draws):
        projections = [Gaussian(200, r, 1000 * draw + k) for k in range(n_classes)]
        pairs = zip(before.separators, projections, strict=True)
        stacked = np.sum([projection.apply(u[None])[0] for u, projection in pairs], axis=0)
        cosine = float((differences(X, y, projections, "difference") @ stacked).min() / np.linalg.norm(stacked))
        below += cosine < kept
        assert one_parameter_margin(X, y, projections).upper >= cosine  # no fixed vector does better
    assert below <= int(binom.isf(1e-6, draws, delta)) < draws


def test_bad_input_is_refused():
    X, y = clusters(9, 30, 3, 0)
    three = [Gaussian(30, 8, k) for k in range(3)]
    with refuses("denominator"):
        one_parameter_margin(X, y, three, denominator="sum")
    with refuses("y"):
        one_parameter_margin(X, y, three[:2])
    with pytest.raises(InvalidParameterError):
        one_parameter_margin(X, y, [*three[:2], Gaussian(30, 9, 2)])
    with pytest.raises(InvalidParameterError, match="n_features=31"):
        one_parameter_margin(X, y, [*three[:2], Gaussian(31, 8, 2)])
    for projections in (None, 3, [1, 2, 3], "abc", np.eye(30)):
        with refuses("projection"):
            one_parameter_margin(X, y, projections)
    with pytest.raises(DataError):
        one_parameter_margin(X, np.zeros(9), three[:1])
    for denominator in ("difference", "printed"):
        with pytest.raises(DataError, match="row 4"):
            one_parameter_margin(np.where(np.arange(9)[:, None] == 4, 0.0, X), y, three, denominator=denominator)
    with pytest.raises(NonFiniteError, match="row 4, column 0"):
        one_parameter_margin(np.where(np.arange(9)[:, None] == 4, np.nan, X), y, three)
    with refuses("tol"):
        one_parameter_margin(X, y, three, tol=0.0)


def test_the_identity_is_the_same_for_all_classes():
    X, y = clusters(9, 30, 3, 0)
    with pytest.raises(DataError):
        one_parameter_margin(X, y, Identity(30, 30, 0))


@pytest.mark.parametrize("denominator", ["difference", "printed"])
def test_points_of_any_size(denominator):
    """Squares of the sketches would lose digits or overflow; the margin is one of cosines, and does not change."""
    X, y = clusters(9, 30, 3, 0)
    drawn = Gaussian(30, 12, 1)
    sizes = 2.0 ** np.linspace(-1000, 1000, 9).round()[:, None]
    usual = one_parameter_margin(X, y, drawn, denominator=denominator)
    found = one_parameter_margin(sizes * X, y, drawn, denominator=denominator)
    assert usual.separable and (found.lower, found.upper) == (usual.lower, usual.upper)


def test_sketches_that_are_too_large_are_refused_before_they_are_made(monkeypatch):
    X, y = clusters(9, 30, 3, 0)
    monkeypatch.setattr(one_parameter, "_MOST_NUMBERS", 100)
    matrix = open_matrix(X)
    with pytest.raises(
        DataError, match=r"216 numbers: take fewer rows, for instance open_matrix\(X\)\.rows\(range\(4\)\)"
    ):
        one_parameter_margin(matrix, y, [Gaussian(30, 8, k) for k in range(3)])
    assert matrix.passes == 0
