"""Tests of reading covariates from a table."""

import numpy as np
import pytest

from slimline import open_matrix
from slimline.cli._covariates import covariates_in_file, covariates_of_model
from slimline.data import write_genotypes
from slimline.data.formats._dense import DenseMatrix
from slimline.errors import DataError, FileFormatError, InvalidParameterError, ModelFileError
from slimline.estimators import CertifiedClassifier
from slimline.estimators._covariates import GivenCovariates
from slimline.estimators._persistence import stored_model

IDS = ["ann", "bob", "cem", "dan"]
TABLE = "who age sex PC1 PC2 PC3\ndan 7 M 1 2e-3 -3\ncem 3 F .5 5 6\nzoe 9 M 0 0 0\nann 5 F 7 8 9\nbob 1 M 3 2 1\n"


@pytest.fixture
def named():
    return DenseMatrix(np.eye(4), sample_ids=IDS)


@pytest.fixture
def cohort(tmp_path):
    write_genotypes(tmp_path / "cohort", 4, 20, n_populations=2)
    people = ["f1 a", "f1 b", "f2 a", "f3 d"]
    (tmp_path / "cohort.fam").write_text("".join(f"{person} 0 0 0 -9\n" for person in people))
    return open_matrix(tmp_path / "cohort.bed")


def _write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("mark", [" ", "\t", ",", ";"])
def test_samples_are_matched_by_name(tmp_path, named, mark):
    found = covariates_in_file(_write(tmp_path / "c.txt", TABLE.replace(" ", mark)), named)
    assert found.names == ("age", "sex", "PC1", "PC2", "PC3") and "matched by who" in found.source
    assert found.values.tolist() == [[5, 0, 7, 8, 9], [1, 1, 3, 2, 1], [3, 0, 0.5, 5, 6], [7, 1, 1, 2e-3, -3]]
    assert found.coding == {"sex": {"F": 0, "M": 1}} and found.notes == ("sex: F = 0, M = 1",)
    assert found.rows.tolist() == [0, 1, 2, 3]
    given = GivenCovariates.of(found.of(np.array([3, 0])), 2)
    assert given.names == found.names and np.array_equal(given.values, found.values[[3, 0]])


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ("age", ["age"]),
        ("PC2, age", ["PC2", "age"]),
        ("age,PC1-PC3", ["age", "PC1", "PC2", "PC3"]),
        ("sex-PC1,age-sex", ["sex", "PC1", "age"]),
        ("PC1-PC1", ["PC1"]),
    ],
)
def test_columns_are_names_and_ranges_in_the_order_of_the_file(tmp_path, named, columns, names):
    assert list(covariates_in_file(_write(tmp_path / "c.txt", TABLE), named, columns).names) == names


def test_names_with_hyphens(tmp_path, named):
    path = _write(tmp_path / "c.csv", "who,a-b,c,d-e\nann,1,2,3\nbob,4,5,6\ncem,7,8,9\ndan,1,1,1\n")
    assert covariates_in_file(path, named, "a-b").names == ("a-b",)
    assert covariates_in_file(path, named, "a-b-d-e").names == ("a-b", "c", "d-e")
    assert covariates_in_file(path, named, ("d-e", "a-b")).values[0].tolist() == [3, 1]


@pytest.mark.parametrize("columns", ["height", "age,", "PC3-PC1", "PC1-PC9", ""])
def test_columns_that_are_not_there(tmp_path, named, columns):
    with pytest.raises(InvalidParameterError) as caught:
        covariates_in_file(_write(tmp_path / "c.txt", TABLE), named, columns)
    assert caught.value.parameter == "--covariate-columns"


@pytest.mark.parametrize("head", ["FID IID age batch", "#FID IID age batch", ""])
def test_the_layout_of_plink_with_and_without_names(tmp_path, cohort, head):
    lines = "f3 d 40 -9\nf9 a 1 1\nf1 b NA 2\nf2 a 60 4\nf1 a 50 3\n"
    found = covariates_in_file(_write(tmp_path / "c.txt", f"{head}\n{lines}"), cohort)
    assert found.names == (("age", "batch") if head else ("COVAR1", "COVAR2"))
    assert np.array_equal(found.values, [[50, 3], [np.nan, 2], [60, 4], [40, np.nan]], equal_nan=True)
    assert found.rows.tolist() == [0, 2]
    (note,) = found.notes
    assert f"2 of 4 rows have no covariates: 2 lack a value ({found.names[0]} 1, {found.names[1]} 1)" in note


@pytest.mark.parametrize("head", ["FID IID age", "#FID IID age"])
def test_people_with_two_lines_are_refused(tmp_path, cohort, head):
    lines = "f1 a 5\nf1 b 6\nf2 a 7\nf3 d 8\n"
    with pytest.raises(DataError, match="'f2 a' more than once"):
        covariates_in_file(_write(tmp_path / "c.txt", f"{head}\n{lines}f2 a 9\n"), cohort)


def test_names_with_two_lines_are_refused(tmp_path, named):
    with pytest.raises(DataError, match="'cem' more than once"):
        covariates_in_file(_write(tmp_path / "c.txt", "#IID age\nann 1\nbob 2\ncem 3\ndan 4\ncem 5\n"), named)


