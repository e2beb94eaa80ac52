"""Small files that declare much: a clear error at once, without the memory that they ask for.

Each file takes a few kilobytes. They are opened in a process of its own, whose largest memory counts; what they declare
would take at least three times as much as is allowed there.
"""

import io
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="VmHWM is told by Linux only"),
    pytest.mark.filterwarnings("ignore:The data type"),  # zarr: of byte strings, in format 3
]

#: Megabytes that opening them all may take beside what the process had before.
LIMIT = 300
#: Entries that would fill the memory, and entries that no machine could hold.
MANY, TOO_MANY = 1 << 27, 1 << 40

_CHILD = """
import importlib, json, sys, warnings
import numpy as np
from slimline import open_matrix
from slimline.errors import FileFormatError

warnings.simplefilter("ignore")
cases, modules = json.loads(sys.argv[1])
for module in modules:
    importlib.import_module(module)
open_matrix(np.ones((4, 4))).tdot(np.ones(4))
def peak():  # ru_maxrss would count the memory of the process that started this one
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024

found = []
for path, options in cases:
    before = peak()
    try:
        matrix = open_matrix(path, **options)
        matrix.tdot(np.ones(matrix.shape[0]))
        matrix.dot(np.ones(matrix.shape[1]))
        said = None
    except FileFormatError as error:
        said = str(error)
    except Exception as error:
        said = f"!{type(error).__name__}: {error}"
    found.append((said, peak() - before))
print(json.dumps(found))
"""


def opened_apart(cases, *modules):
    """Open files in another process; return what was said of each, None if nothing, and the megabytes it took."""
    given = json.dumps([[(str(path), options) for path, options in cases], modules])
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, given], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def check_refused(cases, word, *modules):
    """Require that all are refused as files that are damaged, in words that name the file, within little memory."""
    assert max((path.stat().st_size for path, _ in cases if path.is_file()), default=0) < 1 << 20
    found = opened_apart(cases, *modules)
    wrong = {
        path.name: (said, f"{memory:.0f} MB")
        for (path, _), (said, memory) in zip(cases, found, strict=True)
        if said is None or path.name not in said or word not in said or memory > LIMIT / 2
    }
    assert not wrong
    assert sum(memory for _, memory in found) < LIMIT


# Stores of named arrays ------------------------------------------------------------------------------


class _Hdf5:
    """Writes a store of arrays that exist in name only."""

    module = "slimline.data.formats._hdf5_zarr"

    def __init__(self, path):
        h5py = pytest.importorskip("h5py")
        self.root, self._string = h5py.File(path, "w"), h5py.string_dtype()

    def group(self, parent, name, **attributes):
        made = parent.require_group(name)
        made.attrs.update(attributes)
        return made

    def declare(self, group, name, n, dtype="i8", width=None):
        shape = (n,) if width is None else (n, width)
        chunks = (min(n, 1 << 16), *shape[1:])
        group.create_dataset(name, shape, self._string if dtype == "string" else dtype, chunks=chunks)

    def write(self, group, name, values):
        group.create_dataset(name, data=values)

    def close(self):
        self.root.close()


class _Zarr(_Hdf5):
    module = "slimline.data.formats._hdf5_zarr"

    def __init__(self, path):
        zarr = pytest.importorskip("zarr")
        self.root = zarr.open_group(path, mode="w", zarr_format=3)

    def declare(self, group, name, n, dtype="i8", width=None):
        shape = (n,) if width is None else (n, width)
        chunks = (min(n, 1 << 20), *shape[1:])
        group.create_array(name, shape=shape, dtype=str if dtype == "string" else dtype, chunks=chunks)

    def write(self, group, name, values):
        group.create_array(name, data=np.asarray(values))

    def close(self):
        pass


STORES = {".h5": _Hdf5, ".zarr": _Zarr}


def anndata(store, rows, declared, n):
    """Write an AnnData object in whose `obs` only one part of the column "kind" is declared to have n entries."""
    store.group(store.root, "/", **{"encoding-type": "anndata"})
    if rows > 1 << 20:
        store.declare(store.root, "X", rows, "f4", 2)
    else:
        store.write(store.root, "X", np.ones((rows, 2), dtype="f4"))
    store.group(store.root, "var")
    obs = store.group(store.root, "obs")
    if declared == "index":
        obs.attrs["_index"] = "names"
        return store.declare(obs, "names", n, "string")
    if declared == "kind":
        return store.declare(obs, "kind", n)
    kind = store.group(obs, "kind")
    parts = (
        {"codes": "i8", "categories": "i8"} if declared in ("codes", "categories") else {"values": "i8", "mask": "?"}
    )
    for part, dtype in parts.items():
        if part == declared or (declared == "mask" and rows > 6):
            store.declare(kind, part, n, dtype)
        else:
            store.write(kind, part, np.zeros(min(rows, 6), dtype=dtype))
    return None


