"""Tests of the projections that an audit draws."""

import numpy as np
import pytest

from slimline import GaussianProjection, audit, make_projection
from slimline.auditing._measures import family_name, known_family
from slimline.errors import InvalidParameterError
from slimline.projections import Gaussian, Identity, Projection, ShiftedEmbedding, SparseSign
from tests.families import FAMILIES
from tests.refusals import refuses

NAMES = ["gaussian", "sign", "achlioptas", "very_sparse", "srht", "cw", "osnap"]


def data(n=12, d=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, d)) + 2.0 * y[:, None], y


def record(found):
    return {name: value for name, value in found.to_dict().items() if name != "seconds"}


def test_the_same_seed_gives_the_same_record():
    X, y = data()
    one, two = (audit(X, y, n_components=16, repeats=3, random_state=4) for _ in range(2))
    assert record(one) == record(two)
    np.testing.assert_array_equal(one.cosines_after, two.cosines_after)
    for first, second in zip(one.pairs, two.pairs, strict=True):
        np.testing.assert_array_equal(first.sample_before, second.sample_before)
    other = audit(X, y, n_components=16, repeats=3, random_state=5)
    assert not set(one.projections) & set(other.projections)


def test_more_repeats_only_add_draws():
    X, y = data()
    few, many = (audit(X, y, n_components=16, repeats=repeats) for repeats in (2, 5))
    assert many.projections[:2] == few.projections
    assert many.margins[0].after[:2] == few.margins[0].after


def test_draws_differ_from_each_other_and_from_those_of_the_classes():
    X, _ = data()
    found = audit(X, np.arange(12) % 3, n_components=16, repeats=20)
    seeds = [Projection.from_json(line).seed for line in found.projections]
    classes = [int(seed) for first in seeds for seed in np.random.SeedSequence(first).generate_state(3, np.uint64)]
    assert len({*seeds, *classes}) == 20 + 60


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_make_projection(name):
    X, y = data()
    found = audit(X, y, projection=name, n_components=16, repeats=2, random_state=3)
    assert (found.family, found.n_components, found.repeats) == (name, 16, 2)
    first = make_projection(name, 16, random_state=3).fit(X).projection_
    assert Projection.from_json(found.projections[0]) == first
    assert any("Gaussian" in note for note in found.notes) == (name != "gaussian")


def test_a_transformer_and_a_value_are_the_first_draw():
    X, y = data()
    transformer = GaussianProjection(16, random_state=77)
    unfitted = audit(X, y, projection=transformer, repeats=2, random_state=1)
    assert not hasattr(transformer, "projection_")
    transformer.fit(X)
    fitted = audit(X, y, projection=transformer, repeats=2, random_state=2)
    value = audit(X, y, projection=transformer.projection_, repeats=2)
    assert unfitted.projections == fitted.projections == value.projections
    assert value.projections[0] == transformer.projection_.to_json()
    Z = transformer.transform(X)
    distance = np.sum((Z[0] - Z[1]) ** 2) / np.sum((X[0] - X[1]) ** 2) - 1.0
    alone = audit(X[:2], projection=transformer, repeats=1)
    assert alone.pairs[0].largest[0] == pytest.approx(abs(distance), rel=1e-10)


def test_the_projection_that_changes_nothing():
    X, y = data()
    found = audit(X, y, projection=Identity(40, 40, 0), repeats=3, eps=0.01)
    assert found.family == "identity" and found.outcome == "kept"
    for kept in (*found.margins, found.ball):
        assert kept.after == pytest.approx([kept.before] * 3, rel=1e-9)
        assert kept.within.held == 3
    assert max(found.embedding.after) < 1e-8
    assert all(check.held == 3 for check in found.brackets)
    assert not found.embedding.promises
    assert "paul2013.1" not in {one.bound for kept in found.margins for one in kept.promises}


@pytest.mark.parametrize("name", list(FAMILIES))
def test_family_names(name):
    expected = name.removesuffix("_independent").removesuffix("_wide")
    projection = FAMILIES[name](64, 16, 0)
    assert family_name(projection) == known_family(projection) == {"filled_cw": "cw"}.get(expected, expected)


@pytest.mark.parametrize(
    "projection, name, known",
    [
        (Identity(64, 64, 0), "identity", ""),
        (ShiftedEmbedding(64, 16, 0, first=16), "shifted_embedding", ""),
        (SparseSign(64, 16, 0, 1 / 8), "very_sparse", "very_sparse"),
        (SparseSign(64, 16, 0, 1 / 2), "sparse_sign", "very_sparse"),  # denser: what is said holds all the more
        (SparseSign(64, 16, 0, 1 / 60), "sparse_sign", ""),  # its fourth moment is larger
    ],
)
def test_theorems_are_not_stretched_to_projections_that_they_do_not_know(projection, name, known):
    assert (family_name(projection), known_family(projection)) == (name, known)
    X, y = data(d=64)
    found = audit(X, y, projection=projection, repeats=1)
    assert found.family == name
    by_family = {"paul2013.1", "paul2013.2", "embedding.very_sparse"}
    said = {one.bound for kept in (*found.margins, found.ball, found.embedding) for one in kept.promises}
    assert said & by_family == (by_family if known else set())


def test_bad_projections():
    X, y = data()
    with pytest.raises(InvalidParameterError):
        audit(X, y, projection=Gaussian(40, 16, 0), n_components=16)
    with pytest.raises(InvalidParameterError, match="n_features=41"):
        audit(X, y, projection=Gaussian(41, 16, 0))
    with refuses("family"):
        audit(X, y, projection="gausian")
    with refuses("projection"):
        audit(X, y, projection=np.eye(40))
