"""The block kernels against their NumPy twins: every type and order, sizes around vectors, strides, missing values.

Sums are compared entry by entry with γ · (|x| + |centre|) @ |right-hand side|, which holds for any order of summation.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline._kernels import _native
from slimline.testing._explicit import Explicit, ExplicitStats
from slimline.testing._moments import accumulation_error, require_close
from tests._kernels import flat
from tests.reference import blocks as reference

TYPES = ["f8", "f4", "f2", "i1", "u1", "i2", "?", "packed"]
NAMES = ["dot", "tdot", "normal", "squares", "tile", "statistics"]
SIZES = [*range(1, 71)]


def native(name):
    return getattr(flat, name, None) or getattr(_native, name)


class Case:
    """A block, how it is standardised, and the bounds that follow."""

    def __init__(self, dtype, order, shape, seed, missing=False, spread=0):
        rng = np.random.default_rng(seed)
        n, d = shape
        self.samples, self.missing, self.order = 0, None, order
        if dtype == "packed":
            bytes_ = rng.integers(0, 256, (d, (n + 3) // 4), dtype=np.uint8)
            if not missing:
                bytes_ &= ~(bytes_ & 0x55 & ~(bytes_ >> 1))  # 01 becomes 00; what fills the last byte may be anything
                if n % 4:
                    bytes_[:, -1] |= np.uint8(0x55 << 2 * (n % 4) & 0xFF)
            elif seed % 3:  # few are missing, as in real data: they are then added one by one
                gone = bytes_ & 0x55 & ~(bytes_ >> 1)
                bytes_ &= ~(gone & (rng.random(bytes_.shape) < 0.95) * np.uint8(0xFF))
            self.x, self.samples, self.order = bytes_, n, "F"
            if spread:
                wide = np.zeros((d, bytes_.shape[1] + spread), np.uint8)
                wide[:, : bytes_.shape[1]] = bytes_
                self.x = wide[:, : bytes_.shape[1]]
        else:
            low, high = (0, 2) if dtype == "?" else (0, 10 + 30 * (seed % 3)) if dtype == "u1" else (-9, 10)
            values = rng.integers(low, high, shape).astype(np.float64)
            if dtype in ("f8", "f4", "f2"):
                values = rng.standard_normal(shape)
            x = values.astype(dtype)
            holes = rng.random(shape) < 0.2
            if missing and "f" in dtype:
                x[holes] = np.nan
            elif missing and dtype in ("i1", "i2", "u1"):
                self.missing = 7
            lines, length = shape if order == "C" else shape[::-1]
            memory = np.zeros((lines, length + spread), dtype)
            memory[:, :length] = x if order == "C" else x.T
            self.x = memory[:, :length] if order == "C" else memory[:, :length].T
        wide = reference.widened(self.x, self.samples, self.missing)
        self.centre, self.factor, self.fill = rng.standard_normal(d), rng.standard_normal(d) + 2, rng.standard_normal(d)
        if not missing or seed % 5 == 0:  # now and then what is missing stays so, and must show as NaN
            self.fill = None
        if seed % 3 == 1:
            self.centre = None
        if seed % 4 == 2:
            self.factor = None
        filled = wide if self.fill is None else np.where(np.isnan(wide), self.fill, wide)
        self.size = np.abs(filled) + (0 if self.centre is None else np.abs(self.centre))
        self.wide, self.shape = wide, shape

    def right(self, rows, k, seed):
        return np.random.default_rng(seed).standard_normal((rows, k))


def _gamma(terms):
    return 2 * accumulation_error(2 * terms + 32, np.float64)


def _same(got, expected, bound, what):
    """Compare, NaN where it should be."""
    absent = np.isnan(expected)
    assert np.array_equal(np.isnan(got), absent), f"{what}: NaN in other places"
    require_close(np.where(absent, 0, got), np.where(absent, 0, expected), np.where(absent, 0, bound), what)


def _weights(case, k):
    """Return the weights of a pass for statistics: none, whole numbers, any."""
    n = case.shape[0]
    choices = (None, np.random.default_rng(7).integers(0, 3, n).astype(float), case.right(n, 1, 8)[:, 0] ** 2)
    return choices[k % 3 :][:1] if case.wide.size > 10_000 else choices


def _twin(name, case, k):
    """Return what the kernel is given beside the block and what it adds to, and by the twin the results and bounds."""
    n, d = case.shape
    head = (case.x, case.samples, case.missing)
    affine = (case.centre, case.factor, case.fill)
    scaled = case.size if case.factor is None else case.size * np.abs(case.factor)
    two = getattr(reference, name)
    if name in ("dot", "tdot"):
        V = case.right(d if name == "dot" else n, k, 5)
        begin = case.right(n if name == "dot" else d, k, 6)
        expected = begin.copy()
        two(*head, V, case.centre, case.fill, expected)
        size = (case.size if name == "dot" else case.size.T) @ np.abs(V)
        return V, begin, expected, (size + np.abs(begin)) * _gamma(len(V))
    if name == "normal":
        A, begin = case.right(n, k, 5), case.right(n, k, 6)
        expected = np.empty((d, k)), begin.copy()
        two(*head, A, *affine, *expected)
        size = scaled.T @ np.abs(A)
        bounds = size * _gamma(n), (scaled @ size + np.abs(begin)) * (_gamma(n) + _gamma(d))
        return A, begin, expected, bounds
    if name == "squares":
        weight = None if k % 2 else case.right(n, 1, 8)[:, 0] ** 2
        begin = np.random.default_rng(6).random(n), np.random.default_rng(7).random(d)
        expected = [b.copy() for b in begin]
        two(*head, *affine, weight, *expected)
        sizes = np.sum(scaled**2, axis=1), (np.ones(n) if weight is None else weight) @ scaled**2
        return weight, begin, expected, [(size + b) * _gamma(n + d) for size, b in zip(sizes, begin, strict=True)]
    if name == "tile":
        expected = np.empty((n, d))
        two(*head, *affine, expected)
        return expected, scaled
    return [(weights, ExplicitStats.of(Explicit.plain(case.wide), weights)) for weights in _weights(case, k)]


def _compare(name, case, k, threads, what):
    n, d = case.shape
    head = (case.x, case.samples, case.missing)
    affine = (case.centre, case.factor, case.fill)
    one, given = native(f"block_{name}"), _twin(name, case, k)
    if name in ("dot", "tdot"):
        V, begin, expected, bound = given
        got = begin.copy()
        one(*head, V, case.centre, case.fill, got, threads)
        _same(got, expected, bound, what)
    elif name == "normal":
        A, begin, expected, bounds = given
        got = np.full((d, k), 77.0), begin.copy()
        one(*head, A, *affine, *got, threads)
        _same(got[0], expected[0], bounds[0], f"{what}, first part")
        if np.isnan(expected[0]).any():  # the caller refuses such data when it sees the first part
            return
        _same(got[1], expected[1], bounds[1], f"{what}, second part")
    elif name == "squares":
        weight, begin, expected, bounds = given
        got = [b.copy() for b in begin]
        one(*head, *affine, weight, *got, threads)
        for part, one_part, two_part, bound in zip(("rows", "columns"), got, expected, bounds, strict=True):
            _same(one_part, two_part, bound, f"{what}, {part}")
    elif name == "tile":
        expected, scaled = given
        for dtype in (np.float64, np.float32):
            got = np.full((n, d), 77, dtype, order=case.order)
            one(*head, *affine, got, threads)
            _same(got, expected, 4 * np.finfo(dtype).eps * scaled, f"{what} in {np.dtype(dtype)}")
    else:
        for weights, expected in given:
            got = [np.full(d, 77.0) for _ in range(3)] + [np.full(d, 77, np.int64) for _ in range(2)]
            one(*head, weights, *got, threads)
            require_close(got[0], expected.weight, _gamma(n) * expected.weight, f"{what}, weight")
            require_close(got[1], expected.mean, expected.mean_error, f"{what}, mean")
            require_close(got[2], expected.deviation, expected.deviation_error, f"{what}, deviation")
            assert np.array_equal(got[3], expected.nonzeros) and np.array_equal(got[4], expected.missing), what


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", TYPES)
def test_odd_sizes(name, dtype):
    for order in "C" if dtype == "packed" else "CF":
        for size in SIZES:
            for shape in ((size, 3 + size % 7), (2 + size % 5, size))[:: 1 if name != "statistics" else 2]:
                case = Case(dtype, order, shape, size, size % 2 == 0, size % 3)
                _compare(name, case, 1 + size % 9, 1, f"{name} of {dtype} {order} {shape}")


# A second thread starts above about a millisecond of work.
@pytest.mark.parametrize("name", ["dot", "tdot", "normal", "squares"])
@pytest.mark.parametrize("dtype", TYPES)
def test_several_threads(name, dtype):
    for order, shape in (("C", (1203, 1201)), ("F", (2402, 603))):
        case = Case(dtype, order, shape, 4, True)
        _compare(name, case, 9, 3, f"{name} of {dtype} {order} {shape} with 3 threads")


@pytest.mark.parametrize("name", ["dot", "tdot", "normal"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "i2"])
def test_few_long_columns(name, dtype):
    for shape, k, threads in (((5001, 1), 1, 1), ((20_003, 5), 2, 3), ((9001, 31), 6, 2)):
        for seed in (4, 5, 6, 7):  # with and without centre, factor and fill
            case = Case(dtype, "F", shape, seed, seed % 2 == 0)
            _compare(name, case, k, threads, f"{name} of {dtype} {shape} with {threads} threads")
    _compare(name, Case(dtype, "C", (5, 20_003), 4, True), 3, 2, f"{name} of a few long rows of {dtype}")


@pytest.mark.parametrize("name", ["dot", "tdot", "normal"])
@pytest.mark.parametrize("dtype, order", [("f4", "F"), ("f4", "C"), ("i1", "F"), ("i1", "C")])
def test_several_threads_with_few_long_lines(name, dtype, order):
    shape = (200_003, 7) if order == "F" else (7, 200_003)
    case = Case(dtype, order, shape, 4, True)
    _compare(name, case, 9, 3, f"{name} of {dtype} {order} {shape} with 3 threads")


@pytest.mark.parametrize("name", ["dot", "tdot", "normal"])
def test_several_threads_with_packed_genotypes(name):
    for shape in ((4003, 1203), (60_001, 101)):
        case = Case("packed", "F", shape, 4, True)
        _compare(name, case, 9, 3, f"{name} of packed genotypes {shape} with 3 threads")


@pytest.mark.parametrize("name", ["dot", "tdot", "normal"])
def test_packed_genotypes_and_one_vector(name):
    for people in (1, 5, 127, 128, 129, 1023, 1024, 1025, 3073):
        for variants in (1, 3, 4, 33, 70):
            seed = people + variants
            case = Case("packed", "F", (people, variants), seed, seed % 2 == 0, seed % 3)
            _compare(name, case, 1, 1, f"{name} of packed genotypes {people} x {variants}")


@pytest.mark.parametrize("name", ["squares", "tile", "statistics"])
@pytest.mark.parametrize("dtype", ["f4", "i1", "packed"])
def test_several_threads_with_more_data(name, dtype):
    # that millisecond, at 0.24 ns a value for squares, 0.48 for a tile, 0.96 for statistics: half will do for these two
    part = 1 if name == "squares" or dtype == "packed" else 2
    order, shape = ("C", (401, 20_001 // part)) if dtype == "f4" else ("F", (4003, 2101 // part))
    _compare(name, Case(dtype, order, shape, 4, True), 1, 2, f"{name} of {dtype} {order} with 2 threads")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_statistics_of_bytes(dtype, order):
    """Many lines of small values, and large values in some of the lines."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    for n, d in ((127, 16), (128, 33), (129, 256), (400, 271), (1000, 3)):
        for most in (2, 15, 16, limits.max):
            x = np.full((n, d), most, dtype, order=order)
            x[rng.random((n, d)) < 0.3] = limits.min if most > 15 else max(-most, limits.min)
            x[: n // 2] = np.minimum(x[: n // 2], 15)
            x[rng.random((n, d)) < 0.1] = 7
            for missing in (None, 7):
                got = [np.full(d, 77.0) for _ in range(3)] + [np.full(d, 77, np.int64) for _ in range(2)]
                native("block_statistics")(x, 0, missing, None, *got, 1)
                expected = [np.empty_like(part) for part in got]
                reference.statistics(x, 0, missing, None, *expected)
                assert all(np.array_equal(got[i], expected[i]) for i in (0, 3, 4))
                assert np.allclose(got[1], expected[1], rtol=1e-14, atol=1e-13)
                assert np.allclose(got[2], expected[2], rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_at_all(name):
    for shape in ((0, 3), (3, 0), (0, 0)):
        for order in "CF":
            _compare(name, Case("f4", order, shape, 3), 2, 2, f"{name} of nothing, {shape}")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_a_value_that_is_not_finite_shows(dtype, value):
    function = native("block_dot")
    for d in (1, 5, 16, 33, 64, 70):
        x = np.ones((3, d), dtype)
        x[1, d // 2] = value
        for k in (1, 4):
            out = np.zeros((3, k))
            function(x, 0, None, np.full((d, k), 2.0), None, None, out, 1)
            assert not np.isfinite(out[1]).any() and np.isfinite(out[[0, 2]]).all()


def _compressed_cases(way, index_type, dtype):
    two, cases = getattr(reference, way), []
    rng = np.random.default_rng(0)
    for lines, places, density in ((1, 1, 1.0), (7, 70, 0.3), (70, 7, 0.5), (5, 40, 0.0), (600, 900, 0.1)):
        values = rng.integers(1, 3, (lines, places)) * (rng.random((lines, places)) < density)
        x = sp.csr_array(values.astype(dtype))
        indptr, indices, data = x.indptr.astype(index_type), x.indices.astype(index_type), x.data
        if "f" in dtype and data.size:
            data[:: max(1, data.size // 9)] = np.nan
        largest = np.abs(np.nan_to_num(x.toarray().astype(float), nan=4.0))
        for k in (1, 2, 3, 8, 9):
            for fills in ("none", "line", "index"):
                line_fill = rng.standard_normal(lines) if fills == "line" else None
                index_fill = rng.standard_normal(places) if fills == "index" else None
                V = rng.standard_normal((places if way == "gather" else lines, k))
                begin = rng.standard_normal((lines if way == "gather" else places, k))
                expected = begin.copy()
                given = indptr, indices, data, V, line_fill, index_fill
                two(*given, expected)
                size = (largest if way == "gather" else largest.T) @ np.abs(V) + np.abs(begin)
                what = f"{way} {dtype} {lines} × {places}, k={k}"
                cases.append((given, begin, expected, size * _gamma(len(V)), what))
    return cases


@pytest.mark.parametrize("way", ["gather", "scatter"])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u1", "i2", "?"])
def test_compressed(way, index_type, dtype):
    for given, begin, expected, bound, what in _compressed_cases(way, index_type, dtype):
        for threads in (1, 2, 3):
            got = begin.copy()
            native(f"compressed_{way}")(*given, got, threads)
            _same(got, expected, bound, f"{what}, {threads}")


@pytest.mark.parametrize("way", ["gather", "scatter"])
@pytest.mark.parametrize("harm", ["index", "negative", "pointer", "beyond"])
def test_damaged_parts_are_refused(way, harm):
    function = native(f"compressed_{way}")
    x = sp.csr_array(np.ones((4, 5)))
    if harm == "index":
        x.indices[7] = 5
    elif harm == "negative":
        x.indices[7] = -1
    elif harm == "pointer":
        x.indptr[2] = x.indptr[3] + 4
    else:
        x.indptr[-1] += 3
    rows, out = (5, 4) if way == "gather" else (4, 5)
    with pytest.raises((ValueError, IndexError, RuntimeError)):
        function(x.indptr, x.indices, x.data, np.ones((rows, 1)), None, None, np.zeros((out, 1)), 1)


def test_genotypes_are_unpacked():
    function = native("unpack_genotypes")
    rng = np.random.default_rng(0)
    for n in (*range(1, 71), 1001, 1002, 1003, 1004):
        packed = rng.integers(0, 256, (5, (n + 3) // 4), dtype=np.uint8)
        for order in "CF":
            for threads in (1, 3):
                got = np.full((n, 5), 99, np.int8, order=order)
                expected = np.empty((n, 5), np.int8)
                function(packed, n, got, threads)
                reference.unpack_genotypes(packed, n, expected)
                assert np.array_equal(got, expected)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.8, 1.0])
def test_people_are_picked_and_packed_again(share):
    function = native("pick_genotypes")
    rng = np.random.default_rng(0)
    for n in (*range(1, 71), 127, 128, 129, 1001, 1004):
        packed = rng.integers(0, 256, (5, (n + 3) // 4), dtype=np.uint8)
        people = np.flatnonzero(rng.random(n) < share)
        people = people if people.size else np.array([n - 1])
        for threads in (1, 3):
            got = np.full((5, (people.size + 3) // 4), 99, np.uint8)
            expected = np.empty_like(got)
            function(packed, n, people, got, threads)
            reference.pick_genotypes(packed, n, people, expected)
            assert np.array_equal(got, expected)


@pytest.mark.parametrize("people", [[1, 1], [2, 1], [-1, 3], [0, 9]])
def test_people_that_are_not_there_or_do_not_rise_are_refused(people):
    packed, out = np.zeros((3, 3), np.uint8), np.zeros((3, 1), np.uint8)
    with pytest.raises(ValueError, match="rise"):
        native("pick_genotypes")(packed, 9, np.array(people), out, 1)
