"""One pass over the blocks of a matrix: reading ahead, progress, and sums that a later run resumes from."""

from __future__ import annotations

import ctypes
import mmap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread, local
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from slimline.data._blocks import Block, ColumnTransform, PackedGenotypes
from slimline.data._statistics import shifted

if TYPE_CHECKING:
    from slimline.data._matrix import Matrix

#: From here on large pages are asked for, as NumPy does: a block is cleared in fewer steps.
_LARGE_PAGES = 4 << 20


def block_memory(size: int, dtype: Any) -> NDArray[Any]:
    """Return a vector of zeros whose memory goes back to the system with the last array that looks at it.

    Blocks are made by one thread and dropped by another. The C library would keep what they leave behind in a pool of
    each thread, and how much that is depends on which thread was quicker.
    """
    dtype = np.dtype(dtype)
    count = size * dtype.itemsize
    if not count:
        return np.empty(size, dtype=dtype)
    # private: a process that is forked gets a copy, not a share
    memory = mmap.mmap(-1, count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if count >= _LARGE_PAGES and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=dtype)


def give_back() -> None:
    """Return freed memory to the system: the C library would keep it, and later arrays may not fit into the holes."""
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim  # the GNU C library has it
    except (OSError, AttributeError, TypeError):
        return None


T = TypeVar("T")

#: Bytes of a block: a few of them are all that a pass holds.
BLOCK_BYTES = 6 << 20

_PATIENCE = 0.1  # seconds between two looks at whether the other side is still there


class Buffers:
    """Three pieces of memory, used in turn: one computed on, one waiting, one being filled.

    Fresh memory would have to be cleared by the system for every block, which costs as much as reading it.
    """

    def __init__(self) -> None:
        self._memory: list[NDArray[np.uint8]] = [np.empty(0, dtype=np.uint8)] * 3
        self._turn = 0

    def array(self, shape: tuple[int, int], dtype: Any, order: str = "C") -> NDArray[Any]:
        """Return an array to be filled; it is valid until two others have been asked for."""
        dtype = np.dtype(dtype)
        size = shape[0] * shape[1] * dtype.itemsize
        self._turn = (self._turn + 1) % 3
        if self._memory[self._turn].size < size:
            self._memory[self._turn] = block_memory(size, np.uint8)
        flat: NDArray[Any] = self._memory[self._turn][:size].view(dtype)
        return flat.reshape(shape, order="C" if order == "C" else "F")


