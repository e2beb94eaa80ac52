"""Every family passes every public check."""

import numpy as np
import pytest

from slimline import testing
from slimline.testing._moments import _vectors, exact_variance
from tests.families import FAMILIES


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_passes(family, global_random_seed):
    testing.check_projection(FAMILIES[family], seed=1000 * global_random_seed)


_SHAPES = [(1, 64), (17, 64), (4096, 64), (4097, 128)]


@pytest.mark.parametrize(
    "family, shape",
    # without replacement the SRHT has no more columns than d'
    [(f, s) for f in FAMILIES for s in _SHAPES if f != "srht" or s[1] <= 1 << (s[0] - 1).bit_length()],
)
def test_odd_shapes(family, shape):
    projection = FAMILIES[family](*shape, 5)
    testing.check_adjoint(projection)
    testing.check_block_invariance(projection, repeats=1, n_samples=3)


@pytest.mark.parametrize("n_components", [1, 3, 31, 32, 65, 129, 1000])
@pytest.mark.parametrize("family", ["gaussian", "sign", "achlioptas", "very_sparse", "srht", "srht_replaced", "cw"])
def test_odd_components(family, n_components):
    projection = FAMILIES[family](1500, n_components, 11)
    testing.check_adjoint(projection)
    testing.check_format_invariance(projection, n_samples=3)


def test_the_formula_is_that_of_the_theory_sheet():
    # (ρ² + ρ + (k₄ - 3) Σℓ_a²)/r and (‖w‖²‖x‖² + ⟨w,x⟩² + (k₄ - 3) Σ w_a²x_a²)/r where columns are independent
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((50, 4)))[0]
    leverage = np.sum(V**2, axis=1)
    for family in (
        "gaussian",
        "sign",
        "achlioptas",
        "very_sparse",
        "srht_replaced",
        "cw_independent",
        "osnap_independent",
    ):
        projection = FAMILIES[family](50, 16, 0)
        k4 = {"gaussian": 3, "achlioptas": 3, "very_sparse": np.sqrt(50)}.get(family, 1)
        expected = (4**2 + 4 + (k4 - 3) * np.sum(leverage**2)) / 16
        total = sum(exact_variance(projection, w, x) for w in V.T for x in V.T)
        np.testing.assert_allclose(total, expected, rtol=1e-12)
        w, x = rng.standard_normal((2, 50))
        expected = (w @ w * (x @ x) + (w @ x) ** 2 + (k4 - 3) * np.sum(w**2 * x**2)) / 16
        np.testing.assert_allclose(exact_variance(projection, w, x), expected, rtol=1e-12)


def test_the_formula_without_replacement_and_in_groups():
    X = _vectors(48, np.random.default_rng(0))
    without, replaced = FAMILIES["srht"](48, 32, 0), FAMILIES["srht_replaced"](48, 32, 0)
    grouped, textbook = FAMILIES["cw"](48, 32, 0), FAMILIES["cw_independent"](48, 32, 0)
    for x in X:
        np.testing.assert_allclose(
            exact_variance(without, x, x), exact_variance(replaced, x, x) * (64 - 32) / (64 - 1), rtol=1e-12, atol=1e-15
        )
        # by hand: pairs of distinct groups
        pairs = sum(2 * x[a] ** 2 * x[b] ** 2 for a in range(48) for b in range(48) if a // 16 != b // 16) / 32
        np.testing.assert_allclose(exact_variance(grouped, x, x), pairs, rtol=1e-12, atol=1e-15)
        assert exact_variance(grouped, x, x) <= exact_variance(textbook, x, x) + 1e-15
