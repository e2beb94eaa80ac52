"""Writers of text benchmark files: a few megabytes of lines are made up, and repeated until there are enough."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import BinaryIO

import numpy as np

_COLUMNS, _FEATURES, _PER_ROW = 1000, 100_000, 100
#: Bytes of lines that are made up: more than gzip looks back for the same text.
_DIFFERENT_BYTES = 4 << 20
_SEED = 7


def svmlight(path: Path, size: int) -> None:
    """Write rows of label and pairs, numbered from 1."""
    with path.open("wb") as file:
        _repeat(file, _svmlight_lines(min(size, _DIFFERENT_BYTES)), size)


def svmlight_gz(path: Path, size: int) -> None:
    """Write the same, compressed; the size is that of the text."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        _repeat(file, _svmlight_lines(min(size, _DIFFERENT_BYTES)), size)  # type: ignore[arg-type]


def csv(path: Path, size: int) -> None:
    """Write a header and rows of numbers with five digits."""
    columns = _COLUMNS if size >= 10**7 else 50
    rng = np.random.default_rng(_SEED)
    rows = max(1, min(size, _DIFFERENT_BYTES) // (8 * columns))
    numbers = rng.integers(-99999, 99999, size=(rows, columns)) / 1e5
    lines = [(",".join(f"{x:.5f}" for x in row) + "\n").encode() for row in numbers]
    with path.open("wb") as file:
        file.write((",".join(f"f{j}" for j in range(columns)) + "\n").encode())
        _repeat(file, lines, size)


def _svmlight_lines(size: int) -> list[bytes]:
    rng = np.random.default_rng(_SEED)
    lines: list[bytes] = []
    written = 0
    while written < size:
        # one feature from each of as many stretches: sorted, and never twice
        features = np.arange(_PER_ROW) * (_FEATURES // _PER_ROW) + rng.integers(1, _FEATURES // _PER_ROW, size=_PER_ROW)
        values = rng.integers(1, 99999, size=_PER_ROW) / 1e5
        pairs = " ".join(f"{j}:{x:.5f}" for j, x in zip(features, values, strict=True))
        lines.append(f"{rng.integers(0, 2) * 2 - 1} {pairs}\n".encode())
        written += len(lines[-1])
    return lines


def _repeat(file: BinaryIO, lines: list[bytes], size: int) -> None:
    """Write the lines again and again, and stop at the end of one."""
    whole = b"".join(lines)
    for _ in range(size // len(whole)):
        file.write(whole)
    left = size % len(whole)
    for line in lines:
        if left <= 0:
            return
        file.write(line)
        left -= len(line)
