"""Theorems about random projections: how many dimensions, for which guarantee; no data."""

from slimline.bounds._bound import Bound, Interval
from slimline.bounds._catalogue import BOUNDS, get
from slimline.bounds._data_margin import (
    margin_dimension,
    margin_failure,
    multiclass_margin_dimension,
    multiclass_margin_failure,
    one_parameter_cosines,
)
from slimline.bounds._embeddings import GeneralisedSizes, generalised_embedding

__all__ = [
    "BOUNDS",
    "Bound",
    "GeneralisedSizes",
    "Interval",
    "generalised_embedding",
    "get",
    "margin_dimension",
    "margin_failure",
    "multiclass_margin_dimension",
    "multiclass_margin_failure",
    "one_parameter_cosines",
]
