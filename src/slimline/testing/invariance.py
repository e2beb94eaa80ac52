"""R and its products do not depend on how the work is cut, nor on the number of threads."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels.threads import number_of_threads
from slimline.projections import Projection
from slimline.testing.rounding import accumulation_error, dense_rows, require_close, require_same_bits, rounding_bound

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