def read_ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the items, each made by another thread while the one before it is in use."""
    waiting: Queue[tuple[bool, Any]] = Queue(maxsize=1)
    stop = Event()

    def hand_over(message: tuple[bool, Any]) -> bool:
        while not stop.is_set():
            try:
                waiting.put(message, timeout=_PATIENCE)
                return True
            except Full:
                continue
        return False

    def fetch() -> None:
        try:
            if stop.is_set():
                return
            for item in items:
                if not hand_over((True, item)):
                    return
            hand_over((False, None))
        except BaseException as error:
            hand_over((False, error))
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()

    reader = Thread(target=fetch, name="slimline-read-ahead", daemon=True)
    try:
        reader.start()  # an interrupt in here finds the thread running
        while True:
            try:
                more, item = waiting.get(timeout=_PATIENCE)
            except Empty:
                if reader.is_alive() or not waiting.empty():
                    continue
                raise RuntimeError("the reading thread ended without a word") from None
            if not more:
                if item is not None:
                    raise item
                return
            yield item
    finally:
        stop.set()
        if reader.ident is not None:  # else interrupted while it was being started: it ends by itself
            reader.join()
            give_back()  # each reading thread has its own memory, which the C library would keep


@dataclass(frozen=True, slots=True)
class PassProgress:
    """Where a pass over the data stands.

    Parameters
    ----------
    number : int
        Number of the pass, from 1.
    operation : str
        What it computes: "sketch", "dot", "tdot", …
    fraction : float
        How much of the data has gone by, 0 to 1.
    source : str
        Name of the data.
    """

    number: int
    operation: str
    fraction: float
    source: str


#: Is told after every block.
Listener = Callable[[PassProgress], None]


class PassCounter:
    """Counts of the passes over the data of a matrix, which its views share: all passes, and those of each thread.

    A job, such as a fit, counts its own passes as a difference of `of_this_thread`: a second job that goes through the
    same matrix in another thread does not add to them.
    """

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.listener: Listener | None = None
        self.keeper: CheckpointStore | None = None
        self._lock = Lock()
        self._own = local()

    @property
    def of_this_thread(self) -> int:
        """Return how many passes the calling thread has made."""
        return int(getattr(self._own, "count", 0))

    def add(self) -> None:
        """Count a pass that the calling thread has finished."""
        self._own.count = self.of_this_thread + 1
        with self._lock:
            self.count += 1

    def __reduce__(self) -> tuple[type[PassCounter], tuple[int]]:
        # who listens stays here: another process has a screen of its own, and few functions can be sent to it
        return PassCounter, (self.count,)


class ProgressBar:
    """A listener that draws one bar a pass on the terminal (standard error), and nothing where there is none."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._number = 0

    def __call__(self, now: PassProgress) -> None:
        """Draw the bar; at the end of a pass it stays on the screen."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        if self._bar is None or now.number != self._number:
            self.close()
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            console = Console(stderr=True)
            self._bar = Progress(*columns, console=console, disable=not console.is_terminal)
            self._bar.start()
            self._task = self._bar.add_task(f"pass {now.number}: {now.operation} of {now.source}", total=1.0)
            self._number = now.number
        self._bar.update(self._task, completed=now.fraction)
        if now.fraction >= 1.0:
            self.close()

    def close(self) -> None:
        """Take the bar off; a pass that was interrupted leaves it standing until then."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def iterate_pass(
    matrix: Matrix, operation: str, whole_columns: bool, kept: Checkpoint | None, in_memory: bool, large: bool
) -> Iterator[tuple[Block, ColumnTransform]]:
    """Go through a matrix once."""
    counter = matrix._counter
    keeper = None if kept is None else counter.keeper
    matrix.require_unchanged()
    matrix._tell(operation, 0.0)
    first: int | None = 0
    if keeper is not None and kept is not None:  # another view of the same data may be gone through in the same way
        first = keeper.begin(operation, {**kept.inputs(), "data": matrix.fingerprint}, kept.sums())
    if first is not None:
        if keeper is not None:  # which counts them: a fit that goes on may ask for another size
            blocks = matrix.blocks_after(first, whole_columns)
        else:
            blocks = (matrix.large_blocks if large else matrix.blocks)(whole_columns)
        if matrix.reads_ahead or (matrix.packed and in_memory):
            blocks = read_blocks_ahead(blocks)
        yield from _told(matrix, blocks, first, operation, keeper, kept)
        matrix.require_unchanged()
    if keeper is not None and kept is not None:
        keeper.end(None if first is None else kept.sums())
    counter.add()
    matrix._tell(operation, 1.0, done=True)


def _told(
    matrix: Matrix,
    blocks: Iterator[Block],
    first: int,
    operation: str,
    keeper: CheckpointStore | None,
    kept: Checkpoint | None,
) -> Iterator[tuple[Block, ColumnTransform]]:
    """Yield the blocks after the first ones, which were computed on before, and tell how far they are."""
    cells, all_cells = 0, max(matrix.shape[0] * matrix.shape[1], 1)
    try:
        for number, block in enumerate(blocks, first + 1):
            if block.values.shape[0] and block.values.shape[1]:  # a view may see nothing of it
                yield shifted(block, matrix._affine(block))
            cells += block.values.shape[0] * block.values.shape[1]
            matrix._tell(operation, min(cells / all_cells, 0.999))
            if keeper is not None and kept is not None:
                keeper.after_block(number, kept.sums)
    finally:  # at once: the traceback of an error would keep file and reading thread for as long as it is kept
        if (close := getattr(blocks, "close", None)) is not None:
            close()


def read_blocks_ahead(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield blocks that are in memory, each read by another thread while the one before it is in use."""
    return read_ahead(_in_memory(blocks))


def _in_memory(blocks: Iterator[Block]) -> Iterator[Block]:
    try:
        for block in blocks:
            if isinstance(block.values, PackedGenotypes):
                _ = block.values.packed  # reads them
            yield block
    finally:
        if (close := getattr(blocks, "close", None)) is not None:
            close()


#: Arrays by their names.
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Checkpoint:
    """What a pass adds to, and what it computes that from beside the data."""

    #: Returns the arrays that it adds to.
    sums: Callable[[], Arrays]
    #: Returns what it computes them from: arrays, or texts.
    inputs: Callable[[], dict[str, Any]] = dict

    def beside(self, more: Callable[[], Arrays]) -> Checkpoint:
        """Return the same with further arrays that the pass adds to."""
        return Checkpoint(lambda: {**self.sums(), **more()}, self.inputs)


class CheckpointStore(ABC):
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
