import gzip

import numpy as np
import pytest

from slimline import open_matrix
from slimline.cli._labels import known_labels, labels_in_data, labels_in_file, require_classes
from slimline.cli._options import Task
from slimline.data import write_genotypes
from slimline.data.formats._dense import DenseMatrix
from slimline.errors import DataError, FileFormatError, InvalidParameterError

IDS = ["ann", "bob", "cem", "dan"]


@pytest.fixture
def named():
    return DenseMatrix(np.eye(4), sample_ids=IDS)


@pytest.fixture
def nameless():
    return open_matrix(np.eye(4))


def _write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


TABLE = "id{0}age{0}class\ndan{0}7{0}x\ncem{0}3{0}y\nzoe{0}9{0}z\nann{0}5{0}x\nbob{0}1{0}y\n"


@pytest.mark.parametrize("mark", ["\t", ",", ";", "|", "  "])
def test_rows_are_matched_by_id_whatever_stands_between_the_cells(tmp_path, named, mark):
    path = _write(tmp_path / "labels.txt", TABLE.format(mark))
    labels = labels_in_file(path, "class", named)
    assert labels.values.tolist() == ["x", "y", "y", "x"] and labels.complete
    assert labels.source == "class of labels.txt, matched by id"
    packed = tmp_path / "labels.tsv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert labels_in_file(packed, "class", named).values.tolist() == ["x", "y", "y", "x"]


def test_family_and_person_as_in_plink(tmp_path):
    text = "FID\tIID\tpopulation\n1\tb\tY\n1\ta\tX\n2\ta\tZ\n"
    path = _write(tmp_path / "labels.tsv", text)
    both = labels_in_file(path, "population", DenseMatrix(np.eye(3), sample_ids=["2_a", "1_a", "1_b"]))
    assert both.values.tolist() == ["Z", "X", "Y"] and both.source.endswith("matched by FID_IID")
    path = _write(tmp_path / "labels.tsv", text.replace("2\ta", "2\tc"))
    person = labels_in_file(path, "population", DenseMatrix(np.eye(3), sample_ids=["c", "a", "b"]))
    assert person.values.tolist() == ["Z", "X", "Y"] and person.source.endswith("matched by IID")


def test_people_of_plink_files_are_matched_by_both_names(tmp_path):
    write_genotypes(tmp_path / "cohort", 4, 20, n_populations=2)
    people = ["f1 a", "f1 b", "f2 c", "f3 d"]
    (tmp_path / "cohort.fam").write_text("".join(f"{person} 0 0 0 -9\n" for person in people))
    matrix = open_matrix(tmp_path / "cohort.bed")
    text = "#FID IID kind\nf3 d w\nf1 b x\nf9 c y\nf1 a z\nf7 a u\n"  # another c, and another a
    labels = labels_in_file(_write(tmp_path / "labels.txt", text), "kind", matrix)
    assert labels.values.tolist() == ["z", "x", "w"] and labels.rows.tolist() == [0, 1, 3]
    assert "matched by #FID and IID" in labels.source
    text = "FID IID kind\n0 d w\n0 b x\n0 c y\n0 a z\n"  # families that nobody knows
    labels = labels_in_file(_write(tmp_path / "labels.txt", text), "kind", matrix)
    assert labels.values.tolist() == ["z", "x", "y", "w"] and labels.source.endswith("matched by IID")


def test_rows_without_a_label_are_left_out_and_said(tmp_path, named):
    path = _write(tmp_path / "labels.csv", "id,class\nann,x\ndan,NA\nbob,y\n")
    labels = labels_in_file(path, None, named)
    assert labels.values.tolist() == ["x", "y"] and labels.rows.tolist() == [0, 1] and not labels.complete
    assert labels.source == "class of labels.csv, matched by id; 2 of 4 rows have none and are left out"


def test_the_order_counts_only_where_the_data_name_no_samples(tmp_path, named, nameless):
    path = _write(tmp_path / "labels.csv", "who,class\np,x\nq,y\nr,y\ns,x\n")
    labels = labels_in_file(path, "class", nameless)
    assert labels.values.tolist() == ["x", "y", "y", "x"] and "in the order of the rows" in labels.source
    with pytest.raises(DataError, match=r"no sample of .* is named there \('p' in the column 'who' and 'ann' in the"):
        labels_in_file(path, "class", named)
    with pytest.raises(DataError):
        labels_in_file(_write(tmp_path / "numbered.csv", "line,class\n1,x\n2,y\n3,y\n4,x\n"), "class", named)
    short = _write(tmp_path / "short.csv", "who,class\np,x\nq,y\n")
    with pytest.raises(DataError, match=r"2 lines .* 4 rows without names"):
        labels_in_file(short, "class", nameless)
    one = _write(tmp_path / "one.txt", "x\ny\ny\nx\n")
    with pytest.raises(DataError, match=r"does not name the samples, and .* does \('ann', …\)"):
        labels_in_file(one, None, named)
    np.save(tmp_path / "one.npy", np.array([1, 0, 0, 1]))
    with pytest.raises(DataError):
        labels_in_file(tmp_path / "one.npy", None, named)


