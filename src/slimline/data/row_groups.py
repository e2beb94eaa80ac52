"""Rows of a text in groups, found once: later passes parse several of them at the same time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from slimline._kernels import thread_count
from slimline.data.block import Block
from slimline.data.text_lines import TextFile, TextLines

#: Bytes of the numbers of a group. Two threads hold four of them: one computed on, one waiting, two in the making.
GROUP_BYTES = 6 << 20
#: More threads than this would only hold more groups.
_MOST_WORKERS = 2


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that follow each other in a text.

    Parameters
    ----------
    number : int
        Number of the group.
    start, stop : int
        First byte and the one behind the last.
    line : int
        Number of the first line, from 1.
    first_row : int
        Number of the first row, from 0.
    rows : int
        How many there are.
    values : int
        How many numbers they hold.
    """

    number: int
    start: int
    stop: int
    line: int
    first_row: int
    rows: int
    values: int


#: Makes a block of a group, given its text and the number of the buffer to use.
Parse = Callable[[RowGroup, TextLines, int], Block]


def group_blocks(text: TextFile, groups: Sequence[RowGroup], parse: Parse) -> Iterator[Block]:
    """Yield the blocks of all groups, in order.

    Parameters
    ----------
    text : TextFile
        Where the groups are. A compressed file is parsed from the beginning to the end, by one thread.
    groups : sequence of RowGroup
        All of them.
    parse : callable
        What makes a block; several threads may be in it at once, with different numbers.

    Yields
    ------
    Block
        Valid until the next is asked for, and one longer, as `read_ahead` needs it.
    """
    workers = min(thread_count(), _MOST_WORKERS)
    if text.compression is not None or workers < 2 or len(groups) < 2:
        with text.lines(line=1) as lines:
            for group in groups:
                yield parse(group, lines, group.number % 3)
        return
    slots = workers + 2

    def parse_alone(group: RowGroup) -> Block:
        with text.lines(group.start, group.stop, group.line) as lines:
            return parse(group, lines, group.number % slots)

    waiting: deque[Future[Block]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="slimline-parse") as pool:
        try:
            for group in groups:
                waiting.append(pool.submit(parse_alone, group))
                if len(waiting) == workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for task in waiting:
                task.cancel()
