"""What the data really do: margins, the smallest ball around them, and what a projection does to both."""

from slimline.geometry.ball import enclosing_ball
from slimline.geometry.margin import margin
from slimline.geometry.points import Points

__all__ = ["Points", "enclosing_ball", "margin"]
