"""The sketch depends on the numbers in X, not on how they are stored."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.projections import Projection
from slimline.testing.rounding import as_dense, dense_rows, require_close, rounding_bound

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
