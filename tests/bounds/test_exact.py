"""Exact dimensions against all r one by one, and never above what a true theorem asks for."""

import numpy as np
import pytest
from scipy import stats

from slimline.bounds import BOUNDS, get
from slimline.bounds._numerics import lasting_log_below, log_below
from slimline.errors import NoDimensionError
from slimline.laws import cosine, inner_product, norm_failure

ALL = np.arange(1, 1500)
WITH_EXACT = [name for name, bound in BOUNDS.items() if bound.exact is not None]


def settled(failure, delta):
    """Return the smallest r from which on a probability, given for r = 1, 2, …, stays at most delta."""
    above = np.flatnonzero(failure > delta)
    assert above.size == 0 or above[-1] + 1 < failure.size, "look further"
    return 1 if above.size == 0 else int(above[-1]) + 2


def test_which_have_an_exact_answer():
    assert set(WITH_EXACT) == {
        *("uml2014.23.3", "uml2014.23.4", "shi2012.10", "shi2012.5", "shi2012.5.sharp", "fard2012.1", "shi2012.6"),
        *("shi2012.6.sharp", "shi2012.9", "balcan2006", "paul2013.2.distances"),
    }


@pytest.mark.parametrize("delta", [1e-30, 1e-3, 0.05, 0.5, 0.9])
def test_norms(delta):
    for eps in (0.15, 0.4, 0.7, 0.78):
        law = stats.chi2(ALL)  # another code than that of the laws
        failure = law.cdf(ALL * (1 - eps)) + law.sf(ALL * (1 + eps))
        if 1000 * failure[-1] > delta:
            continue
        for name in ("uml2014.23.3", "shi2012.10"):
            assert get(name).exact_dimension(eps, delta) == settled(failure, delta)
        assert get("uml2014.23.4").exact_dimension(eps, delta, vectors=1000) == settled(1000 * failure, delta)
        pairs = get("paul2013.2.distances").exact_dimension(eps, delta, points=20)
        assert pairs == settled(190 * failure, delta)
    assert get("paul2013.2.distances").exact_dimension(0.5, 0.1, points=1) == get("shi2012.10").exact_dimension(
        0.5, 0.1
    )


@pytest.mark.parametrize("delta", [1e-6, 0.05, 0.149])
@pytest.mark.parametrize("c", [-0.999, -0.6, 0.3, 0.99])
def test_angles(c, delta):
    for name in ("shi2012.5", "shi2012.5.sharp"):
        for eps in (0.2, 0.9):
            lower, upper = get(name).guarantee(eps, cosine=c)
            failure = cosine.cdf(lower, ALL, c) + cosine.sf(upper, ALL, c)
            if failure[-1] <= delta:
                assert get(name).exact_dimension(eps, delta, cosine=c) == settled(failure, delta)


@pytest.mark.parametrize("delta", [1e-12, 0.01, 0.05, 0.7])
@pytest.mark.parametrize("gamma", [0.4, 0.9, 0.9999])
def test_margins(gamma, delta):
    m, classes = 50, 3
    for name in ("shi2012.6", "shi2012.6.sharp"):
        eps = get(name).eps_keeping(0.2 * gamma, margin=gamma)
        after = get(name).guarantee(eps, margin=gamma).lower
        expected = settled(m * cosine.cdf(after, ALL, gamma), delta)
        assert get(name).exact_dimension(eps, delta, points=m, margin=gamma) == expected
    half = settled(cosine.cdf(gamma / 2, ALL, gamma) / 0.02, delta)
    assert get("balcan2006").exact_dimension(0.02, delta, margin=gamma) == half
    one = get("shi2012.9")
    eps = one.eps_keeping(0.0, multiclass_margin=gamma, classes=classes)
    after = one.guarantee(eps, multiclass_margin=gamma, classes=classes).lower
    failure = m * (classes - 1) * cosine.cdf(after, np.arange(1, 4000), gamma / np.sqrt(2 * classes))
    found = one.exact_dimension(eps, delta, points=m, classes=classes, multiclass_margin=gamma)
    assert found == settled(failure, delta)


def test_what_stays_as_it_is_needs_one_dimension():
    assert get("shi2012.5.sharp").exact_dimension(0.3, 1e-9, cosine=[-1.0, 1.0]).tolist() == [1, 1]
    assert get("shi2012.5").exact_dimension(0.3, 1e-9, cosine=[-1.0, 1.0]).tolist() == [1, 1]
    assert get("shi2012.6.sharp").exact_dimension([0.1, 0.37], 1e-9, points=10**9, margin=1.0).tolist() == [1, 1]
    one = get("shi2012.9").exact_dimension(0.37, 1e-9, points=10**9, classes=2, multiclass_margin=2.0)
    assert one == 1
    assert get("shi2012.6").exact_dimension(0.9, 1e-9, points=9, margin=0.2) == 1  # the promise is a margin below -1


def test_beyond_every_dimension():
    with pytest.raises(NoDimensionError):
        get("shi2012.10").exact_dimension(1e-7, 0.05)
    with pytest.raises(NoDimensionError):
        get("shi2012.6").exact_dimension(1e-17, 0.05, points=5, margin=0.3)  # it promises the very margin


