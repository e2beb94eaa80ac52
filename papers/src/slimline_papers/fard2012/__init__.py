"""Milani Fard, Grinberg, Pineau and Precup: Random projections preserve linearity in sparse spaces (2012)."""

from slimline_papers.fard2012.large_errors import LARGE_ERRORS
from slimline_papers.fard2012.theorem1 import THEOREM1
from slimline_papers.fard2012.theorem2 import THEOREM2

ITEMS = (THEOREM1, LARGE_ERRORS, THEOREM2)