@pytest.mark.parametrize("ending", STORES)
@pytest.mark.parametrize("n", [MANY, TOO_MANY])
@pytest.mark.parametrize("fitting", [False, True], ids=["too many", "as many as rows"])
def test_columns_of_anndata(tmp_path, ending, n, fitting):
    cases = []
    for declared in ("index", "kind", "codes", "categories", "values", "mask"):
        path = tmp_path / f"{declared}{ending}"
        entries = n // 4 if declared == "index" else n * 4 if declared == "mask" else n
        store = STORES[ending](path)
        anndata(store, entries if fitting and declared != "categories" else 6, declared, entries)
        store.close()
        cases.append((path, {} if declared == "index" else {"label": "kind"}))
    check_refused(cases, "store" if fitting else "", STORES[ending].module)


@pytest.mark.parametrize("ending", STORES)
@pytest.mark.parametrize("n", [MANY, TOO_MANY])
def test_parts_of_sparse_groups(tmp_path, ending, n):
    cases = []
    for declared in ("indptr", "many rows", "many columns", "shape", "format", "barcodes", "genes"):
        path = tmp_path / f"{declared}{ending}"
        store = STORES[ending](path)
        m = store.group(store.root, "m")
        for part in ("data", "indices"):
            store.write(m, part, np.zeros(0, dtype="i4"))
        rows = n if declared == "many rows" else 3
        store.declare(m, "indptr", n + 1 if declared in ("indptr", "many rows", "many columns") else 4)
        if declared == "many columns":
            m.attrs.update({"encoding-type": "csc_matrix", "shape": [3, n]})
        elif declared in ("indptr", "many rows"):
            m.attrs.update({"encoding-type": "csr_matrix", "shape": [rows, 5]})
        elif declared == "shape":
            store.declare(m, "shape", n)
        elif declared == "format":
            m.attrs["shape"] = [3, 5]
            store.declare(m, "format", n, "S1")
        else:  # of Cell Ranger
            store.write(m, "shape", np.array([5, 3]))
            for name, size in (("barcodes", 3), ("genes", 5)):
                store.declare(m, name, n if name == declared else size, "S8")
        store.close()
        cases.append((path, {}))
    check_refused(cases, "m/", STORES[ending].module)


@pytest.mark.parametrize("ending", STORES)
def test_vectors_of_labels(tmp_path, ending):
    cases = []
    for n, rows in ((MANY, 6), (MANY, MANY), (TOO_MANY, 6), (TOO_MANY, TOO_MANY)):
        path = tmp_path / f"{n}-{rows}{ending}"
        store = STORES[ending](path)
        store.declare(store.root, "x", rows, "f4", 2)
        store.declare(store.root, "y", n)
        store.close()
        cases.append((path, {"label": "y"} | ({"array": "x"} if ending == ".zarr" else {"dataset": "x"})))
    check_refused(cases, "labels", STORES[ending].module)


def test_chunks_that_are_larger_than_their_vector(tmp_path):
    """A chunk is decoded whole: here 2 GB of zeros from a few bytes, for six labels."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = np.ones((6, 2))
        options = {"chunks": (MANY * 2,), "maxshape": (None,), "scaleoffset": 1, "compression": "gzip"}
        file.create_dataset("y", (6,), "i8", **options)[...] = 0
    check_refused([(tmp_path / "x.h5", {"dataset": "x", "label": "y"})], "labels", _Hdf5.module)


def test_one_label_that_is_longer_than_all_others(tmp_path):
    """An array of strings gives each the room of the longest."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = np.ones((2000, 2))
        file["y"] = ["b" * (1 << 18), *"ab" * 999, "a"]
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file["X"], file["var/gc"] = np.ones((2000, 2)), [0, 0]
        file["obs/kind/categories"], file["obs/kind/codes"] = ["b" * (1 << 18), "a"], np.ones(2000, dtype="i1")
    cases = [(tmp_path / "x.h5", {"dataset": "x", "label": "y"}), (tmp_path / "c.h5", {"label": "kind"})]
    check_refused(cases, "262,144 characters", _Hdf5.module)


