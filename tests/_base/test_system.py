import json

import numpy as np
import pytest
import scipy.sparse as sp

from slimline._base import system
from slimline._base.system import describe_machine
from slimline.data import ColumnStats
from tests.apart import run_apart


def test_peak_is_none_where_the_system_does_not_tell(monkeypatch, tmp_path):
    monkeypatch.setattr(system, "_RESET", tmp_path / "missing" / "clear_refs")
    assert system.run_with_peak(lambda: 5) == (5, None)


def test_result_bytes():
    assert system.result_bytes(np.zeros(10)) == 80
    assert system.result_bytes(sp.csr_array(np.eye(4, dtype=np.float32))) == 4 * 4 + 4 * 4 + 5 * 4
    assert system.result_bytes("anything") == 0
    assert system.result_bytes((np.zeros(10), "anything", np.zeros(3))) == 104
    empty = np.zeros(0)
    counts = np.zeros(4, dtype=np.int64)
    assert system.result_bytes(ColumnStats(empty, empty, np.zeros(5), empty, counts, counts, 4)) == 40 + 64


def memory_of_mapped_pages(path):
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    of_the_file = system.run_with_peak(lambda: int(mapped.sum()))[1]
    return of_the_file, system.run_with_peak(lambda: int(np.array(mapped).sum()))[1]


@pytest.mark.slow
def test_mapped_pages_are_not_counted_but_own_ones_are(tmp_path):
    size = 48 << 20
    path = tmp_path / "data"
    path.write_bytes(bytes(size))
    of_the_file, copied = run_apart(memory_of_mapped_pages, path)
    if copied is None:
        pytest.skip("the system does not tell")
    assert of_the_file < 16 << 20
    assert copied == pytest.approx(size, abs=6 << 20)


def peaks_of_two_arrays(size):
    meter = system.MemoryMeter()
    held = np.ones(size, dtype=np.uint8)
    np.ones(size, dtype=np.uint8)
    both = meter.peak()
    meter.set_back()
    return held.nbytes, both, meter.peak()


@pytest.mark.slow
def test_the_start_stays_when_the_peak_is_set_back():
    size = 40 << 20
    held, both, one = run_apart(peaks_of_two_arrays, size)
    if both is None:
        pytest.skip("the system does not tell")
    assert both == pytest.approx(2 * size, abs=6 << 20)
    assert one == pytest.approx(held, abs=6 << 20)


def test_container_limit_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    monkeypatch.setattr(system, "_CGROUP", tmp_path)
    assert system.available_bytes() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert system.available_bytes() != 3000


def test_machine_is_plain():
    machine = describe_machine(1)
    assert json.loads(json.dumps(machine)) == machine
    assert machine["cpu"] and machine["instruction_set"] in machine["instruction_sets"]
    assert machine["libraries"]["numpy"] == np.__version__