def test_a_column_with_the_same_entry_twice_holds_no_ids(tmp_path):
    matrix = DenseMatrix(np.eye(4), sample_ids=["1", "2", "3", "4"])
    path = _write(tmp_path / "labels.csv", "batch,class\n1,x\n1,y\n2,y\n2,x\n")
    with pytest.raises(DataError, match="no column of names, all different"):
        labels_in_file(path, "class", matrix)
    path = _write(tmp_path / "labels.csv", "batch,class,who\n1,x,4\n1,y,3\n2,y,2\n2,x,1\n")
    assert labels_in_file(path, "class", matrix, "who").values.tolist() == ["x", "y", "y", "x"]
    with pytest.raises(DataError, match=r"--id batch: .* has '1' more than once"):
        labels_in_file(path, "class", matrix, "batch")


def test_minus_nine_is_no_label(tmp_path, named):
    path = _write(tmp_path / "labels.tsv", "id\tcase\nann\t1\nbob\t-9\ncem\t2\ndan\tN/A\n")
    labels = labels_in_file(path, "case", named)
    assert labels.values.tolist() == ["1", "2"] and labels.rows.tolist() == [0, 2]
    for numbers in (np.array([1, -9, 2, -9]), np.array([1.0, -9.0, 2.0, np.nan])):
        np.save(tmp_path / "labels.npy", numbers)
        labels = labels_in_file(tmp_path / "labels.npy", None, DenseMatrix(np.eye(4)))
        assert labels.values.tolist() == [1, 2] and labels.rows.tolist() == [0, 2]


@pytest.mark.parametrize("text", ["x\ny\ny\nx\n", "class\nx\ny\ny\nx\n", "\ufeffclass\r\nx\r\ny\r\n\r\ny\r\nx"])
def test_one_column_with_or_without_a_name(tmp_path, nameless, text):
    path = tmp_path / "labels.txt"
    path.write_bytes(text.encode())
    assert labels_in_file(path, None, nameless).values.tolist() == ["x", "y", "y", "x"]
    if "class" in text:
        assert labels_in_file(path, "class", nameless).values.tolist() == ["x", "y", "y", "x"]


def test_one_column_of_labels_with_spaces(tmp_path, nameless):
    path = _write(tmp_path / "labels.csv", "city\nNew York\nRome\nRome\nNew York\n")
    assert labels_in_file(path, "city", nameless).values.tolist() == ["New York", "Rome", "Rome", "New York"]


def test_a_vector_in_a_npy_file(tmp_path, nameless):
    path = tmp_path / "labels.npy"
    np.save(path, np.array([1, 0, 0, 1]))
    assert labels_in_file(path, None, nameless).values.tolist() == [1, 0, 0, 1]
    with pytest.raises(InvalidParameterError):
        labels_in_file(path, "class", nameless)
    np.save(path, np.zeros((4, 2)))
    with pytest.raises(DataError):
        labels_in_file(path, None, nameless)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(FileFormatError, match=r"not a sound \.npy file"):
        labels_in_file(path, None, nameless)


def test_files_that_cannot_be_meant(tmp_path, nameless):
    path = tmp_path / "labels.csv"
    for text, target, error, said in (
        ("", None, FileFormatError, "empty"),
        ("id,a,b\n1,x,y\n", None, InvalidParameterError, "columns id, a, b: say which with --target"),
        ("id,a,b\n1,x,y\n", "c", InvalidParameterError, "no such column.*id, a, b"),
        ("a,a,b\n1,x,y\n", "a", InvalidParameterError, "several of that name"),
        ("id,a\n1,x\n\n2\n", "a", FileFormatError, "line 4: 1 cells, and the first line has 2"),
    ):
        with pytest.raises(error, match=said):
            labels_in_file(_write(path, text), target, nameless)
    path.write_bytes(b"id,a\n1,\xff\n")
    with pytest.raises(FileFormatError, match="byte 7: not UTF-8"):
        labels_in_file(path, "a", nameless)
    with pytest.raises(FileNotFoundError):
        labels_in_file(tmp_path / "nowhere.tsv", "a", nameless)


def test_labels_of_the_data():
    def of(labels, asked=False):
        return labels_in_data(DenseMatrix(np.eye(4), labels=labels), asked)

    assert of(None) is None and of([2, 2, 2, 2]) is None
    assert of([2, 2, 2, 2], asked=True).values.tolist() == [2, 2, 2, 2]
    some = of([1.0, np.nan, 2.0, 1.0])
    assert some.values.tolist() == [1, 2, 1] and some.rows.tolist() == [0, 2, 3]
    assert of([1.0, np.nan, 1.0, 1.0]) is None


def test_what_is_no_class():
    def of(labels):
        require_classes(labels_in_data(DenseMatrix(np.eye(len(labels)), labels=labels), True))

    of([1, 2, 1, 2])
    of([1, 2])
    with pytest.raises(DataError) as caught:
        of([2, 2, 2, 2])
    assert caught.value.parameter == "label"
    with pytest.raises(DataError):
        of([np.nan, np.nan])
    with pytest.raises(InvalidParameterError):
        of([0.1, 0.2, 0.3, 0.4])
    with pytest.raises(DataError):
        of([1, 2, 3, 4])


