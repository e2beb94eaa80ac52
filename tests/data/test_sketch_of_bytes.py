"""Bytes with missing values: filled with a byte they are sketched as bytes, with another number as floats."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.projections import Gaussian, HashEmbedding, SubsampledHadamard

PROJECTIONS = [
    HashEmbedding(5000, 64, 1, 1, 1, "grouped"),
    Gaussian(5000, 32, 1),
    SubsampledHadamard(5000, 32, 1, False),
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("dtype", "missing"), [(np.int8, -127), (np.uint8, 9), (np.int8, None)])
@pytest.mark.parametrize("fill", [0.0, 3.0, 1.5, 300.0, "mean"])
@pytest.mark.parametrize("small", [False, True])
def test_filled_sketch(order, dtype, missing, fill, small, monkeypatch):
    if small:
        monkeypatch.setattr("slimline.data.tiles._TILE_BYTES", 37 * 200)
    rng = np.random.default_rng(0)
    X = np.asarray(rng.integers(0, 8, (37, 5000)), dtype=dtype, order=order)
    explicit = X.astype(np.float64)
    if missing is not None:
        holes = rng.random(X.shape) < 0.01
        X[holes] = missing
        explicit[holes] = np.nan
    numbers = np.nanmean(explicit, axis=0) if fill == "mean" else fill
    explicit = np.where(np.isnan(explicit), numbers, explicit)
    view = open_matrix(X, missing=missing).standardised(None, None, fill)
    for projection in PROJECTIONS:
        R = projection.rows()
        expected = explicit @ (R.toarray() if sp.issparse(R) else R)
        assert np.abs(view.sketch(projection) - expected).max() <= 1e-5 * np.abs(expected).max()
