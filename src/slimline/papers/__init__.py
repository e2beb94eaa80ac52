"""The five documents, replayed: one folder a document, each figure and table a short function over the public API."""

from slimline.papers.catalogue import ITEMS, find_items
from slimline.papers.finding import Cell, Finding
from slimline.papers.item import Experiment, Item
from slimline.papers.replay import reproduce
from slimline.papers.result import Result
from slimline.papers.study import Study
from slimline.papers.table import Table

__all__ = ["ITEMS", "Cell", "Experiment", "Finding", "Item", "Result", "Study", "Table", "find_items", "reproduce"]
