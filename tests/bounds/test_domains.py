"""Tests that values outside a theorem's domain are refused."""

import numpy as np
import pytest

from slimline.bounds import get
from slimline.bounds._numerics import SIZES
from slimline.errors import InvalidParameterError
from tests.bounds.statements import STATEMENTS, middle_of, names_of, some_sizes


def refused(match, call, *arguments, **named):
    with pytest.raises(InvalidParameterError, match=match):
        call(*arguments, **named)


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.parametrize("wrong", [0.0, -0.1, float("nan"), -float("inf"), float("inf")])
def test_eps(name, wrong):
    bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
    words = rf"eps must lie in \(0, .* for {bound.name}; got {wrong:g}"
    refused(words, bound.required, wrong, 0.05, **sizes)
    refused(words, bound.dimension, [middle_of(bound), wrong], 0.05, **sizes)
    if bound.needs_delta:
        refused(words, bound.delta, 100, wrong, **sizes)
    if bound.kept is not None:
        refused(words, bound.guarantee, wrong, **some_sizes(bound.guarantee_needs))
    if bound.exact is not None:
        refused(words, bound.exact_dimension, wrong, 0.05, **some_sizes(bound.exact_needs))


@pytest.mark.parametrize("name", [name for name, bound in STATEMENTS.items() if bound.eps_below < np.inf])
def test_end_of_the_domain(name):
    bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
    end, beyond = bound.eps_below, np.nextafter(bound.eps_below, 9.0)
    if bound.eps_closed:
        assert np.isfinite(bound.required(end, 0.05, **sizes))
        refused(r"\]; got", bound.required, beyond, 0.05, **sizes)
    else:
        assert np.isfinite(bound.required(np.nextafter(end, 0.0), 0.05, **sizes))
        refused(r"\); got", bound.required, end, 0.05, **sizes)


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
}


@pytest.mark.parametrize("name", ENDS)
def test_domains_are_those_of_the_documents(name):
    assert (STATEMENTS[name].eps_below, STATEMENTS[name].eps_closed) == ENDS[name]


@pytest.mark.parametrize("name", [name for name, bound in STATEMENTS.items() if bound.needs_delta])
@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.5, 2.0, float("nan")])
def test_delta(name, wrong):
    bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
    words = rf"delta \(failure probability\) must lie in \(0, 1\); got {wrong:g}"
    refused(words, bound.required, middle_of(bound), wrong, **sizes)
    refused(words, bound.eps, 10_000, [0.5, wrong], **sizes)


@pytest.mark.parametrize("name", STATEMENTS)
def test_what_is_missing_or_unknown(name):
    bound, sizes = STATEMENTS[name], some_sizes(STATEMENTS[name].needs)
    for size in sizes:
        fewer = {other: value for other, value in sizes.items() if other != size}
        refused(f"it needs .*{size}.*; {size} is missing", bound.required, middle_of(bound), 0.05, **fewer)
    refused("shoes is not among them", bound.required, middle_of(bound), 0.05, **sizes, shoes=2)
    if not names_of(bound.formula):
        refused("it needs no sizes", bound.required, middle_of(bound), 0.05, points=2)
    if bound.needs_delta:
        refused("delta .*must be given for", bound.required, middle_of(bound), **sizes)
        refused("delta .*must be given for", bound.eps, 1000, **sizes)
    if bound.needs_eps:
        refused(rf"eps must be given for {bound.name}, in \(0, ", bound.required, **sizes)
    if bound.exact is not None:
        refused("delta .*must be given", bound.exact_dimension, middle_of(bound), None, **some_sizes(bound.exact_needs))


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
            words = rf"{size} \(.*\) must be (a|a whole) number, (above|at least) .*, for {bound.name}; got {wrong:g}"
            refused(words, call, middle_of(bound), **chance, **{**good, size: wrong})
            refused(words, call, middle_of(bound), **chance, **{**good, size: [SIZES[size].least + 1, wrong]})
        refused(f"{size} .*; got nan", call, middle_of(bound), **chance, **{**good, size: None})
        for wrong in ["7", "many", [1, "2"], 1j, True, [[1], [2, 3]]]:
            refused(
                f"{size} .*must be a number or an array of them",
                call,
                middle_of(bound),
                **chance,
                **{**good, size: wrong},
            )


def test_what_is_no_number():
    bound = STATEMENTS["shi2012.6"]
    for wrong in ("0.1", "small", 1j, True, [0.1, "0.1"], [[0.1], [0.1, 0.2]], {}):
        refused("eps must be a number or an array of them, for .*; got", bound.required, wrong, 0.05, points=5)
        refused("delta must be a number", bound.required, 0.1, wrong, points=5)
        refused("r must be a number", bound.eps, wrong, 0.05, points=5)
        refused("lower must be a number", bound.eps_keeping, wrong, margin=0.3)
    refused("lower .*must be a number; got nan", bound.eps_keeping, float("nan"), margin=0.3)


@pytest.mark.parametrize("wrong", [0, -1, np.inf, np.nan])
def test_dimensions(wrong):
    bound = STATEMENTS["shi2012.6"]
    refused("r must be a positive number of dimensions", bound.eps, wrong, 0.05, points=5)
    refused("r must be a positive number of dimensions", bound.delta, [10, wrong], 0.1, points=5)


def test_shapes_that_do_not_go_together():
    bound = STATEMENTS["shi2012.6"]
    words = "shapes of the arguments do not go together"
    refused(words, bound.required, [0.1, 0.2], [0.1, 0.2, 0.3], points=5)
    refused(words, bound.eps, [1000, 2000], [0.1, 0.2, 0.3], points=5)
    refused(words, bound.delta, [1000, 2000], 0.1, points=[1, 2, 3])
    refused(words, bound.guarantee, [0.1, 0.2], margin=[0.1, 0.2, 0.3])
    refused(words, bound.eps_keeping, [0.1, 0.2], margin=[0.1, 0.2, 0.3])
    refused(words, bound.exact_dimension, [0.1, 0.2], 0.1, points=5, margin=[0.1, 0.2, 0.3])


@pytest.mark.parametrize("wrong", ["fourier", "Gaussian", 3, None, ["gaussian"], np.array(["cw", "osnap"])])
def test_families(wrong):
    words = "family must be one of gaussian, sign, achlioptas, very_sparse, srht, cw, osnap; got"
    for name in ("paul2013.1", "paul2013.1.soft", "paul2013.2"):
        refused(words, STATEMENTS[name].required, 0.1, 0.05, family=wrong, rank=3, features=10)
        refused(words, STATEMENTS[name].eps, 1000, 0.05, family=wrong, rank=3, features=10)


def test_names():
    refused("There is no bound 'shi2012.7'. Choose from uml2014.23.3, ", get, "shi2012.7")
    refused('version must be "correct" or "printed"; got \'right\'', get, "shi2012.6", "right")
