"""`check_matrix` passes what is right and finds every way in which a matrix can lie."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.data import ALL_BLOCKS, Block, Matrix, StorageTraits
from slimline.data._files import digest
from slimline.data._passes import Buffers
from slimline.data._views import ColumnView
from slimline.errors import NonFiniteError
from slimline.testing import block_bytes, check_matrix, number_of_threads
from slimline.testing._explicit import Explicit, ExplicitStats, standardise


def _data(n=11, d=50):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, d)).astype(np.float32)
    X[2, 3] = X[4, 3] = np.nan
    X[:, 7] = 1.5
    return X


class Honest(Matrix):
    """Rows in blocks of four, in buffers that are used again."""

    def __init__(self, X=None):
        self.X = _data() if X is None else X
        super().__init__(self.X.shape, self.X.dtype, "honest")

    def parts(self):
        return [slice(top, min(top + 4, self.shape[0])) for top in range(0, self.shape[0], 4)]

    def blocks(self, request=ALL_BLOCKS):
        buffers = Buffers()
        for rows in self.parts()[request.start :]:
            values = buffers.array((rows.stop - rows.start, self.shape[1]), self.dtype)
            values[...] = self.X[rows]
            yield Block(rows, slice(0, self.shape[1]), values)

    @property
    def feature_names(self):
        return [f"f{j}" for j in range(self.shape[1])]

    @property
    def sample_ids(self):
        return [f"s{i}" for i in range(self.shape[0])]

    @property
    def labels(self):
        return np.arange(self.shape[0]) % 2

    @property
    def fingerprint(self):
        return digest("honest", self.X.tobytes())


class Panels(Honest):
    traits = StorageTraits(whole_columns=True)

    def blocks(self, request=ALL_BLOCKS):
        for left in range(16 * request.start, self.shape[1], 16):
            columns = slice(left, min(left + 16, self.shape[1]))
            yield Block(slice(0, self.shape[0]), columns, np.asfortranarray(self.X[:, columns]))


class DropsABlock(Honest):
    def parts(self):
        return super().parts()[:-1]


class DoublesABlock(Honest):
    def parts(self):
        return [*super().parts(), super().parts()[0]]


class SwapsBlocks(Honest):
    def blocks(self, request=ALL_BLOCKS):
        parts = self.parts()
        for rows, other in zip(parts, [parts[1], parts[0], *parts[2:]], strict=True):
            yield Block(rows, slice(0, self.shape[1]), self.X[other])


class BeginsAtTheFirstBlock(Honest):
    def blocks(self, request=ALL_BLOCKS):
        return super().blocks()


class AnotherArray(Honest):
    @property
    def array(self):
        return self.X + np.float32(1)


class ReachesOut(Honest):
    def blocks(self, request=ALL_BLOCKS):
        yield Block(slice(1, 1 + self.shape[0]), slice(0, self.shape[1]), self.X)


class UsesItsBufferTooSoon(Honest):
    def blocks(self, request=ALL_BLOCKS):
        values = np.empty((1, self.shape[1]), dtype=self.dtype)
        for row in range(self.shape[0]):
            values[...] = self.X[row]
            yield Block(slice(row, row + 1), slice(0, self.shape[1]), values)


class ForgetsMissing(Honest):
    def blocks(self, request=ALL_BLOCKS):
        yield Block(slice(0, self.shape[0]), slice(0, self.shape[1]), np.nan_to_num(self.X))


class LastDigit(Honest):
    def blocks(self, request=ALL_BLOCKS):
        X = self.X.copy()
        X[-1, -1] = np.nextafter(X[-1, -1], np.float32(9))
        yield Block(slice(0, self.shape[0]), slice(0, self.shape[1]), X)


class AnotherType(Honest):
    def blocks(self, request=ALL_BLOCKS):
        yield Block(slice(0, self.shape[0]), slice(0, self.shape[1]), self.X.astype(np.float64))


class StridedValues(Honest):
    def blocks(self, request=ALL_BLOCKS):
        yield Block(
            slice(0, self.shape[0]), slice(0, self.shape[1]), np.repeat(np.repeat(self.X, 2, 0), 2, 1)[::2, ::2]
        )


class PromisesWholeColumns(Honest):
    traits = StorageTraits(whole_columns=True)


class StaleAfterTheFirstPasses(Honest):
    def __init__(self):
        super().__init__()
        self.times = 0

    def blocks(self, request=ALL_BLOCKS):
        if request.start:
            return
        self.times += 1
        X = self.X if self.times < 40 else self.X + np.float32(1)
        yield Block(slice(0, self.shape[0]), slice(0, self.shape[1]), X)


class StoresAPlaceTwice(Honest):
    def blocks(self, request=ALL_BLOCKS):
        x = sp.csr_array(self.shape, dtype=self.dtype)
        n, d = self.shape
        x.data = np.repeat(self.X.ravel(), 2) / np.float32(2)
        x.indices = np.tile(np.repeat(np.arange(d, dtype=np.int32), 2), n)
        x.indptr = np.arange(n + 1, dtype=np.int32) * 2 * d
        yield Block(slice(0, n), slice(0, d), x)


class TooFewNames(Honest):
    @property
    def feature_names(self):
        return super().feature_names[1:]


class NumbersForIds(Honest):
    @property
    def sample_ids(self):
        return list(range(self.shape[0]))


class OtherNames(Honest):
    @property
    def feature_names(self):
        return super().feature_names[::-1]


class OtherLabels(Honest):
    @property
    def labels(self):
        return 1 - super().labels


class FingerprintOfTheMoment(Honest):
    numbers = itertools.count()

    @property
    def fingerprint(self):
        return str(next(self.numbers))


class NamesOfTheMoment(Honest):
    numbers = itertools.count()

    @property
    def feature_names(self):
        start = 0 if next(self.numbers) < 4 else 1
        return [f"f{j + start}" for j in range(self.shape[1])]


class NoFingerprint(Honest):
    @property
    def fingerprint(self):
        return "always the same"


class CountsTwice(Honest):
    def dot(self, W):
        self._counter.count += 1
        return super().dot(W)


class SinglePrecision(Panels):
    def tdot(self, A):
        return super().tdot(A).astype(np.float32).astype(np.float64)


class Float32Results(Panels):
    def row_norms(self):
        return super().row_norms().astype(np.float32)


class WrongSecondPart(Panels):
    def normal(self, A):
        W, product = super().normal(A)
        return W, product * (1 + 1e-9)


class WrongWeights(Panels):
    def column_stats(self, sample_weight=None):
        return super().column_stats(None)


class ThreadsAndBlocksShow(Panels):
    def gram(self):
        from slimline._kernels import thread_count

        gram = super().gram()
        gram[0, 0] *= 1 + 1e-10 * (thread_count() == 3)
        return gram


class SketchOfTheFirstPanel(Panels):
    def sketch(self, projection):
        return super().sketch(projection) if projection.draws_every_entry else np.zeros((self.shape[0], 1), self.dtype)


class OtherColumns(Panels):
    def columns(self, index):
        return super().columns(slice(index.start + 1, index.stop + 1) if isinstance(index, slice) else index)


class _OtherNamesOfColumns(ColumnView):
    @property
    def feature_names(self):
        return super().feature_names[::-1]


class NamesOfOtherColumns(Panels):
    def columns(self, index):
        return _OtherNamesOfColumns(self, index)


class RefusesSilently(Panels):
    def dot(self, W):
        try:
            return super().dot(W)
        except NonFiniteError:
            return np.zeros(self.shape[0])


class RefusesElsewhere(Panels):
    def tdot(self, A):
        try:
            return super().tdot(A)
        except NonFiniteError:
            raise NonFiniteError("row 0, column 0 is missing") from None


NAMES = {
    "feature_names": [f"f{j}" for j in range(50)],
    "sample_ids": [f"s{i}" for i in range(11)],
    "labels": np.arange(11) % 2,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Honest, Panels])
@pytest.mark.parametrize("missing", [True, False])
def test_honest_matrices_pass(kind, missing):
    X = _data() if missing else np.nan_to_num(_data())
    check_matrix(lambda: kind(X), X, **NAMES, others=[lambda: kind(X + 1), kind(X[:5])])
    check_matrix(kind(X), X)


@pytest.mark.parametrize(
    "broken, message",
    [
        (DropsABlock, "came by 0 times"),
        (DoublesABlock, "came by 2 times"),
        (SwapsBlocks, "instead of"),
        (BeginsAtTheFirstBlock, "start=1"),
        (AnotherArray, "`array`"),
        (ReachesOut, "reaches out"),
        (UsesItsBufferTooSoon, "read ahead"),
        (ForgetsMissing, "instead of nan"),
        (LastDigit, "row 10, column 49"),
        (AnotherType, "holds float64"),
        (StridedValues, "by rows or by columns"),
        (PromisesWholeColumns, "4 of 11 rows"),
        (StaleAfterTheFirstPasses, "rounding explains"),
        (StoresAPlaceTwice, "two values for one place"),
        (TooFewNames, "feature names"),
        (NumbersForIds, "not 11 of str"),
        (OtherNames, "not those"),
        (OtherLabels, "labels"),
        (FingerprintOfTheMoment, "fingerprint changes"),
        (NamesOfTheMoment, "names"),
        (NoFingerprint, "other data"),
        (CountsTwice, "took 2 passes instead of 1"),
        (SinglePrecision, "tdot.*rounding explains"),
        (Float32Results, "float32"),
        (WrongSecondPart, "normal, second part"),
        (WrongWeights, "with weights"),
        (ThreadsAndBlocksShow, "3 threads: gram"),
        (SketchOfTheFirstPanel, "sketch with"),
        (OtherColumns, "a range of columns: dot"),
        (NamesOfOtherColumns, "a mask of columns: the names"),
    ],
)
def test_a_matrix_that_lies_is_caught(broken, message):
    holes = broken in (ForgetsMissing, StaleAfterTheFirstPasses)
    X = _data() if holes else np.nan_to_num(_data())
    make = broken if holes else lambda: broken(X)
    with pytest.raises(AssertionError, match=message):
        check_matrix(make, X, **NAMES, others=[lambda: broken(X + 1) if not holes else Honest(X + 1)])


@pytest.mark.parametrize("broken, message", [(RefusesSilently, "dot took missing"), (RefusesElsewhere, "not missing")])
def test_a_missing_value_must_be_refused_where_it_is(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_matrix(broken, _data())


def test_wrong_shape_is_caught():
    with pytest.raises(AssertionError, match="shape"):
        check_matrix(open_matrix(np.ones((3, 4))), np.ones((4, 3)))


def test_block_bytes_restores_what_it_changed():
    X = open_matrix(np.ones((4096, 16)))
    before = len(list(X.blocks()))
    with block_bytes(128 * 16):
        assert len(list(X.blocks())) == 256
    assert len(list(X.blocks())) == before == 1
    with pytest.raises(NonFiniteError), block_bytes(128 * 16):
        open_matrix(np.full((4, 4), np.nan)).gram()
    assert len(list(X.blocks())) == 1


def test_explicit_standardising_is_that_of_a_loop():
    X = _data().astype(np.float64)
    weight = np.arange(11.0)
    explicit = standardise(X, "mean", "std", "mean", weight)
    for j in range(50):
        there = ~np.isnan(X[:, j])
        mean = np.average(X[there, j], weights=weight[there])
        std = np.sqrt(np.average((X[there, j] - mean) ** 2, weights=weight[there]))
        column = np.where(there, X[:, j], mean)
        expected = (column - mean) / (1.0 if j == 7 else std)
        np.testing.assert_allclose(explicit.values[:, j], expected, rtol=1e-13, atol=1e-13)
    stats = ExplicitStats.of(Explicit.plain(X), weight)
    assert stats.missing[3] == 2 and stats.missing.sum() == 2
    np.testing.assert_allclose(stats.weight[3], weight.sum() - 6)
    with number_of_threads(1):
        assert np.all(explicit.error >= 0)
