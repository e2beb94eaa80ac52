"""What passes added up, in files: a job that was killed goes on where it stopped."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.keeping import Arrays, PassKeeper
from slimline.errors import FileWriteError, InvalidParameterError, ModelFileError
from slimline.model_files.tensor_file import read_tensors, tensor_bytes

#: Name of the file that says what the others belong to.
KEY = "key"
#: Seconds of a pass between two files.
EVERY = 30.0


class PassFiles(PassKeeper):
    """Keeps every pass of a job in a folder, one file each.

    Passes are numbered. When the job is started again it asks for the same passes in the same order, and those that
    were finished are not made: their sums are read, and the job goes on with the same bits. Files are renamed when
    they are complete, so that a kill leaves nothing half-written under its name; they are not forced to the disk, and
    what a power failure damages does not fit its digest and is made again.

    Parameters
    ----------
    folder : str or path
        Where the files are; made if it is not there.
    key : str
        What the passes belong to: data and settings. With another key nothing is taken from the folder.
    every : float
        Seconds of a pass between two files.
    """

    def __init__(self, folder: str | os.PathLike[str], key: str, every: float = EVERY) -> None:
        self.folder, self._every, self._key = Path(folder), every, key
        self._number = 0
        self._last = time.monotonic()
        self._operation, self._digest = "", ""
        #: Whether the folder held passes of this job; and of another one, which are gone.
        self.goes_on, self.replaced = False, False
        #: Blocks, and whole passes, that were taken from the folder.
        self.blocks_found, self.passes_found = 0, 0
        self._begin(key)

    def begin(self, operation: str, inputs: dict[str, Any], sums: Arrays) -> int | None:
        """Take up the next pass."""
        self._number += 1
        self._operation, self._digest = operation, _digest(self._key, operation, inputs, sums)
        self._last = time.monotonic()
        found = self._read(sums)
        if found is None:
            return 0
        blocks, done = found
        if done:
            self.passes_found += 1
            return None
        self.blocks_found += blocks
        return blocks

    def after_block(self, blocks: int, sums: Callable[[], Arrays], at_once: bool = False) -> None:
        """Keep the sums of the first blocks, if the last file is old enough."""
        if at_once or time.monotonic() - self._last >= self._every:
            self._write(sums(), blocks, done=False)
            self._last = time.monotonic()

    def end(self, sums: Arrays | None) -> None:
        """Keep the sums of the whole pass."""
        if sums is not None:
            self._write(sums, 0, done=True)

    def remove(self) -> None:
        """Remove the folder: the job is done."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _begin(self, key: str) -> None:
        try:
            self.folder.mkdir(exist_ok=True)
            told, begun = self.folder / KEY, any(self.folder.glob("pass-*"))
            if told.exists() and told.read_text(errors="replace") == key:
                self.goes_on = begun
                return
            self.replaced = begun
            for path in self.folder.glob("pass-*"):
                path.unlink()
            told.write_text(key)
        except OSError as error:
            raise InvalidParameterError(f"{self.folder}: {error.strerror or error}. Choose another folder.") from None

    def _path(self) -> Path:
        return self.folder / f"pass-{self._number:04d}"

    def _read(self, sums: Arrays) -> tuple[int, bool] | None:
        """Fill the sums with what the file of this pass holds; None where it cannot be used."""
        try:
            arrays, plain = read_tensors(self._path())
        except (FileNotFoundError, ModelFileError):
            return None
        fits = plain.get("digest") == self._digest and arrays.keys() == sums.keys()
        if not fits or any(arrays[k].shape != sums[k].shape or arrays[k].dtype != sums[k].dtype for k in sums):
            return None
        for name, array in sums.items():
            array[...] = arrays[name]
        return int(plain["blocks"]), bool(plain["done"])

    def _write(self, sums: Arrays, blocks: int, done: bool) -> None:
        plain = {"operation": self._operation, "digest": self._digest, "blocks": blocks, "done": done}
        path = self._path()
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            self.folder.mkdir(exist_ok=True)  # the same job may have run twice, and the other one is done
            temporary.write_bytes(tensor_bytes(sums, plain))
            temporary.replace(path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise FileWriteError(
                f"could not write to {self.folder}, where what is needed to go on after an interruption is kept: "
                f"{error.strerror or error}. Make room, or do without it (slimline fit --no-resume)."
            ) from None


def _digest(key: str, operation: str, inputs: dict[str, Any], sums: Arrays) -> str:
    """Return a digest of what a pass is to compute, and for which job: another one may write into the same folder."""
    digest = hashlib.sha256(f"{key}\n{operation}".encode())
    for name, value in sorted(inputs.items()):
        digest.update(name.encode())
        digest.update(value.encode() if isinstance(value, str) else _bytes(value))
    for name, array in sorted(sums.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
    return digest.hexdigest()


def _bytes(array: NDArray[Any]) -> bytes:
    return np.ascontiguousarray(array).tobytes()
