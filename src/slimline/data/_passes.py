"""One pass over the blocks of a matrix: prefetching, progress, counting, and checkpoints."""

from __future__ import annotations

import ctypes
import mmap
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest, ColumnTransform, PackedGenotypes
from slimline.data._statistics import shifted

if TYPE_CHECKING:
    from slimline.data._matrix import Matrix

#: From here on large pages are asked for, as NumPy does: a block is cleared in fewer steps.
_LARGE_PAGES = 4 << 20


def block_memory(size: int, dtype: Any) -> NDArray[Any]:
    """Return a vector of zeros whose memory goes back to the system with the last array that uses it.

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
    """Progress of a pass over the data.

    Parameters
    ----------
    number : int
        Number of the pass, from 1.
    operation : str
        Result of the pass, such as "sketch", "dot" or "tdot".
    fraction : float
        Share of the data that has been read, from 0 to 1.
    source : str
        Name of the data.
    """

    number: int
    operation: str
    fraction: float
    source: str


#: Called after every block.
Listener = Callable[[PassProgress], None]


class PassCounter:
    """Count of the passes that a job makes over the data of a matrix, and who follows them.

    Views share the counter of their matrix. The counter of a job has the matrix's as its parent, which counts the
    passes of all jobs; the parent's listener and checkpoints serve the job, unless it has its own.
    """

    def __init__(self, count: int = 0, parent: PassCounter | None = None) -> None:
        self.count = count
        self.listener: Listener | None = None
        self.store: CheckpointStore | None = None
        self._parent = parent
        self._lock = Lock()

    def add(self, passes: int = 1) -> None:
        """Count finished passes."""
        with self._lock:
            self.count += passes
        if self._parent is not None:
            self._parent.add(passes)

    @property
    def checkpoints(self) -> CheckpointStore | None:
        """Return where the passes are saved, if anywhere."""
        if self.store is None and self._parent is not None:
            return self._parent.checkpoints
        return self.store

    def tell(self, operation: str, fraction: float, source: str) -> None:
        """Call the listener, which counts from when the matrix or the job that it listens to began."""
        if self.listener is not None:
            number = self.count + (0 if fraction == 1.0 else 1)
            self.listener(PassProgress(number, operation, fraction, source))
        elif self._parent is not None:
            self._parent.tell(operation, fraction, source)

    def __reduce__(self) -> tuple[type[PassCounter], tuple[int]]:
        # listeners stay here: another process has its own screen, and few functions can be sent to it
        return PassCounter, (self.count,)


class ProgressBar:
    """Listener that draws one bar for each pass on the terminal (standard error), and nothing without a terminal."""

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


#: Arrays by their names.
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass: what it computes, from which blocks, and what it adds to."""

    operation: str
    #: Blocks that it asks for.
    request: BlockRequest = ALL_BLOCKS
    #: Returns the arrays that it adds to; none: it cannot resume.
    sums: Callable[[], Arrays] | None = None
    #: What it computes them from besides the data: arrays or texts.
    inputs: dict[str, Any] = field(default_factory=dict)
    #: Whether packed genotypes are used more than once, so that they are read into memory first.
    in_memory: bool = False


def iterate_pass(matrix: Matrix, work: Pass) -> Iterator[tuple[Block, ColumnTransform]]:
    """Yield each block and the transform of its columns, once through the data; a complete pass is counted."""
    counter, traits = matrix._counter, matrix.traits
    store = counter.checkpoints if work.sums is not None else None
    ahead = traits.prefetch or (traits.packed and work.in_memory)

    def blocks_from(start: int) -> Generator[Block]:
        # what is resumed counts blocks, so their size must not depend on the pass
        request = work.request if store is None else replace(work.request, start=start, size="normal")
        blocks = matrix.blocks(request)
        yield from read_blocks_ahead(blocks) if ahead else blocks
        matrix.require_unchanged()

    matrix.require_unchanged()
    counter.tell(work.operation, 0.0, matrix.name)
    blocks = blocks_from(0)
    if store is not None and work.sums is not None:
        inputs = {**work.inputs, "data": matrix.fingerprint}
        blocks = resumed(store, work.operation, inputs, work.sums, blocks_from)
    cells, all_cells = 0, max(matrix.shape[0] * matrix.shape[1], 1)
    with closing(blocks):  # at once: the traceback of an error would keep file and reading thread open
        for block in blocks:
            height, width = block.values.shape
            if height and width:  # a view may see nothing of a block
                yield shifted(block, matrix._transform(block))
            cells += height * width
            counter.tell(work.operation, min(cells / all_cells, 0.999), matrix.name)
    counter.add()
    counter.tell(work.operation, 1.0, matrix.name)


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


class CheckpointStore(ABC):
    """Place where sums of passes are saved, so that a stopped pass can resume and a finished one is not repeated."""

    @abstractmethod
    def begin(self, operation: str, inputs: dict[str, Any], sums: Arrays) -> int | None:
        """Begin a pass: write what was saved of it into its sums.

        Parameters
        ----------
        operation : str
            What it computes.
        inputs : dict
            Arrays and texts that it computes it from, and the fingerprint of the data.
        sums : dict of array
            What it adds to.

        Returns
        -------
        blocks : int or None
            Number of blocks that the sums contain: 0 if nothing was saved, None if all of them.
        """

    @abstractmethod
    def after_block(self, blocks: int, sums: Callable[[], Arrays], at_once: bool = False) -> None:
        """Save the sums of the first blocks, if the last time is long enough ago.

        Parameters
        ----------
        blocks : int
            How many.
        sums : callable
            Returns what the pass adds to.
        at_once : bool
            Save them in any case.
        """

    @abstractmethod
    def end(self, sums: Arrays) -> None:
        """Save the sums of a whole pass.

        Parameters
        ----------
        sums : dict of array
            What the pass has added up.
        """


def resumed(
    store: CheckpointStore,
    operation: str,
    inputs: dict[str, Any],
    sums: Callable[[], Arrays],
    items_from: Callable[[int], Generator[T]],
    each: bool = False,
) -> Generator[T]:
    """Yield what a pass has not used in an earlier run, and save its sums now and then, or after each item."""
    start = store.begin(operation, inputs, sums())
    if start is None:
        return
    with closing(items_from(start)) as items:
        for number, item in enumerate(items, start + 1):
            yield item
            store.after_block(number, sums, each)
    store.end(sums())
