"""Memory of blocks: an ordinary vector, which a forked process does not share and nobody keeps."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from slimline.data._passes import block_memory


@pytest.mark.parametrize(
    "size, dtype", [(0, np.float32), (1, np.int8), (3, np.int32), (5_000_001, np.float64), (5_000_001, bool)]
)
def test_it_is_a_writable_vector_of_zeros(size, dtype):
    memory = block_memory(size, dtype)
    assert memory.shape == (size,) and memory.dtype == dtype
    assert memory.flags.writeable and memory.flags.c_contiguous and memory.flags.aligned
    assert not memory.any()
    memory[...] = 1
    assert memory.sum(dtype=np.float64) == size


def test_a_view_keeps_it():
    view = block_memory(6_000_000, np.float64)[17:19]
    view[:] = 3
    assert view.tolist() == [3, 3]


def test_a_forked_process_has_a_copy():
    memory = block_memory(1000, np.int64)
    child = os.fork()
    if child == 0:
        memory[0] = 7
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert memory[0] == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="RssAnon is told by Linux only")
def test_it_goes_back_to_the_system_whichever_thread_drops_it():
    def anonymous():
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 1024

    def make():
        memory = block_memory(6 << 20, np.uint8)
        memory[...] = 1
        return memory

    with ThreadPoolExecutor(4) as pool:
        before = anonymous()
        blocks = [task.result() for task in [pool.submit(make) for _ in range(20)]]
        assert anonymous() - before > 110
        del blocks
        assert anonymous() - before < 10
