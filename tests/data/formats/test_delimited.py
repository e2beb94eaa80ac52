import bz2
import csv
import gzip
import io
import lzma
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slimline import open_matrix
from slimline._kernels.threads import number_of_threads
from slimline.data import _text as text_lines
from slimline.data._passes import Pass
from slimline.data.formats import _delimited as delimited
from slimline.data.formats._delimited import MISSING_TEXT, open_delimited
from slimline.errors import FileFormatError, InvalidParameterError, NonFiniteError, SlimlineError
from tests.data.formats.explicit import check_passes, dense_of

COMPRESSORS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
TEXT = b'\xef\xbb\xbfname,a,"b, ""c""",class\r\nx1,1,2.5,cat\r\n\r\n"x,2",NA, -3e1 ,"a ""dog"""\r\n\xc3\xa4,.,"4",cat'


def write(tmp_path, text, name="x.csv"):
    path = tmp_path / name
    path.write_bytes(text)
    return path


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_header_names_labels_ids_and_missing_values(tmp_path, ending):
    path = write(tmp_path, COMPRESSORS[ending](TEXT), "x.csv" + ending)
    X = open_matrix(path, label="class", id="name")
    assert X.shape == (3, 2) and X.dtype == np.float64 and X.passes == 1
    assert X.feature_names == ["a", 'b, "c"'] and X.sample_ids == ["x1", "x,2", "ä"]
    assert X.labels.tolist() == ["cat", 'a "dog"', "cat"]
    np.testing.assert_array_equal(dense_of(X), [[1, 2.5], [np.nan, -30], [np.nan, 4]])
    assert open_matrix(path, label=-1, id=0).feature_names == X.feature_names
    with pytest.raises(NonFiniteError, match=r"row 1 \(x,2\), column 0 \(a\)"):
        X.dot(np.ones(2))
    filled = np.array([[1, 2.5], [1, -30], [1, 4]])
    np.testing.assert_allclose(X.standardised(None, None, fill="mean").dot([1.0, 2.0]), filled @ [1, 2])


@pytest.mark.parametrize(
    "text, delimiter",
    [
        (b"a,b\n1,2\n3,4\n", ","),
        (b"a;b\n1;2\n3;4\n", ";"),
        (b"a|b\n1|2\n3|4\n", "|"),
        (b"a\tb\n1\t2\n3\t4\n", "\t"),
        (b" a   b \n\n1 2  \n\t3\t4\n", " "),
        (b'"a,b;c" d\n1 2\n3 4\n', " "),
        (b"1 2\n3 4\n\n", " "),
    ],
)
def test_delimiters_are_recognised(tmp_path, text, delimiter):
    path = write(tmp_path, text)
    for said in (None, delimiter):
        np.testing.assert_array_equal(dense_of(open_delimited(path, delimiter=said)), [[1, 2], [3, 4]])


def test_one_column(tmp_path):
    X = open_delimited(write(tmp_path, b"a\n1\n2\n"))
    assert X.feature_names == ["a"] and dense_of(X).tolist() == [[1], [2]]


def test_header_said_or_found(tmp_path):
    path = write(tmp_path, b"1,2,x\n3,4,y\n")
    X = open_delimited(path, label=2)
    assert X.shape == (2, 2) and X.feature_names is None and X.labels.tolist() == ["x", "y"]
    X = open_delimited(path, label=2, header=True)
    assert X.shape == (1, 2) and X.feature_names == ["1", "2"]
    with pytest.raises(FileFormatError, match=r"'1' in column 0, counted from 0.*'x' in column 2"):
        open_delimited(path)
    with pytest.raises(FileFormatError, match=r"line 1 .*column 2, counted from 0: not a number: 'x'"):
        open_delimited(path, header=False)


