"""Limits of the machine, measured in the same run: reading the data and doing nothing, and GEMM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import slimline._kernels._native as native
from slimline._kernels import thread_count
from slimline.data import Block, BlockRequest, Matrix, PackedGenotypes
from slimline.data._passes import read_blocks_ahead
from slimline_benchmarks.case import Contender, Work
from slimline_benchmarks.matrix import names
from slimline_benchmarks.matrix.subject import Subject

#: Columns with which the speed of a product is taken: all of them would take minutes, and are not faster.
_SLAB = {"f4": 16384, "f8": 8192}


def reading_in_memory(stored_bytes: int) -> tuple[Contender, ...]:
    """Return the reading of every byte of arrays in memory."""

    def run(parts: list[NDArray[np.uint8]]) -> None:
        for part in parts:
            native.read_all(part, thread_count())

    def setup(subject: Subject) -> list[NDArray[np.uint8]]:
        return [_octets(part) for part in _arrays(subject.source)]

    return (Contender(names.READING, "limit", run, setup=setup, work=Work(stored_bytes / 1e9, "GB/s")),)


def reading_files(stored_bytes: int, with_normal: bool) -> tuple[Contender, ...]:
    """Return the reading of a file through its reader, ahead and in blocks as a pass does, and nothing else.

    Parameters
    ----------
    stored_bytes : int
        Bytes of one pass.
    with_normal : bool
        Whether the order in which `normal` reads is wanted, too.

    Returns
    -------
    limits : tuple of Contender
        Blocks as they come, blocks as `normal` asks for them, and blocks of which every byte is read.
    """
    work = Work(stored_bytes / 1e9, "GB/s")

    def limit(name: str, run: Any) -> Contender:
        return Contender(name, "limit", run, setup=lambda subject: subject.matrix, work=work)

    def touch(matrix: Matrix) -> None:
        for block in passing_blocks(matrix, whole_columns=False):
            for part in _arrays(block.values):
                native.read_all(_octets(part), thread_count())

    blocks = limit(names.BLOCKS, lambda matrix: _exhaust(passing_blocks(matrix, whole_columns=False)))
    normal = limit(names.NORMAL_BLOCKS, lambda matrix: _exhaust(passing_blocks(matrix, matrix.whole_columns)))
    every_byte = limit(names.EVERY_BYTE, touch)
    return (blocks, normal, every_byte) if with_normal else (blocks, every_byte)


def passing_blocks(matrix: Matrix, whole_columns: bool) -> Iterator[Block]:
    """Return the blocks of a pass, read ahead where a pass would do so."""
    blocks = matrix.blocks(BlockRequest(whole_columns=whole_columns))
    return read_blocks_ahead(blocks) if matrix.traits.prefetch else blocks


def gemm(name: str, rows: int, features: int, columns: int) -> Contender:
    """Return a product of rows × features with features × columns; of many features only some are taken.

    Parameters
    ----------
    name : str
        `GEMM_SINGLE` or `GEMM_DOUBLE`.
    rows, features, columns : int
        Sizes of the product.

    Returns
    -------
    contender : Contender
        Both factors and the result are there already.
    """
    dtype = "f4" if name == names.GEMM_SINGLE else "f8"
    width = min(features, _SLAB[dtype])

    def setup(_: Subject) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        rng = np.random.default_rng(0)
        left, right = (rng.random(shape).astype(dtype) for shape in ((rows, width), (width, columns)))
        return left, right, np.empty((rows, columns), dtype=dtype)

    return Contender(
        name,
        "limit",
        lambda factors: np.matmul(factors[0], factors[1], out=factors[2]),
        setup=setup,
        estimated_bytes=np.dtype(dtype).itemsize * (rows * width + width * columns + rows * columns),
        work=Work(2e-9 * rows * width * columns, "GFLOP/s"),
    )


def _exhaust(blocks: Iterator[Block]) -> None:
    for block in blocks:
        _arrays(block.values)  # genotypes are read when they are asked for


def _arrays(values: Any) -> list[NDArray[Any]]:
    if isinstance(values, PackedGenotypes):
        return [values.packed]
    if sp.issparse(values):
        return [values.data, values.indices, values.indptr]  # type: ignore[attr-defined]
    return [np.asarray(values)]


def _octets(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1, order="A").view(np.uint8)  # as it lies in memory: no copy for either order
