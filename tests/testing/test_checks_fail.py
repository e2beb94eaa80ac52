"""Every public check fails where it should: projections that are broken on purpose."""

import dataclasses
import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import testing
from slimline._kernels import native_scatter, thread_count
from slimline.projections import Gaussian, HashEmbedding, RandomSign, SparseSign, SubsampledHadamard


class WrongScale(Gaussian):
    @property
    def scale(self):
        return 1.04 / np.sqrt(self.n_components)


class LiftWithWrongSign(RandomSign):
    def lift(self, V, *, start=0, stop=None):
        W = super().lift(V, start=start, stop=stop)
        W[..., -1] *= -1
        return W


class LiftOfAnotherSeed(RandomSign):
    def lift(self, V, *, start=0, stop=None):
        return RandomSign(self.n_features, self.n_components, self.seed + 1).lift(V, start=start, stop=stop)


class BlockDependentRows(RandomSign):
    def rows(self, start=0, stop=None, dtype=np.float64):
        R = super().rows(start, stop, dtype)
        if start:
            R[0, 0] *= -1
        return R


class BlockDependentSketch(RandomSign):
    def apply(self, X, *, first_feature=0, out=None):
        return super().apply(X, out=out)  # every panel is taken for the first


class BlockDependentLift(RandomSign):
    def lift(self, V, *, start=0, stop=None):
        return super().lift(V, stop=(self.n_features if stop is None else stop) - start)


class RowDependentSketch(RandomSign):
    def apply(self, X, *, first_feature=0, out=None):
        Z = super().apply(X, first_feature=first_feature, out=out)
        return Z if out is not None or len(Z) == 5 else Z * Z.dtype.type(1.5)


class ThreadDependent(RandomSign):
    def apply(self, X, *, first_feature=0, out=None):
        Z = super().apply(X, first_feature=first_feature, out=out)
        Z[0, 0] = np.nextafter(Z[0, 0], np.inf if thread_count() > 1 else Z[0, 0], dtype=Z.dtype)
        return Z


class ThreadDependentLift(RandomSign):
    def lift(self, V, *, start=0, stop=None):
        W = super().lift(V, start=start, stop=stop)
        W[0] += thread_count()
        return W


class LosesDuplicates(RandomSign):
    def apply(self, X, *, first_feature=0, out=None):
        if sp.issparse(X):
            X = X.tocsr().copy()
            keep = np.append(np.diff(X.indices) != 0, True)
            X.data[~keep] = 0
        return super().apply(X, first_feature=first_feature, out=out)


class WidensEverything(RandomSign):
    def apply(self, X, *, first_feature=0, out=None):
        return super().apply(X.astype(np.float64), first_feature=first_feature, out=out)


class IgnoresStrides(RandomSign):
    def apply(self, X, *, first_feature=0, out=None):
        if isinstance(X, np.ndarray) and X.strides[0] < 0:
            X = X[::-1]
        return super().apply(X, first_feature=first_feature, out=out)


class ChangesItsInput(RandomSign):
    def apply(self, X, *, first_feature=0, out=None):
        Z = super().apply(X, first_feature=first_feature, out=out)
        if isinstance(X, np.ndarray) and X.flags.writeable:
            X[0, 0] = 1 - X[0, 0] if X.dtype != bool else ~X[0, 0]
        return Z


class CorrelatedFeatures(RandomSign):
    def apply(self, X, *, first_feature=0, out=None):
        X = np.array(X)
        X[:, 1:] += 0.2 * X[:, :-1]
        return super().apply(X / np.sqrt(1.04), first_feature=first_feature, out=out)


class WrongKurtosis(RandomSign):
    @property
    def kurtosis(self):
        return 3.0


class ForgetsReplacement(SubsampledHadamard):
    def collision(self):
        return 1, 1.0


class ForgetsGroups(HashEmbedding):
    def collision(self):
        return 1, 1.0


class PromisesGroups(HashEmbedding):
    @cached_property
    def _native(self):
        return native_scatter("independent", self.seed, self.n_components)


class ForgetsTheSeed(RandomSign):
    def to_json(self):
        fields = json.loads(super().to_json()) | {"seed": 0}
        return json.dumps(fields)