@pytest.mark.parametrize("text", [b"1,x,3\n4,5,6\n", b"a,2,c\n4,5,6\n", b"null,2\n1,2\n"])
def test_a_first_line_of_names_and_numbers_is_asked_about(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(FileFormatError, match=r"x\.csv.*a number.*a text.*header=True.*header=False.*missing_text"):
        open_delimited(path)
    assert open_delimited(path, header=True).shape[0] == 1
    texts = [cell.decode() for cell in text.split(b"\n")[0].split(b",") if not cell.isdigit()]
    assert open_delimited(path, header=False, missing_text=texts).shape[0] == 2
    assert open_delimited(path, missing_text=texts).shape[0] == 2


def test_a_corner_without_a_name(tmp_path):
    X = open_delimited(write(tmp_path, b",a,b\n0,1,2\n1,3,4\n"), id=0)
    assert X.feature_names == ["a", "b"] and X.sample_ids == ["0", "1"]
    assert open_delimited(write(tmp_path, b",a,b\n0,1,2\n1,3,4\n")).feature_names == ["", "a", "b"]


def test_labels_that_are_numbers(tmp_path):
    X = open_delimited(write(tmp_path, b"y,a\n1,5\n-1,6\nNA,7\n"), label="y")
    np.testing.assert_array_equal(X.labels, [1, -1, np.nan])
    assert dense_of(X).tolist() == [[5], [6], [7]]


def test_single_precision_and_own_missing_texts(tmp_path):
    path = write(tmp_path, b"a,b\n0.1,-9\nnull,1e300\n")
    X = open_delimited(path, dtype=np.float32, missing_text=["-9", "null"])
    (block,) = X.blocks()
    np.testing.assert_array_equal(block.values, np.array([[0.1, np.nan], [np.nan, np.inf]], np.float32))
    assert X.dtype == block.values.dtype == np.float32


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": ",,"},
        {"delimiter": "x"},
        {"delimiter": "."},
        {"delimiter": ""},
        {"header": "yes"},
        {"label": "none"},
        {"label": 2},
        {"label": -3},
        {"label": 1.0},
        {"label": "a", "id": 0},
        {"label": "a", "header": False},
        {"missing_text": "NA"},
        {"dtype": np.int8},
        {"dtype": "foo"},
    ],
)
def test_parameters_that_cannot_be(tmp_path, options):
    with pytest.raises(InvalidParameterError):
        open_delimited(write(tmp_path, b"a,b\n1,2\n"), **options)


@pytest.mark.parametrize(
    "text, match",
    [
        (b"a,b\n1,2\n3\n", r"line 3 \(byte 9 .*the row has 1 cell instead of 2"),
        (b"a\n1\n3,4\n", r"line 3 .*more than 1 cell\b"),
        (b"a,b\n1,2\n3,4,5\n", r"line 3 \(byte 12 .*more than 2 cells"),
        (b"a,b\n1,2\n3,1 4\n", r"line 3 \(byte 10 .*column 1 \(b\).*not a number: '1 4'"),
        (b'a,b\n1,"2\n"', r"line 2 .*column 1 \(b\).*quote is not closed"),
        (b'a,"b\n1,2\n', r"line 1 .*column 1, .*quote is not closed"),
        (b"a,b\n", "no rows"),
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"a,\xff\n1,2\n", "line 1 .*not UTF-8"),
        (b"\x89PNG\0", "not text"),
    ],
)
def test_errors_name_line_byte_and_column(tmp_path, text, match):
    with pytest.raises(FileFormatError, match=r"x\.csv.*" + match):
        open_delimited(write(tmp_path, text))


def test_a_label_that_is_not_utf8(tmp_path):
    with pytest.raises(FileFormatError, match=r"line 3 \(byte 10 .*not UTF-8"):
        open_delimited(write(tmp_path, b"a,y\n1,x\n2,\xff\n3,\xff\n"), label="y")
    with pytest.raises(FileFormatError, match="no column of numbers"):
        open_delimited(write(tmp_path, b"a,y\n1,x\n"), label="y", id="a")


@pytest.mark.parametrize("ending", COMPRESSORS)
@pytest.mark.parametrize("threads", [1, 2])
def test_many_pieces_and_groups_change_nothing(tmp_path, monkeypatch, ending, threads, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    expected = np.round(rng.standard_normal((40, 7)), 3)
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(["id", *"abcdefg"])
    writer.writerows([[f"row {i}", *row] for i, row in enumerate(expected.tolist())])
    path = write(tmp_path, COMPRESSORS[ending](stream.getvalue().encode()), "x.csv" + ending)
    monkeypatch.setattr(text_lines, "PIECE_BYTES", 32)
    monkeypatch.setattr(delimited, "GROUP_BYTES", 3 * 256)
    with number_of_threads(threads):
        X = open_delimited(path, id="id")
        assert len(X._index.groups) == 14
        np.testing.assert_array_equal(dense_of(X), expected)
        assert X.sample_ids == [f"row {i}" for i in range(40)]
        check_passes(X, expected)
        got = np.vstack([block.values.copy() for block, _ in X._pass(Pass("test"))])
    np.testing.assert_array_equal(got, expected)


def test_fingerprint_is_that_of_a_copy(tmp_path):
    a, b = write(tmp_path, b"y,a\n1,2\n", "a.csv"), write(tmp_path, b"y,a\n1,2\n", "b.csv")
    assert open_delimited(a).fingerprint == open_delimited(b).fingerprint != open_delimited(a, label=0).fingerprint


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_a_compressed_file_cut_anywhere_is_refused(tmp_path, ending):
    whole = COMPRESSORS[ending](b"a,b\n1,2\n3,4\n" * 3)
    for size in range(len(whole)):
        with pytest.raises(FileFormatError):
            open_delimited(write(tmp_path, whole[:size], "x.csv" + ending))


NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)
CELL = re.compile(r'[ \t]*(?:"((?:[^"]|"")*)" *|([^",][^,]*?|)[ \t]*)(,|\Z)')


