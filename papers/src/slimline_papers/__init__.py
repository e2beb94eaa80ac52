"""The five documents, replayed: one folder a document, each figure and table a short function over the public API."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slimline_papers.catalogue import ITEMS, find_items
    from slimline_papers.finding import Cell, Finding
    from slimline_papers.item import Experiment, Item
    from slimline_papers.replay import reproduce
    from slimline_papers.result import Result
    from slimline_papers.study import Study
    from slimline_papers.table import Table

__version__ = "0.1.0"
#: Loaded when they are asked for: `slimline --help` needs none of them.
_MODULES = {
    "ITEMS": "catalogue",
    "Cell": "finding",
    "Experiment": "item",
    "Finding": "finding",
    "Item": "item",
    "Result": "result",
    "Study": "study",
    "Table": "table",
    "find_items": "catalogue",
    "reproduce": "replay",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"slimline_papers.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["ITEMS", "Cell", "Experiment", "Finding", "Item", "Result", "Study", "Table", "find_items", "reproduce"]
