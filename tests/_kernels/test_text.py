"""The text parsers, on arrays with nothing behind them: a read beyond the end shows under AddressSanitizer."""

import re
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline._kernels import _native

SPECIAL = [
    "0",
    "-0",
    "+1",
    "1.",
    ".5",
    "00012",
    "1e5",
    "1E+05",
    "1e-5",
    "4.9e-324",
    "2.5e-324",
    "2e-324",
    "1e-400",
    "1e400",
    "-1e400",
    "1.7976931348623157e308",
    "1.8e308",
    "2.2250738585072011e-308",
    "2.2250738585072014e-308",
    "9007199254740993",
    "9007199254740992",
    "123456789012345678901234567890",
    "0.1000000000000000055511151231257827",
    "0e999",
    "0.0e-9999",
    "1e99999999999999999999",
    "inf",
    "-inf",
    "+Infinity",
    "nan",
    "-NaN",
    "INF",
]
NONE = [
    "",
    "+",
    "-",
    ".",
    "e5",
    "1e",
    "1e+",
    "1.2.3",
    "0x10",
    "1_0",
    "nan(1)",
    "infin",
    "1 ",
    " 1",
    "--1",
    "1,5",
    "1f",
    "\0",
]


def exact(text):
    """A copy in an array of exactly this size."""
    return np.frombuffer(bytes(text), dtype=np.uint8).copy()


def same(a, b):
    return struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)


@pytest.mark.parametrize("text", [*SPECIAL, "0." + "0" * 400 + "1e390", "1" + "0" * 400 + "e-400"])
def test_numbers_are_what_python_makes_of_them(text):
    assert same(_native.parse_number(exact(text.encode())), float(text))


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_number(text):
    assert _native.parse_number(exact(text.encode())) is None


@given(st.floats(allow_nan=False), st.sampled_from(["r", ".3f", ".17e", ".20g", ".40f", "g"]))
def test_every_number_is_rounded_once(value, form):
    text = repr(value) if form == "r" else format(value, form)
    assert same(_native.parse_number(exact(text.encode())), float(text))


NUMBER = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)


@settings(max_examples=500)
@given(st.text(alphabet="0123456789.eE+-infaty_ x", max_size=12).map(str.encode))
def test_the_grammar_of_numbers(text):
    value = _native.parse_number(exact(text))
    if NUMBER.fullmatch(text):
        assert same(value, float(text))
    else:
        assert value is None


def svmlight(text, *, base=0, rows=64, values=256, index_type=np.int32):
    text = exact(text)
    parts = np.empty(rows), np.empty(rows + 1, np.int64), np.empty(values, index_type), np.empty(values)
    parsed = _native.parse_svmlight(text, 0, text.size, base, *parts)
    labels, indptr, indices, data = parts
    rows = [
        (labels[i], indices[indptr[i] : indptr[i + 1]].tolist(), data[indptr[i] : indptr[i + 1]].tolist())
        for i in range(parsed.rows)
    ]
    return parsed, rows


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_svmlight_rows(index_type):
    text = b"# head\n\n+1 qid:3 2:1.5 1:-2e0\t7:0 # rest 3:3\r\n-1\n 0.5 3:nan"
    parsed, rows = svmlight(text, index_type=index_type)
    assert (parsed.rows, parsed.lines, parsed.consumed, parsed.problem) == (3, 5, len(text), "")
    assert (parsed.smallest, parsed.largest, parsed.largest_line) == (1, 7, 2)
    assert rows[:2] == [(1.0, [1, 2, 7], [-2.0, 1.5, 0.0]), (-1.0, [], [])]
    assert rows[2][:2] == (0.5, [3]) and np.isnan(rows[2][2][0])


@pytest.mark.parametrize(
    "text, place, problem",
    [
        (b"1 1:2\n1 2:3 x\n", 12, "expected index:value, found 'x'"),
        (b"1 1:2\n1 2:3 2:4\n", 12, "index 2 comes twice"),
        (b"1 1:2\n1 2:3 5:1 2:4\n", 6, "index 2 comes twice"),
        (b"1 1:2\n1 2:\n", 10, "the value is not a number: ''"),
        (b"1 1:2\n1 2:3:4\n", 10, "the value is not a number: '3:4'"),
        (b"1 1:2\n1 -2:3\n", 8, "expected index:value"),
        (b"1 1:2\n2:3\n", 6, "no label"),
        (b"1 1:2\n1,2 2:3\n", 6, "several labels"),
        (b"1 1:2\nabc 2:3\n", 6, "the label is not a number: 'abc'"),
        (b"1 1:2\n1 2:3 qid:4\n", 12, "qid must stand before"),
        (b"1 1:2\n1 qid:4.5\n", 8, "query number"),
        (b"1 1:2\n1 9999999999999999999:1\n", 8, "too large"),
        (b"1 1:2\n1 2147483648:1\n", 8, "too large"),
        (b"1 1:2\n1 2:\xff\0\n", 10, r"'\xff\x00'"),
    ],
)
def test_svmlight_says_where_it_is_wrong(text, place, problem):
    parsed, _ = svmlight(text)
    assert problem in parsed.problem
    assert (parsed.place, parsed.lines, parsed.rows) == (place, 1, 1)


def test_svmlight_stops_when_there_is_no_room():
    text = b"1 1:1 2:2\n2 3:3\n3 4:4\n"
    parsed, rows = svmlight(text, rows=2)
    assert parsed.consumed == text.index(b"3 4") and len(rows) == 2
    parsed, rows = svmlight(text, values=3)
    assert parsed.consumed == text.index(b"3 4") and not parsed.row_too_long
    parsed, rows = svmlight(text, values=1)
    assert parsed.row_too_long and parsed.consumed == 0 and rows == []
    assert "zero_based=True" in svmlight(b"1 0:1\n", base=1)[0].problem
    assert svmlight(b"1 1:1\n", base=1)[1] == [(1.0, [0], [1.0])]


