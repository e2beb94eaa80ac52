"""Margins and balls of the public data sets against Clarabel and LIBSVM."""

import gzip
import json
import os
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from slimline.geometry import enclosing_ball, margin
from tests.geometry.checks import MARGINS, assert_witness
from tests.geometry.exact import clarabel_ball, clarabel_margin, svc_margin
from tests.learning.real_sets import real_set
from tests.tiers import once_then_all

pytestmark = [pytest.mark.data, pytest.mark.slow]
FULL = os.environ.get("SLIMLINE_FULL") == "1"
PAIRS = range(0, 190, 5) if FULL else (0, 60, 111, 150)
NAMES = ["arcene", "dorothea", "golub", "alon", "singh", "gordon", *(f"newsgroups {pair}" for pair in PAIRS)]


@cache
def data_of(folder, name):
    """Return points, labels, and inner products: of whole numbers, or in the widest floats."""
    if name.startswith("newsgroups"):
        pairs = json.loads(gzip.decompress((folder / "newsgroups20/pairs.json.gz").read_bytes()))
        pair = pairs[int(name.split()[1])]
        X = sp.csr_array(sp.load_npz(folder / "newsgroups20/counts_train.npz"))[pair["rows_pos"] + pair["rows_neg"]]
        y = np.repeat([1.0, -1.0], [len(pair["rows_pos"]), len(pair["rows_neg"])])
    else:
        X, y = real_set(folder, name)
    wide = X.astype(np.float64)
    K = (wide @ wide.T).toarray() if sp.issparse(X) else wide @ wide.T
    return X, y, K


def points_of(K):
    """Return points that have these inner products, one column each."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


@pytest.mark.parametrize("name, kind", once_then_all(NAMES, MARGINS))
def test_margin(data_dir, name, kind):
    normalised, intercept = kind
    X, y, K = data_of(data_dir, name)
    rows = np.flatnonzero(K.diagonal() > 0.0)
    X, y, K = X[rows], y[rows], K[np.ix_(rows, rows)]
    found = margin(X, y, normalised=normalised, intercept=intercept)
    norms = np.sqrt(K.diagonal())
    K = K / np.outer(norms, norms) if normalised else K
    assert found.separable and found.relative_gap <= 1e-8
    # LIBSVM keeps inner products in float32, and its plane cannot be better than the best one
    theirs = svc_margin(K, y, intercept)
    assert found.upper * (1.0 - 2e-5) <= theirs <= found.upper * (1.0 + 1e-9)
    if name != "dorothea" or FULL or not (normalised or intercept):  # 5 seconds each
        assert found.value == pytest.approx(clarabel_margin(points_of(K), y, intercept), rel=1e-8)
    if not sp.issparse(X):
        assert_witness(X, y, found)


@pytest.mark.parametrize("name", NAMES)
def test_ball(data_dir, name):
    X, _, K = data_of(data_dir, name)
    found = enclosing_ball(X)
    assert found.relative_gap <= 1e-8
    if len(K) <= 120:
        assert found.value == pytest.approx(clarabel_ball(points_of(K)), rel=1e-8)
    # the dual value of the multipliers, and the distances of all points from the centre
    a = np.zeros(len(K))
    a[found.support] = found.multipliers
    norm = float(a @ K @ a)
    assert np.sqrt(a @ K.diagonal() - norm) == pytest.approx(found.lower, rel=1e-8)
    assert np.sqrt((K.diagonal() - 2.0 * K @ a + norm).max()) == pytest.approx(found.upper, rel=1e-8)


@pytest.mark.parametrize("name", ["hapmap3", "rcv1", "farm ads"])
def test_ball_of_other_sets(data_dir, name):
    X, _ = real_set(data_dir, name)
    X = X.standardised(None, None, "mean") if name == "hapmap3" else X
    if not FULL and name == "rcv1":
        X = X[:3000]
    assert enclosing_ball(X).relative_gap <= 1e-8
