import bz2
import gzip
import io
import lzma
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from slimline import open_matrix
from slimline._kernels.threads import number_of_threads
from slimline.data import _text as text_lines
from slimline.data._passes import Pass
from slimline.data.formats import _svmlight as svmlight
from slimline.data.formats._svmlight import open_svmlight
from slimline.errors import FileFormatError, InvalidParameterError, NonFiniteError, SlimlineError
from tests.data.formats.explicit import check_passes, dense_of

COMPRESSORS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
TEXT = b"""# a comment
1 1:0.5 3:-2e0 7:1 # the rest

-1 qid:4 2:1.5
+1
0.25\t9:3 4:1\r
"""


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces and groups of a few bytes, so that small files have many."""
    monkeypatch.setattr(text_lines, "PIECE_BYTES", 16)
    monkeypatch.setattr(svmlight, "_GROUP_VALUES", 3)
    monkeypatch.setattr(svmlight, "_GROUP_ROWS", 2)


def write(tmp_path, text, name="x.svm"):
    path = tmp_path / name
    path.write_bytes(text)
    return path


def random_rows(n, d, seed, zero_based=False):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.2, format="csr", rng=rng)
    X.data = rng.standard_normal(X.nnz)
    stream = io.BytesIO()
    dump_svmlight_file(X, rng.integers(-1, 2, n), stream, zero_based=zero_based)
    return X, stream.getvalue()


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_rows_labels_and_columns(tmp_path, ending):
    X = open_matrix(write(tmp_path, COMPRESSORS[ending](TEXT), "x.svmlight" + ending))
    assert X.shape == (4, 9) and X.passes == 1 and X.nonzeros == 6
    np.testing.assert_array_equal(X.labels, [1, -1, 1, 0.25])
    expected = np.zeros((4, 9))
    expected[0, [0, 2, 6]], expected[1, 1], expected[3, [8, 3]] = [0.5, -2, 1], 1.5, [3, 1]
    np.testing.assert_array_equal(dense_of(X), expected)


@pytest.mark.parametrize("ending", COMPRESSORS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("small_pieces")
def test_many_pieces_and_groups_change_nothing(tmp_path, ending, threads, global_random_seed):
    _, text = random_rows(41, 23, global_random_seed)
    path = write(tmp_path, COMPRESSORS[ending](text), "x.svm" + ending)
    with number_of_threads(threads):
        X = open_svmlight(path, n_features=23)
        assert len(X._index.groups) > 20
        exact, labels = load_svmlight_file(str(path) if ending != ".xz" else io.BytesIO(text), n_features=23)
        np.testing.assert_array_equal(dense_of(X), exact.toarray())
        np.testing.assert_array_equal(X.labels, labels)
        check_passes(X, exact.toarray())


@pytest.mark.usefixtures("small_pieces")
def test_blocks_stay_as_they_are_while_the_next_are_read(tmp_path):
    # read_ahead has two more blocks made while one is in use: their buffers must not be its own
    _, text = random_rows(60, 30, 1)
    X = open_svmlight(write(tmp_path, text), n_features=30)
    got = np.vstack([block.values.toarray() for block, _ in X._pass(Pass("test"))])
    np.testing.assert_array_equal(got, load_svmlight_file(io.BytesIO(text), n_features=30)[0].toarray())


@pytest.mark.parametrize("zero_based", [True, False, "auto"])
@pytest.mark.parametrize("written", [True, False])
def test_first_index(tmp_path, zero_based, written):
    _, text = random_rows(20, 12, 3, zero_based=written)
    path = write(tmp_path, text)
    if zero_based is False and written:
        with pytest.raises(FileFormatError, match=r"x.svm, line \d+ .*index 0.*zero_based=True"):
            open_svmlight(path, zero_based=False)
        return
    expected, _ = load_svmlight_file(str(path), zero_based=zero_based)
    np.testing.assert_array_equal(dense_of(open_svmlight(path, zero_based=zero_based)), expected.toarray())


def test_number_of_features(tmp_path):
    path = write(tmp_path, b"1 3:1\n1 2:1 9:2\n1 8:1\n")
    assert open_svmlight(path, n_features=12).shape == (3, 12)
    with pytest.raises(FileFormatError, match=r"line 2: index 9 belongs to feature 9, and at most 8"):
        open_svmlight(path, n_features=8)
    for bad in ({"n_features": 0}, {"n_features": 2.5}, {"zero_based": "no"}):
        with pytest.raises(InvalidParameterError):
            open_svmlight(path, **bad)


def test_indices_beyond_32_bits(tmp_path):
    X = open_svmlight(write(tmp_path, b"1 5000000000:2.5 7:1\n"))
    assert X.shape == (1, 5_000_000_000)
    (block,) = X.blocks()
    assert block.values.indices.tolist() == [6, 4_999_999_999] and block.values.data.tolist() == [1, 2.5]


def test_a_row_longer_than_a_group(tmp_path, monkeypatch):
    monkeypatch.setattr(svmlight, "_GROUP_VALUES", 4)
    text = b"1 1:1\n1 " + b" ".join(b"%d:%d" % (i, i) for i in range(1, 100)) + b"\n1 2:5\n"
    X = open_svmlight(write(tmp_path, text))
    np.testing.assert_array_equal(dense_of(X), load_svmlight_file(io.BytesIO(text))[0].toarray())


def test_values_that_are_not_finite_are_located_when_they_are_used(tmp_path):
    X = open_svmlight(write(tmp_path, b"1 1:1\n1 2:inf\n"))
    with pytest.raises(NonFiniteError, match="row 1, column 1"):
        X.dot(np.ones(2))
    with pytest.raises(NonFiniteError, match="row 0, column 0"):
        open_svmlight(write(tmp_path, b"1 1:nan 2:3\n")).tdot(np.ones(1))


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_errors_name_file_line_and_byte(tmp_path, ending):
    text = b"1 1:1\n" * 5000 + b"1 2:3 2:4\n"
    path = write(tmp_path, COMPRESSORS[ending](text), "x.svm" + ending)
    with pytest.raises(FileFormatError, match=r"x\.svm.*, line 5,001 \(byte 30,006 .*: index 2 comes twice"):
        open_svmlight(path)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# nothing\n"])
def test_a_file_without_rows(tmp_path, content):
    with pytest.raises(FileFormatError, match="no rows"):
        open_svmlight(write(tmp_path, content))


def test_foreign_files(tmp_path):
    with pytest.raises(FileFormatError, match="not text: byte 2 is 0"):
        open_svmlight(write(tmp_path, b"PK\0\1"))
    with pytest.raises(FileFormatError, match="UTF-16"):
        open_svmlight(write(tmp_path, "1 1:1".encode("utf-16")))
    with pytest.raises(FileFormatError, match="gzip"):
        open_svmlight(write(tmp_path, b"1 1:1\n", "x.svm.gz"))
    with pytest.raises(FileNotFoundError):
        open_svmlight(tmp_path / "none.svm")
    assert open_svmlight(write(tmp_path, gzip.compress(TEXT), "misnamed.svm")).shape == (4, 9)
    assert open_svmlight(write(tmp_path, b"\xef\xbb\xbf" + TEXT)).shape == (4, 9)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_a_compressed_file_cut_anywhere_is_refused(tmp_path, ending):
    whole = COMPRESSORS[ending](TEXT)
    for size in range(len(whole)):
        with pytest.raises(FileFormatError):
            open_svmlight(write(tmp_path, whole[:size], "x.svm" + ending))


NUMBER = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)


def slow(text):
    """The rows of a text by regular expressions, or None where it is not sound."""
    rows = []
    if b"\0" in text[:4096] or text.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        tokens = line.split(b"#")[0].split()
        if not tokens:
            continue
        if not NUMBER.fullmatch(tokens[0]):
            return None
        if len(tokens) > 1 and re.fullmatch(rb"qid:[+-]?\d+", tokens[1]):
            del tokens[1]
        row = {}
        for token in tokens[1:]:
            match = re.fullmatch(rb"(\d{1,18}):(.*)", token, re.DOTALL)
            if not match or not NUMBER.fullmatch(match[2]) or int(match[1]) in row:
                return None
            row[int(match[1])] = float(match[2])
        rows.append((float(tokens[0]), row))
    return rows or None


def compare_with_slow(path, text):
    path.write_bytes(text)
    expected = slow(text)
    try:
        X = open_svmlight(path)
    except SlimlineError:
        assert expected is None
        return
    assert expected is not None
    np.testing.assert_array_equal(X.labels, [label for label, _ in expected])
    indices = [i for _, row in expected for i in row]
    base = 1 if indices and min(indices) > 0 else 0
    assert X.shape == (len(expected), max(indices, default=base - 1) + 1 - base)
    got = []
    for block in X.blocks():
        x = block.values
        for i in range(x.shape[0]):
            line = slice(x.indptr[i], x.indptr[i + 1])
            got.append((x.indices[line].copy(), x.data[line].copy()))
    for (at, values), (_, row) in zip(got, expected, strict=True):
        assert at.tolist() == [i - base for i in sorted(row)]
        np.testing.assert_array_equal(values, [row[i] for i in sorted(row)])


def test_a_file_cut_anywhere(tmp_path):
    for size in range(len(TEXT) + 1):
        compare_with_slow(tmp_path / "x.svm", TEXT[:size])


TOKENS = [
    b"1",
    b"-1",
    b"+1.5e3",
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"3:4",
    b"2:1",
    b"0:7",
    b"12:nan",
    b"qid:2",
    b"#",
    b":",
    b",",
]
SOUP = st.lists(st.sampled_from(TOKENS) | st.binary(max_size=2), max_size=30).map(b"".join)
LINES = st.lists(st.tuples(st.sampled_from([b"1 ", b"-1 ", b""]), SOUP), max_size=6).map(
    lambda rows: b"\n".join(label + soup for label, soup in rows)
)


@st.composite
def mutated(draw):
    text = bytearray(draw(st.sampled_from([TEXT, b"1 1:2 3:4\n2 2:1\n3\n", b"\xef\xbb\xbf-1 0:1e5 7:.5"])))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, max(len(text) - 1, 0)))
        text[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=2) | st.sampled_from(TOKENS))
    return bytes(text)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60) | SOUP | LINES | mutated())
@example(b"1 1:1 1:1")
@example(b"1 3:1 1:1 3:2")
@example(b"\x1f\x8b")
def test_any_text_is_read_as_the_slow_parser_reads_it(tmp_path_factory, text):
    if text.startswith(b"\x1f\x8b"):
        text = b" " + text  # not meant: a compressed file
    compare_with_slow(tmp_path_factory.getbasetemp() / "fuzz.svm", text)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["gz", "bz2", "xz"]), st.lists(st.tuples(st.integers(0, 999), st.integers(0, 255)), max_size=3))
def test_any_damage_to_a_compressed_file_is_survived(tmp_path_factory, ending, changes):
    data = bytearray(COMPRESSORS["." + ending](TEXT))
    for at, byte in changes:
        data[at % len(data)] = byte
    path = tmp_path_factory.getbasetemp() / f"fuzz.svm.{ending}"
    path.write_bytes(data)
    try:
        X = open_svmlight(path)
    except SlimlineError:
        return
    assert X.shape[0] == dense_of(X).shape[0]


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [
        "rcv1_small/rcv1_small.train.svmlight.bz2",
        "rcv1_small/rcv1_small.test.svmlight.bz2",
        "reuters_moneyfx/reuters_moneyfx.tst.svmlight.bz2",
    ],
)
def test_real_data_are_what_scikit_learn_reads(data_dir, name):
    expected, labels = load_svmlight_file(str(data_dir / name))
    X = open_matrix(data_dir / name)
    assert X.shape == expected.shape
    np.testing.assert_array_equal(X.labels, labels)
    got = sp.vstack([block.values.copy() for block in X.blocks()], format="csr")
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(got, part), getattr(expected, part))


@pytest.mark.data
def test_products_of_real_data(data_dir):
    path = data_dir / "rcv1_small" / "rcv1_small.test.svmlight.bz2"
    X = open_matrix(path)
    expected, _ = load_svmlight_file(str(path))
    w, a = np.random.default_rng(0).standard_normal((2, 50_000))
    w, a = w[: X.shape[1]], a[: X.shape[0]]
    np.testing.assert_allclose(X.dot(w), expected @ w, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(X.tdot(a), expected.T @ a, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(X.gram(), (expected @ expected.T).toarray(), rtol=1e-11, atol=1e-14)