def cells(text, roles, delimiter=",", missing=("", "NA"), rows=8, dtype=np.float64):
    text, roles = exact(text), np.array(roles, dtype=np.uint8)
    values = np.empty((rows, int((roles == 0).sum())), dtype)
    places = np.empty((rows, int((roles == 1).sum()), 2), np.int64)
    parsed = _native.parse_cells(text, 0, text.size, delimiter, roles, list(missing), values, places)
    texts = [[text[a:b].tobytes() for a, b in row] for row in places[: parsed.rows].tolist()]
    return parsed, values[: parsed.rows].tolist(), texts


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cells(dtype):
    text = b'1,2.5,"a,""b""",4\r\n\r\n  3 , "4" ,x y ,5\n-1,1e2,,6'
    parsed, values, texts = cells(text, [0, 0, 1, 2], dtype=dtype)
    assert (parsed.problem, parsed.rows, parsed.lines, parsed.consumed) == ("", 3, 4, len(text))
    assert values == [[1, 2.5], [3, 4], [-1, 100]]
    assert texts == [[b'"a,""b"""'], [b"x y"], [b""]]


def test_cells_between_blanks_and_tabs():
    assert cells(b"  1 \t 2  3 \n\n4 5 6", [0, 0, 0], " ")[1] == [[1, 2, 3], [4, 5, 6]]
    values = cells(b"1\t\t3\n\t\t\n", [0, 0, 0], "\t")[1]
    np.testing.assert_array_equal(values, [[1, np.nan, 3], [np.nan] * 3])


def test_a_number_may_stand_for_a_missing_value():
    np.testing.assert_array_equal(cells(b"1,-9\n-9,2\n", [0, 0], missing=["-9"])[1], [[1, np.nan], [np.nan, 2]])


@pytest.mark.parametrize(
    "text, place, cell, problem",
    [
        (b"1,2\n3\n", 5, 1, "1 cells instead of 2"),
        (b"1,2\n3,4,5\n", 8, 2, "more than 2 cells"),
        (b"1,2\n3,x\n", 6, 1, "not a number: 'x'"),
        (b'1,2\n3,"4\n', 6, 1, "quote"),
        (b'1,2\n"3"4,5\n', 4, 0, "quote"),
        (b"1,2\n3,\0\n", 6, 1, r"'\x00'"),
    ],
)
def test_cells_say_where_they_are_wrong(text, place, cell, problem):
    parsed, _, _ = cells(text, [0, 0])
    assert problem in parsed.problem
    assert (parsed.place, parsed.cell, parsed.lines) == (place, cell, 1)


def test_the_cells_of_a_line():
    text = exact(b' a , "b, ""c""" ,\nnext')
    parsed, places = _native.line_cells(text, 0, text.size, ",")
    assert parsed.consumed == text.tobytes().index(b"next")
    found = [text[a:b].tobytes() for a, b in zip(places[::2], places[1::2], strict=True)]
    assert found == [b"a", b'"b, ""c"""', b""]


ALPHABET = st.sampled_from(
    [b"1", b"2", b".", b"e", b"-", b":", b",", b" ", b"\t", b"\n", b"\r", b'"', b"#", b"q", b"\0"]
)


@settings(max_examples=500)
@given(st.lists(ALPHABET | st.binary(min_size=1, max_size=1), max_size=40).map(b"".join), st.integers(0, 6))
def test_any_bytes_are_survived(text, room):
    parsed, _ = svmlight(text, rows=max(room, 1), values=room)
    assert parsed.consumed <= len(text) and (parsed.problem == "" or parsed.place <= len(text))
    for delimiter in (",", " ", "\t", ";"):
        parsed, _, _ = cells(text, [0, 1, 2, 0][: room or 1], delimiter, rows=room)
        assert parsed.consumed <= len(text) and (parsed.problem == "" or parsed.place <= len(text))
        _native.line_cells(exact(text), 0, len(text), delimiter)


def test_arrays_that_do_not_fit_are_refused():
    text, floats, whole = exact(b"1 1:1"), np.empty(4), np.empty(4, np.int32)
    pointer = np.empty(5, np.int64)
    bad = [
        (text, 3, 2, 0, floats, pointer, whole, floats),
        (text, 0, 6, 0, floats, pointer, whole, floats),
        (text, 0, 5, 2, floats, pointer, whole, floats),
        (text, 0, 5, 0, floats, pointer[:4], whole, floats),
        (text, 0, 5, 0, floats[:0], pointer[:1], whole, floats),
        (text, 0, 5, 0, floats, pointer, whole[:3], floats),
        (text, 0, 5, 0, floats, pointer, whole.astype(np.int16), floats),
    ]
    for arguments in bad:
        with pytest.raises(ValueError):
            _native.parse_svmlight(*arguments)
    roles, values, places = np.zeros(2, np.uint8), np.empty((3, 2)), np.empty((3, 0, 2), np.int64)
    for arguments in [
        (",", np.full(2, 3, np.uint8), [], values, places),
        (",", roles, [], values[:, :1], places),
        (",", roles, [], np.empty((6, 2))[::2], places),
        (",", roles, [], values, np.empty((2, 0, 2), np.int64)),
        ("", roles, [], values, places),
        ('"', roles, [], values, places),
    ]:
        with pytest.raises(ValueError):
            _native.parse_cells(text, 0, 5, *arguments)
