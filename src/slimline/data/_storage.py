"""Interface of a storage format, and listeners of the passes over it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest
from slimline.data._names import Names, Variants
from slimline.data._passes import CheckpointStore, Listener, PassCounter
from slimline.errors import FileFormatError

#: Rows or columns of an array that holds no number, at most: such a file takes no space, and its sums would.
_MOST_EMPTY = 1 << 24


@dataclass(frozen=True, slots=True)
class StorageTraits:
    """Abilities of a storage, and which way of reading it is fast.

    Parameters
    ----------
    whole_columns : bool, default=False
        Panels of whole columns can be requested: `normal` and `gram` then take one pass.
    narrow_panels : bool, default=False
        They are so narrow that two passes over rows take less time than one over panels.
    products_by_column : bool, default=False
        `dot` and `tdot` are faster over panels than over the blocks that the storage likes.
    prefetch : bool, default=True
        Making a block means reading, so the next one is made while this one is computed on.
    compute_bound : bool, default=False
        Reading is a small part of the work, so that kernels need not leave CPUs to it.
    packed : bool, default=False
        Blocks hold packed genotypes, which may still be in their file.
    density : float, optional
        Share of the values that a sparse storage holds; None: dense.
    """

    whole_columns: bool = False
    narrow_panels: bool = False
    products_by_column: bool = False
    prefetch: bool = True
    compute_bound: bool = False
    packed: bool = False
    density: float | None = None


class Storage(ABC):
    """n samples × d features that come in blocks; `Matrix` computes with them.

    A format implements `blocks` and `fingerprint`, and passes shape, element type and name to this constructor. All
    the rest has a default: `traits`, `names`, `variants`, `require_unchanged`, `array`.

    Parameters
    ----------
    shape : (int, int)
        Samples and features.
    dtype : data type
        Element type of the blocks.
    name : str
        What messages call the data.
    """

    #: Abilities of the storage; an attribute of the class, or of the object.
    traits = StorageTraits()
    #: Names of columns and rows, and labels; or properties `feature_names`, `sample_ids`, `labels` compute them.
    names = Names()

    def __init__(self, shape: tuple[int, int], dtype: Any, name: str) -> None:
        self.shape = (int(shape[0]), int(shape[1]))
        require_sensible(self.shape, name)
        self.dtype = np.dtype(dtype)
        self.name = name
        self._counter = PassCounter()

    # What a format implements ----------------------------------------------------------------------

    @abstractmethod
    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield rectangles that cover X once, in the order that suits the storage.

        Parameters
        ----------
        request : BlockRequest
            The same request but for `start` gives the same blocks, less those before `start`.

        Yields
        ------
        Block
            Valid until the next one is requested.
        """

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Return a short digest of the data: shape, type and samples of the content. A copy has the same."""

    def require_unchanged(self) -> None:  # noqa: B027 - nothing in memory can be checked
        """Raise if the storage can tell that the data have changed."""

    @property
    def array(self) -> NDArray[Any] | None:
        """Return all values as one array, if they are in memory without missing ones: `method="direct"` uses it."""
        return None

    @property
    def variants(self) -> Variants | None:
        """Return chromosome, position and alleles of each column, if the data are genotypes that name them."""
        return None

    # What it gets ----------------------------------------------------------------------------------

    @property
    def feature_names(self) -> Sequence[str] | None:
        """Return the names of the columns, if the data have any."""
        return self.names.features

    @property
    def sample_ids(self) -> Sequence[str] | None:
        """Return the names of the rows, if the data have any."""
        return self.names.samples

    @property
    def labels(self) -> NDArray[Any] | None:
        """Return the label of each row, if the data have labels."""
        return self.names.labels

    @property
    def whole_columns(self) -> bool:
        """Return whether panels of whole columns can be requested."""
        return self.traits.whole_columns

    @property
    def density(self) -> float | None:
        """Return the share of the values that a sparse storage holds; None: dense."""
        return self.traits.density

    @property
    def passes(self) -> int:
        """Return the number of passes over the data since the matrix was opened, including those of its views."""
        return self._counter.count

    def counted(self) -> Self:
        """Return the same matrix with its own count of passes, which begins at 0.

        A job, such as a fit, takes one, and counts exactly its own passes with it and with views of it, however many
        jobs and threads share the data. The passes also count in the matrix that it came from.

        Returns
        -------
        matrix : Matrix
            Shares the data with this one.
        """
        return self._with_counter(PassCounter(parent=self._counter))

    def _with_counter(self, counter: PassCounter) -> Self:
        same = copy(self)
        same._counter = counter
        return same

    def listen(self, listener: Listener | None) -> None:
        """Call a function with the progress of each pass from now on.

        Parameters
        ----------
        listener : callable or None
            Called with a `PassProgress` after every block; `ProgressBar()` draws a bar. None: nothing is called.
        """
        self._counter.listener = listener

    def set_checkpoint(self, store: CheckpointStore | None) -> None:
        """Save what the passes add up from now on, and use what was saved.

        Parameters
        ----------
        store : CheckpointStore or None
            For instance `slimline.model_files.PassFiles`. None: nothing is saved.
        """
        self._counter.store = store

    keep = set_checkpoint

    def __repr__(self) -> str:
        n, d = self.shape
        size = f"{n:,} sample{'' if n == 1 else 's'} × {d:,} feature{'' if d == 1 else 's'}"
        return f"<{type(self).__name__} {self.name}: {size}, {self.dtype}>"


def from_number(start: int, blocks: Generator[Block]) -> Generator[Block]:
    """Yield the blocks from number `start` on, if a storage has to read those before."""
    with closing(blocks):
        yield from islice(blocks, start, None)


def require_sensible(shape: tuple[int, ...], name: str) -> None:
    """Raise if an array without a single number claims to be long: nothing in its file could show that it is not."""
    if 0 in shape and max(shape) > _MOST_EMPTY:
        sizes = " × ".join(f"{size:,}" for size in shape)
        raise FileFormatError(
            f"{name} is declared to be {sizes}, which is nothing, with more than {_MOST_EMPTY:,} rows or columns: it "
            "is damaged."
        )
