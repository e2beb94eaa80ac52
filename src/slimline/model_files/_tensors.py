"""Arrays and plain data in one safetensors file."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data._files import DataFile
from slimline.data._write import NewFiles
from slimline.errors import ModelFileError

#: Where a digest of all and our plain data lie in the file: one entry, since several have no order.
_KEY = "slimline"
#: Bytes before the header: its length.
_LENGTH = 8
#: The longest header that the format allows.
_LONGEST = 100_000_000
#: Bytes of an array that are put into C order at a time.
_PIECE = 4 << 20
#: Types of the arrays in our files.
_TYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "I64": np.int64,
    "U64": np.uint64,
    "U32": np.uint32,
    "U8": np.uint8,
    "BOOL": np.bool_,
}
#: Halves of characters: Python has them in names of files that are no UTF-8.
_HALVES = re.compile("[\ud800-\udfff]")
_NAMES = {np.dtype(kind): name for name, kind in _TYPES.items()}


def write_tensors(
    path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]], plain: dict[str, Any], *, overwrite: bool = False
) -> None:
    """Write arrays and plain data; the file appears when it is complete.

    Parameters
    ----------
    path : str or path
        The file.
    arrays : dict of array
        Of numbers.
    plain : dict
        What JSON can hold.
    overwrite : bool
        Whether a file that exists may be replaced.
    """
    with NewFiles([Path(path)], overwrite=overwrite) as files:
        file = files.create(Path(path))
        for piece in tensor_pieces(arrays, plain):
            file.write(piece)


def tensor_pieces(arrays: dict[str, NDArray[Any]], plain: dict[str, Any]) -> Iterator[bytes | memoryview]:
    """Yield the content of a file piece by piece: no second copy of the arrays is made."""
    text = json.dumps(plain, allow_nan=False, ensure_ascii=False)
    text = _HALVES.sub(lambda half: f"\\\\u{ord(half[0]):04x}", text)  # read as a backslash, u, and digits
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))  # each begins where its type may
    header: dict[str, Any] = {"__metadata__": {_KEY: f"{_digest(text, arrays)} {text}"}}
    begin = 0
    for name in names:
        array = arrays[name]
        end = begin + array.nbytes
        header[name] = {"dtype": _NAMES[array.dtype], "shape": array.shape, "data_offsets": (begin, end)}
        begin = end
    head = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    head += b" " * (-len(head) % _LENGTH)
    yield len(head).to_bytes(_LENGTH, "little") + head
    for name in names:
        yield from array_pieces(arrays[name])


def array_pieces(array: NDArray[Any]) -> Iterator[memoryview]:
    """Yield the bytes of an array in C order, whatever its own order is, without a copy of all of it."""
    rows = len(array) if array.ndim else 1
    step = max(rows if array.flags.c_contiguous else _PIECE * rows // max(array.nbytes, 1), 1)
    for start in range(0, rows, step):
        part = np.ascontiguousarray(array[start : start + step] if array.ndim else array)
        yield part.reshape(-1).view(np.uint8).data


def read_tensors(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read arrays and plain data; nothing in the file is ever run.

    Parameters
    ----------
    path : str or path
        A file that `write_tensors` wrote; any other is an error.

    Returns
    -------
    arrays : dict of array
        They can be written to.
    plain : dict
        As it was given.
    """
    file = DataFile(path)
    with file.path.open("rb") as handle:  # not mapped: a mapped file that is cut short kills the process
        try:
            header, entry = _header(handle, file)
            arrays = _arrays(handle, file, header)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ModelFileError(f"{file} is damaged, or no model of slimline: {error!r:.200}.") from None
    if entry is None:
        raise ModelFileError(f"{file} is a safetensors file, but no model of slimline.")
    digest, _, text = entry.partition(" ")
    try:
        if digest != _digest(text, arrays):
            raise ModelFileError(f"{file} is damaged: its content is not what was written.")
        plain = json.loads(text, parse_constant=_refused)
        json.dumps(plain, ensure_ascii=False).encode()  # halves of characters can be written nowhere
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{file}: what it says of the model cannot be read: {error}.") from None
    if not isinstance(plain, dict):
        raise ModelFileError(f"{file}: what it says of the model is no record.")
    return arrays, plain


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _header(handle: BufferedReader, file: DataFile) -> tuple[dict[str, Any], str | None]:
    """Return what the header says of each array, and our part of it, if it has one."""
    length = int.from_bytes(handle.read(_LENGTH), "little")
    if not 0 < length <= min(file.size - _LENGTH, _LONGEST):
        raise ValueError(f"a header of {length:,} bytes")
    header = json.loads(handle.read(length).decode())
    entry = (header.pop("__metadata__", None) or {}).get(_KEY)
    return header, None if entry is None else str(entry)


def _arrays(handle: BufferedReader, file: DataFile, header: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Read the arrays, which lie one after the other and fill the file to its end; each into memory of its own."""
    arrays: dict[str, NDArray[Any]] = {}
    here, left = 0, file.size - handle.tell()
    for name, entry in sorted(header.items(), key=lambda item: tuple(item[1]["data_offsets"])):
        if entry["dtype"] not in _TYPES:
            raise ModelFileError(f"{file}: {name} is of type {entry['dtype']}, which no model of slimline has.")
        dtype, shape, (begin, end) = np.dtype(_TYPES[entry["dtype"]]), entry["shape"], entry["data_offsets"]
        if any(type(size) is not int or size < 0 for size in (*shape, begin, end)):
            raise ValueError(f"{name} has sizes that are none")
        if begin != here or end > left or end - begin != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"{name} is not where it should be")
        arrays[name] = np.empty(shape, dtype=dtype)
        if handle.readinto(arrays[name].reshape(-1).view(np.uint8).data) != end - begin:
            raise ValueError(f"it ends within {name}")
        here = end
    if here != left:
        raise ValueError(f"{left - here:,} bytes that belong to nothing")
    return arrays


def _digest(text: str, arrays: dict[str, NDArray[Any]]) -> str:
    """Return a digest of everything: damage to a weight would show nowhere else."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        for piece in array_pieces(array):
            digest.update(piece)
    return digest.hexdigest()
