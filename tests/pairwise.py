"""Cases of a test that has several parameters: every pair of values, not every combination."""

from collections.abc import Callable, Iterable
from itertools import combinations, product
from typing import Any


def pairwise(*parameters: Iterable[Any], where: Callable[..., bool] = lambda *case: True) -> list[tuple[Any, ...]]:
    """Return few cases in which any two values of two parameters meet; the first has the first value of each.

    Cases that `where` rejects are left out, and so are pairs that occur in no other case.
    """
    values = [list(each) for each in parameters]
    cases = [
        case
        for case in product(*(range(len(each)) for each in values))
        if where(*(each[i] for each, i in zip(values, case, strict=True)))
    ]
    pairs = {case: set(combinations(enumerate(case), min(2, len(case)))) for case in cases}
    missing = set().union(*pairs.values())
    chosen = []
    while missing:
        best = max(cases, key=lambda case: len(pairs[case] & missing))  # the first of those that add most
        missing -= pairs[best]
        chosen.append(tuple(each[i] for each, i in zip(values, best, strict=True)))
    return chosen
