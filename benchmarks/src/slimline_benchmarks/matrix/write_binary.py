"""Writers of binary benchmark files: random numbers, a block at a time."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

#: Rows of wide data, columns of tables, people of a large cohort, and genes of cells.
_ROWS, _TABLE_COLUMNS, _PEOPLE, _GENES = 2000, 1000, 20_000, 30_000
#: Share of the genes that a cell expresses.
_DENSITY = 0.08
_BLOCK_BYTES = 16 << 20
_BED_MAGIC = b"\x6c\x1b\x01"
_SEED = 7


def npy(path: Path, size: int) -> None:
    """Write float32 rows, wide."""
    with path.open("wb") as file:
        _write_npy(file, _wide(size), fortran=False)


def npy_columns(path: Path, size: int) -> None:
    """Write float32 columns, wide."""
    with path.open("wb") as file:
        _write_npy(file, _wide(size), fortran=True)


def npz(path: Path, size: int) -> None:
    """Write float32 rows into an archive that is not compressed, as `numpy.savez` does."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive,
        archive.open("X.npy", "w", force_zip64=True) as file,
    ):
        _write_npy(file, _wide(size), fortran=False)  # type: ignore[arg-type]


def plink(path: Path, size: int) -> None:
    """Write random calls of many people, with their `.bim` and `.fam`."""
    people = _PEOPLE if size >= 100 * _PEOPLE else 200
    per_variant = people // 4
    variants = max(1, size // per_variant)
    # bytes of four calls, one call in a hundred missing
    codes = np.random.default_rng(_SEED).choice(4, size=(4096, 4), p=[0.25, 0.01, 0.49, 0.25]).astype(np.uint8)
    calls = codes[:, 0] | codes[:, 1] << 2 | codes[:, 2] << 4 | codes[:, 3] << 6
    with path.open("wb") as file:
        file.write(_BED_MAGIC)
        for block in _pieces(variants, per_variant):
            rng = np.random.default_rng((_SEED, block.start))
            file.write(calls[rng.integers(0, calls.size, (block.stop - block.start) * per_variant)].tobytes())
    with path.with_suffix(".fam").open("w") as file:
        file.writelines(f"F{i} P{i} 0 0 0 -9\n" for i in range(people))
    with path.with_suffix(".bim").open("w") as file:
        file.writelines(f"{1 + 22 * j // variants}\trs{j}\t0\t{j + 1}\tA\tG\n" for j in range(variants))


def hdf5(path: Path, size: int) -> None:
    """Write float32 rows into a dataset "X" in chunks of 256 kB."""
    h5py = import_module("h5py")
    n, d = _wide(size)
    with h5py.File(path, "w") as file:
        data = file.create_dataset("X", (n, d), "f4", chunks=(min(n, 64), min(d, 1024)))
        for rows, block in _row_blocks(n, d, unit=64):
            data[rows] = block


def zarr(path: Path, size: int) -> None:
    """Write float32 rows into an array in chunks of 1 MB, compressed as Zarr does by default."""
    library = import_module("zarr")
    n, d = _wide(size)
    array = library.create_array(store=str(path), shape=(n, d), chunks=(min(n, 128), min(d, 2048)), dtype="float32")
    for rows, block in _row_blocks(n, d, unit=128):
        array[rows] = block


def parquet(path: Path, size: int) -> None:
    """Write a table of float32 columns, in groups of rows of 32 MB."""
    pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    columns = [f"f{j}" for j in range(_TABLE_COLUMNS if size >= 10**7 else 50)]
    schema = pa.schema([(name, pa.float32()) for name in columns])
    n = max(1, size // (4 * len(columns)))
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for _, block in _row_blocks(n, len(columns), 2 * _BLOCK_BYTES):
            writer.write_table(pa.table([pa.array(np.ascontiguousarray(c)) for c in block.T], schema=schema))


def h5ad(path: Path, size: int) -> None:
    """Write cells × genes as AnnData does, the counts as CSR."""
    h5py = import_module("h5py")
    genes = _GENES if size >= 10**7 else 500
    per_cell = int(_DENSITY * genes)
    cells = max(1, size // (8 * per_cell))
    with h5py.File(path, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": (cells, genes)})
        chunk = (min(cells * per_cell, 1 << 16),)
        values = group.create_dataset("data", (cells * per_cell,), "f4", chunks=chunk)
        indices = group.create_dataset("indices", (cells * per_cell,), "i4", chunks=chunk)
        group.create_dataset("indptr", data=np.arange(cells + 1, dtype=np.int64) * per_cell)
        for rows in _pieces(cells, 8 * per_cell):
            rng = np.random.default_rng((_SEED, rows.start))
            count = rows.stop - rows.start
            part = slice(rows.start * per_cell, rows.stop * per_cell)
            # one gene from each of per_cell equal stretches: sorted, and never twice
            starts = np.arange(per_cell) * genes // per_cell
            within = rng.integers(0, genes // per_cell, size=(count, per_cell))
            indices[part] = (starts + within).astype("i4").reshape(-1)
            values[part] = rng.integers(1, 9, size=count * per_cell).astype("f4")
        for name, length in (("obs", cells), ("var", genes)):
            _write_index(file.create_group(name), name, length)


def _write_index(frame: Any, name: str, length: int) -> None:
    frame.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": "_index"})
    frame.attrs["column-order"] = np.array([], dtype="f8")
    index = frame.create_dataset("_index", data=np.array([f"{name}{i}".encode() for i in range(length)], dtype=object))
    index.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})


def _wide(size: int) -> tuple[int, int]:
    rows = _ROWS if size >= 10**7 else 100
    return rows, max(1, size // (4 * rows))


def _write_npy(file: BinaryIO, shape: tuple[int, int], *, fortran: bool) -> None:
    npy_format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": fortran, "shape": shape})
    n, d = shape[::-1] if fortran else shape
    for _, block in _row_blocks(n, d):
        file.write(block.tobytes())


def _row_blocks(n: int, d: int, size: int = _BLOCK_BYTES, unit: int = 1) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield rows of random numbers; each block but the last has a multiple of `unit` rows, lest chunks be cut."""
    for rows in _pieces(n, 4 * d, size, unit):
        rng = np.random.default_rng((_SEED, rows.start))
        yield rows, rng.random((rows.stop - rows.start, d), dtype=np.float32)


def _pieces(lines: int, line_bytes: int, size: int = _BLOCK_BYTES, unit: int = 1) -> Iterator[slice]:
    step = max(1, size // (line_bytes * unit)) * unit
    for start in range(0, lines, step):
        yield slice(start, min(start + step, lines))
