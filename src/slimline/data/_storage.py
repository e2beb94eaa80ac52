"""What a storage format provides, and who is told of the passes over it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data._blocks import Block
from slimline.data._names import Variants
from slimline.data._passes import CheckpointStore, Listener, PassCounter, PassProgress
from slimline.errors import FileFormatError

#: Rows or columns of an array that holds no number, at most: such a file takes no space, and its sums would.
_MOST_EMPTY = 1 << 24


class Storage(ABC):
    """n samples × d features that come in blocks; `Matrix` computes with them.

    Parameters
    ----------
    shape : (int, int)
        Samples and features.
    dtype : data type
        Element type of the blocks.
    name : str
        What messages call the data.
    """

    #: Whether `blocks(whole_columns=True)` can be asked for.
    whole_columns = False
    #: Whether panels of its columns are too narrow to be fast.
    short_panels = False
    #: Whether `dot` and `tdot` are faster over panels of whole columns than over the blocks that the storage likes.
    products_by_column = False
    #: Whether the next block should be made while the last one is computed on: yes, where making it means reading.
    reads_ahead = True
    #: Whether reading is a small part of the work, so that kernels need not leave CPUs to it.
    io_bound = False
    #: Whether its blocks hold packed genotypes, which may be in their file still.
    packed = False
    #: Share of the values that are stored, where only those that are not zero are; None: all of them.
    density: float | None = None

    def __init__(self, shape: tuple[int, int], dtype: Any, name: str) -> None:
        self.shape = (int(shape[0]), int(shape[1]))
        require_sensible(self.shape, name)
        self.dtype = np.dtype(dtype)
        self.name = name
        self._counter = PassCounter()

    @abstractmethod
    def blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield rectangles that cover X once, in the order that the storage likes.

        Parameters
        ----------
        whole_columns : bool
            Ask for full-height panels of columns; only where `self.whole_columns` says that they can be had.

        Yields
        ------
        Block
            Valid until the next is asked for.
        """

    def blocks_after(self, first: int, whole_columns: bool = False) -> Iterator[Block]:
        """Yield the blocks of `blocks` but the first ones; a format that can leave them unread does so.

        Parameters
        ----------
        first : int
            How many are left out.
        whole_columns : bool
            As for `blocks`.

        Yields
        ------
        Block
            Valid until the next is asked for.
        """
        yield from islice(self.blocks(whole_columns), first, None)

    def large_blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield blocks for work that copies nothing of them: those of `blocks`, or larger ones of data in memory.

        Parameters
        ----------
        whole_columns : bool
            As for `blocks`.

        Returns
        -------
        blocks : iterator of Block
            Valid until the next is asked for.
        """
        return self.blocks(whole_columns)

    def small_blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield blocks for work that copies them: those of `blocks`, or smaller ones of data in memory.

        Parameters
        ----------
        whole_columns : bool
            As for `blocks`.

        Returns
        -------
        blocks : iterator of Block
            Valid until the next is asked for.
        """
        return self.blocks(whole_columns)

    @property
    def feature_names(self) -> Sequence[str] | None:
        """Return the names of the columns, where the data have any."""
        return None

    @property
    def sample_ids(self) -> Sequence[str] | None:
        """Return the names of the rows, where the data have any."""
        return None

    @property
    def labels(self) -> NDArray[Any] | None:
        """Return the label of each row, where the data carry them."""
        return None

    @property
    def variants(self) -> Variants | None:
        """Return chromosome, position and alleles of each column, where the data are genotypes that say so."""
        return None

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Return a short digest of the data: shape, type and samples of the content. A copy has the same."""

    def require_unchanged(self) -> None:  # noqa: B027 - in memory there is nothing to look at
        """Raise where the storage can tell that the data are not what they were."""

    @property
    def passes(self) -> int:
        """Return how many times the data went by since the matrix was opened, views included."""
        return self._counter.count

    @property
    def passes_of_this_thread(self) -> int:
        """Return how many of these passes the calling thread made: a job counts its own, whoever shares the matrix."""
        return self._counter.of_this_thread

    def listen(self, listener: Listener | None) -> None:
        """Tell a function how far each pass is, from now on; None: no longer.

        Parameters
        ----------
        listener : callable
            Called with a `PassProgress` after every block; `ProgressBar()` draws a bar.
        """
        self._counter.listener = listener

    def keep(self, keeper: CheckpointStore | None) -> None:
        """Have what the passes add up kept, from now on, and what was kept used; None: no longer.

        Parameters
        ----------
        keeper : PassKeeper
            Such as `slimline.model_files.PassFiles`.
        """
        self._counter.keeper = keeper

    def _tell(self, operation: str, fraction: float, done: bool = False) -> None:
        if self._counter.listener is not None:
            number = self._counter.count + (0 if done else 1)
            self._counter.listener(PassProgress(number, operation, fraction, self.name))

    def __repr__(self) -> str:
        n, d = self.shape
        size = f"{n:,} sample{'' if n == 1 else 's'} × {d:,} feature{'' if d == 1 else 's'}"
        return f"<{type(self).__name__} {self.name}: {size}, {self.dtype}>"


def require_sensible(shape: tuple[int, ...], name: str) -> None:
    """Raise if an array without a single number is said to be long: nothing in its file could tell otherwise."""
    if 0 in shape and max(shape) > _MOST_EMPTY:
        sizes = " × ".join(f"{size:,}" for size in shape)
        raise FileFormatError(
            f"{name} is declared to be {sizes}, which is nothing, with more than {_MOST_EMPTY:,} rows or columns: it "
            "is damaged."
        )
