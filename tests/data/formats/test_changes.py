"""A file of any format that changes under its matrix: the next pass refuses it; and a copy has the same fingerprint."""

import bz2
import gzip
import lzma
import os

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.errors import FileChangedError

X = np.random.default_rng(0).integers(1, 9, (50, 20)).astype("f4")


def _csv(path, X, pack=bytes):
    lines = [",".join(f"c{j}" for j in range(X.shape[1])), *(",".join(f"{v:g}" for v in row) for row in X)]
    path.write_bytes(pack("\n".join(lines).encode()))


def _svmlight(path, X, pack=bytes):
    lines = (" ".join(["1", *(f"{j + 1}:{v:g}" for j, v in enumerate(row))]) for row in X)
    path.write_bytes(pack("\n".join(lines).encode()))


def _hdf5(path, X, **options):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=X, **options)


def _parquet(path, X):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({f"c{j}": X[:, j].copy() for j in range(X.shape[1])}), path)


FILES = {
    "npy": ("x.npy", np.save),
    "npz": ("x.npz", np.savez),
    "npz, compressed": ("x.npz", np.savez_compressed),
    "npz, sparse": ("x.npz", lambda path, X: sp.save_npz(path, sp.csr_array(X), compressed=False)),
    "npz, sparse and compressed": ("x.npz", lambda path, X: sp.save_npz(path, sp.csc_array(X))),
    "csv": ("x.csv", _csv),
    "csv.gz": ("x.csv.gz", lambda path, X: _csv(path, X, gzip.compress)),
    "csv.bz2": ("x.csv.bz2", lambda path, X: _csv(path, X, bz2.compress)),
    "csv.xz": ("x.csv.xz", lambda path, X: _csv(path, X, lzma.compress)),
    "svmlight": ("x.svm", _svmlight),
    "svmlight.gz": ("x.svm.gz", lambda path, X: _svmlight(path, X, gzip.compress)),
    "hdf5": ("x.h5", _hdf5),
    "hdf5, chunks": ("x.h5", lambda path, X: _hdf5(path, X, chunks=(7, 5))),
    "parquet": ("x.parquet", _parquet),
}


@pytest.mark.parametrize("format", FILES)
def test_a_changed_file_is_refused(tmp_path, format):
    name, write = FILES[format]
    path = tmp_path / name
    write(path, X)
    content, fingerprint = path.read_bytes(), open_matrix(path).fingerprint
    for change in (
        lambda: path.write_bytes(content + b"\n"),
        lambda: os.utime(path, ns=(1, 1)),
        lambda: path.write_bytes(content[: len(content) // 2]),
        path.unlink,
    ):
        path.write_bytes(content)
        matrix = open_matrix(path)
        assert matrix.fingerprint == fingerprint  # a copy has the same
        matrix.dot(np.ones(20))
        change()
        for use in (lambda: matrix.dot(np.ones(20)), lambda: matrix.tdot(np.ones(50)), lambda: matrix.fingerprint):  # noqa: B023
            with pytest.raises(FileChangedError, match=name):
                use()
    with pytest.raises(FileNotFoundError):
        open_matrix(path)


@pytest.mark.parametrize("format", FILES)
def test_other_values_have_another_fingerprint(tmp_path, format):
    name, write = FILES[format]
    prints = set()
    for k, values in enumerate((X, np.where(np.arange(20) == 7, X + 1, X))):
        (tmp_path / str(k)).mkdir()
        write(tmp_path / str(k) / name, values)
        prints.add(open_matrix(tmp_path / str(k) / name).fingerprint)
    assert len(prints) == 2
