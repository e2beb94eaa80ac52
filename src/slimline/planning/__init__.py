"""Which route, how many dimensions, at what cost."""

from slimline.planning.route import Route, choose_route

__all__ = ["Route", "choose_route"]