def test_tails_that_last(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    r = np.arange(1, 400)
    c = np.append(rng.uniform(-1, 1, 60), [0.99, 0.99, 0.9, 0.3, 1.0, -1.0, 0.2])
    gaps = np.append(10.0 ** rng.uniform(-4, 0, 60), [0.01, 0.02, 0.01, 0.01, 0.5, 0.0, 0.0])
    plain = log_below((c - gaps)[:, None], r, c[:, None])
    lasting = lasting_log_below((c - gaps)[:, None], r, c[:, None])
    assert np.all(lasting >= plain - 1e-12) and np.all(lasting[:, 1:] <= lasting[:, :-1] + 1e-9)
    rises = np.any(plain[:, 1:] > plain[:, :-1] + 1e-9, axis=1)
    assert 5 < rises.sum() < 60  # both kinds are there
    np.testing.assert_allclose(lasting[~rises], plain[~rises], rtol=1e-12)
    assert lasting[rises].max() <= np.log(0.5) + 1e-12
    small = plain < np.log(0.15)
    np.testing.assert_allclose(lasting[:, 1:][small[:, 1:]], plain[:, 1:][small[:, 1:]], rtol=1e-12)
    assert np.all(lasting_log_below([0.5, 0.31], 10, 0.3) == 0)  # a value above the cosine is passed in the end


def test_a_dimension_that_is_enough_stays_enough():
    # In one dimension cos' = ±1, so that a cosine of 0.99 keeps 0.98 with probability 0.955; not so in two.
    c, wanted, delta = 0.99, 0.98, 0.1
    assert cosine.cdf(wanted, 1, c) < delta < cosine.cdf(wanted, 2, c)
    bound = get("shi2012.6")
    eps = bound.eps_keeping(wanted, margin=c)
    r = bound.exact_dimension(eps, delta, points=1, margin=c)
    assert r == settled(cosine.cdf(wanted, ALL, c), delta) > 5


@pytest.mark.parametrize("r", [1, 2, 3, 5, 10, 40, 300])
def test_inner_products_are_widest_for_parallel_or_orthogonal_vectors(r):
    c = np.linspace(-1, 1, 81)
    for eps in (0.05, 0.3, 0.6, 0.9, 0.99, 0.996, 1.0):
        failure = inner_product.cdf(c - eps, r, c) + inner_product.sf(c + eps, r, c)
        np.testing.assert_allclose(failure[-1], norm_failure(r, eps), rtol=1e-8)
        assert failure.max() <= max(failure[-1], failure[40]) * (1 + 1e-10)
        if r > 2 or eps <= 0.99:
            assert failure[-1] >= failure[40]
    # one column and ε = 1 is where orthogonal vectors are worse
    if r == 1:
        assert 2 * inner_product.sf(1.0, 1, 0.0) > 1.3 * norm_failure(1, 1.0)
        assert get("fard2012.1").exact_dimension(1.0, 0.18, vectors=1) == 2
        assert get("fard2012.1").exact_dimension(1.0, 0.21, vectors=1) == 1


@pytest.mark.parametrize("delta", [1e-9, 0.05, 0.5])
def test_inner_products(delta):
    for eps in (0.3, 0.5, 1.0):
        failure = np.maximum(norm_failure(ALL, eps), 2 * inner_product.sf(eps, ALL, 0.0))
        assert get("fard2012.1").exact_dimension(eps, delta, vectors=30) == settled(30 * failure, delta)


def test_eight_is_enough_for_balcan():
    gamma = np.array([0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0])[:, None, None]
    share = np.array([1e-9, 1e-4, 0.01, 0.1, 0.5, 0.9, 0.999])[:, None]
    delta = np.array([1e-9, 1e-3, 0.05, 0.5, 0.9, 0.999])
    bound = get("balcan2006")
    r = bound.dimension(share, delta, margin=gamma)
    assert np.all(cosine.cdf(gamma / 2, r, gamma) <= share * delta)
    # and not much less would do: 7 fails somewhere
    fewer = bound.dimension(share, delta, margin=gamma, constant=7.0)
    assert np.any(cosine.cdf(gamma / 2, fewer, gamma) > share * delta)


@pytest.mark.parametrize("name", WITH_EXACT)
def test_never_above_a_theorem_that_is_true(name):
    bound = BOUNDS[name]
    eps = np.array([0.02, 0.1, 0.3, 0.5, 0.78, 0.95, 1.0])
    eps = eps[eps <= bound._largest_eps][:, None, None]
    delta = np.array([1e-100, 1e-9, 1e-3, 0.05, 0.5, 0.99])[:, None]
    grids = {
        "cosine": [-1.0, -0.9, -0.3, 0.0, 0.3, 0.9, 0.999, 1.0],
        "margin": [0.01, 0.1, 0.3, 0.5, 0.9, 0.99, 1.0],
        "multiclass_margin": [0.01, 0.1, 0.3, 0.5, 0.9, 1.0, 1.9],
    }
    counts = {"vectors": 37, "points": 100, "classes": 4}
    grid = next((key for key in grids if key in bound.exact_needs), None)
    exact_sizes = {key: np.array(grids[key]) if key == grid else counts[key] for key in bound.exact_needs}
    exact = bound.exact_dimension(eps, delta, **exact_sizes)
    asked = bound.dimension(eps, delta, **{key: exact_sizes[key] for key in bound.needs})
    assert np.all(exact <= asked)
    assert np.mean(exact / asked) < 0.8
