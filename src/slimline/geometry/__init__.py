"""Geometry of the data: margins, the smallest enclosing ball, and their change under a projection."""

from slimline.geometry._allowance import best_error_allowed_margin
from slimline.geometry._distortion import distortions
from slimline.geometry._embedding import embedding_error, enclosing_ball
from slimline.geometry._margin import error_allowed_margin, margin
from slimline.geometry._multiclass import multiclass_margin
from slimline.geometry._one_parameter import one_parameter_margin
from slimline.geometry._points import Points

__all__ = [
    "Points",
    "best_error_allowed_margin",
    "distortions",
    "embedding_error",
    "enclosing_ball",
    "error_allowed_margin",
    "margin",
    "multiclass_margin",
    "one_parameter_margin",
]
