"""Cases in tiers: few in the full tier, every one in the nightly tier."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest

from tests.pairwise import pairwise


def each_once(*parameters: Iterable[Any]) -> list[Any]:
    """Return cases in which every value of every parameter occurs: as many as the longest has values."""
    values = [list(each) for each in parameters]
    return [tuple(each[i % len(each)] for each in values) for i in range(max(map(len, values)))]


def rest_nightly(few: Iterable[Any], every: Iterable[Any]) -> list[Any]:
    """Return every case; those that are not among the few are marked nightly."""
    few = list(few)
    rest = [case if isinstance(case, tuple) else (case,) for case in every if case not in few]
    return [*few, *(pytest.param(*case, marks=pytest.mark.nightly) for case in rest)]


def once_then_all(*parameters: Iterable[Any]) -> list[Any]:
    """Return all combinations: those in which every value occurs in the full tier, the rest in the nightly tier."""
    values = [list(each) for each in parameters]
    return rest_nightly(each_once(*values), product(*values))


def pairs_then_all(*parameters: Iterable[Any]) -> list[Any]:
    """Return all combinations: those in which any two values meet in the full tier, the rest in the nightly tier."""
    values = [list(each) for each in parameters]
    return rest_nightly(pairwise(*values), product(*values))
