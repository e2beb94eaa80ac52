"""Writers of files of about 100 MB, one for each format, quick because most of it is one piece repeated."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

MEGABYTES = 100


def _npy(path: Path, dtype: str, order: str) -> None:
    n = 2000
    d = MEGABYTES * 2**20 // (n * np.dtype(dtype).itemsize)
    header = {"descr": np.dtype(dtype).str, "fortran_order": order == "F", "shape": (n, d)}
    piece = np.random.default_rng(0).integers(0, 3, n * d // 100).astype(dtype).tobytes()
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(100):
            file.write(piece)
        file.write(bytes(n * d * np.dtype(dtype).itemsize - 100 * len(piece)))


def _npz(path: Path) -> None:
    np.savez(path, X=np.random.default_rng(0).random((2000, MEGABYTES * 2**20 // 8000), dtype=np.float32))


def _npz_compressed(path: Path) -> None:
    np.savez_compressed(path, X=np.zeros((2000, MEGABYTES * 2**20 // 8000), dtype=np.float32))


def _npz_sparse(path: Path) -> None:
    import scipy.sparse as sp

    n, per = 4000, MEGABYTES * 2**20 // (4000 * 8)
    rng = np.random.default_rng(0)
    indices = np.tile(np.sort(rng.choice(50_000, per, replace=False)).astype(np.int32), n)
    data = np.tile(rng.random(per, dtype=np.float32), n)
    X = sp.csr_array((data, indices, np.arange(n + 1, dtype=np.int32) * per), shape=(n, 50_000))
    sp.save_npz(path, X, compressed=False)


def _text(path: Path, lines: list[str], head: str = "") -> None:
    piece = "".join(lines).encode()
    with gzip.open(path, "wb", compresslevel=1) if path.suffix == ".gz" else path.open("wb") as file:
        file.write(head.encode())
        for _ in range(MEGABYTES * 2**20 // len(piece)):
            file.write(piece)


def _svmlight(path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = []
    for i in range(100):
        places = np.sort(rng.choice(20_000, 1000, replace=False)) + 1
        values = rng.integers(1, 1000, 1000) / 1000
        lines.append(f"{i % 2} " + " ".join(f"{j}:{v}" for j, v in zip(places, values, strict=True)) + "\n")
    _text(path, lines)


def _csv(path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [",".join(f"{v:.4f}" for v in rng.random(500)) + "\n" for _ in range(300)]
    _text(path, lines, ",".join(f"f{j}" for j in range(500)) + "\n")


def _plink(path: Path) -> None:
    n = 8000
    d = MEGABYTES * 2**20 // (n // 4)
    piece = np.random.default_rng(0).integers(0, 256, 512 * n // 4, dtype=np.uint8)
    piece = (piece & ~(piece & 0x55 & ~(piece >> 1))).tobytes()  # no missing calls: 01 becomes 00
    with path.open("wb") as file:
        file.write(b"\x6c\x1b\x01")
        for start in range(0, d, 512):
            file.write(piece[: min(512, d - start) * n // 4])
    path.with_suffix(".fam").write_text("".join(f"f{i} s{i} 0 0 0 -9\n" for i in range(n)))
    path.with_suffix(".bim").write_text("".join(f"1\trs{j}\t0\t{j + 1}\tA\tG\n" for j in range(d)))


def _parquet(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    group = np.random.default_rng(0).random((200, 5000), dtype=np.float32)
    table = pa.table({f"f{j}": column for j, column in enumerate(group)})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(MEGABYTES * 2**20 // group.nbytes):
            writer.write_table(table, row_group_size=len(group[0]))


def _hdf5(path: Path) -> None:
    import h5py

    n, d = 2000, MEGABYTES * 2**20 // 8000
    rows = np.random.default_rng(0).random((100, d), dtype=np.float32)
    with h5py.File(path, "w") as file:
        stored = file.create_dataset("X", (n, d), "f4", chunks=(100, 1024))
        for top in range(0, n, 100):
            stored[top : top + 100] = rows


def _h5ad(path: Path) -> None:
    import h5py

    n, d, per = 13_000, 20_000, 1000
    rng = np.random.default_rng(0)
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [n, d]})
        data = group.create_dataset("data", (n * per,), "f4", chunks=(100 * per,))
        indices = group.create_dataset("indices", (n * per,), "i4", chunks=(100 * per,))
        group["indptr"] = np.arange(n + 1, dtype=np.int64) * per
        places = np.tile(np.sort(rng.choice(d, per, replace=False)), 100)
        for start in range(0, n * per, 100 * per):
            data[start : start + 100 * per] = rng.random(100 * per, dtype=np.float32)
            indices[start : start + 100 * per] = places
        for name, size in (("obs", n), ("var", d)):
            frame = file.create_group(name)
            frame.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": "_index"})
            frame.attrs.create("column-order", np.array([], dtype=h5py.string_dtype()))
            frame["_index"] = [f"{name}{i}" for i in range(size)]
            frame["_index"].attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})


def _zarr(path: Path) -> None:
    # written by hand, so that no version of the library matters: Zarr 3, plain chunks
    n, d, height, width = 2000, MEGABYTES * 2**20 // 8000 // 1024 * 1024, 250, 1024
    chunk = np.random.default_rng(0).random((height, width), dtype=np.float32).tobytes()
    description = {
        "zarr_format": 3, "node_type": "array", "shape": [n, d], "data_type": "float32", "fill_value": 0.0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [height, width]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {},
    }  # fmt: skip
    for i in range(n // height):
        (path / "c" / str(i)).mkdir(parents=True)
        for j in range(d // width):
            (path / "c" / str(i) / str(j)).write_bytes(chunk)
    (path / "zarr.json").write_text(json.dumps(description))


#: Name: (name of the file, module in `slimline.data.formats`, package that reads it, function that writes it).
FORMATS = {
    "npy-float32-C": ("x.npy", "_npy", None, lambda path: _npy(path, "f4", "C")),
    "npy-float32-F": ("x.npy", "_npy", None, lambda path: _npy(path, "f4", "F")),
    "npy-int8-C": ("x.npy", "_npy", None, lambda path: _npy(path, "i1", "C")),
    "npy-int8-F": ("x.npy", "_npy", None, lambda path: _npy(path, "i1", "F")),
    "npz": ("x.npz", "_npz", None, _npz),
    "npz-compressed": ("x.npz", "_npz", None, _npz_compressed),
    "npz-sparse": ("x.npz", "_npz", None, _npz_sparse),
    "svmlight": ("x.svmlight", "_svmlight", None, _svmlight),
    "svmlight.gz": ("x.svmlight.gz", "_svmlight", None, _svmlight),
    "csv": ("x.csv", "_delimited", None, _csv),
    "plink": ("x.bed", "_plink", None, _plink),
    "parquet": ("x.parquet", "_parquet", "pyarrow.parquet", _parquet),
    "hdf5": ("x.h5", "_hdf5_zarr", "h5py", _hdf5),
    "h5ad": ("x.h5ad", "_hdf5_zarr", "h5py", _h5ad),
    "zarr": ("x.zarr", "_hdf5_zarr", "zarr", _zarr),
}


def write(name: str, folder: Path) -> Path:
    """Write the file of a format and return where it is; skip the test where nothing can read it."""
    file, _, package, writer = FORMATS[name]
    if package is not None:
        pytest.importorskip(package)
    writer(folder / file)
    return folder / file
