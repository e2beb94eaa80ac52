"""Sparse matrices whose parts do not fit together: an error for every family, never a crash."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.families import FAMILIES


@pytest.mark.parametrize("part", ["indices", "indptr"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("family", FAMILIES)
def test_damaged(family, make, part):
    X = make(np.ones((20, 50)))
    getattr(X, part)[3] = 500_000_000
    with pytest.raises(ValueError, match="damaged"):
        FAMILIES[family](50, 64, 0).apply(X)


def test_damaged_coordinates():
    X = sp.coo_array(np.ones((20, 50)))
    X.coords[1][3] = 500_000_000
    with pytest.raises(ValueError, match="damaged"):
        FAMILIES["cw"](50, 64, 0).apply(X)
