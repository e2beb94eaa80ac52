"""Arrays and plain data in one safetensors file."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.files import DataFile
from slimline.data.write.new_files import NewFiles
from slimline.errors import ModelFileError

#: Where a digest of all and our plain data lie in the file: one entry, since several have no order.
_KEY = "slimline"
#: Bytes before the header: its length.
_LENGTH = 8
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
    content = tensor_bytes(arrays, plain)
    with NewFiles([Path(path)], overwrite=overwrite) as files:
        files.create(Path(path)).write(content)


def tensor_bytes(arrays: dict[str, NDArray[Any]], plain: dict[str, Any]) -> bytes:
    """Return the content of a file.

    Parameters
    ----------
    arrays : dict of array
        Of numbers.
    plain : dict
        What JSON can hold.

    Returns
    -------
    content : bytes
        The same for the same arguments.
    """
    from safetensors.numpy import save

    text = json.dumps(plain, allow_nan=False, ensure_ascii=False)
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return save(whole, {_KEY: f"{_digest(text, whole)} {text}"})


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
    from safetensors import SafetensorError, deserialize

    file = DataFile(path)
    content = file.path.read_bytes()  # not mapped: a mapped file that is cut short kills the process
    try:
        tensors = deserialize(content)  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise ModelFileError(f"{file} is damaged, or no model of slimline: {error}.") from None
    arrays = {name: _array(name, entry, file) for name, entry in tensors}
    digest, _, text = _entry(content, file).partition(" ")
    if digest != _digest(text, arrays):
        raise ModelFileError(f"{file} is damaged: its content is not what was written.")
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{file}: what it says of the model cannot be read: {error}.") from None
    if not isinstance(plain, dict):
        raise ModelFileError(f"{file}: what it says of the model is no record.")
    return arrays, plain


def _array(name: str, entry: Any, file: DataFile) -> NDArray[Any]:
    dtype = _TYPES.get(entry["dtype"])
    if dtype is None:
        raise ModelFileError(f"{file}: {name} is of type {entry['dtype']}, which no model of slimline has.")
    array: NDArray[Any] = np.frombuffer(entry["data"], dtype=dtype).reshape(entry["shape"])
    return array if array.flags.writeable else array.copy()


def _entry(content: bytes, file: DataFile) -> str:
    """Return our part of the header, which safetensors has found sound."""
    length = int.from_bytes(content[:_LENGTH], "little")
    metadata = json.loads(content[_LENGTH : _LENGTH + length]).get("__metadata__") or {}
    if _KEY not in metadata:
        raise ModelFileError(f"{file} is a safetensors file, but no model of slimline.")
    return str(metadata[_KEY])


def _digest(text: str, arrays: dict[str, NDArray[Any]]) -> str:
    """Return a digest of everything: damage to a weight would show nowhere else."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
