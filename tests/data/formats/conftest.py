"""Small blocks, so that small files have many of them."""

import pytest

from slimline.data.formats import _chunked as chunked
from slimline.data.formats import _compressed as compressed
from slimline.data.formats import _hdf5_zarr as zarr
from slimline.data.formats import _npy as npy
from slimline.data.formats import _parquet as parquet

BLOCKS = [600, 4096, 1 << 23]


@pytest.fixture(params=BLOCKS)
def block_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes of a block in this test."""
    size = request.param
    for module in (chunked, compressed, npy, parquet, zarr):
        monkeypatch.setattr(module, "BLOCK_BYTES", size)
    for module in (chunked, parquet):
        monkeypatch.setattr(module, "_PANEL_BYTES", 2 * size)
    monkeypatch.setattr(chunked, "_STRETCH", max(size // 128, 32))
    return size
