"""Reading ahead: the next block is fetched while the last one is computed on."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from slimline.data.block_memory import block_memory, give_back

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
    """Yield the items, each made by another thread while the one before it is in use.

    Parameters
    ----------
    items : iterator
        At most one of its items waits, so three buffers are enough for it (see `Buffers`).

    Yields
    ------
    object
        The items in order; what the iterator raises is raised here.
    """
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
