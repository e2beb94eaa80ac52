"""Keeping what passes add up: one that was cut short goes on, one that was finished need not be made again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

#: Arrays by their names.
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Kept:
    """What a pass adds to, and what it computes that from beside the data.

    Parameters
    ----------
    sums : callable
        Returns the arrays that it adds to.
    inputs : callable
        Returns what it computes them from: arrays, or texts.
    """

    sums: Callable[[], Arrays]
    inputs: Callable[[], dict[str, Any]] = dict

    def beside(self, more: Callable[[], Arrays]) -> Kept:
        """Return the same with further arrays that the pass adds to.

        Parameters
        ----------
        more : callable
            Returns them.

        Returns
        -------
        kept : Kept
            All of them.
        """
        return Kept(lambda: {**self.sums(), **more()}, self.inputs)


class PassKeeper(ABC):
    """Keeps what passes add up, so that one that was cut short can go on, and one that was finished need not be made.

    A pass is begun with the arrays that it adds to. What was kept of it is written into them, and the blocks that it
    stands for are left out.
    """

    @abstractmethod
    def begin(self, operation: str, inputs: dict[str, Any], sums: Arrays) -> int | None:
        """Take up a pass: fill its sums with what was kept.

        Parameters
        ----------
        operation : str
            What it computes.
        inputs : dict
            Arrays and texts that it computes it from; of the data their fingerprint.
        sums : dict of array
            What it adds to.

        Returns
        -------
        blocks : int or None
            How many blocks the sums stand for: 0, where nothing was kept; None: all.
        """

    @abstractmethod
    def after_block(self, blocks: int, sums: Callable[[], Arrays], at_once: bool = False) -> None:
        """Keep the sums of the first blocks, if it is time to.

        Parameters
        ----------
        blocks : int
            How many.
        sums : callable
            Returns what the pass adds to.
        at_once : bool
            Whether it is time in any case.
        """

    @abstractmethod
    def end(self, sums: Arrays | None) -> None:
        """Keep the sums of a whole pass; None: they were.

        Parameters
        ----------
        sums : dict of array
            What the pass has added up.
        """
