"""An experiment, measured once, and the figures and tables of a document that are read off it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slimline_papers.finding import Finding
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What a piece of an experiment is told by: a data set, a seed, a number of dimensions …
Part = tuple[str | int | float, ...]


@dataclass(frozen=True)
class Experiment:
    """Something that is measured, piece by piece; what is finished is kept, so that a run can go on.

    Parameters
    ----------
    name : str
        Document and what it is about: "paul2013.synthetic". Its CSV is called so.
    about : str
        What is measured, in a sentence or two.
    columns : tuple of str
        Names of what a row holds.
    parts : callable
        Takes a `Study` and returns its pieces. They are measured in this order.
    measure : callable
        Takes a `Study` and a piece, and returns its rows.
    sources : tuple of str
        Data sets that are needed: names of `slimline_papers.sources`.
    own_source : str
        The document's own data set, where few have it: at hand it is taken in place of `sources`, and the column
        "source" says which it was.
    timed : bool
        Whether times are among what is measured; they are of this machine.
    stand_in_for : str
        The document's data that made-up data take the place of; empty where the document's own were made up too, or
        `sources` say it.
    full_size : str
        What the full size is beside the document's, in words that can begin a sentence.
    """

    name: str
    about: str
    columns: tuple[str, ...]
    parts: Callable[[Study], Sequence[Part]]
    measure: Callable[[Study, Part], Iterable[Sequence[object]]]
    sources: tuple[str, ...] = ()
    own_source: str = ""
    timed: bool = False
    stand_in_for: str = ""
    full_size: str = "as many repetitions as in the document"

    @property
    def document(self) -> str:
        """Short name of the document."""
        return self.name.partition(".")[0]


@dataclass(frozen=True)
class Item:
    """A figure, a table or a theorem of a document, replayed.

    `draw` and `judge` see nothing but the experiment's CSV (and the printed numbers), so that what is said about
    agreement is computed.

    Parameters
    ----------
    name : str
        Document and item: "shi2012.fig2".
    title : str
        What it shows.
    experiment : Experiment
        What it is read off.
    draw : callable
        Takes a `Table` and returns a figure.
    judge : callable
        Takes a `Table` and returns the findings.
    correction : str
        Section of "Where the papers do not hold" that it shows, where it does.
    chosen : str
        What was chosen because the document does not print it, as a list; empty where there is nothing.
    """

    name: str
    title: str
    experiment: Experiment
    draw: Callable[[Table], Figure]
    judge: Callable[[Table], Sequence[Finding]]
    correction: str = ""
    chosen: str = ""

    @property
    def document(self) -> str:
        """Short name of the document."""
        return self.name.partition(".")[0]
