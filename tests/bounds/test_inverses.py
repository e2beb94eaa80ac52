"""Each inverse against its forward formula, one-way behaviour in every argument, limits, shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline.bounds import Bound
from slimline.bounds._embeddings import FAMILIES
from slimline.bounds._numerics import largest_float, smallest_float
from slimline.errors import InvalidParameterError
from tests.bounds.statements import STATEMENTS, distortions, middle_of, some_sizes

WITH_EPS = [name for name, bound in STATEMENTS.items() if bound.needs_eps]
WITH_DELTA = [name for name, bound in STATEMENTS.items() if bound.needs_delta]
KEEPING = [name for name, bound in STATEMENTS.items() if bound.kept is not None]

logarithms = st.floats(-690, -0.01).map(np.exp)  # failure probabilities from 1e-300 on
dimensions = st.floats(0, 14).map(lambda power: float(np.floor(10.0**power)))
counts = st.floats(0, 9).map(lambda power: float(np.floor(10.0**power)))


def sizes_of(names):
    """Return a strategy for the sizes that a statement asks for."""
    special = {
        "classes": st.integers(2, 10**6).map(float),
        "margin": st.floats(1e-3, 1.0),
        "multiclass_margin": st.floats(1e-3, 1.0),
        "cosine": st.floats(-1.0, 1.0),
        "constant": st.floats(0.1, 100.0),
        "family": st.sampled_from(FAMILIES),
    }
    return st.fixed_dictionaries({name: special.get(name, counts) for name in names})


@pytest.mark.parametrize("name", WITH_EPS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_eps_is_the_smallest_that_r_dimensions_promise(name, data):
    bound = STATEMENTS[name]
    r, sizes = data.draw(dimensions), data.draw(sizes_of(bound.needs))
    delta = data.draw(logarithms) if bound.needs_delta else None
    eps = bound.eps(r, delta, **sizes)
    if np.isnan(eps):
        assert bound.required(distortions(bound)[-1], delta, **sizes) > r
        return
    assert bound.required(eps, delta, **sizes) <= r
    assert bound.dimension(eps, delta, **sizes) <= r
    if eps > 1e-300:
        assert bound.required(np.nextafter(eps, 0.0), delta, **sizes) > r


@pytest.mark.parametrize("name", WITH_DELTA)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_delta_is_the_smallest_that_r_dimensions_promise(name, data):
    bound = STATEMENTS[name]
    r, sizes = data.draw(dimensions), data.draw(sizes_of(bound.needs))
    eps = data.draw(st.floats(1e-6, min(bound.eps_below, 40.0), exclude_max=True))
    delta = bound.delta(r, eps, **sizes)
    if delta == 1.0:
        assert bound.required(eps, np.nextafter(1.0, 0.0), **sizes) > r
        return
    assert bound.required(eps, delta, **sizes) <= r
    if delta > 5e-324:
        assert bound.required(eps, np.nextafter(delta, 0.0), **sizes) > r


@pytest.mark.parametrize("name", [name for name in KEEPING if name != "shi2012.8, printed"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_eps_keeping_is_the_largest_that_guarantees_so_much(name, data):
    bound = STATEMENTS[name]
    before, lower = data.draw(sizes_of(bound.guarantee_needs)), data.draw(st.floats(-2.0, 2.0))
    eps = bound.eps_keeping(lower, **before)
    if np.isnan(eps):
        assert bound.guarantee(1e-300, **before).lower < lower
        return
    assert bound.guarantee(eps, **before).lower >= lower
    if eps != distortions(bound)[-1] and bound.eps_below < np.inf:
        assert bound.guarantee(np.nextafter(eps, 9.0), **before).lower < lower


def test_eps_keeping_by_hand():
    # γ - 2ε/(1-ε) = 0 at ε = γ/(2+γ); κγ - 2ε/(1-ε) = 0 at ε = γ/(2-γ)
    np.testing.assert_allclose(STATEMENTS["shi2012.6"].eps_keeping(0.0, margin=0.3), 0.3 / 2.3, rtol=1e-14)
    sharp = STATEMENTS["shi2012.6.sharp"]
    np.testing.assert_allclose(sharp.eps_keeping(0.0, margin=[0.3, 1e-9]), [0.3 / 1.7, 1e-9 / 2], rtol=1e-8)
    assert sharp.eps_keeping(0.9, margin=1.0) == np.nextafter(1.0, 0.0)  # parallel vectors stay so
    assert np.isnan(sharp.eps_keeping(0.31, margin=0.3))


@pytest.mark.parametrize("prefactor, name", [(6, "shi2012.5"), (4, "shi2012.5.sharp"), (2, "shi2012.10")])
@pytest.mark.parametrize("delta", [1e-200, 0.05, 0.9])
def test_below_twelve_logarithms_no_eps_exists(prefactor, name, delta):
    least = 12 * np.log(prefactor / delta)
    bound = STATEMENTS[name]
    assert np.isnan(bound.eps(least * (1 - 1e-9), delta))
    assert 0.99 < bound.eps(least * (1 + 1e-9), delta) < 1
    assert bound.delta(least / 2, 0.999999) > delta


@pytest.mark.parametrize("name", WITH_EPS)
def test_less_is_asked_for_where_less_is_promised(name):
    bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
    eps = np.array([eps for eps in distortions(bound) if eps <= 0.999])
    delta = np.array([1e-300, 1e-20, 1e-3, 0.05, 0.5, 0.999]) if bound.needs_delta else None
    along_eps = bound.required(eps, 0.05 if bound.needs_delta else None, **sizes)
    assert np.all(np.diff(along_eps) < 0)
    if bound.needs_delta:
        assert np.all(np.diff(bound.required(middle_of(bound), delta, **sizes)) < 0)
        assert np.all(np.diff(bound.delta([10, 1e3, 1e5, 1e7, 1e9], middle_of(bound), **sizes)) <= 0)
    assert np.all(np.diff(bound.eps(along_eps, 0.05 if bound.needs_delta else None, **sizes)) > 0)
    for size in sizes:  # more points, classes, … never ask for less, a larger margin never for more
        if size == "family":
            continue
        grid = np.array([0.1, 0.2, 0.5, 1.0]) if size == "margin" else np.array([2.0, 3.0, 10.0, 1e4])
        steps = np.diff(bound.required(middle_of(bound), 0.05, **{**sizes, size: grid}))
        assert np.all(steps <= 0) if size == "margin" else np.all(steps >= 0)


@pytest.mark.parametrize("name", KEEPING)
def test_a_guarantee_weakens_with_eps(name):
    bound = STATEMENTS[name]
    eps = np.array([1e-9, 1e-3, 0.1, 0.2, 0.3])
    lower, upper = bound.guarantee(eps, **some_sizes(bound.guarantee_needs))
    with np.errstate(invalid="ignore"):
        assert not np.any(np.diff(lower) > 0) and not np.any(np.diff(upper) < 0)
    assert np.all(lower <= upper)


def test_limits():
    for name in ("uml2014.23.3", "shi2012.10", "shi2012.5", "vaswani2013.c2", "paul2013.cw"):
        bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
        # eps falls like 1/√r, and a dimension that cannot be counted is refused
        np.testing.assert_allclose(
            bound.eps(1e16, 0.05, **sizes) / bound.eps(1e18, 0.05, **sizes), 10, rtol=1e-6, err_msg=name
        )
        with pytest.raises(InvalidParameterError):
            bound.dimension(1e-200, 0.05, **sizes)
    assert STATEMENTS["shi2012.5"].guarantee(1e-12, cosine=0.3) == pytest.approx((0.3, 0.3), abs=1e-11)
    assert STATEMENTS["uml2014.23.3"].delta(10**9, 0.5) == 5e-324  # below every float
    assert STATEMENTS["uml2014.23.3"].delta(1, 1e-3) == 1.0
    assert STATEMENTS["paul2013.cw"].delta(6, 0.5, rank=1) == 1.0  # Markov's inequality says nothing


def test_scalars_give_numbers_and_arrays_arrays():
    bound = STATEMENTS["shi2012.6"]
    assert type(bound.required(0.1, 0.05, points=10)) is float
    assert type(bound.dimension(np.float64(0.1), 0.05, points=np.int64(10))) is int
    assert type(bound.eps(5000, 0.05, points=10)) is float
    assert type(bound.delta(5000, 0.1, points=10)) is float
    assert type(bound.eps_keeping(0.0, margin=0.3)) is float
    assert type(bound.exact_dimension(0.1, 0.05, points=10, margin=0.3)) is int
    assert [type(end) for end in bound.guarantee(0.1, margin=0.3)] == [float, float]
    assert bound.dimension([0.1], 0.05, points=10).dtype == np.int64
    assert bound.dimension(0.1, 0.05, points=10**30) == bound.dimension(0.1, 0.05, points=1e30)


@pytest.mark.parametrize("name", STATEMENTS)
def test_everything_broadcasts(name):
    bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
    top = min(bound.eps_below, 1.0)
    eps, delta = top * np.array([[0.1], [0.5]]), np.array([0.01, 0.05, 0.5])
    found = bound.dimension(eps, delta, **sizes)
    assert found.shape == (2, 3)
    for (i, j), r in np.ndenumerate(found):
        assert r == bound.dimension(eps[i, 0], delta[j], **sizes)
    if bound.needs_eps:
        r = np.array([[3000.0], [10.0**7]])
        inverse = bound.eps(r, delta, **sizes)
        assert inverse.shape == (2, 3)
        np.testing.assert_array_equal(inverse[1, 2], bound.eps(1e7, 0.5, **sizes))
    if bound.needs_delta:
        assert bound.delta(np.ones(4) * 1e5, eps, **sizes).shape == (2, 4)
    if bound.kept is not None:
        before = some_sizes(bound.guarantee_needs)
        assert [end.shape for end in bound.guarantee(eps, **before)] == [(2, 1)] * 2
        assert bound.eps_keeping(np.zeros((5, 1)), **before).shape == (5, 1)
        for size in before:
            assert [end.shape for end in bound.guarantee(eps, **{**before, size: [before[size]] * 3})] == [(2, 3)] * 2
    if bound.exact is not None:
        exact = some_sizes(bound.exact_needs)
        shaped = bound.exact_dimension([[0.2], [0.3]], [0.1, 0.2, 0.3], **exact)
        assert shaped.shape == (2, 3)
        assert shaped[1, 0] == bound.exact_dimension(0.3, 0.1, **exact)


def test_nothing_to_ask_for_gives_nothing():
    assert STATEMENTS["shi2012.6"].dimension([], 0.05, points=3).shape == (0,)
    assert STATEMENTS["shi2012.6"].eps([], 0.05, points=3).shape == (0,)


def test_statements_that_name_no_distortion_or_probability():
    mean = STATEMENTS["shi2012.4"]
    assert mean.dimension() == 1
    assert not mean.needs_eps and not mean.needs_delta and mean.needs == ()
    with pytest.raises(InvalidParameterError):
        mean.eps(5)
    with pytest.raises(InvalidParameterError):
        mean.delta(5, 0.1)
    with pytest.raises(InvalidParameterError):
        mean.guarantee(0.1)
    with pytest.raises(InvalidParameterError):
        mean.exact_dimension(0.1, 0.1)
    for name in ("vaswani2013.3", "vaswani2013.c2.algebra", "vaswani2013.c2, printed"):
        limit = STATEMENTS[name]
        assert limit.dimension(0.5, rank=10) == limit.dimension(0.5, 0.01, rank=10)
        with pytest.raises(InvalidParameterError):
            limit.delta(100, 0.1, rank=10)


@settings(max_examples=50, deadline=None)
@given(wanted=st.floats(1e-300, 1e300))
def test_searches_end_at_the_very_float(wanted):
    low, high = np.array(1e-300), np.array(1e300)
    assert smallest_float(lambda value: value >= wanted, low, high) == wanted
    assert largest_float(lambda value: value <= wanted, low, high) == wanted
    assert np.isnan(smallest_float(lambda value: value > 1e300, low, high))
    assert np.isnan(largest_float(lambda value: value < 1e-300, low, high))


def test_a_bound_is_a_value():
    bound = STATEMENTS["shi2012.6"]
    assert isinstance(bound, Bound) and bound == STATEMENTS["shi2012.6"] and len({bound, bound}) == 1
    with pytest.raises(AttributeError):
        bound.name = "another"
