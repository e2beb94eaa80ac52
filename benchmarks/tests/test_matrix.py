"""The suite of `slimline bench matrix`: quick cases really run, and every contender does what its name says."""

import ctypes
import mmap
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from slimline._base import system
from slimline.data import ALL_BLOCKS
from slimline.data._blocks import MISSING_CALL
from slimline.errors import InvalidParameterError
from slimline_benchmarks import LeftOut, Settings, run_case
from slimline_benchmarks import runner as runner_module
from slimline_benchmarks.matrix import PARTS, QUICK, Sizes, disk, format_cases, matrix_cases, names, parse_size, probe
from slimline_benchmarks.matrix import files as files_module
from slimline_benchmarks.matrix.files import KINDS, remove, require_modules, require_reader, require_room, write_once
from slimline_benchmarks.matrix.genotypes import GenotypeSet
from slimline_benchmarks.matrix.loaders import loading
from slimline_benchmarks.matrix.streams import read_bed
from slimline_benchmarks.matrix.subject import Subject, right_hand_sides

ONCE = Settings(threads=1, repeats=1)
KIND = {kind.name: kind for kind in KINDS}
OPTIONAL = ("dask", "bed_reader", "anndata", "pandas")


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(runner_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(runner_module, "TURN_SECONDS", 0.0)
    # a full collection before each contender would take most of the time here; memory is not what is tested
    monkeypatch.setattr(system, "gc", SimpleNamespace(collect=lambda: None))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bench-matrix")


@pytest.fixture(scope="module")
def cases(folder):
    return {case.name: case for case in matrix_cases(folder, QUICK, judged=False, keep=True)}


NAMES = [case.name for case in matrix_cases(files_module.Path(), QUICK)]


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("format")])
def test_quick_cases_run(name, cases):
    result = run_case(cases[name], ONCE)
    if result.skipped:
        assert result.skipped == "absent: this version has no reader for plink files" and "plink" in name
        return
    for m in result.measurements:
        if m.status == "absent":
            assert m.role == "peer" and m.note.split()[0] in OPTIONAL
            continue
        assert m.status == "measured", (m.contender, m.status, m.note)
        assert m.best > 0
    ours = result.of_role("ours")
    assert ours
    for m in ours:
        assert m.rate > 0 and result.find(m.limit).unit == m.unit and m.passes >= 1
    tasks = {m.task for m in ours}
    assert {m.task for m in result.of_role("peer")} <= tasks
    assert "" not in tasks


def test_from_disk_there_are_files_only(folder):
    found = matrix_cases(folder, QUICK, judged=False, keep=True, from_disk=True)
    assert [case.name for case in found] == [
        n for n in NAMES if not n.startswith(("genotypes-memory", "genotypes-float32", "sparse"))
    ]
    assert all(case.title.endswith(", from disk") for case in found)


@pytest.mark.parametrize("name", ["genotypes-plink-dot", "format-npy", "format-zarr"])
def test_cases_from_disk_run_with_nothing_in_the_page_cache(name, folder, monkeypatch):
    dropped = []
    monkeypatch.setattr(disk, "drop_from_page_cache", lambda path: dropped.append(path))
    (case,) = (c for c in matrix_cases(folder, QUICK, judged=False, keep=True, from_disk=True) if c.name == name)
    result = run_case(case, ONCE)
    runs = sum(1 + len(m.seconds) for m in result.measurements if m.status == "measured")
    assert len(dropped) >= runs > 8
    assert all(path.is_file() for path in dropped)


def test_a_dropped_file_is_read_from_the_disk(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(1 << 20))
    if resident_pages(path) is None:
        pytest.skip("this system does not tell what is in its page cache")
    assert resident_pages(path) == (1 << 20) // mmap.PAGESIZE
    disk.drop_from_page_cache(path)
    if resident_pages(path) and in_memory(tmp_path):
        pytest.skip("the temporary folder is kept in memory")
    assert resident_pages(path) == 0


