"""Theorems about random projections: how many dimensions, for which guarantee; no data."""

from slimline.bounds.bound import Bound, Interval
from slimline.bounds.catalogue import BOUNDS, get
from slimline.bounds.data_margin import (
    margin_dimension,
    margin_failure,
    multiclass_margin_dimension,
    multiclass_margin_failure,
    one_parameter_cosines,
)

__all__ = [
    "BOUNDS",
    "Bound",
    "Interval",
    "get",
    "margin_dimension",
    "margin_failure",
    "multiclass_margin_dimension",
    "multiclass_margin_failure",
    "one_parameter_cosines",
]
