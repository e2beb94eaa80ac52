"""Cases in tiers: few in the full tier, every one in the nightly tier."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest

from tests.pairwise import pairwise


def rest_nightly(few: Iterable[Any], every: Iterable[Any]) -> Sequence[Any]:
    """Return every case; those that are not among the few are marked nightly."""
    few = list(few)
    rest = (case for case in every if case not in few)
    return [
        *few,
        *(pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.nightly) for case in rest),
    ]


def pairs_then_all(*parameters: Iterable[Any]) -> Sequence[Any]:
    """Return all combinations: those in which any two values meet in the full tier, the rest in the nightly tier."""
    values = [list(each) for each in parameters]
    return rest_nightly(pairwise(*values), product(*values))
