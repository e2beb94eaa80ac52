"""Pairwise cases: all pairs that are allowed, in fewer cases than the product has."""

from itertools import combinations, product

from tests.pairwise import pairwise

VALUES = ["a", "b", "c"], [1, 2, 3, 4], [True, False], "xy"


def _pairs(cases):
    return {pair for case in cases for pair in combinations(enumerate(case), 2)}


def test_every_pair_occurs_in_few_cases():
    cases = pairwise(*VALUES)
    assert _pairs(cases) == _pairs(product(*VALUES))
    assert len(cases) <= 14  # of 48; the longest two alone have 12 pairs
    assert cases[0] == ("a", 1, True, "x")


def test_rejected_cases_are_left_out():
    def where(letter, number, flag, other):
        return letter != "a" or number == 4

    cases = pairwise(*VALUES, where=where)
    assert all(where(*case) for case in cases)
    assert _pairs(cases) == _pairs(case for case in product(*VALUES) if where(*case))


def test_one_parameter():
    assert pairwise("ab") == [("a",), ("b",)]
