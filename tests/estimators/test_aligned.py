"""Columns in another order, more or fewer of them, other alleles: what comes out is what is written out by hand."""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slimline import CertifiedClassifier, open_matrix
from slimline.data._names import PackedStrings
from slimline.errors import DataError, NonFiniteError
from slimline.estimators import aligned_decisions
from slimline.estimators._persistence import stored_model
from slimline.testing import block_bytes
from tests.estimators.aligned import cohort, explicit_scores, named, trained

D = 60
NAMES = [f"column {j}" for j in range(D)]


def _plain(classes=2, standardize=False, names=NAMES, seed=0):
    """Return rows, a model of them, and what a file would hold of it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, D)) + 2.0
    y = np.digitize(X[:, 0] + X[:, 1], np.linspace(3.0, 5.0, classes - 1)) if classes > 2 else (X[:, 0] > 2).astype(int)
    matrix = open_matrix(X, feature_names=names)
    model = CertifiedClassifier(0.1, standardize=standardize, tol=1e-6, method="gram").fit(matrix, y)
    return X, model, stored_model(model, mean=X.mean(axis=0))


_cached = functools.cache(_plain)


def _same(found, expected):
    decisions, _ = found
    np.testing.assert_array_equal(decisions.labels, expected.labels)
    np.testing.assert_array_equal(decisions.scores, expected.scores)
    np.testing.assert_array_equal(decisions.proved, expected.proved)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_the_same_columns_give_the_same_decisions(tmp_path, classes, standardize, kind):
    X, model, stored = _plain(classes, standardize)
    matrix = named(X, NAMES, kind)
    expected = model.decide(matrix)
    stored.write(tmp_path / "m.slim")
    for given_ in (model, stored, tmp_path / "m.slim", str(tmp_path / "m.slim")):
        before = matrix.passes
        found = aligned_decisions(given_, matrix)
        _same(found, expected)
        assert matrix.passes == before + 1
        assert found[1].matched_by == "name" and found[1].used == D and found[1].filled == found[1].ignored == 0
    assert expected.proved.mean() > 0.5


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("kind", [np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_any_order_and_columns_that_nobody_knows(classes, standardize, kind):
    X, model, stored = _plain(classes, standardize)
    expected = model.decide(named(X, NAMES))
    order = np.random.default_rng(1).permutation(D + 40)
    more = np.hstack([X, np.full((50, 40), np.nan)])[:, order]  # what they hold does not matter
    names = np.array([*NAMES, *(f"more {j}" for j in range(40))], dtype=object)[order]
    decisions, alignment = aligned_decisions(stored, named(more, names, kind))
    np.testing.assert_array_equal(decisions.labels, expected.labels)
    np.testing.assert_allclose(decisions.scores, expected.scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(decisions.proved, expected.proved)
    assert (alignment.used, alignment.ignored, alignment.reordered, alignment.filled) == (D, 40, True, 0)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_choice_of_columns(data):
    classes, standardize = data.draw(st.sampled_from([2, 3])), data.draw(st.booleans())
    X, _, stored = _cached(classes, standardize)
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    gone = rng.permutation(D)[: data.draw(st.integers(0, D // 10))]
    more = data.draw(st.integers(0, 30))
    order = rng.permutation(D - len(gone) + more)
    kept = np.setdiff1d(np.arange(D), gone)
    values = np.hstack([X[:, kept], np.full((50, more), np.inf)])[:, order]
    names = np.array([*(NAMES[j] for j in kept), *(f"more {j}" for j in range(more))], dtype=object)[order]
    kind = data.draw(st.sampled_from([np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_array]))
    with block_bytes(data.draw(st.sampled_from([64, 1000, 1 << 20]))):
        decisions, alignment = aligned_decisions(stored, named(values, names, kind))
    filled = X.copy()
    filled[:, gone] = X.mean(axis=0)[gone]
    scores = explicit_scores(stored, filled)
    np.testing.assert_allclose(decisions.scores, scores[:, 0] if classes == 2 else scores, rtol=1e-10, atol=1e-10)
    counts = (alignment.used, alignment.absent, alignment.ignored, alignment.swapped, alignment.other_alleles)
    assert counts == (D - len(gone), len(gone), more, 0, 0)
    assert not (len(gone) and decisions.proved.any())


def test_frames_and_files(tmp_path):
    X, model, stored = _plain()
    expected = model.decide(named(X, NAMES))
    turned = pd.DataFrame(X[:, ::-1], columns=NAMES[::-1])
    turned.to_csv(tmp_path / "x.csv", index=False)
    turned.to_parquet(tmp_path / "x.parquet")
    for source in (turned, open_matrix(tmp_path / "x.csv"), open_matrix(tmp_path / "x.parquet")):
        decisions, alignment = aligned_decisions(stored, source)
        np.testing.assert_allclose(decisions.scores, expected.scores, rtol=1e-12, atol=1e-12)
        assert alignment.reordered and alignment.used == D


def test_without_names_the_order_counts():
    X, model, stored = _plain()
    expected = model.decide(named(X, NAMES))
    found = aligned_decisions(stored, X)
    _same(found, expected)
    assert found[1].matched_by == "order"
    nameless = replace(stored, feature_names=None)
    _same(aligned_decisions(nameless, named(X, NAMES[::-1])), expected)
    with pytest.raises(DataError, match=r"array has 59 columns, and the model 60: array does not name its columns"):
        aligned_decisions(stored, X[:, 1:])
    with pytest.raises(DataError, match=r"array has 59 columns, and the model 60: the model does not name"):
        aligned_decisions(nameless, named(X[:, 1:], NAMES[1:]))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("standardize", [False, True])
def test_absent_columns_are_means_and_nothing_is_proved(classes, standardize):
    X, _, stored = _plain(classes, standardize)
    gone = np.array([3, 17, 18, 40, 55, 59])  # a tenth
    kept = np.setdiff1d(np.arange(D), gone)
    filled = X.copy()
    filled[:, gone] = X.mean(axis=0)[gone]
    decisions, alignment = aligned_decisions(stored, named(X[:, kept], np.array(NAMES, dtype=object)[kept]))
    scores = explicit_scores(stored, filled)
    np.testing.assert_allclose(decisions.scores, scores[:, 0] if classes == 2 else scores, rtol=1e-11, atol=1e-11)
    assert (alignment.absent, alignment.used, alignment.ignored) == (6, 54, 0)
    assert not decisions.proved.any()


def test_columns_that_are_surely_0_do_not_count_against_the_proof():
    X, _, stored = _plain()
    parts = {name: getattr(stored, name).copy() for name in ("weights", "interval_centre", "interval_radius")}
    for part in parts.values():
        part[:, 5] = 0.0
    stored = replace(stored, **parts)
    expected, _ = aligned_decisions(stored, named(X, NAMES))
    decisions, alignment = aligned_decisions(stored, named(np.delete(X, 5, axis=1), np.delete(NAMES, 5)))
    assert alignment.absent == 1 and decisions.proved.sum() >= expected.proved.sum() > 0
    np.testing.assert_allclose(decisions.scores, expected.scores, rtol=1e-12, atol=1e-12)


def test_too_many_absent_columns_are_named():
    X, _, stored = _plain()
    with pytest.raises(
        DataError, match=r"of the model's 60 columns 7 are not in array \(column 0, column 1, column 2, …;"
    ):
        aligned_decisions(stored, named(X[:, 7:], NAMES[7:]))
    with pytest.raises(DataError):
        aligned_decisions(stored, named(X[:, :2], ["other", "names"]))


def test_means_that_nobody_wrote_down():
    X, model, _ = _plain()
    with pytest.raises(DataError):
        aligned_decisions(model, named(X[:, 1:], NAMES[1:]))
    X, model, _ = _plain(standardize=True)
    _, alignment = aligned_decisions(model, named(X[:, 1:], NAMES[1:]))  # a standardised model knows them
    assert alignment.absent == 1


def test_names_that_come_twice():
    X, _, stored = _plain()
    with pytest.raises(DataError, match="the column 'column 3' comes twice in array"):
        aligned_decisions(stored, named(np.hstack([X, X[:, :1]]), [*NAMES, "column 3"]))
    decisions, alignment = aligned_decisions(stored, named(np.hstack([X, X[:, :2]]), [*NAMES, "more", "more"]))
    assert alignment.ignored == 2 and len(decisions.labels) == 50  # nobody asks which of the two
    twice = replace(stored, feature_names=PackedStrings.of(["column 1", *NAMES[1:]]))
    with pytest.raises(DataError, match="the column 'column 1' comes twice in the model"):
        aligned_decisions(twice, named(X, NAMES))


def test_missing_values_are_filled_as_in_training():
    X, model, stored = _plain(standardize=True)
    holes = X.copy()
    holes[3, 4] = holes[7, 50] = np.nan
    decisions, _ = aligned_decisions(stored, named(holes[:, ::-1], NAMES[::-1]))
    expected = model.decide(named(holes, NAMES))
    np.testing.assert_allclose(decisions.scores, expected.scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(decisions.proved, expected.proved)
    X, _, stored = _plain()
    with pytest.raises(NonFiniteError, match=r"row 3, column 55 \(column 4\)"):
        aligned_decisions(stored, named(holes[:, ::-1], NAMES[::-1]))


# Genotypes -------------------------------------------------------------------------------------------


def _labels(rng, people, classes):
    values = np.nan_to_num(people.values, nan=1.0)
    found = np.argmax(values @ rng.standard_normal((values.shape[1], classes)), axis=1)
    found[:classes] = np.arange(classes)
    return found


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_genotypes_by_variant(tmp_path, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, d, classes = 24, data.draw(st.sampled_from([10, 20, 31])), data.draw(st.sampled_from([2, 3]))
    standardize = data.draw(st.booleans())
    people = cohort(rng, n, d, missing=0.1 if standardize else 0.0)
    people = people.changed(ids=np.where(rng.random(d) < data.draw(st.sampled_from([0.0, 0.3, 1.0])), ".", people.ids))
    _, stored = trained(people, _labels(rng, people, classes), tmp_path / "old", C=0.05, standardize=standardize)
    # new people, of whom the file counts other alleles, lacks columns, has more, all in another order
    new = people.values[rng.permutation(n)]
    swapped = rng.random(d) < data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    gone = np.zeros(d, dtype=bool)
    gone[rng.permutation(d)[: data.draw(st.integers(0, d // 10))]] = True
    other = gone & (rng.random(d) < 0.5) & (people.ids != ".")  # present, with alleles of another kind
    more = data.draw(st.integers(0, 5))
    extra = cohort(rng, n, more)
    file = people.changed(
        values=np.where(swapped, 2.0 - new, new),
        allele1=np.where(other, "TTT", np.where(swapped, people.allele2, people.allele1)),
        allele2=np.where(swapped, people.allele1, people.allele2),
    )
    there = np.flatnonzero(~gone | other)
    order = rng.permutation(len(there) + more)
    parts = {}
    for name in ("ids", "chromosome", "position", "allele1", "allele2"):
        beside = [f"more{j}" for j in range(more)] if name == "ids" else getattr(extra, name)
        parts[name] = np.concatenate([getattr(file, name)[there], np.asarray(beside, dtype=object)])[order]
    file = file.changed(values=np.hstack([file.values[:, there], extra.values])[:, order], **parts)
    matrix = file.opened(tmp_path / "new")
    decisions, alignment = aligned_decisions(stored, matrix)
    filled = np.where(gone, stored.mean, new)
    scores = explicit_scores(stored, filled)
    np.testing.assert_allclose(decisions.scores, scores[:, 0] if classes == 2 else scores, rtol=1e-9, atol=1e-9)
    assert alignment.used == d - gone.sum() and alignment.swapped == (swapped & ~gone).sum()
    assert alignment.other_alleles == other.sum() and alignment.absent == (gone & ~other).sum()
    assert alignment.ignored == more + other.sum() and alignment.matched_by == "variant"
    assert matrix.passes == 1
    kept = np.setdiff1d(there, np.flatnonzero(other))
    own = np.array([np.flatnonzero(order == np.flatnonzero(there == j)[0])[0] for j in kept])
    assert alignment.reordered == bool((np.diff(own) < 0).any())


def test_alleles_that_nobody_has_seen(tmp_path):
    rng = np.random.default_rng(0)
    people = cohort(rng, 30, 20)
    letters = np.array([["A", "G"]] * 20, dtype=object)
    people = people.changed(allele1=letters[:, 0], allele2=letters[:, 1])
    _, stored = trained(people, _labels(rng, people, 2), tmp_path / "old", C=0.05)
    pairs = {0: ("0", "G"), 1: ("0", "A"), 2: (".", "G"), 3: ("G", "0"), 4: ("A", "0")}
    turned = {0: False, 1: True, 2: False, 3: True, 4: False}
    file = people.changed()
    for j, (one, two) in pairs.items():
        file.allele1[j], file.allele2[j] = one, two
        file.values[:, j] = 0.0 if one in "0." else 2.0  # all people have the allele that was seen
    _, alignment = found = aligned_decisions(stored, file.opened(tmp_path / "new"))
    assert (alignment.swapped, alignment.other_alleles) == (2, 0)
    rows = file.values.copy()
    for j, other_way in turned.items():
        rows[:, j] = 2.0 - rows[:, j] if other_way else rows[:, j]
    np.testing.assert_allclose(found[0].scores, explicit_scores(stored, rows)[:, 0], rtol=1e-10, atol=1e-10)
    file.allele1[5], file.allele2[5] = "0", "0"
    assert aligned_decisions(stored, file.opened(tmp_path / "new"))[1].other_alleles == 1


def test_strands_are_not_guessed(tmp_path):
    rng = np.random.default_rng(1)
    people = cohort(rng, 30, 20)
    people.allele1[:2], people.allele2[:2] = ["A", "A"], ["T", "G"]
    _, stored = trained(people, _labels(rng, people, 2), tmp_path / "old", C=0.05)
    flipped = people.changed()
    flipped.allele1[:2], flipped.allele2[:2] = ["T", "T"], ["A", "C"]  # both on the other strand
    _, alignment = aligned_decisions(stored, flipped.opened(tmp_path / "new"))
    assert (alignment.swapped, alignment.palindromic, alignment.other_alleles) == (1, 1, 1)


def test_ids_that_come_twice_are_told_apart_by_their_alleles(tmp_path):
    rng = np.random.default_rng(2)
    people = cohort(rng, 30, 20)
    people.ids[4] = people.ids[9] = "rs1"  # with the first, three variants of one id
    _, stored = trained(people, _labels(rng, people, 2), tmp_path / "old", C=0.05)
    order = rng.permutation(20)
    decisions, alignment = aligned_decisions(stored, people.changed(order).opened(tmp_path / "new"))
    np.testing.assert_allclose(decisions.scores, explicit_scores(stored, people.values)[:, 0], rtol=1e-10, atol=1e-10)
    assert alignment.used == 20
    same = people.changed()
    for name in ("position", "chromosome", "allele1", "allele2"):
        getattr(same, name)[9] = getattr(same, name)[4]
    with pytest.raises(DataError, match=r"the column 'rs1 \(5:1040:[ACGT]:[ACGT]\)' comes twice in new\.bed"):
        aligned_decisions(stored, same.opened(tmp_path / "new"))


def test_names_of_chromosomes(tmp_path):
    rng = np.random.default_rng(3)
    people = cohort(rng, 30, 20)
    people = people.changed(
        ids=np.array(["."] * 20, dtype=object), chromosome=np.array(["X", "chr7", "MT", "1"] * 5, dtype=object)
    )
    _, stored = trained(people, _labels(rng, people, 2), tmp_path / "old", C=0.05)
    other = people.changed(chromosome=np.array(["23", "7", "chrM", "CHR1"] * 5, dtype=object))
    assert aligned_decisions(stored, other.opened(tmp_path / "new"))[1].used == 20


def test_genotypes_that_do_not_say_their_alleles(tmp_path):
    rng = np.random.default_rng(4)
    people = cohort(rng, 30, 20)
    model, stored = trained(people, _labels(rng, people, 2), tmp_path / "old", C=0.05)
    matrix = named(people.values[:, ::-1], people.ids[::-1])
    decisions, alignment = aligned_decisions(stored, matrix)
    assert not alignment.alleles_compared and alignment.matched_by == "name"
    np.testing.assert_allclose(decisions.scores, model.decide(people.opened(tmp_path / "old")).scores, rtol=1e-10)
    _, alignment = aligned_decisions(model, people.opened(tmp_path / "old"))
    assert not alignment.alleles_compared and alignment.used == 20
