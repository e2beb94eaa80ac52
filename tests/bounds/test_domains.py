"""Tests that arguments outside a theorem's domain are refused, and named by the error."""

import numpy as np
import pytest

from slimline.bounds import get
from slimline.bounds._numerics import SIZES
from slimline.errors import InvalidParameterError
from tests.bounds.statements import STATEMENTS, middle_of, names_of, some_sizes
from tests.refusals import refuses


def refused(argument, call, *arguments, **named):
    with refuses(argument):
        call(*arguments, **named)


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.parametrize("wrong", [0.0, -0.1, float("nan"), -float("inf"), float("inf")])
def test_eps(name, wrong):
    bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
    refused("eps", bound.required, wrong, 0.05, **sizes)
    refused("eps", bound.dimension, [middle_of(bound), wrong], 0.05, **sizes)
    if bound.needs_delta:
        refused("eps", bound.delta, 100, wrong, **sizes)
    if bound.kept is not None:
        refused("eps", bound.guarantee, wrong, **some_sizes(bound.guarantee_needs))
    if bound.exact is not None:
        refused("eps", bound.exact_dimension, wrong, 0.05, **some_sizes(bound.exact_needs))


@pytest.mark.parametrize("name", [name for name, bound in STATEMENTS.items() if bound.eps_below < np.inf])
def test_end_of_the_domain(name):
    bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
    end, beyond = bound.eps_below, np.nextafter(bound.eps_below, 9.0)
    if bound.eps_closed:
        assert np.isfinite(bound.required(end, 0.05, **sizes))
        refused("eps", bound.required, beyond, 0.05, **sizes)
    else:
        assert np.isfinite(bound.required(np.nextafter(end, 0.0), 0.05, **sizes))
        refused("eps", bound.required, end, 0.05, **sizes)


ENDS = {
    "uml2014.23.3": (0.787064437613861, True),
    "uml2014.23.3, printed": (3.0, False),
    "uml2014.23.4, printed": (3.0, True),
    "fard2012.1": (1.0, True),
    "fard2012.1, printed": (np.inf, False),
    "paul2013.srht, printed": (0.5, True),
    "vaswani2013.1": (1 / 3, False),
    "vaswani2013.c1": (0.5, True),
    "vaswani2013.2": (0.5, False),
    "shi2012.9": (1.0, False),
    "shi2012.9, printed": (1.0, True),
}


@pytest.mark.parametrize("name", ENDS)
def test_domains_are_those_of_the_documents(name):
    assert (STATEMENTS[name].eps_below, STATEMENTS[name].eps_closed) == ENDS[name]


@pytest.mark.parametrize("name", [name for name, bound in STATEMENTS.items() if bound.needs_delta])
@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.5, 2.0, float("nan")])
def test_delta(name, wrong):
    bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
    refused("delta", bound.required, middle_of(bound), wrong, **sizes)
    refused("delta", bound.eps, 10_000, [0.5, wrong], **sizes)


@pytest.mark.parametrize("name", STATEMENTS)
def test_what_is_missing_or_unknown(name):
    bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
    for size in sizes:
        fewer = {other: value for other, value in sizes.items() if other != size}
        refused(size, bound.required, middle_of(bound), 0.05, **fewer)
    refused("shoes", bound.required, middle_of(bound), 0.05, **sizes, shoes=2)
    if not names_of(bound.formula):
        refused("points", bound.required, middle_of(bound), 0.05, points=2)
    if bound.needs_delta:
        refused("delta", bound.required, middle_of(bound), **sizes)
        refused("delta", bound.eps, 1000, **sizes)
    if bound.needs_eps:
        refused("eps", bound.required, **sizes)
    if bound.exact is not None:
        refused("delta", bound.exact_dimension, middle_of(bound), None, **some_sizes(bound.exact_needs))


WRONG = {
    "vectors": [0, -1, 2.5, np.inf, np.nan],
    "points": [0, 1.5, np.nan],
    "classes": [1, 2.5],
    "sparsity": [0, 0.5],
    "features": [0, 10.5],
    "rank": [0, np.inf],
    "n_components": [0, 3.5],
    "margin": [0, -0.1, 1.0001, np.nan],
    "multiclass_margin": [0, 2.1],
    "cosine": [-1.1, 1.0000001, np.nan],
    "constant": [0, -8, np.inf],
}


@pytest.mark.parametrize("size", WRONG)
def test_sizes_that_make_no_sense(size):
    users = [
        (bound, function)
        for bound in STATEMENTS.values()
        for function in (bound.formula, bound.kept)
        if function is not None and size in names_of(function)
    ]
    assert users
    for bound, function in users:
        call = bound.required if function is bound.formula else bound.guarantee
        chance = {"delta": 0.05} if call == bound.required else {}
        good = some_sizes(bound.needs if call == bound.required else bound.guarantee_needs)
        for wrong in WRONG[size]:
            refused(size, call, middle_of(bound), **chance, **{**good, size: wrong})
            refused(size, call, middle_of(bound), **chance, **{**good, size: [SIZES[size].least + 1, wrong]})
        for wrong in [None, "7", "many", [1, "2"], 1j, True, [[1], [2, 3]]]:
            refused(size, call, middle_of(bound), **chance, **{**good, size: wrong})


def test_what_is_no_number():
    bound = STATEMENTS["shi2012.6"]
    for wrong in ("0.1", "small", 1j, True, [0.1, "0.1"], [[0.1], [0.1, 0.2]], {}):
        refused("eps", bound.required, wrong, 0.05, points=5)
        refused("delta", bound.required, 0.1, wrong, points=5)
        refused("r", bound.eps, wrong, 0.05, points=5)
        refused("lower", bound.eps_keeping, wrong, margin=0.3)
    refused("lower", bound.eps_keeping, float("nan"), margin=0.3)


@pytest.mark.parametrize("wrong", [0, -1, np.inf, np.nan])
def test_dimensions(wrong):
    bound = STATEMENTS["shi2012.6"]
    refused("r", bound.eps, wrong, 0.05, points=5)
    refused("r", bound.delta, [10, wrong], 0.1, points=5)


def test_shapes_that_do_not_go_together():
    bound = STATEMENTS["shi2012.6"]
    two, three = [0.1, 0.2], [0.1, 0.2, 0.3]
    for call in (
        lambda: bound.required(two, three, points=5),
        lambda: bound.eps([1000, 2000], three, points=5),
        lambda: bound.delta([1000, 2000], 0.1, points=[1, 2, 3]),
        lambda: bound.guarantee(two, margin=three),
        lambda: bound.eps_keeping(two, margin=three),
        lambda: bound.exact_dimension(two, 0.1, points=5, margin=three),
    ):
        with pytest.raises(InvalidParameterError):
            call()


@pytest.mark.parametrize("wrong", ["fourier", "Gaussian", 3, None, ["gaussian"], np.array(["cw", "osnap"])])
def test_families(wrong):
    for name in ("paul2013.1", "paul2013.1.soft", "paul2013.2"):
        refused("family", STATEMENTS[name].required, 0.1, 0.05, family=wrong, rank=3, features=10)
        refused("family", STATEMENTS[name].eps, 1000, 0.05, family=wrong, rank=3, features=10)


def test_names():
    with pytest.raises(InvalidParameterError):
        get("shi2012.7")
    refused("version", get, "shi2012.6", "right")
