"""The `certified` column under attack: no value of an absent genotype may change a label that is called proved."""

from itertools import product

import numpy as np
import pytest

from slimline.estimators import aligned_decisions
from slimline.estimators._decisions import AbsentPart, decisions_of, scored_rows
from tests.estimators.aligned import cohort, explicit_scores, named, trained


def _labels_of(scores, classes):
    return classes[(scores[:, 0] > 0).astype(int)] if scores.shape[1] == 1 else classes[scores.argmax(axis=1)]


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge", "squared"])
def test_no_proved_label_changes_with_an_absent_genotype(tmp_path, standardize, classes, loss, global_random_seed):
    """All genotypes of all absent variants are tried, on the exact model."""
    rng = np.random.default_rng([global_random_seed, classes, standardize])
    proved = tried = moved = 0
    for case in range(3):
        people = cohort(rng, 40, 40, missing=0.05 if standardize else 0.0)
        truth = np.nan_to_num(people.values, nan=1.0) @ rng.standard_normal((40, classes))
        y = np.argmax(truth - truth.mean(axis=0), axis=1)
        rough = {"tol": 0.2, "method": "sketch", "n_components": 30} if case else {"tol": 1e-3}
        settings = {"C": 0.02, "loss": loss, "standardize": standardize}
        _, stored = trained(people, y, tmp_path / f"{case}", **settings, **rough)
        _, exact = trained(people, y, tmp_path / f"{case}", **settings, method="gram", tol=1e-9, max_passes=200)
        assert exact.relative_error.max() < 1e-6
        gone = rng.permutation(40)[: 1 + case]
        kept = np.setdiff1d(np.arange(40), gone)
        swapped = rng.random(40) < 0.3
        rows = cohort(rng, 120, 40).values
        file = people.changed(
            kept,
            values=np.where(swapped, 2.0 - rows, rows)[:, kept],
            allele1=np.where(swapped, people.allele2, people.allele1)[kept],
            allele2=np.where(swapped, people.allele1, people.allele2)[kept],
        )
        decisions, _ = aligned_decisions(stored, file.opened(tmp_path / "new"))
        different = np.zeros(len(rows), dtype=bool)
        for genotypes in product((0.0, 1.0, 2.0, np.nan if standardize else 1.0), repeat=len(gone)):
            rows[:, gone] = genotypes
            different |= _labels_of(explicit_scores(exact, rows), stored.classes) != decisions.labels
        assert not (different & decisions.proved).any(), np.flatnonzero(different & decisions.proved)
        proved, tried, moved = proved + decisions.proved.sum(), tried + len(rows), moved + different.sum()
    assert proved > 0.05 * tried  # the attack could not succeed on nothing
    assert moved > 0  # and some labels do depend on what is absent


def test_a_label_is_proved_up_to_the_very_genotype_that_changes_it(tmp_path):
    """One weight decides: the proof must fail exactly for the rows that 0 or 2 copies would turn."""
    rng = np.random.default_rng(5)
    people = cohort(rng, 60, 12)
    y = (people.values[:, 0] + people.values[:, 1] > 2).astype(int)
    _, stored = trained(people, y, tmp_path / "a", C=1.0, method="gram", tol=1e-9, max_passes=200)
    file = people.changed(np.arange(1, 12)).opened(tmp_path / "new")
    decisions, alignment = aligned_decisions(stored, file)
    assert alignment.absent == 1
    ends = []
    for copies in (0.0, 2.0):
        rows = people.values.copy()
        rows[:, 0] = copies
        ends.append(explicit_scores(stored, rows)[:, 0])
    certain = np.sign(ends[0]) == np.sign(ends[1])
    np.testing.assert_array_equal(decisions.proved, certain)
    assert 0 < certain.sum() < 60


def test_what_is_filled_widens_the_ball_as_well():
    """With all of the weights uncertain, the size of the absent part counts, even where its weights are 0."""
    matrix = named(np.array([[3.0], [1.0]]), ["a"])
    weights, radius = np.array([[1.0, 0.0]]), np.array([0.5])
    classes = np.array(["no", "yes"])

    def proved(size, below=0.0, above=0.0):
        part = AbsentPart(np.zeros(1), np.array([below]), np.array([above]), size)
        return decisions_of(scored_rows(matrix, weights, radius, 0.0, part), classes).proved.tolist()

    assert proved(0.0) == [True, True]
    assert proved(1.7) == [True, True] and proved(1.8) == [True, False]  # ½ √(1 + 1.8²) > 1
    assert proved(5.3) == [False, False]
    assert proved(0.0, 0.4) == [True, True] and proved(0.0, 0.6) == [True, False]
    assert proved(0.0, above=9.0) == [True, True]  # further up is the same side
    assert proved(np.inf) == [False, False]
