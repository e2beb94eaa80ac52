"""Tests of the metadata of bounds: source, statement, assumptions, errata, printed and correct."""

import pytest

from slimline import bounds
from slimline.bounds import BOUNDS, Bound, get
from slimline.bounds._embeddings import FAMILIES
from slimline.bounds._numerics import SIZES
from slimline.errors import InvalidParameterError
from slimline.projections import _families
from tests.bounds.statements import STATEMENTS, names_of

#: The theory sheet, §6, by its numbers; fard2012's domain and shi2012.9's denominator were found later.
ERRATA = {
    "vaswani2013.c2": "quadratic in ε, not linear",  # 1
    "shi2012.5": "Fig. 2",  # 2 and 6
    "paul2013.1": "1 - ε/(1-ε)",  # 3
    "shi2012.8": "κγ - 4ε/(1-ε)",  # 5
    "shi2012.10": "read ≥",  # 6
    "fard2012.2": "with probability no less than",  # 6
    "balcan2006": "infinitely many",  # 6
    "uml2014.23.3": "0.7870",  # 9
    "uml2014.23.4": "0.7870",
    "fard2012.1": "holds for ε ≤ 1",
    "shi2012.9": "‖R_yᵀx - R_y'ᵀx‖",
}

#: Statements with a printed version of their own that is true: only an O(·), or one side of two.
WEAKER_IN_PRINT = {"paul2013.srht", "paul2013.sign", "paul2013.cw", "paul2013.cw.generalised", "paul2013.2"}

DOCUMENTS = {
    "uml2014": "Understanding Machine Learning",
    "shi2012": "Is margin preserved after random projection?",
    "fard2012": "Random projections preserve linearity",
    "paul2013": "Random projections for support vector machines",
    "vaswani2013": "Optimal weight recovery",
    "balcan2006": "Kernels as features",
}

#: Every row of the theory sheet, §2.
ROWS = {
    *("uml2014.23.3", "uml2014.23.4", "shi2012.4", "shi2012.10", "shi2012.5", "shi2012.6", "shi2012.8", "shi2012.9"),
    *("balcan2006", "fard2012.1", "fard2012.2", "paul2013.1", "paul2013.2", "paul2013.srht", "paul2013.sign"),
    *("paul2013.cw", "vaswani2013.1", "vaswani2013.c1", "vaswani2013.2", "vaswani2013.3", "vaswani2013.c2"),
}


def test_every_row_of_the_sheet_is_there():
    assert set(BOUNDS) >= ROWS


@pytest.mark.parametrize("name", STATEMENTS)
def test_each_says_what_it_is(name):
    bound = STATEMENTS[name]
    assert isinstance(bound, Bound)
    assert bound.name == name.removesuffix(", printed")
    assert bound.statement.endswith(".") and len(bound.statement) > 20
    assert bound.assumptions and all(isinstance(assumption, str) and assumption for assumption in bound.assumptions)
    document = bound.name.split(".")[0]
    if document in DOCUMENTS and not bound.source.startswith("slimline"):
        assert DOCUMENTS[document] in bound.source
    else:
        assert bound.source.startswith("slimline")
    assert bool(bound.about) == (bound.kept is not None)
    for function in (bound.formula, bound.kept, bound.exact):
        if function is not None:
            assert all(size in SIZES or size == "family" for size in names_of(function))


def test_errata_are_those_of_the_sheet():
    assert {name for name, bound in BOUNDS.items() if bound.erratum} == set(ERRATA)
    for name, words in ERRATA.items():
        assert words in BOUNDS[name].erratum


def test_the_default_is_never_what_is_printed_wrongly():
    for name, bound in BOUNDS.items():
        assert get(name) is bound
        assert bound.name == name
        assert not bound.as_printed and not bound.order_only
        assert bound.printed is None or bound.printed is not bound


def test_printed_versions():
    for name, bound in BOUNDS.items():
        printed = get(name, "printed")
        if bound.printed is None:
            assert printed is bound
            continue
        assert printed is bound.printed and printed != bound
        assert printed.printed is None
        assert printed.as_printed == (name not in WEAKER_IN_PRINT)
        assert printed.as_printed == bool(bound.erratum)
        assert (printed.statement, printed.eps_below) != (bound.statement, bound.eps_below)
    # infinitely many dimensions are said of balcan2006, not by it
    assert {name for name in ERRATA if BOUNDS[name].printed is None} == {"balcan2006"}
    assert {name for name, bound in STATEMENTS.items() if bound.order_only} == {
        "paul2013.srht, printed",
        "paul2013.sign, printed",
        "paul2013.cw, printed",
        "paul2013.cw.generalised, printed",
    }


def test_limits_are_marked():
    assert {name for name, bound in STATEMENTS.items() if bound.asymptotic} == {
        "vaswani2013.3",
        "vaswani2013.c2, printed",
        "vaswani2013.c2.algebra",
    }


def test_families_are_those_that_can_be_made():
    assert set(FAMILIES) == set(_families.FAMILIES)


def test_the_catalogue_cannot_be_changed():
    with pytest.raises(TypeError):
        BOUNDS["another"] = BOUNDS["shi2012.6"]


def test_the_door():
    assert set(bounds.__all__) <= set(dir(bounds))
    with pytest.raises(InvalidParameterError):
        bounds.get("nothing")
