"""Checks of a projection: formats, blocks, threads, JSON; and all checks together."""

from __future__ import annotations

import copy
import json
import pickle
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels.threads import number_of_threads
from slimline.projections import Projection
from slimline.testing._moments import (
    Factory,
    accumulation_error,
    as_dense,
    check_adjoint,
    dense_rows,
    draw,
    require_close,
    require_isometry,
    require_same_bits,
    require_second_moment,
    rounding_bound,
)

_SPARSE_CLASSES: tuple[Any, ...] = (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix)


def _with_parts(make: Any, data: Any, indices: Any, indptr: Any, shape: tuple[int, int], index_type: Any) -> Any:
    # Assigned, because the constructor would choose the index type itself, sort, or take out what is meant.
    X = make(shape, dtype=data.dtype)
    X.data, X.indices, X.indptr = data, indices.astype(index_type), indptr.astype(index_type)
    return X


def _sparse_forms(dense: NDArray[Any], rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    for make in _SPARSE_CLASSES:
        plain = make(dense)
        name = make.__name__
        for index_type in (np.int32, np.int64):
            yield (
                f"{name} with {np.dtype(index_type)} indices",
                _with_parts(make, plain.data, plain.indices, plain.indptr, plain.shape, index_type),
            )
        line = np.repeat(np.arange(plain.indptr.size - 1), np.diff(plain.indptr))
        order = np.lexsort((rng.random(plain.nnz), line))  # any order within a line
        shuffled = (plain.data[order], plain.indices[order])
        yield f"{name} unsorted", _with_parts(make, *shuffled, plain.indptr, plain.shape, np.int32)
        # Every value once more, and then taken away again as a half, a half and a zero: duplicates and explicit zeros.
        triple = np.repeat(plain.data, 3)
        triple[1::3], triple[2::3] = 0, 0
        if dense.dtype.kind == "f":
            triple[0::3], triple[1::3] = triple[0::3] / 2, triple[0::3] / 2
        yield (
            f"{name} with duplicates and explicit zeros",
            _with_parts(make, triple, np.repeat(plain.indices, 3), plain.indptr * 3, plain.shape, np.int64),
        )
    yield "coo_array", sp.coo_array(dense)


def _dense_forms(dense: NDArray[Any], folder: Path) -> Iterator[tuple[str, Any]]:
    n, d = dense.shape
    yield "C order", dense
    yield "F order", np.asfortranarray(dense)
    wide = np.zeros((2 * n, 3 * d), dtype=dense.dtype)
    wide[::2, ::3] = dense
    yield "every third column of every second row", wide[::2, ::3]
    wide = np.zeros((n, d + 5), dtype=dense.dtype)
    wide[:, 3 : d + 3] = dense
    yield "a panel of a wider array", wide[:, 3 : d + 3]
    yield "a panel of a taller array, F order", np.asfortranarray(np.vstack([dense, dense]))[n:]
    yield "rows backwards", dense[::-1].copy()[::-1]
    yield "columns backwards", dense[:, ::-1].copy()[:, ::-1]
    memory = np.zeros(dense.nbytes + 1, dtype=np.uint8)
    memory[1:] = np.frombuffer(dense.tobytes(), dtype=np.uint8)
    yield "unaligned memory", memory[1:].view(dense.dtype).reshape(n, d)
    path = folder / f"{dense.dtype.name}.raw"
    path.write_bytes(dense.tobytes())
    yield "a read-only memory map", np.memmap(path, dtype=dense.dtype, mode="r", shape=(n, d))
    frozen = dense.copy()
    frozen.flags.writeable = False
    yield "a read-only array", frozen


def check_format_invariance(projection: Projection, *, n_samples: int = 6, seed: int = 0) -> None:
    """Check that every storage format and element type gives the same sketch.

    Parameters
    ----------
    projection : Projection
        What is checked; small enough for R to be written out.
    n_samples : int
        Rows of the data. One of them is empty.
    seed : int
        Seed of the data.

    Raises
    ------
    AssertionError
        If a sketch is further from the float64 product X @ R than rounding explains, has another type than float64
        (for float64 data) or float32 (for all other), or X was changed.

    Notes
    -----
    Formats: C and F order, panels, strides of either sign, unaligned memory, read-only memory maps; CSR and CSC,
    arrays and matrices, with 32- and 64-bit indices, unsorted, with duplicates and explicit zeros; COO. Types:
    float64, float32, float16, int8, uint8, int16, bool.

    Examples
    --------
    >>> from slimline.projections import SubsampledHadamard
    >>> from slimline.testing import check_format_invariance
    >>> check_format_invariance(SubsampledHadamard(n_features=100, n_components=16, seed=0))
    """
    rng = np.random.default_rng(seed)
    R = dense_rows(projection)
    shape = (n_samples, projection.n_features)
    numbers = rng.integers(-120, 121, size=shape) * (rng.random(shape) < 0.6)
    numbers[n_samples // 2] = 0
    with tempfile.TemporaryDirectory() as folder:
        for dtype in (np.float64, np.float32, np.float16, np.int8, np.uint8, np.int16, np.bool_):
            dense = (np.abs(numbers) if dtype in (np.uint8, np.bool_) else numbers).astype(dtype)
            result = np.dtype(np.float64 if dtype == np.float64 else np.float32)
            wide = dense.astype(np.float64)
            # duplicates bring up to three terms where there was one
            expected, bound = wide @ R, 3 * rounding_bound(wide, R, result)
            forms = list(_dense_forms(dense, Path(folder)))
            if dtype != np.float16:  # which SciPy does not have
                forms += list(_sparse_forms(dense, rng))
            for name, X in forms:
                before = as_dense(X).copy()
                Z = projection.apply(X)
                what = f"{np.dtype(dtype)}, {name}"
                if Z.dtype != result:
                    raise AssertionError(f"{what}: the sketch is {Z.dtype}, not {result}.")
                require_close(Z, expected, bound, what)
                if not np.array_equal(before, as_dense(X)):
                    raise AssertionError(f"{what}: the projection changed X.")


#: Bytes of a pickle. A stored tile of R, or a table of samples, would be far above.
_LARGEST_PICKLE = 1000


def check_round_trip(projection: Projection) -> None:
    """Check that JSON, pickle and copy give the same projection again, and that nothing of R travels along.

    Parameters
    ----------
    projection : Projection
        What is checked; small enough for R to be written out.

    Raises
    ------
    AssertionError
        If a copy is not equal, its R differs in a single bit, or the pickle holds more than the parameters.

    Examples
    --------
    >>> from slimline.projections import Gaussian
    >>> from slimline.testing import check_round_trip
    >>> check_round_trip(Gaussian(n_features=100, n_components=16, seed=0))
    """
    R = dense_rows(projection)
    projection.apply(np.ones((1, projection.n_features)))  # used, so that what is made on first use exists
    line = projection.to_json()
    if "\n" in line or not isinstance(json.loads(line), dict):
        raise AssertionError(f"to_json must give one line with one object; got {line!r}.")
    stored = pickle.dumps(projection)
    if len(stored) > _LARGEST_PICKLE:
        raise AssertionError(f"the pickle has {len(stored)} bytes: more than parameters are stored.")
    copies = {
        "from_json(to_json())": Projection.from_json(line),
        "pickle": pickle.loads(stored),
        "deepcopy": copy.deepcopy(projection),
    }
    for what, again in copies.items():
        if again != projection or hash(again) != hash(projection) or type(again) is not type(projection):
            raise AssertionError(f"{what} gives {again!r} instead of {projection!r}.")
        require_same_bits(dense_rows(again), R, f"R after {what}")


#: Widths around the sizes in which kernels work: vectors, groups of 16 features, 128 sign bits.
_WIDTHS = (1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 127, 128, 129)


def _cuts(n_features: int, rng: np.random.Generator) -> list[int]:
    cuts = [0]
    while cuts[-1] < n_features:
        cuts.append(min(n_features, cuts[-1] + int(rng.choice(_WIDTHS))))
    return cuts


def _integers(rng: np.random.Generator, shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
    # Small whole numbers exist in every element type, so that all types can be compared with one float64 product.
    values = rng.integers(-9, 10, size=shape)
    return (np.abs(values) if np.issubdtype(dtype, np.unsignedinteger) else values).astype(dtype)


def check_block_invariance(projection: Projection, *, n_samples: int = 5, repeats: int = 4, seed: int = 0) -> None:
    """Check that any cut into panels of columns, or subset of rows, sees the same R and gives the same products.

    Parameters
    ----------
    projection : Projection
        What is checked; small enough for R to be written out.
    n_samples : int
        Rows of the data.
    repeats : int
        How many random cuts.
    seed : int
        Seed of data and cuts.

    Raises
    ------
    AssertionError
        If a block of R differs in a single bit from the same block of the whole, or a product by more than rounding
        explains.

    Examples
    --------
    >>> from slimline.projections import RandomSign
    >>> from slimline.testing import check_block_invariance
    >>> check_block_invariance(RandomSign(n_features=300, n_components=20, seed=0))
    """
    rng = np.random.default_rng(seed)
    d, r = projection.n_features, projection.n_components
    R = dense_rows(projection)
    V = rng.standard_normal((2, r))
    lift_bound = (np.abs(V) @ np.abs(R.T)) * 2 * accumulation_error(r + 16, np.float64)
    for _ in range(repeats):
        cuts = _cuts(d, rng)
        for start, stop in pairwise(cuts):
            require_same_bits(dense_rows(projection, start, stop), R[start:stop], f"rows({start}, {stop})")
            require_close(
                projection.lift(V, start=start, stop=stop), V @ R[start:stop].T, lift_bound[:, start:stop],
                f"lift of features {start}:{stop}",
            )  # fmt: skip
        for dtype in (np.float64, np.float32, np.uint8, np.int8):
            X = _integers(rng, (n_samples, d), dtype)
            wide = X.astype(np.float64)
            sum_type = np.float64 if dtype == np.float64 else np.float32
            # each panel is rounded when it is added to the others
            bound = rounding_bound(wide, R, sum_type) * (1 + len(cuts) / 8)
            out: Any = np.zeros((n_samples, r), dtype=sum_type)
            for start, stop in pairwise(cuts):
                projection.apply(X[:, start:stop], first_feature=start, out=out)
            require_close(out, wide @ R, bound, f"sum over column panels, {np.dtype(dtype)}")
            subset = rng.permutation(n_samples)[: max(1, n_samples // 2)]
            require_close(
                projection.apply(X[subset]), wide[subset] @ R, bound[subset], f"rows {subset}, {np.dtype(dtype)}"
            )


def check_thread_invariance(
    projection: Projection, *, work: int = 40_000_000, threads: tuple[int, ...] = (1, 2, 5), seed: int = 0
) -> None:
    """Check that the number of threads changes neither the sketch nor the lift.

    Parameters
    ----------
    projection : Projection
        What is checked. Threads only start above about a millisecond of work, so it should have many features.
    work : int
        Number of elements (bytes) of the data; rows are added until there are so many.
    threads : tuple of int
        Values of `SLIMLINE_NUM_THREADS` to compare.
    seed : int
        Seed of the data.

    Raises
    ------
    AssertionError
        If a result differs in a single bit from that of the first number of threads. Rounding is no excuse here:
        a sum whose order depends on the threads would make results hard to repeat.

    Examples
    --------
    >>> from slimline.projections import HashEmbedding
    >>> from slimline.testing import check_thread_invariance
    >>> check_thread_invariance(HashEmbedding(n_features=2000, n_components=16, seed=0), work=10_000)
    """
    rng = np.random.default_rng(seed)
    d, r = projection.n_features, projection.n_components
    n = max(2, -(-work // d))
    X = np.frombuffer(rng.bytes(n * d), dtype=np.int8).reshape(n, d)
    stored = rng.random((8, d), dtype=np.float32) < 0.3
    sparse = sp.csr_array(stored * X[0].astype(np.float32))
    V = rng.standard_normal((2, r)).astype(np.float32)
    products: dict[str, Callable[[], Any]] = {
        "sketch of int8": lambda: projection.apply(X),
        "sketch of float64 columns": lambda: projection.apply(np.asfortranarray(X[:2], dtype=np.float64)),
        "sketch of CSR": lambda: projection.apply(sparse),
        "lift": lambda: projection.lift(V),
    }
    for what, product in products.items():
        with number_of_threads(threads[0]):
            expected = product()
        for count in threads[1:]:
            with number_of_threads(count):
                require_same_bits(product(), expected, f"{what} with {count} threads instead of {threads[0]}")


#: Features of the small checks: no multiple of anything, and more than one block of every kernel that works in blocks.
_FEATURES = 1237


def check_projection(make: Factory, *, n_components: int = 64, seed: int = 0) -> None:
    """Run all checks of a projection on the values that a factory makes.

    Parameters
    ----------
    make : callable
        `make(n_features, n_components, seed)` returns a projection.
    n_components : int
        Number of components to try, a multiple of what the family requires; half of it is tried as well.
    seed : int
        Seed of the projections and of the data. The statistical checks use `seed`, `seed + 1`, ….

    Raises
    ------
    AssertionError
        If one of the checks fails, saying which and by how much. A correct projection fails with probability below
        2e-6, all from the two statistical checks.

    See Also
    --------
    check_adjoint : Products with R and with Rᵀ agree.
    check_isometry : E[RRᵀ] = I.
    check_second_moment : The variance of inner products.
    check_block_invariance : R does not depend on the blocks.
    check_thread_invariance : Results do not depend on the number of threads.
    check_format_invariance : Nor on storage format and element type.
    check_round_trip : JSON, pickle and copy.

    Examples
    --------
    >>> from slimline.projections import HashEmbedding
    >>> from slimline.testing import check_projection
    >>> def make(n_features, n_components, seed):
    ...     return HashEmbedding(n_features, n_components, seed, nnz_per_feature=4)
    >>> check_projection(make)
    """
    for shape in ((_FEATURES, n_components), (_FEATURES, n_components // 2), (n_components, n_components)):
        projection = make(*shape, seed)
        check_round_trip(projection)
        check_adjoint(projection, seed=seed)
        check_block_invariance(projection, seed=seed)
        check_format_invariance(projection, seed=seed)
    check_thread_invariance(make(300_007, n_components, seed), seed=seed)
    drawn = draw(make, n_features=48, n_components=n_components // 2, repeats=8000, seed=seed)
    require_isometry(drawn)
    require_second_moment(drawn)
