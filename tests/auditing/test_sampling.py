"""Tests of the choice of rows."""

import numpy as np
import pytest

from slimline import audit, open_matrix
from slimline.auditing._auditor import _sample, _stratified
from slimline.auditing._measures import Labels
from slimline.errors import DataError
from tests.auditing.clouds import clouds, several
from tests.refusals import refuses

SIZES = [[90, 10], [997, 1, 1, 1], [50, 50, 50], [3, 3], [400, 7, 250, 1]]


@pytest.mark.parametrize(
    "counts, wanted", [(counts, wanted) for counts in SIZES for wanted in (4, 10, 37, 101) if wanted < sum(counts)]
)
def test_every_class_by_its_share(counts, wanted, global_random_seed):
    codes = np.repeat(np.arange(len(counts)), counts)
    n = len(codes)
    rng = np.random.default_rng(global_random_seed)
    order = rng.permutation(n)
    chosen = _stratified(codes[order], n, wanted, rng)
    assert len(chosen) == len(set(chosen)) == wanted and np.all(np.diff(chosen) > 0)
    found = np.bincount(codes[order][chosen], minlength=len(counts))
    shares = np.array(counts) * wanted / n
    assert found.min() >= 1 and np.all(found <= counts)
    # whole numbers next to the shares, but for what the smallest classes take
    lifted = np.sum(np.maximum(1.0 - shares, 0.0))
    assert np.all(np.abs(found - shares) <= 1.0 + lifted)


def test_every_row_is_as_likely_as_any_other():
    codes = np.arange(20) % 2
    rng = np.random.default_rng(0)
    times = np.bincount(np.concatenate([_stratified(codes, 20, 6, rng) for _ in range(4000)]), minlength=20)
    # 3 of 10 rows of each class: a mean of 1200, a deviation of 29; 8 deviations, twenty rows: below 1e-13
    assert np.all(np.abs(times - 1200) < 8 * 29)
    plain = np.bincount(np.concatenate([_stratified(None, 20, 6, rng) for _ in range(4000)]), minlength=20)
    assert np.all(np.abs(plain - 1200) < 8 * 29)


def test_a_sample_is_measured_as_if_it_were_all():
    X, y = several(60, 3, 40, seed=0)
    sampled = audit(X, y, n_components=12, repeats=2, rows=21, random_state=3)
    chosen = _stratified(y, 60, 21, np.random.default_rng(3))
    alone = audit(X[chosen], y[chosen], n_components=12, repeats=2, random_state=3)
    assert (sampled.n_samples, sampled.n_rows, alone.n_rows) == (60, 21, 21)
    assert sampled.margins == alone.margins and sampled.ball == alone.ball and sampled.pairs == alone.pairs
    assert sampled.notes[0] == "21 of 60 rows were measured, drawn at random: margins of all rows are no larger."
    assert "21 of 60 rows" in str(sampled).splitlines()[0]
    assert not alone.notes


def test_margins_of_a_sample_are_no_smaller():
    X, y = clouds(60, 40, 4.0, seed=1)
    every, some = (audit(X, y, n_components=30, repeats=2, rows=rows) for rows in (None, 20))
    for all_rows, few in zip(every.margins[:3], some.margins[:3], strict=True):
        assert few.before >= all_rows.before * (1.0 - 1e-9)
        assert all(one >= other * (1.0 - 1e-9) for one, other in zip(few.after, all_rows.after, strict=True))


def test_without_labels_any_rows():
    X, _ = clouds(50, 20, 1.0, seed=2)
    found = audit(X, n_components=5, repeats=1, rows=10)
    assert found.n_rows == 10 and found.pairs[0].n_pairs == 45
    other = audit(X, n_components=5, repeats=1, rows=10, random_state=1)
    assert found.ball.before != other.ball.before  # another sample


def test_enough_rows_are_no_sample():
    X, y = clouds(20, 20, 1.0, seed=3)
    for rows in (20, 21, 10_000, None):
        assert audit(X, y, n_components=5, repeats=1, rows=rows).n_rows == 20


def test_numbers_of_rows_that_cannot_be():
    X, y = several(20, 4, 10, seed=4)
    with refuses("rows"):
        audit(X, y, rows=3, n_components=5)
    for rows in (0, -1, 2.5, 10_001, "all"):
        with refuses("rows"):
            audit(X, y, rows=rows, n_components=5)
    with refuses("rows"):
        audit(np.zeros((10_001, 3)), rows=None, n_components=2)


def test_zero_rows_of_a_sample_have_the_names_of_the_data():
    X, y = clouds(40, 10, 2.0, seed=5)
    X[30:] = 0.0
    chosen = _stratified(y, 40, 12, np.random.default_rng(0))
    zero = [str(row) for row in chosen if row >= 30]
    assert zero and min(map(int, zero)) >= 30
    with pytest.raises(DataError, match=f"{', '.join(zero)} of array, counted from 0: nothing but zeros"):
        audit(X, y, rows=12, n_components=4)
    assert audit(X, rows=12, n_components=4, repeats=1).n_rows == 12  # without labels no angle is needed


def test_only_the_sample_is_looked_at():
    X, y = clouds(40, 10, 2.0, seed=6)
    outside = np.setdiff1d(np.arange(40), _stratified(y, 40, 12, np.random.default_rng(0)))
    X[outside[0], 3] = np.nan
    assert audit(X, y, rows=12, n_components=4, repeats=1).n_rows == 12
    with pytest.raises(DataError, match=f"row {outside[0]}, column 3"):
        audit(X, y, n_components=4, repeats=1)


def test_a_view_can_be_sampled():
    X, y = clouds(40, 10, 2.0, seed=7)
    rows = np.arange(39, -1, -2)
    found = audit(open_matrix(X).rows(rows), y[rows] ^ (np.arange(20) % 2), n_components=4, repeats=1, rows=8)
    assert (found.n_samples, found.n_rows) == (20, 8)


@pytest.mark.parametrize(("classes", "measured"), [(None, 1999), (2, 1999), (3, 1000), (5, 500), (30, 68)])
def test_fewer_rows_of_several_classes_unless_told(classes, measured):
    random = np.random.default_rng(0)
    X = random.standard_normal((1999, 12))
    y = None if classes is None else np.arange(1999) % classes
    matrix, labels = _sample(open_matrix(X), None if y is None else Labels(y, classes), "auto", 0)
    assert matrix.shape[0] == measured
    assert labels is None or (np.bincount(labels.codes, minlength=classes) >= 2).all()
