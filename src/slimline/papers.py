"""The replays of the five documents, if the distribution slimline-papers is installed beside slimline."""

from slimline.errors import MissingCompanionError

try:
    from slimline_papers import (
        ITEMS,
        Cell,
        Experiment,
        Finding,
        Item,
        Result,
        Study,
        Table,
        find_items,
        reproduce,
    )
except ModuleNotFoundError as error:
    if error.name != "slimline_papers":
        raise
    raise MissingCompanionError(
        "slimline.papers needs slimline-papers, which is not installed: in a clone of slimline, pip install ./papers"
    ) from error

__all__ = ["ITEMS", "Cell", "Experiment", "Finding", "Item", "Result", "Study", "Table", "find_items", "reproduce"]