@pytest.mark.parametrize(
    ("labels", "is_regression"),
    [
        (np.arange(100) % 10, False),  # ten codes
        (np.arange(100) % 11, False),  # eleven codes, without a gap
        (1 + np.arange(100) % 30, False),
        (2 + np.arange(100) % 11, True),  # no codes: they begin with 2
        (20 + np.arange(100) % 45, True),  # ages
        (2 * (np.arange(100) % 11), True),  # with gaps
        (np.arange(100) % 3 / 2, True),  # not whole
        (np.arange(100) % 2 / 2, False),
        (np.array([3.5, 1.25, 2.0, 7.0]), True),
        (np.arange(100.0), True),  # more than half are different
        (np.array([*"abcdefghijkl"] * 5), False),
        (np.array(["1.5", "2", "-3e2", "NA", "x"] * 5), False),
        (np.array(["1.5", "2", "-3e2", "NA", "7"] * 5), True),
        (np.arange(100) % 2 == 0, False),
    ],
)
def test_the_labels_decide_between_classes_and_a_regression(labels, is_regression):
    matrix = DenseMatrix(np.eye(len(labels)), labels=labels)
    found = labels_in_data(matrix, True, Task.auto)
    assert found.is_regression == is_regression
    if is_regression:
        assert found.values.dtype == np.float64
        numbers = [float(label) for label in labels if label != "NA"]
        assert found.values.tolist() == numbers
    asked = labels_in_data(matrix, True, Task.classification)
    assert not asked.is_regression


def test_numbers_are_read_exactly(tmp_path, named):
    path = _write(tmp_path / "trait.csv", "who,x\nann,0.1\nbob,1e-300\ncem,123456789.123456789\ndan,\n")
    labels = labels_in_file(path, "x", named, task=Task.auto)
    assert labels.values.tolist() == [0.1, 1e-300, 123456789.123456789] and labels.rows.tolist() == [0, 1, 2]
    assert labels.is_regression and labels.name == "x"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("who,x\nann,-9\nbob,1.5\ncem,2.5\ndan,3\n", [1, 2, 3]),  # nothing else is negative
        ("who,x\nann,-9\nbob,1.5\ncem,-2.5\ndan,3\n", [0, 1, 2, 3]),
        ("#IID,x\nann,-9\nbob,1.5\ncem,-2.5\ndan,3\n", [1, 2, 3]),  # as PLINK reads it
    ],
)
def test_minus_nine_of_a_trait(tmp_path, named, text, rows):
    labels = labels_in_file(_write(tmp_path / "trait.csv", text), None, named, task=Task.regression)
    assert labels.rows.tolist() == rows


def test_what_is_no_trait(tmp_path, named):
    for body in (
        "ann,1\nbob,2\ncem,x\ndan,4\n",
        "ann,1\nbob,2\ncem,inf\ndan,4\n",
        "ann,1\nbob,1\ncem,1\ndan,NA\n",
        "ann,NA\nbob,NA\ncem,NA\ndan,NA\n",
    ):
        with pytest.raises(DataError):
            known_labels(named, _write(tmp_path / "trait.csv", f"who,x\n{body}"), "x", task=Task.regression)


def test_the_first_line_may_be_a_person(tmp_path):
    write_genotypes(tmp_path / "cohort", 3, 20, n_populations=1)
    (tmp_path / "cohort.fam").write_text("f1 a 0 0 0 -9\nf1 b 0 0 0 -9\nf2 c 0 0 0 -9\n")
    matrix = open_matrix(tmp_path / "cohort.bed")
    path = _write(tmp_path / "pheno.txt", "f1 b 2.5\nf2 c 3.5\nf1 a 1.5\n")
    labels = labels_in_file(path, None, matrix, task=Task.auto)
    assert labels.values.tolist() == [1.5, 2.5, 3.5] and labels.name == "PHENO1"
    path = _write(tmp_path / "pheno.txt", "FID IID bmi\nf1 b 2.5\nf2 c 3.5\nf1 a 1.5\n")
    assert labels_in_file(path, None, matrix, task=Task.auto).name == "bmi"
    with pytest.raises(InvalidParameterError):
        labels_in_file(_write(path, "FID IID a b\nf1 b 2.5 1\nf2 c 3.5 1\nf1 a 1.5 2\n"), None, matrix)


def test_the_text_among_measurements_is_named(tmp_path):
    lines = [f"s{k} {150 + k / 8}" for k in range(40)]
    text = "\n".join(["who height", *lines[:-1], "s39 tall"])
    matrix = DenseMatrix(np.eye(40), sample_ids=[f"s{k}" for k in range(40)])
    with pytest.raises(DataError, match="'tall' is no number"):
        known_labels(matrix, _write(tmp_path / "h.txt", text), "height", task=Task.auto)