def resident_pages(path):
    """Count the pages of a file that are in the page cache; None where the system does not tell."""
    try:
        mincore = ctypes.CDLL(None, use_errno=True).mincore
    except AttributeError:
        return None
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        here = (ctypes.c_char * len(mapped)).from_buffer(mapped)
        flags = (ctypes.c_ubyte * -(-len(mapped) // mmap.PAGESIZE))()
        failed = mincore(ctypes.c_void_p(ctypes.addressof(here)), ctypes.c_size_t(len(mapped)), flags)
        del here
    return None if failed else sum(flag & 1 for flag in flags)


def in_memory(folder):
    mounts = [line.split() for line in files_module.Path("/proc/mounts").read_text().splitlines()]
    longest = max((m for m in mounts if folder.is_relative_to(m[1])), key=lambda m: len(m[1]))
    return longest[2] in ("tmpfs", "ramfs")


def test_passes_and_bytes_of_a_stream_of_rows(cases):
    case = cases["sparse-normal"]
    result = run_case(case, ONCE)
    found = {m.contender: m for m in result.measurements}
    read = case.input_bytes / 1e9
    for name, passes in (
        (names.ours("normal", names.RAW, 1), 2),
        (names.ours("normal", names.STANDARDISED, 8), 2),
        (names.ours("normal", names.FIRST, 1), 3),  # one more for the statistics
    ):
        assert found[name].passes == passes
        assert found[name].amount == pytest.approx(passes * read)
    assert found[names.READING].amount == pytest.approx(read) and found[names.READING].passes is None


def test_whole_columns_take_one_pass_even_with_the_statistics(cases):
    result = run_case(cases["genotypes-npy-normal"], ONCE)
    assert {m.passes for m in result.of_role("ours")} == {1}
    assert result.find(names.ours("normal", names.RAW, 1)).limit == names.NORMAL_BLOCKS


def _explicit(data):
    """Return X as NumPy sees it, filled, and standardised."""
    if sp.issparse(data):
        raw = filled = data.toarray().astype(float)
    else:
        raw = np.asarray(data, dtype=float)
        filled = np.where(raw == MISSING_CALL, 0.0, raw)
    known = np.where(raw == MISSING_CALL, np.nan, raw)
    mean, std = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
    std[std == 0] = 1.0
    standardised = (np.where(np.isnan(known), mean, known) - mean) / std
    return raw, filled, standardised


def _expected(operation, X, k):
    if operation == "gram":
        return (X @ X.T,)
    if operation == "dot":
        return (X @ right_hand_sides(X.shape[1], k),)
    W = X.T @ right_hand_sides(X.shape[0], k)
    return (W,) if operation == "tdot" else (W, X @ W)


@pytest.mark.parametrize("operation", ["dot", "tdot", "normal", "gram"])
@pytest.mark.parametrize("storage", ["genotypes-memory", "genotypes-float32", "genotypes-npy", "sparse"])
def test_products_are_products(storage, operation, cases):
    if (storage, operation) == ("sparse", "gram"):
        return
    case = cases[f"{storage}-{operation}"]
    subject = case.make()
    raw, filled, standardised = _explicit(subject.array())
    compared = 0
    for contender in case.contenders:
        if contender.role == "limit" or contender.name.startswith((names.SCALER, names.DASK)):
            continue
        X = raw if contender.role == "peer" else filled
        X = standardised if contender.task.startswith(names.STANDARDISED) else X
        result = contender.run(contender.setup(subject))
        result = result if isinstance(result, tuple) else (result,)
        # a peer that works in float32 is allowed its rounding
        rtol = 1e-9 if contender.role == "ours" else 2e-4
        for value, exact in zip(result, _expected(operation, X, 8 if "k=8" in contender.task else 1), strict=True):
            assert value.shape == exact.shape
            np.testing.assert_allclose(value, exact, rtol=rtol, atol=rtol * np.abs(exact).max(), err_msg=contender.name)
        compared += 1
    assert compared >= 4


def test_scaler_peers_do_what_ours_do(cases):
    case = cases["genotypes-float32-dot"]
    subject = case.make()
    contenders = {c.name: c for c in case.contenders}
    ours, peer = (contenders[name] for name in (names.ours("dot", names.FIRST, 1), names.SCALER))
    assert ours.task == peer.task
    expected = ours.run(ours.setup(subject))
    np.testing.assert_allclose(peer.run(peer.setup(subject)), expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_statistics_agree(cases):
    case = cases["genotypes-float32-stats"]
    subject = case.make()
    X = subject.array().astype(float)
    for contender in case.contenders:
        if contender.role == "limit":
            continue
        result = contender.run(contender.setup(subject))
        mean = result.mean if contender.role == "ours" else result[0]
        np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-5, err_msg=contender.name)


@pytest.mark.parametrize("storage", ["memory", "npy"])
def test_sketches_have_the_right_size(storage, cases):
    case = cases[f"genotypes-{storage}-sketch"]
    subject = case.make()
    raw, filled, standardised = _explicit(subject.array())
    for contender in case.contenders:
        if contender.role == "limit":
            continue
        X = standardised if contender.task.startswith(names.STANDARDISED) else filled
        X = raw if contender.role == "peer" else X
        Z = contender.run(contender.setup(subject))
        assert Z.shape == (QUICK.samples, QUICK.components)
        # a sketch keeps the size of the data: the sum over all rows is within four tenths, whatever the family
        assert np.sum(Z.astype(float) ** 2) == pytest.approx(np.sum(X**2), rel=0.4), contender.name


def test_reading_in_memory_makes_no_copy(cases):
    for name in ("genotypes-memory-dot", "sparse-dot"):
        case = cases[name]
        subject = case.make()
        limit = next(c for c in case.contenders if c.name == names.READING)
        parts = limit.setup(subject)
        given = [subject.source.data, subject.source.indices] if sp.issparse(subject.source) else [subject.source]
        assert all(np.shares_memory(part, array) for part, array in zip(parts, given, strict=False))
        assert sum(part.size for part in parts) == pytest.approx(case.input_bytes, rel=0.05)


def test_reading_files_goes_through_all_blocks(cases, monkeypatch):
    case = cases["genotypes-npy-normal"]
    subject = case.make()
    asked = []
    whole = type(subject.matrix).blocks

    def watched(self, request=ALL_BLOCKS):
        for block in whole(self, request):
            asked.append((request.whole_columns, block.nbytes))
            yield block

    monkeypatch.setattr(type(subject.matrix), "blocks", watched)
    for name, by_column in ((names.BLOCKS, False), (names.NORMAL_BLOCKS, True), (names.EVERY_BYTE, False)):
        asked.clear()
        limit = next(c for c in case.contenders if c.name == name)
        limit.run(limit.setup(subject))
        assert {kind for kind, _ in asked} == {by_column}
        assert sum(size for _, size in asked) == QUICK.samples * QUICK.features


def test_genotypes_are_the_same_in_both_files(folder):
    pytest.importorskip("bed_reader")
    people = GenotypeSet(folder, 30, 700, 100)
    people.require_written()
    X = np.load(people.npy)
    assert X.shape == (30, 700) and set(np.unique(X)) == {0, 1, 2, MISSING_CALL}
    assert 0.003 < np.mean(X == MISSING_CALL) < 0.03
    np.testing.assert_array_equal(read_bed(people.bed), np.where(X == MISSING_CALL, 0, X))
    time = people.npy.stat().st_mtime_ns
    people.require_written()  # is there already
    assert people.npy.stat().st_mtime_ns == time
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", KIND)
def test_files_are_what_their_libraries_expect(name, folder):
    """Each file is read by the usual library for it, not by ours."""
    kind = KIND[name]
    size = QUICK.text_bytes if kind.text else QUICK.file_bytes
    (peer,) = loading(kind, size)
    for module in (*kind.requires, *peer.requires):
        pytest.importorskip(module)
    path = write_once(kind, folder, size)
    product = peer.run(path)
    assert np.isfinite(product).all() and np.std(product) > 0
    written = sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) if path.is_dir() else path.stat().st_size
    if name not in ("svmlight-gz", "zarr", "parquet", "h5ad", "hdf5"):  # compressed, with names, or chunks filled up
        assert written == pytest.approx(size, rel=0.03)
    assert write_once(kind, folder, size) == path  # found again
    assert not [p.name for p in folder.iterdir() if p.name.startswith(".draft")]


@pytest.mark.parametrize("name", KIND)
def test_formats_run(name, cases, monkeypatch):
    def here(path, operations, components, threads, modules, filled):
        return probe.peaks_here(path, operations, components, modules, filled)

    monkeypatch.setattr(format_cases, "peaks_in_fresh_process", here)
    result = run_case(cases[f"format-{name}"], ONCE)
    if result.skipped:
        assert result.skipped.startswith("absent: ")
        return
    for m in result.measurements:
        absent = m.role == "peer" and m.status == "absent" and m.note.split()[0] in OPTIONAL
        assert absent or m.status == "measured", (m.contender, m.note)
    ours = result.of_role("ours")
    assert [m.task for m in ours] == [probe.SKETCH, "dot", "tdot", "normal"]
    assert all(m.rate > 0 and result.find(m.limit).unit == m.unit for m in ours)
    if system._set_back() is not None:
        assert all(m.extra_bytes is not None for m in ours)


@pytest.mark.slow
def test_memory_is_measured_in_a_process_of_its_own(folder):
    path = write_once(KIND["npy"], folder, QUICK.file_bytes)
    peaks = probe.peaks_in_fresh_process(path, [probe.SKETCH, "dot"], 64, 1, ["numpy"])
    assert list(peaks) == [probe.SKETCH, "dot"]
    if peaks["dot"] is not None:
        assert 0 <= peaks["dot"] < 50_000_000


def test_failure_of_that_process_is_told(monkeypatch, tmp_path):
    failed = SimpleNamespace(returncode=1, stderr="Traceback\nOSError: no luck\n", stdout="")
    monkeypatch.setattr(probe.subprocess, "run", lambda *args, **kwargs: failed)
    with pytest.raises(RuntimeError, match=r"measures memory failed: OSError: no luck"):
        probe.peaks_in_fresh_process(tmp_path, ["dot"], 64, 1)


def test_opening_counts_as_memory(folder, monkeypatch):
    path = write_once(KIND["npy"], folder, QUICK.file_bytes)
    held = []

    def greedy(source):
        held.append(np.ones(64 << 20, dtype=np.uint8))
        return open_matrix(source)

    open_matrix = probe.open_matrix
    monkeypatch.setattr(probe, "open_matrix", greedy)
    peak = probe.peaks_here(path, ["dot"], 64)["dot"]
    if peak is None:
        pytest.skip("the system does not tell")
    assert peak >= 60 << 20


def test_files_of_a_temporary_folder_go_with_their_case(tmp_path):
    sizes = replace(QUICK, file_bytes=200_000)
    case = next(c for c in matrix_cases(tmp_path, sizes, only=["formats"]) if c.name == "format-npy")
    subject = case.make()
    assert [p.suffix for p in tmp_path.iterdir()] == [".npy"]
    case.discard(subject)
    assert list(tmp_path.iterdir()) == []
    kept = next(c for c in matrix_cases(tmp_path, sizes, only=["formats"], keep=True) if c.name == "format-npy")
    assert kept.discard is None


def test_interrupted_writing_leaves_nothing(tmp_path):
    def half(path, size):
        path.write_bytes(b"half")
        path.with_suffix(".bim").write_text("")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_once(replace(KIND["plink"], write=half), tmp_path, 1000)
    assert list(tmp_path.iterdir()) == []


def test_folders_are_removed_too(tmp_path):
    (tmp_path / "a.zarr" / "c").mkdir(parents=True)
    remove(tmp_path / "a.zarr")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_there_is_absent(monkeypatch, tmp_path, cases):
    with pytest.raises(LeftOut, match="no_such_module is not installed") as why:
        require_modules(("numpy", "no_such_module"))
    assert why.value.status == "absent"
    monkeypatch.setitem(files_module.FORMATS, "npy", ("no_such_reader", "open", (".npy",)))
    with pytest.raises(LeftOut, match="no reader for npy files"):
        require_reader("npy")
    assert run_case(cases["format-npy"], ONCE).skipped == "absent: this version has no reader for npy files"
    monkeypatch.setattr(files_module.shutil, "disk_usage", lambda _: SimpleNamespace(free=10**9))
    with pytest.raises(LeftOut, match=r"needs 4\.0 GB on the disk of .*, 1\.0 GB are free"):
        require_room(tmp_path, 4 * 10**9)
    monkeypatch.setitem(sys.modules, "sklearn.preprocessing", None)
    result = run_case(cases["genotypes-float32-stats"], ONCE)
    assert result.find(names.SCALER).note == "sklearn is not installed"
    assert result.find(names.NUMPY).status == "measured"


def test_large_peers_say_what_they_would_need(monkeypatch, tmp_path):
    cases = {case.name: case for case in matrix_cases(tmp_path, Sizes(), only=["genotypes"])}
    peers = {c.name: c for c in cases["genotypes-memory-dot"].contenders if c.role == "peer"}
    assert peers["NumPy k=1"].estimated_bytes == 8 * 2250 * 492516
    assert peers["NumPy by blocks k=1"].estimated_bytes == 0
    assert {c.needed_as for c in peers.values()} == {"as float64"}
    plink = {c.name: c for c in cases["genotypes-plink-dot"].contenders if c.role == "peer"}
    assert plink["bed-reader + NumPy k=8"].estimated_bytes == 4 * 2250 * 492516
    monkeypatch.setattr(runner_module, "available_bytes", lambda: 5_000_000_000)
    case = replace(cases["genotypes-memory-dot"], make=lambda: None, contenders=(peers["NumPy k=1"],), targets=())
    assert run_case(case, ONCE).find("NumPy k=1").note == "needs about 8.9 GB as float64, 5.0 GB are free"


def test_full_suite_is_sound(tmp_path):
    cases = matrix_cases(tmp_path, Sizes(), threads=2)
    assert len({case.name for case in cases}) == len(cases)
    titles = {case.name: case.title for case in cases}
    assert "2,048 components, 2,250 × 492,516" in titles["genotypes-plink-sketch"]
    assert "20,000 × 1,000,000 float32 (CSR, 100 a row)" in titles["sparse-dot"]
    for case in cases:
        contenders = {c.name: c for c in case.contenders}
        assert len(contenders) == len(case.contenders)
        for target in case.targets:
            ours = contenders[target.contender]
            assert ours.role == "ours"
            if target.quantity == "ratio":
                assert contenders[target.peer].role == "peer" and contenders[target.peer].task == ours.task
            if target.quantity == "share":
                assert contenders[ours.limit].role == "limit" and contenders[ours.limit].work.unit == ours.work.unit
    assert list(tmp_path.iterdir()) == []  # nothing is written before a case asks for it


def test_targets_of_the_issue(tmp_path):
    found = {
        (case.name, t.contender, t.quantity): t.bound for case in matrix_cases(tmp_path, Sizes()) for t in case.targets
    }
    for name in ("memory", "npy", "plink"):
        for view in (names.RAW, names.STANDARDISED):
            for operation in ("dot", "tdot", "normal"):
                key = f"genotypes-{name}-{operation}", names.ours(operation, view, 1), "share"
                assert found[key] == 0.80
    for kind in KINDS:
        assert found[f"format-{kind.name}", names.ours(f"{names.CW} sketch", names.RAW), "share"] == 0.80
        assert found[f"format-{kind.name}", names.ours("normal", names.RAW, 1), "memory"] == 300e6


def test_parts_are_chosen(tmp_path):
    for part in PARTS:
        prefix = part.removesuffix("s") if part == "formats" else part
        assert all(case.name.startswith(prefix) for case in matrix_cases(tmp_path, QUICK, only=[part]))
    with pytest.raises(InvalidParameterError, match="--only graphs: there is no such part"):
        matrix_cases(tmp_path, QUICK, only=["graphs"])


@pytest.mark.parametrize(
    "text, size", [("4GB", 4 * 10**9), ("500 MB", 5 * 10**8), ("1.5GB", 15 * 10**8), ("200000", 200000)]
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "4TB", "-4GB", "10kB", "4 giga", "nan"])
def test_sizes_that_are_none(text):
    with pytest.raises(InvalidParameterError):
        parse_size(text)


def test_subject_finds_its_statistics_once():
    X = np.random.default_rng(0).standard_normal((20, 5)).astype(np.float32)
    from slimline.data import open_matrix

    subject = Subject(open_matrix(X), X)
    assert subject.standardised is subject.standardised and subject.matrix.passes == 1
    assert subject.raw is subject.matrix
