"""Plans of a fit: projection, number of components, route and cost."""

from typing import TYPE_CHECKING, Any

from slimline.planning._route import Route, choose_route

if TYPE_CHECKING:
    from slimline.planning._planner import plan
    from slimline.planning._records import Cost, Curve, Guarantee, Plan


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # the theorems are loaded for a plan, not for a fit

    return getattr(
        import_module("slimline.planning._planner" if name == "plan" else "slimline.planning._records"), name
    )


__all__ = ["Cost", "Curve", "Guarantee", "Plan", "Route", "choose_route", "plan"]
