"""The smallest dimension that meets a target, against all dimensions tried one by one."""

import numpy as np
import pytest

from slimline.errors import InvalidParameterError, NoDimensionError
from slimline.laws import cosine, inner_product, norm, norm_dimension, norm_failure
from slimline.laws._law import highest_dimension, smallest_dimension

MANY = 1200
LAWS = pytest.mark.parametrize("law", [cosine, inner_product], ids=["cosine", "inner_product"])


def log_tails(law, value, c, last=MANY):
    """Return the logarithms of the tails away from c, a row a value, for r = 1, 2, ..., last."""
    r = np.arange(1, last + 1)
    value, c = value[:, None], c[:, None]
    return np.where(value < c, law.logcdf(value, r, c), law.logsf(value, r, c))


def after_the_last(fails):
    """Return the dimension after the last that fails, of rows over r = 1, 2, ...."""
    return np.where(fails.any(axis=1), fails.shape[1] - np.argmax(fails[:, ::-1], axis=1) + 1, 1)


def pairs(law, rng, n):
    """Return values and cosines: near each other and far, ±1 among them."""
    c = np.where(
        rng.random(n) < 0.5, rng.uniform(-1, 1, n), rng.choice([-1, 1], n) * (1 - 10 ** rng.uniform(-12, 0, n))
    )
    c[:3] = -1, 1, 0
    apart = rng.choice([-1, 1], n) * 10 ** rng.uniform(-2.5, 0.5, n)
    if law is cosine:
        value = np.tanh(np.arctanh(np.clip(c, -1 + 1e-13, 1 - 1e-13)) + apart)
        value[3:7] = -1, 1, 0, -2
    else:
        value = c + apart
        value[3] = 0
    kept = value != c
    return value[kept], c[kept]