def test_people_without_a_family(tmp_path):
    matrix = DenseMatrix(np.eye(3), sample_ids=["a", "b", "c"])
    found = covariates_in_file(_write(tmp_path / "c.txt", "#IID\tSID\tage\nb\t0\t-9\nc\t0\t4\n"), matrix)
    assert found.names == ("age",) and found.rows.tolist() == [2]
    (note,) = found.notes
    assert "2 of 3 rows" in note and "1 are not in c.txt" in note and "(age 1)" in note


def test_minus_nine_is_a_number_outside_the_files_of_plink(tmp_path, named):
    path = _write(tmp_path / "c.csv", "who,temperature\nann,-9\nbob,-8\ncem,-7\ndan,nan\n")
    assert covariates_in_file(path, named).rows.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("values", "word"),
    [
        (["x", "y", "z", "x"], "site"),  # three texts
        (["1", "2", "unknown", "3"], "unknown"),  # a text among numbers
        (["1", "2", "inf", "3"], "inf"),
        (["1", "2", "1e999", "3"], "1e999"),
        (["1", "2", "1_0", "3"], "1_0"),  # Python reads it as 10
        (["1,5", "2,5", "1.5", "3"], "1,5"),
        (["NA", ".", "", "nan"], "site 4"),
    ],
)
def test_values_that_are_no_numbers(tmp_path, named, values, word):
    body = "".join(f'{name}\t"{value}"\n' for name, value in zip(IDS, values, strict=True))
    with pytest.raises(DataError, match=word):
        covariates_in_file(_write(tmp_path / "c.tsv", f"who\tsite\n{body}"), named)


def test_files_that_cannot_be_meant(tmp_path, named):
    for text in ("who\nann\nbob\n", "who,age,age\nann,1,2\nbob,1,2\n", "who,age\nx,1\ny,2\n", "age\n1\n2\n3\n4\n"):
        with pytest.raises(DataError):
            covariates_in_file(_write(tmp_path / "c.csv", text), named)


def test_numbers_in_a_npy_file(tmp_path, named):
    path, nameless = tmp_path / "c.npy", open_matrix(np.eye(4))
    np.save(path, np.arange(8.0).reshape(4, 2))
    found = covariates_in_file(path, nameless)
    assert found.names == ("u0", "u1") and found.values.tolist() == np.arange(8.0).reshape(4, 2).tolist()
    with pytest.raises(DataError):
        covariates_in_file(path, named)
    with pytest.raises(InvalidParameterError):
        covariates_in_file(path, nameless, "age")
    np.save(path, np.array([1, 2, 3, 4]))
    assert covariates_in_file(path, nameless).values.tolist() == [[1], [2], [3], [4]]
    for wrong in (np.ones(3), np.ones((4, 0)), np.ones((4, 1, 1)), np.array(list("abcd")), np.array([1, 2, 3, np.inf])):
        np.save(path, wrong)
        with pytest.raises(DataError):
            covariates_in_file(path, nameless)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(FileFormatError):
        covariates_in_file(path, nameless)


def test_a_model_gets_its_covariates_in_its_order_and_coding(tmp_path):
    rng = np.random.default_rng(0)
    X, ids = rng.standard_normal((40, 60)), [f"s{k}" for k in range(40)]
    sex, age = rng.integers(0, 2, 40), rng.integers(20, 80, 40)
    body = "".join(f"{name},{'FM'[s]},{a}\n" for name, s, a in zip(ids, sex, age, strict=True))
    train = covariates_in_file(_write(tmp_path / "c.csv", f"who,sex,age\n{body}"), DenseMatrix(X, sample_ids=ids))
    model = CertifiedClassifier(intercept="free", random_state=0).fit(X, X[:, 0] > 0, covariates=train)
    stored = stored_model(model, {"covariates": train.details()})
    new = DenseMatrix(X[:3], sample_ids=["a", "b", "c"])
    path = _write(tmp_path / "n.csv", "who,height,age,sex\na,1,30,M\nb,2,31,M\nc,3,32,NA\n")  # one sex: M is still 1
    found = covariates_of_model(path, stored, new)
    assert found.names == ("sex", "age")
    assert np.array_equal(found.values, [[1, 30], [1, 31], [np.nan, 32]], equal_nan=True)
    assert (model.predict(X[:2], found.of(found.rows)) == model.predict(X[:2], [[1, 30], [1, 31]])).all()
    for text in ("who,age,sex\na,30,X\n", "who,age,sex\na,30,1\n", "who,age,sex\na,M,M\n"):
        with pytest.raises(DataError):
            covariates_of_model(_write(path, text), stored, new)
    with pytest.raises(InvalidParameterError):
        covariates_of_model(_write(path, "who,age\na,30\n"), stored, new)
    stored.details["covariates"]["coding"] = {"sex": ["F", "M"]}
    with pytest.raises(ModelFileError):
        covariates_of_model(_write(path, "who,age,sex\na,30,F\n"), stored, new)
