"""Small blocks, so that small files have many of them."""

import pytest

from slimline.data.formats import chunked, compressed, npy, parquet, zarr


@pytest.fixture(params=[1 << 23, 4096, 600], ids=["large blocks", "small blocks", "tiny blocks"])
def block_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes of a block in this test."""
    size = request.param
    for module in (chunked, compressed, npy, parquet, zarr):
        monkeypatch.setattr(module, "BLOCK_BYTES", size)
    for module in (chunked, parquet):
        monkeypatch.setattr(module, "_PANEL_BYTES", 2 * size)
    monkeypatch.setattr(chunked, "_STRETCH", max(size // 128, 32))
    return size