@pytest.mark.parametrize("ending", STORES)
def test_what_was_never_written_is_read_where_it_is_small(tmp_path, ending):
    from slimline import open_matrix

    store = STORES[ending](tmp_path / f"x{ending}")
    store.declare(store.root, "x", 1000, "f4", 2)
    store.declare(store.root, "y", 1000)
    store.close()
    assert open_matrix(tmp_path / f"x{ending}", label="y").labels.tolist() == [0] * 1000


# .npy and .npz --------------------------------------------------------------------------------------------

#: Shapes of arrays that hold nothing, or that no file can hold.
SHAPES = [
    (1 << 62, 0),
    (0, 1 << 62),
    (MANY, 0),
    (0, MANY),
    (1 << 62, 1 << 62),
    (1 << 31, 1 << 32),
    (-1, 5),
    (-1, -5),
    (0, -5),
    (True, 5),
    (MANY, 1),
]


def npy(shape, dtype="<f8", body=b""):
    """Return a `.npy` file whose head says what it likes."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue() + body


def long_head(length):
    """Return a `.npy` file whose head is said to be so long, and is no longer than a megabyte."""
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", length) + b" " * min(length, 1 << 20)


def npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


def test_heads_of_npy_files(tmp_path):
    heads = [npy(shape) for shape in SHAPES]
    heads += [npy((5, 5), dtype) for dtype in ("<U536870911", "|S2147483647", "|V0", "<U0", "|O")]
    heads += [npy((5, 5), [("a", "<f8", (MANY, MANY))]), npy("()" * 4000), npy((1,) * 40), npy((5.0, 5))]
    heads += [long_head((1 << 32) - 1), long_head(MANY), b"\x93NUMPY\x09\x00" + npy((2, 2), body=bytes(32))[8:]]
    cases = []
    for k, head in enumerate(heads):
        path = tmp_path / f"{k}.npy"
        path.write_bytes(head[: 1 << 19])
        cases.append((path, {}))
    check_refused(cases, "")


def test_heads_of_members(tmp_path):
    sound = npy((3, 2), body=bytes(48))
    cases = [(npz(tmp_path / f"{k}.npz", X=npy(shape)), {}) for k, shape in enumerate(SHAPES)]
    heads = [npy(shape) for shape in [*SHAPES, (MANY,), (1 << 62,)]]
    heads += [npy((1 << 62,), "<U0"), npy((MANY,), "|S0"), npy((0,), "<U536870911"), long_head((1 << 32) - 1)]
    cases += [(npz(tmp_path / f"y{k}.npz", X=sound, y=head), {}) for k, head in enumerate(heads)]
    check_refused(cases, "")


def test_heads_that_inflate(tmp_path):
    """Deflate makes a thousand bytes of one: neither a head nor the name of a layout may be that long."""
    blank = b" " * (3 << 28)
    head = b"\x93NUMPY\x02\x00" + struct.pack("<I", len(blank)) + blank
    one = npz(tmp_path / "head.npz", X=npy((3, 2), body=bytes(48)), y=head)
    sparse = {"shape": npy((2,), "<i8", struct.pack("<2q", 3, 2)), "indptr": npy((4,), "<i8", bytes(32))}
    sparse |= {"data": npy((0,)), "indices": npy((0,), "<i8")}
    other = npz(tmp_path / "layout.npz", format=npy((), f"|S{len(blank)}", blank), **sparse)
    check_refused([(one, {}), (other, {})], "")


def test_labels_in_npy_files(tmp_path):
    from slimline import open_matrix
    from slimline.cli._labels import labels_in_file
    from slimline.errors import DataError

    matrix = open_matrix(np.ones((6, 2)))
    heads = [npy((n,), dtype) for n in (6, MANY, 1 << 62) for dtype in ("<f8", "<U536870911", "|V8", "|O")]
    for head in [*heads, npy((MANY,), "|S0"), npy((6, 0)), npy((-6,)), npy((True,)), long_head((1 << 32) - 1), b""]:
        (tmp_path / "y.npy").write_bytes(head)
        with pytest.raises(DataError, match=r"y\.npy"):
            labels_in_file(tmp_path / "y.npy", None, matrix)