def slow_cells(line):
    """The cells of a line by a regular expression, or None where a quote is amiss."""
    cells, at = [], 0
    while True:
        match = CELL.match(line, at)
        if match is None:
            return None
        cells.append(match[1].replace('""', '"') if match[1] is not None else match[2])
        if match[3] == "":
            return cells
        at = match.end()


def slow(text):
    """Names and numbers of comma-separated text, or None where it is not sound."""
    if b"\0" in text[:4096] or text.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    lines = [line.removesuffix(b"\r").decode("latin-1") for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    table = [slow_cells(line) for line in lines if line.strip(" \t")]
    if not table or any(cells is None or len(cells) != len(table[0]) for cells in table):
        return None
    names = None
    told = {bool(NUMBER.fullmatch(cell)) for cell in table[0] if cell not in MISSING_TEXT}
    if told == {True, False}:
        return None
    if told == {False}:
        names = table.pop(0)
        try:
            names = [name.encode("latin-1").decode() for name in names]
        except UnicodeDecodeError:
            return None
    values = []
    for cells in table:
        if any(not NUMBER.fullmatch(cell) and cell not in MISSING_TEXT for cell in cells):
            return None
        values.append([np.nan if cell in MISSING_TEXT else float(cell) for cell in cells])
    return (names, values) if values else None


def compare_with_slow(path, text):
    path.write_bytes(text)
    expected = slow(text)
    try:
        X = open_delimited(path, delimiter=",")
    except SlimlineError:
        assert expected is None
        return
    assert expected is not None
    assert X.feature_names == expected[0]
    np.testing.assert_array_equal(dense_of(X), expected[1])


def test_a_file_cut_anywhere(tmp_path):
    text = b'\xef\xbb\xbfa,"b ""c""",d\r\n1,2.5,-3e1\r\n\r\nNA, "4" ,.\n7,8,9'
    for size in range(len(text) + 1):
        compare_with_slow(tmp_path / "x.csv", text[:size])


TOKENS = [
    b"1",
    b"-2.5e3",
    b"NA",
    b"nan",
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b",",
    b",",
    b'"',
    b'"3"',
    b'""',
    b"x",
    b".",
    b"\xc3\xa4",
]
SOUP = st.lists(st.sampled_from(TOKENS) | st.binary(max_size=2), max_size=25).map(b"".join)
TABLE = st.lists(
    st.lists(st.sampled_from([b"1", b"-2.5", b"", b"NA", b'"3"', b" 4 ", b"x"]), min_size=2, max_size=3).map(b",".join),
    max_size=5,
).map(b"\n".join)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=50) | SOUP | TABLE)
@example(b'"1"\t,2')
@example(b'1,"2"" ')
def test_any_text_is_read_as_the_slow_parser_reads_it(tmp_path_factory, text):
    if text.startswith(b"\x1f\x8b"):
        text = b" " + text  # not meant: a compressed file
    compare_with_slow(tmp_path_factory.getbasetemp() / "fuzz.csv", text)


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=50) | SOUP | TABLE, st.sampled_from([None, " ", "\t", ";"]), st.sampled_from([None, 0, -1, "x"])
)
def test_any_text_is_survived_with_any_options(tmp_path_factory, text, delimiter, label):
    path = tmp_path_factory.getbasetemp() / "fuzz2.csv"
    path.write_bytes(text)
    try:
        X = open_delimited(path, delimiter=delimiter, label=label)
    except SlimlineError:
        return
    assert dense_of(X).shape == X.shape and (label is None) == (X.labels is None)


@pytest.mark.data
@pytest.mark.parametrize("options", [{}, {"delimiter": " "}])
def test_arcene_is_what_numpy_reads(data_dir, options):
    path = data_dir / "arcene" / "arcene_train.data"
    expected = np.loadtxt(path)
    X = open_matrix(path, format="csv", **options)
    np.testing.assert_array_equal(dense_of(X), expected)
    if options:
        w, a = np.random.default_rng(0).standard_normal((2, 10_000))
        a = a[:100]
        np.testing.assert_allclose(X.dot(w), expected @ w, rtol=1e-10, atol=1e-8)
        np.testing.assert_allclose(X.tdot(a), expected.T @ a, rtol=1e-10, atol=1e-8)
        np.testing.assert_array_equal(X.gram(), expected @ expected.T)  # whole numbers
        np.testing.assert_allclose(X.column_stats().mean, expected.mean(axis=0), rtol=1e-12)
