"""Sparse matrices whose parts do not fit together: an error for every family, never a crash."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.families import FAMILIES
from tests.pairwise import pairwise


def _far_index(X):
    X.indices[3] = 500_000_000


def _negative_index(X):
    X.indices[3] = -1


def _pointer_jumps(X):
    X.indptr[3] = 500_000_000


def _pointer_ends_far_away(X):
    X.indptr = X.indptr.astype(np.int64)
    X.indptr[-1] = 2**55


def _pointer_begins_late(X):
    X.indptr[0] = 7


def _pointer_is_short(X):
    X.indptr = X.indptr[:-2]


def _values_are_short(X):
    X.data = X.data[:-5]


DAMAGES = [
    _far_index,
    _negative_index,
    _pointer_jumps,
    _pointer_ends_far_away,
    _pointer_begins_late,
    _pointer_is_short,
    _values_are_short,
]


@pytest.mark.parametrize(
    "damage, dtype, make, family",
    pairwise(DAMAGES, [np.float64, np.float32, np.int8], [sp.csr_array, sp.csc_array], FAMILIES),
)
def test_damaged(family, make, dtype, damage):
    X = make(np.ones((20, 50), dtype=dtype))
    damage(X)
    with pytest.raises(ValueError, match="damaged"):
        FAMILIES[family](50, 64, 0).apply(X)


def test_damaged_coordinates():
    X = sp.coo_array(np.ones((20, 50)))
    X.coords[1][3] = 500_000_000
    with pytest.raises(ValueError, match="damaged"):
        FAMILIES["cw"](50, 64, 0).apply(X)
