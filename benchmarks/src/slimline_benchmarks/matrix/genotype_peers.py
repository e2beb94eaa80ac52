"""Other libraries on genotypes, each used as its documentation recommends.

A missing call is the number -127 to NumPy and scikit-learn, NaN to bed-reader: only the latter pays for it. Estimates
of time and memory are rough: they only decide whether a peer is worth or able to run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline_benchmarks.case import Contender
from slimline_benchmarks.matrix import names, streams
from slimline_benchmarks.matrix.operations import WIDTHS
from slimline_benchmarks.matrix.subject import Subject, right_hand_sides
from slimline_benchmarks.projections import names as projection_names
from slimline_benchmarks.projections.data import Shape
from slimline_benchmarks.projections.peers import peer_contenders

# A second of one core, roughly: entries converted and multiplied with a vector, multiply-adds of a product.
_CONVERTED, _PRODUCTS, _BED_ENTRIES = 300e6, 30e9, 100e6

#: Which of our sketches a peer's is compared with.
_SKETCHES = {
    projection_names.SCIPY_CW: names.CW,
    projection_names.SCIPY_COUNT_SKETCH: names.CW,
    projection_names.SKLEARN_SPARSE: names.OSNAP,
    projection_names.SKLEARN_GAUSSIAN: names.SIGN,
    projection_names.NUMPY_NAIVE: names.SIGN,
}


@dataclass(frozen=True)
class _Given:
    """Data that a peer works on."""

    kind: str
    shape: tuple[int, int]
    dtype: str
    components: int

    @property
    def entries(self) -> float:
        return float(self.shape[0]) * self.shape[1]

    @property
    def working_dtype(self) -> str:
        """Float32 stays what it is; NumPy turns int8 into float64."""
        return "f4" if self.dtype == "f4" or self.kind == "plink" else "f8"

    @property
    def copied_bytes(self) -> float:
        """Memory of X as the numbers that are worked with; none if it is such an array."""
        return 0.0 if self.dtype == "f4" else self.entries * np.dtype(self.working_dtype).itemsize


def peers(operation: str, kind: str, shape: tuple[int, int], dtype: str, components: int) -> tuple[Contender, ...]:
    """Return the peers of an operation.

    Parameters
    ----------
    operation : {"sketch", "dot", "tdot", "normal", "gram", "stats"}
        What is to be done.
    kind : {"array", "npy", "plink"}
        What it is to be done with.
    shape : (int, int)
        People and variants.
    dtype : {"i1", "f4"}
        Type of the entries.
    components : int
        Columns of a sketch.

    Returns
    -------
    contenders : tuple of Contender
        Whole in memory, by blocks, and with the libraries that do such things.
    """
    given = _Given(kind, shape, dtype, components)
    if operation in ("dot", "tdot", "normal"):
        return _products(operation, given)
    return {"sketch": _sketches, "gram": _grams, "stats": _statistics}[operation](given)


def _products(operation: str, given: _Given) -> tuple[Contender, ...]:
    found: list[Contender] = []
    for k in WIDTHS:
        task = names.task(names.RAW, k)
        whole, blocks = (names.peer(library, k) for library in (_whole_name(given), _blocks_name(given)))
        members = [
            _peer(given, whole, task, _whole_product(operation, given), whole=True),
            _peer(given, blocks, task, _block_product(operation, given)),
        ]
        if given.kind == "npy":
            run = _dask_product(operation, given)
            members.append(_peer(given, names.peer(names.DASK, k), task, run, requires=("dask.array",)))
        found += [replace(member, setup=_with_vectors(operation, given, k)) for member in members]
    if given.kind != "plink":
        found.append(_scaled_product(operation, given))
    return tuple(found)


def _peer(
    given: _Given,
    name: str,
    task: str,
    run: Callable[[Any], Any],
    *,
    whole: bool = False,
    requires: tuple[str, ...] = (),
    seconds: float = 0.0,
    copies: float = 1.0,
) -> Contender:
    rate = _BED_ENTRIES if given.kind == "plink" else _CONVERTED
    return Contender(
        name,
        "peer",
        run,
        setup=_source(given),
        requires=("bed_reader",) if given.kind == "plink" else requires,
        estimated_bytes=copies * given.copied_bytes if whole else 0.0,
        estimated_seconds=seconds or given.entries / rate,
        needed_as="as float32" if given.working_dtype == "f4" else "as float64",
        task=task,
    )


def _source(given: _Given) -> Callable[[Subject], Any]:
    return (lambda subject: subject.source) if given.kind == "plink" else Subject.array


def _whole_name(given: _Given) -> str:
    return names.BED_READER if given.kind == "plink" else names.NUMPY


def _blocks_name(given: _Given) -> str:
    return names.BED_READER_BLOCKS if given.kind == "plink" else names.NUMPY_BLOCKS


def _with_vectors(operation: str, given: _Given, k: int) -> Callable[[Subject], tuple[Any, Any]]:
    """Return a setup that gives X and what it is multiplied with."""

    def setup(subject: Subject) -> tuple[Any, Any]:
        size = given.shape[1 if operation == "dot" else 0]
        return _source(given)(subject), right_hand_sides(size, k, given.working_dtype)

    return setup


def _multiply(operation: str, X: Any, V: Any) -> Any:
    if operation == "dot":
        return X @ V
    W = X.T @ V
    return W if operation == "tdot" else (W, X @ W)


def _whole_product(operation: str, given: _Given) -> Callable[[Any], Any]:
    def run(state: tuple[Any, Any]) -> Any:
        source, V = state
        return _multiply(operation, streams.read_bed(source) if given.kind == "plink" else source, V)

    return run


def _block_product(operation: str, given: _Given) -> Callable[[Any], Any]:
    def run(state: tuple[Any, Any]) -> Any:
        source, V = state
        if operation == "dot":
            return streams.dot(source, given.shape, V)
        W = streams.tdot(source, given.shape, V)
        return W if operation == "tdot" else (W, streams.dot(source, given.shape, W))

    return run


def _dask_product(operation: str, given: _Given) -> Callable[[Any], Any]:
    def run(state: tuple[Any, Any]) -> Any:
        source, V = state
        da = import_module("dask.array")
        X = da.from_array(source, chunks=(max(1, (32 << 20) // given.shape[1]), -1))
        result = _multiply(operation, X, V)
        return da.compute(*result) if isinstance(result, tuple) else result.compute()

    return run


def _scaled_product(operation: str, given: _Given) -> Contender:
    def run(state: tuple[Any, Any]) -> Any:
        from sklearn.preprocessing import StandardScaler

        source, V = state
        return _multiply(operation, StandardScaler().fit_transform(source), V)

    task = names.task(names.FIRST, 1)
    contender = _peer(given, names.SCALER, task, run, whole=True, requires=("sklearn.preprocessing",), copies=2.0)
    contender = replace(contender, setup=_with_vectors(operation, given, 1))
    return contender if given.dtype != "f4" else replace(contender, estimated_bytes=8.0 * given.entries)


def _sketches(given: _Given) -> tuple[Contender, ...]:
    n, d = given.shape
    if given.kind == "plink":

        def run(source: Any) -> Any:
            rng = np.random.default_rng(0)
            signs = (rng.integers(0, 2, size=d) * 2 - 1).astype("f4")
            columns = rng.integers(0, given.components, size=d)
            S = sp.csr_array((signs, columns, np.arange(d + 1)), (d, given.components))
            return streams.dot(source, given.shape, S, np.zeros((n, given.components), dtype="f4"))

        task = names.task(names.RAW, family=names.CW)
        return (_peer(given, f"{names.BED_READER_BLOCKS}, CountSketch", task, run),)
    found = []
    for contender in peer_contenders(Shape(n, d, given.components, given.dtype)):
        task = names.task(names.RAW, family=_SKETCHES[contender.name])
        found.append(replace(contender, setup=_source(given), task=task))
    return tuple(found)


def _grams(given: _Given) -> tuple[Contender, ...]:
    seconds = given.shape[0] * given.entries / _PRODUCTS

    def whole(source: Any) -> Any:
        X = streams.read_bed(source) if given.kind == "plink" else source.astype("f4", copy=False)
        return X @ X.T

    task = names.task(names.RAW)
    large = _peer(given, f"{_whole_name(given)} float32", task, whole, whole=True, seconds=seconds / 2)
    large = replace(large, estimated_bytes=4.0 * given.entries, needed_as="as float32")
    small = _peer(given, _blocks_name(given), task, lambda s: streams.gram(s, given.shape), seconds=seconds)
    return large, small


def _statistics(given: _Given) -> tuple[Contender, ...]:
    task = names.task(names.RAW)

    def numpy_whole(source: Any) -> Any:
        return source.mean(axis=0), source.std(axis=0)

    def scaler_whole(source: Any) -> Any:
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(source)
        return scaler.mean_, scaler.var_

    def scaler_blocks(source: Any) -> Any:
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler()
        for _, _, block in streams.rectangles(source, given.shape):
            scaler.partial_fit(block)
        return scaler.mean_, scaler.var_

    if given.kind == "plink":
        return (_peer(given, names.BED_READER_BLOCKS, task, lambda s: streams.statistics(s, given.shape)),)
    scaler = ("sklearn.preprocessing",)
    size = np.dtype(given.working_dtype).itemsize * given.entries  # even float32 data: deviations are written out
    whole = replace(_peer(given, names.NUMPY, task, numpy_whole), estimated_bytes=size)
    fitted = _peer(given, names.SCALER, task, scaler_whole, requires=scaler)
    fitted = replace(fitted, estimated_bytes=2.0 * size)
    parts = _peer(given, f"{names.SCALER} by blocks", task, scaler_blocks, requires=scaler)
    return whole, fitted, parts
