"""The effective dimension against its definition, and how well a sample foretells it."""

import numpy as np
import pytest

from slimline.planning._pilot import spectrum_of
from tests.planning.real_plans import planned_set


def by_definition(X, penalty):
    """tr K(K + λI)⁻¹ by solving."""
    K = X @ X.T
    return np.trace(np.linalg.solve(K + penalty * np.eye(len(K)), K))


@pytest.mark.parametrize("penalty", [1e-3, 1.0, 50.0])
def test_of_the_rows_at_hand(penalty):
    X = np.random.default_rng(0).standard_normal((40, 90)) * np.geomspace(1, 1e-2, 90)
    spectrum = spectrum_of(X @ X.T, 40)
    assert spectrum.of_sample(penalty) == pytest.approx(by_definition(X, penalty), rel=1e-10)
    assert spectrum.of_all(penalty) == spectrum.of_sample(penalty)


def made_up(kind, n, d, rng):
    """Rows with nothing in common, rows of a low rank, and rows whose columns fall off."""
    if kind == "flat":
        return rng.standard_normal((n, d)) / np.sqrt(d)
    if kind == "low rank":
        return rng.standard_normal((n, 20)) @ rng.standard_normal((20, d)) / np.sqrt(20 * d)
    return rng.standard_normal((n, d)) * (1.0 + np.arange(d)) ** -0.8


@pytest.mark.parametrize("kind", ["flat", "low rank", "falling"])
@pytest.mark.parametrize("penalty", [0.01, 1.0, 10.0])
def test_all_rows_from_a_sample(kind, penalty):
    X = made_up(kind, 1600, 3000, np.random.default_rng(1))
    part = X[:200]
    predicted = spectrum_of(part @ part.T, 1600).of_all(penalty)
    assert predicted == pytest.approx(by_definition(X, penalty), rel=0.3)


@pytest.mark.data
@pytest.mark.parametrize("name", ["rcv1, rows of norm 1", "farm ads, rows of norm 1", "dorothea, rows of norm 1"])
@pytest.mark.parametrize("penalty", [0.1, 1.0])
def test_all_rows_of_real_data(data_dir, name, penalty):
    X = planned_set(data_dir, name)[0]
    rows = np.random.default_rng(0).permutation(X.shape[0])[:1000]
    X = X[rows]  # more would be slow here
    K = (X @ X.T).toarray()
    exact = np.trace(np.linalg.solve(K + penalty * np.eye(len(K)), K))
    assert spectrum_of(K[:250, :250], len(K)).of_all(penalty) == pytest.approx(exact, rel=0.3)


def test_a_single_row_and_no_rows_that_matter():
    assert spectrum_of(np.array([[4.0]]), 10).of_all(4.0) == pytest.approx(5.0)
    assert spectrum_of(np.zeros((4, 4)), 10).of_all(1.0) == 0.0