@LAWS
def test_against_every_dimension(law, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    value, c = pairs(law, rng, 40)
    tails = log_tails(law, value, c)
    highest = np.exp(np.clip(tails.max(axis=1), -600, -1e-9)), np.exp(np.clip(tails[:, 1:].max(axis=1), -600, -1e-9))
    targets = [
        rng.uniform(0, 1, value.size),
        10 ** rng.uniform(-12, 0, value.size),
        *(top * (1 - 10 ** rng.uniform(-9, -1, value.size)) for top in highest),  # just below the highest tail
        *(np.minimum(top * (1 + 10 ** rng.uniform(-9, -1, value.size)), 0.999) for top in highest),  # just above
    ]
    compared = 0
    for probability in targets:
        expected = after_the_last(tails > np.log(probability)[:, None])
        near = expected < MANY // 2  # the rest may fail again beyond what was tried
        answer = law.dimension(value[near], probability[near], c[near])
        np.testing.assert_array_equal(answer, expected[near])
        compared += near.sum()
    assert compared > 100


def test_a_tail_that_rises_first():
    # With one column the cosine is below 0.85 with probability 0.144, with two 0.35; the target fails up to r = 4 only
    tails = np.exp(log_tails(cosine, np.array([0.85]), np.array([0.9]), 300))[0]
    assert tails[0] < 0.2 < tails[1]
    assert cosine.dimension(0.85, 0.2, 0.9) == np.flatnonzero(tails > 0.2)[-1] + 2 > 2
    # Near c the tails rise with r for long, whichever the law: two meets the target, and later ones do not
    for law in (cosine, inner_product):
        value, c = (0.49, 0.5) if law is cosine else (0.51, 0.5)
        tails = np.exp(log_tails(law, np.array([value]), np.array([c]), 3000))[0]
        target = 0.5 * (tails[1] + tails.max())
        assert tails[1] < target and tails.argmax() > 10
        assert law.dimension(value, target, c) == np.flatnonzero(tails > target)[-1] + 2


@LAWS
def test_from_two_on_a_tail_rises_and_then_falls(law, global_random_seed):
    # what the search stands on; rounding of the tails is far below 1e-11
    rng = np.random.default_rng(global_random_seed)
    value, c = pairs(law, rng, 60)
    tails = log_tails(law, value, c)[:, 1:]
    tails = tails[np.isfinite(tails).all(axis=1)]
    from_here = np.maximum.accumulate(tails[:, ::-1], axis=1)[:, ::-1]  # the highest that is still to come
    up_to_here = np.maximum.accumulate(tails, axis=1)
    assert tails.shape[0] > 40
    assert np.all(np.minimum(from_here, up_to_here) <= tails + 1e-11)
    # and none that is below 0.16 rises at all, so that a sum of tails that has come below stays there
    assert np.all((np.diff(tails, axis=1) <= 1e-11) | (tails[:, :-1] > np.log(0.16)))


@pytest.mark.slow
def test_norms_against_every_dimension(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    eps = np.concatenate((rng.uniform(0.2, 1, 60), 1 - 10 ** rng.uniform(-12, -1, 20)))
    failure = norm_failure(np.arange(1, 2501), eps[:, None])
    assert np.all(np.diff(failure, axis=1) <= 1e-12 * failure[:, 1:])  # the sum of both tails falls from the start
    for n_vectors in (1, 3, 100):
        for delta in (rng.uniform(0, 1, eps.size), 10 ** rng.uniform(-6, 0, eps.size)):
            expected = after_the_last(n_vectors * failure > delta[:, None])
            np.testing.assert_array_equal(norm_dimension(eps, delta, n_vectors), expected)


def test_one_sided_norms():
    assert norm.dimension(0.5, 0.01) == 1 + max(r for r in range(1, 200) if norm.cdf(0.5, r) > 0.01)
    assert norm.dimension(1.5, 0.222) == 1 + max(r for r in range(1, 200) if norm.sf(1.5, r) > 0.222) > 2


def test_what_cannot_happen_needs_one_dimension():
    assert cosine.dimension(-1.5, 1e-9, 0.2) == 1
    assert cosine.dimension(0.5, 1e-9, 1.0) == 1
    assert cosine.dimension(-1.0, 1e-9, 0.2) == 2  # with one column it does happen
    assert inner_product.dimension(-0.1, 1e-9, 1.0) == 1


def test_shapes():
    answer = cosine.dimension(0.0, [[0.1], [0.001]], np.array([0.2, 0.5, 0.9]))
    assert answer.shape == (2, 3) and answer.dtype == np.int64
    for i, p in enumerate((0.1, 0.001)):
        for j, c in enumerate((0.2, 0.5, 0.9)):
            alone = cosine.dimension(0.0, p, c)
            assert type(alone) is int and alone == answer[i, j]


@pytest.mark.parametrize(
    "call, parameter",
    [
        (lambda: cosine.dimension(0.1, 0, 0.3), "probability"),
        (lambda: cosine.dimension(0.1, [0.5, 1], 0.3), "probability"),
        (lambda: cosine.dimension(0.1, float("nan"), 0.3), "probability"),
        (lambda: cosine.dimension(0.3, 0.1, 0.3), "value"),
        (lambda: cosine.dimension(0.1, 0.1, 1.5), "c"),
        (lambda: cosine.dimension(float("nan"), 0.1, 0.5), "value"),
        (lambda: norm.dimension(0.5, 0.1, 0.3), "c"),
    ],
)
def test_impossible_targets(call, parameter):
    with pytest.raises(InvalidParameterError) as caught:
        call()
    assert caught.value.parameter == parameter


@pytest.mark.parametrize(
    "call", [lambda: inner_product.dimension(0.3 + 1e-9, 1e-9, 0.3), lambda: norm_dimension(1e-9, 0.1)]
)
def test_targets_that_no_dimension_meets(call):
    with pytest.raises(NoDimensionError):
        call()


@pytest.mark.parametrize("last_failure", [0, 1, 2, 3, 7, 8, 100, 12345])
def test_search_of_a_target_that_stays_met(last_failure):
    for failing in {0, 1, min(2, last_failure), last_failure // 2, last_failure} & set(range(last_failure + 1)):
        assert smallest_dimension(lambda r: r > last_failure, (), failing) == last_failure + 1


def test_search_of_several_targets_at_once():
    last = np.array([[0, 5], [1000, 1]])
    np.testing.assert_array_equal(smallest_dimension(lambda r: r > last, last.shape), last + 1)


@pytest.mark.parametrize("top", [2, 3, 4, 10, 1023, 10**6 + 1, 10**9])
def test_search_of_the_highest(top):
    assert highest_dimension(lambda r: -np.abs(np.log(r / top)), ()) == top
    assert highest_dimension(lambda r: np.where(r <= top, r, -r).astype(float), (3,)).tolist() == [top] * 3


def test_the_highest_of_a_level_line_is_the_first():
    assert highest_dimension(lambda r: np.full(r.shape, -np.inf), (2,)).tolist() == [2, 2]
