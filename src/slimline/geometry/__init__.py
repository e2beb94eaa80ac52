"""What the data really do: margins, the smallest ball around them, and what a projection does to both."""

from slimline.geometry.ball import enclosing_ball
from slimline.geometry.distortion import distortions
from slimline.geometry.embedding import embedding_error
from slimline.geometry.error_allowed import error_allowed_margin
from slimline.geometry.margin import margin
from slimline.geometry.multiclass import multiclass_margin
from slimline.geometry.one_parameter import one_parameter_margin
from slimline.geometry.points import Points

__all__ = [
    "Points",
    "distortions",
    "embedding_error",
    "enclosing_ball",
    "error_allowed_margin",
    "margin",
    "multiclass_margin",
    "one_parameter_margin",
]