class TwoLines(RandomSign):
    def to_json(self):
        return json.dumps(json.loads(super().to_json()), indent=1)


@dataclass(frozen=True)
class StoresR(RandomSign):
    def __reduce__(self):
        fields = tuple(getattr(self, field.name) for field in dataclasses.fields(self))
        return _with_ballast, (RandomSign, fields, self.rows())


def _with_ballast(make, fields, _):
    return make(*fields)


@pytest.mark.parametrize("broken", [LiftWithWrongSign, LiftOfAnotherSeed])
def test_check_adjoint_fails(broken):
    testing.check_adjoint(RandomSign(500, 32, 1))
    with pytest.raises(AssertionError, match="adjoint"):
        testing.check_adjoint(broken(500, 32, 1))


@pytest.mark.parametrize(
    "broken, message",
    [
        (BlockDependentRows, "rows"),
        (BlockDependentSketch, "panels"),
        (BlockDependentLift, "lift"),
        (RowDependentSketch, "rows"),
    ],
)
def test_check_block_invariance_fails(broken, message):
    testing.check_block_invariance(RandomSign(500, 32, 1))
    with pytest.raises(AssertionError, match=message):
        testing.check_block_invariance(broken(500, 32, 1))


@pytest.mark.parametrize("broken", [ThreadDependent, ThreadDependentLift])
def test_check_thread_invariance_fails(broken):
    testing.check_thread_invariance(RandomSign(5000, 32, 1), work=50_000)
    with pytest.raises(AssertionError, match="threads"):
        testing.check_thread_invariance(broken(5000, 32, 1), work=50_000)


@pytest.mark.parametrize(
    "broken, message",
    [
        (LosesDuplicates, "duplicates"),
        (WidensEverything, "float64, not float32"),
        (IgnoresStrides, "backwards"),
        (ChangesItsInput, "changed X"),
    ],
)
def test_check_format_invariance_fails(broken, message):
    testing.check_format_invariance(RandomSign(200, 32, 1))
    with pytest.raises(AssertionError, match=message):
        testing.check_format_invariance(broken(200, 32, 1))


# That a statistical check finds what is wrong has its own probability; here each departure is more than twice
# what the check allows, so that it misses it with probability below 1e-12.
@pytest.mark.parametrize("broken", [WrongScale, CorrelatedFeatures])
def test_check_isometry_fails(broken, global_random_seed):
    with pytest.raises(AssertionError, match="standard errors"):
        testing.check_isometry(broken, seed=10_000 * global_random_seed)


@pytest.mark.parametrize("broken", [WrongKurtosis, ForgetsReplacement, ForgetsGroups, PromisesGroups])
def test_check_second_moment_fails(broken, global_random_seed):
    with pytest.raises(AssertionError, match="standard errors"):
        testing.check_second_moment(broken, seed=10_000 * global_random_seed)


def test_check_second_moment_fails_for_a_wrong_density(global_random_seed):
    class WrongDensity(SparseSign):
        @property
        def kurtosis(self):
            return 2 / self.density

    with pytest.raises(AssertionError, match="standard errors"):
        testing.check_second_moment(lambda d, r, seed: WrongDensity(d, r, seed, 0.2), seed=10_000 * global_random_seed)


@pytest.mark.parametrize("broken", [ForgetsTheSeed, TwoLines, StoresR])
def test_check_round_trip_fails(broken):
    testing.check_round_trip(RandomSign(200, 32, 1))
    with pytest.raises(AssertionError):
        testing.check_round_trip(broken(200, 32, 1))


def test_check_projection_fails_for_each():
    for broken in (LiftWithWrongSign, BlockDependentSketch, ThreadDependentLift, WidensEverything, WrongScale):
        with pytest.raises(AssertionError):
            testing.check_projection(broken)


def test_number_of_threads_restores(monkeypatch):
    monkeypatch.setenv("SLIMLINE_NUM_THREADS", "3")
    with testing.number_of_threads(5):
        assert thread_count() == 5
    assert thread_count() == 3
    monkeypatch.delenv("SLIMLINE_NUM_THREADS")
    before = thread_count()
    with testing.number_of_threads(before + 1):
        assert thread_count() == before + 1
    assert thread_count() == before
