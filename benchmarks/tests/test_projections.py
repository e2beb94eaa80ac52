"""The suite itself: quick cases really run, and every contender does what its name says."""

import sys
import types

import numpy as np
import pytest

from slimline.projections import walsh_hadamard
from slimline_benchmarks import Settings, run_case
from slimline_benchmarks import runner as runner_module
from slimline_benchmarks.projections import names, projection_cases
from slimline_benchmarks.projections.data import Shape
from slimline_benchmarks.projections.limits import reading
from slimline_benchmarks.projections.ours import our_contenders
from slimline_benchmarks.projections.peers import peer_contenders

QUICK = projection_cases(threads=1, instruction_set="avx2", quick=True)
FULL = projection_cases(threads=1, instruction_set="avx512")
OURS = {names.EMBEDDING_1, names.EMBEDDING_4, names.HADAMARD, names.SIGN, names.GAUSSIAN, names.SPARSE_SIGN}
OURS |= {names.EMBEDDING_INDEPENDENT, names.EMBEDDING_GENERALISED, names.EMBEDDING_GENERALISED_INDEPENDENT}
VARIANTS = {names.ACHLIOPTAS, names.EMBEDDING_WIDE, names.HADAMARD_REPLACED}


@pytest.mark.slow
@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_quick_cases_run(case, monkeypatch):
    monkeypatch.setattr(runner_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(runner_module, "TURN_SECONDS", 0.0)
    result = run_case(case, Settings(threads=1, repeats=1))
    states = {m.contender: (m.status, m.note) for m in result.measurements}
    assert all(status == "measured" for name, (status, _) in states.items() if name != names.FFHT), states
    assert all(m.best > 0 for m in result.measurements if m.status == "measured")
    for m in result.of_role("ours"):
        assert not m.limit or result.find(m.limit).unit == m.unit


@pytest.mark.parametrize(
    "case", [c for c in QUICK if c.name.startswith(("dense", "int8", "csr", "csc"))], ids=lambda c: c.name
)
def test_contenders_return_sketches_of_the_right_size(case):
    X = case.make()
    norm = np.sum((X.toarray() if hasattr(X, "toarray") else X).astype(float) ** 2)
    found = set()
    for contender in case.contenders:
        if contender.name in (names.READING, names.WRITING, names.STORED_GEMM, names.ONE_ROW):
            continue
        Z = contender.run(contender.setup(X))
        found.add(contender.name)
        assert isinstance(Z, np.ndarray) and Z.shape == (X.shape[0], 64 if "small" in case.name else 128)
        # a sketch keeps the size of the data: the sum over all rows is within three tenths, whatever the family
        assert np.sum(Z.astype(float) ** 2) == pytest.approx(norm, rel=0.3), contender.name
    assert found >= OURS | {names.SKLEARN_SPARSE, names.SCIPY_CW, names.SCIPY_COUNT_SKETCH}
    assert found & VARIANTS == (VARIANTS if case.name in ("dense-f4", "csr-f4") else set())
    assert (names.SKLEARN_GAUSSIAN in found) == (case.name not in ("dense-columns", "csc-f4"))
    assert (names.SKLEARN_HASHER in found) == case.name.startswith("csr")


@pytest.mark.parametrize("per_row", [None, 5])
def test_contenders_stand_beside_the_limit_of_their_kind(per_row):
    shape = Shape(10, 1000, 64, "f4", per_row)
    limits = {c.name: (c.limit, c.estimated_seconds > 0) for c in our_contenders(shape, variants=True)}
    for name in OURS | VARIANTS:
        multiplied = name in (names.SIGN, names.GAUSSIAN, names.ACHLIOPTAS)
        dense = (names.STORED_GEMM, True) if multiplied else (names.READING, False)
        assert limits[name] == ((names.WRITING, False) if per_row else dense), name


def test_data_by_column():
    rows, columns = Shape(30, 200, 16, "f4"), Shape(30, 200, 16, "f4", by_column=True)
    X = columns.make()
    assert X.flags.f_contiguous and X.shape == (30, 200) and X.nbytes == columns.input_bytes == rows.input_bytes
    assert np.shares_memory(reading(columns).setup(X), X)  # else a copy would be read
    sparse = Shape(30, 200, 16, "f4", 5), Shape(30, 200, 16, "f4", 5, by_column=True)
    one, other = (shape.make() for shape in sparse)
    assert (one.format, other.format) == ("csr", "csc")
    np.testing.assert_array_equal(one.toarray(), other.toarray())
    assert sparse[1].input_bytes - sparse[0].input_bytes == 4 * (200 - 30)


def test_names_are_unique_and_targets_refer_to_them():
    for cases in (QUICK, FULL, projection_cases(2, "baseline")):
        assert len({case.name for case in cases}) == len(cases)
        for case in cases:
            contenders = {c.name: c for c in case.contenders}
            assert len(contenders) == len(case.contenders)
            for target in case.targets:
                assert contenders[target.contender].role == "ours"
                assert not target.peer or contenders[target.peer].role == "peer"
                if target.quantity == "share":
                    assert contenders[target.contender].limit in contenders
    assert all(case.targets == () for case in QUICK)
    assert all(case.targets for case in FULL)


def test_full_sizes():
    sizes = {case.name: case.title for case in FULL}
    assert sizes["dense-f4"].startswith("2,000 × 131,072 float32")
    assert sizes["int8"].startswith("2,250 × 492,516 int8")
    assert sizes["csr-f8"].startswith("20,000 × 1,000,000 float64 (CSR, 100 a row)")
    assert sizes["csc-f4"].startswith("20,000 × 1,000,000 float32 (CSC, 100 a row)")
    assert sizes["dense-columns"].startswith("2,000 × 32,768 float32 (dense, F order)")
    assert {"hadamard-14-cache", "hadamard-17-memory", "hadamard-19-memory", "normals"} <= set(sizes)


def test_targets_depend_on_threads_and_instruction_set():
    def bound(cases, name, contender, quantity):
        case = next(c for c in cases if c.name == name)
        return next((t.bound for t in case.targets if (t.contender, t.quantity) == (contender, quantity)), None)

    two = projection_cases(2, "avx2")
    assert bound(FULL, "dense-f4", names.GAUSSIAN, "share") == 0.90
    assert bound(two, "dense-f4", names.GAUSSIAN, "share") == 0.85
    assert bound(FULL, "dense-small-f4", names.EMBEDDING_4, "rate") == 8.0
    assert bound(two, "dense-small-f4", names.EMBEDDING_4, "rate") is None
    assert (bound(FULL, "normals", names.NORMALS, "ratio"), bound(two, "normals", names.NORMALS, "ratio")) == (
        0.10,
        0.25,
    )


def test_large_peers_know_that_they_are_large():
    """Measured memory of the peers on the full int8 case: 17 GB with scikit-learn."""
    peers = {c.name: c for c in peer_contenders(Shape(2250, 492516, 2048, "i1"))}
    assert peers[names.SKLEARN_GAUSSIAN].estimated_bytes > 15e9
    assert 15e9 < peers[names.SKLEARN_SPARSE].estimated_bytes < 20e9
    assert peers[names.SCIPY_COUNT_SKETCH].estimated_bytes < 8e9


def test_hidden_library_is_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.random_projection", None)
    monkeypatch.setattr(runner_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(runner_module, "TURN_SECONDS", 0.0)
    case = next(c for c in QUICK if c.name == "dense-small-f4")
    result = run_case(case, Settings(threads=1, repeats=1))
    assert result.find(names.SKLEARN_GAUSSIAN).status == "absent"
    assert result.find(names.SKLEARN_GAUSSIAN).note == "sklearn is not installed"
    assert result.find(names.SCIPY_CW).status == "measured"


@pytest.mark.parametrize("function", ["fht", "fht_"])
def test_ffht_runs_if_it_is_there(function, monkeypatch):
    def in_place(row):
        row[:] = walsh_hadamard(row)

    ffht = types.ModuleType("ffht")
    ffht.fht = in_place if function == "fht" else None
    setattr(ffht, function, in_place)
    monkeypatch.setitem(sys.modules, "ffht", ffht)
    case = next(c for c in QUICK if c.name == "hadamard-10-memory")
    data = case.make()
    expected = walsh_hadamard(data.original)
    for name in (names.FFHT, names.WALSH, names.NUMPY_BUTTERFLY):
        contender = next(c for c in case.contenders if c.name == name)
        contender.reset(data)
        contender.run(data)
        np.testing.assert_allclose(data.work, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("bits", [14, 17, 19])
def test_rows_in_cache_stay_finite(bits):
    case = next(c for c in FULL if c.name == f"hadamard-{bits}-cache")
    data = case.make()
    ours = case.contenders[0]
    ours.reset(data)
    ours.run(data)
    assert np.isfinite(data.work).all() and np.abs(data.work).max() > 0
