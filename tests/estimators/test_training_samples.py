"""Tests of the training samples that a model file records."""

import numpy as np
import pytest

from slimline import CertifiedClassifier, open_matrix
from slimline.data import write_genotypes
from slimline.estimators._aligned import TrainingSamples
from slimline.model_files import StoredModel


@pytest.fixture
def cohort(tmp_path):
    write_genotypes(tmp_path / "cohort", 40, 300, n_populations=2, seed=0)
    return open_matrix(tmp_path / "cohort.bed")


def _model(train):
    return CertifiedClassifier(1e-3, standardize=True).fit(train, np.arange(train.shape[0]) % 2)


def test_rows_of_the_same_data_are_known_through_views(cohort):
    train = cohort.rows(np.arange(10, 30)).rows(np.arange(0, 20, 2))
    samples = TrainingSamples.of(train.standardised(np.zeros(300), np.ones(300), "mean"))
    expected = np.isin(np.arange(40), np.arange(10, 30, 2))
    np.testing.assert_array_equal(samples.among(cohort), expected)
    np.testing.assert_array_equal(samples.among(cohort.columns(slice(0, 50)).rows(slice(5, 15))), expected[5:15])


def test_samples_of_other_data_are_known_by_name(cohort, tmp_path):
    write_genotypes(tmp_path / "other", 60, 300, n_populations=2, seed=1)  # other genotypes of people of the same names
    other, train = open_matrix(tmp_path / "other.bed"), cohort.rows(np.arange(10))
    found = TrainingSamples.of(train).among(other)
    np.testing.assert_array_equal(found, np.isin(other.sample_ids, list(train.sample_ids)))
    assert 0 < found.sum() <= 10


def test_data_without_names_cannot_be_compared_with_other_data():
    X = np.random.default_rng(0).standard_normal((6, 3))
    samples = TrainingSamples.of(open_matrix(X[:4]))
    assert samples.among(open_matrix(X[:4].copy())).all()
    assert samples.among(open_matrix(X)) is None
    assert TrainingSamples("", None, None).among(open_matrix(X)) is None


def test_a_model_file_records_them_without_their_names(cohort, tmp_path):
    train = cohort.rows(np.arange(5, 25))
    _model(train).save(tmp_path / "m.slim", trained_on=train)
    stored = StoredModel.read(tmp_path / "m.slim")
    np.testing.assert_array_equal(
        TrainingSamples.of_model(stored).among(cohort), np.isin(np.arange(40), np.arange(5, 25))
    )
    raw = (tmp_path / "m.slim").read_bytes()
    assert not any(name.encode() in raw for name in train.sample_ids)
    _model(train).save(tmp_path / "n.slim")  # nothing is known of data that were not given
    assert TrainingSamples.of_model(StoredModel.read(tmp_path / "n.slim")).among(cohort) is None
