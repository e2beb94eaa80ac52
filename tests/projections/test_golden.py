"""R is pinned: the same seed gives the same bits today, tomorrow, and under every instruction set."""

import json

import numpy as np
import pytest

from slimline.projections import Projection
from slimline.testing._moments import as_dense
from tests.projections.make_golden import PATH, describe, projections

GOLDEN = json.loads(PATH.read_text())


def test_every_family_is_pinned():
    assert set(GOLDEN) == set(projections())
    assert {json.loads(entry["projection"])["family"] for entry in GOLDEN.values()} == {
        "gaussian", "sign", "sparse_sign", "srht", "sparse_embedding",
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_bits(name):
    projection = Projection.from_json(GOLDEN[name]["projection"])
    assert projection == projections()[name][0]
    for block in GOLDEN[name]["blocks"]:
        assert describe(projection, block["start"], block["stop"]) == block


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_products_use_the_same_entries(name):
    projection = Projection.from_json(GOLDEN[name]["projection"])
    for block in GOLDEN[name]["blocks"]:
        for place, value in block["entries"].items():
            feature, column = map(int, place.split(","))
            one = np.zeros((1, 1), dtype=np.float64)
            one[0, 0] = 1
            # one product, x · scale or value · scale: exact up to the order of two roundings
            sketch = projection.apply(one, first_feature=feature)[0, column]
            lifted = projection.lift(np.eye(projection.n_components)[column], start=feature, stop=feature + 1)[0]
            np.testing.assert_allclose([sketch, lifted], float.fromhex(value), rtol=4e-16)


def test_float32_rows_are_the_same_r():
    for projection, blocks in projections().values():
        for block in blocks:
            wide, narrow = (as_dense(projection.rows(*block, dtype=dtype)) for dtype in (np.float64, np.float32))
            assert narrow.dtype == np.float32
            np.testing.assert_allclose(narrow, wide, rtol=2 * np.finfo(np.float32).eps)  # scale and product are rounded
