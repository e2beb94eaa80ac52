"""A data folder: a store of many files, watched for changes."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from slimline.data.files import SAMPLE_BYTES, located, pieces
from slimline.errors import FileChangedError, FileFormatError

#: Pieces that a fingerprint looks at, if there are not more files than that: of each it looks at two at least.
_SAMPLES = 4096
#: Links that may lead to one folder. Links to folders of links to folders of links are as good as endless.
_MOST_WAYS = 64

#: Device and number of a folder, which are the same by whatever way one comes to it.
_Place = tuple[int, int]


class DataFolder:
    """A folder whose files must stay the same as long as it is in use.

    A chunk that is not there stands for zeros in some formats, so one that vanishes has to be noticed here.

    Parameters
    ----------
    path : str or path
        Where it is; what it is relative to may change later.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._given = os.fspath(path)
        self.path, _ = located(path, "file or folder")
        if not self.path.is_dir():
            raise FileFormatError(f"{self} is not a folder.")
        try:
            self.watch("")
        except OSError as error:
            raise FileFormatError(
                f"{self} holds {str(error.filename)!r}, which cannot be read ({error.strerror}): mend or remove it."
            ) from None

    def __str__(self) -> str:
        return self._given

    def watch(self, part: str) -> None:
        """Watch only a folder within, and the files that lie directly in the folders above it."""
        self._part = self.path / part
        self._state = self._look()
        self._digest: str | None = None

    def require_unchanged(self) -> None:
        """Raise if a file came, went or was written since the folder was opened."""
        try:
            state = self._look()
        except (OSError, FileFormatError):
            raise FileChangedError(f"{self} vanished while it was in use: put it back and open it again.") from None
        if state != self._state:
            raise FileChangedError(
                f"{self} changed while it was in use (from {self._state[0]:,} files to {state[0]:,}, or files were "
                "written again): passes would see different data. Open it again when it is complete."
            )

    def fingerprint(self) -> str:
        """Return a digest of names and sizes of the files and of pieces of every one; the times do not matter."""
        self.require_unchanged()
        if self._digest is None:
            self._digest = self._digest_of_pieces()
        return self._digest

    def _digest_of_pieces(self) -> str:
        files = sorted((str(Path(file.path).relative_to(self.path)), file.stat().st_size) for file in self.files())
        digest = hashlib.sha256(repr(files).encode())
        share = max(_SAMPLES // max(len(files), 1), 2)
        for name, size in files:
            whole = size // SAMPLE_BYTES + 2  # so many leave no gap
            for piece in pieces(self.path / name, size, min(share, whole)):
                digest.update(piece)
        return digest.hexdigest()

    def files(self) -> Iterator[os.DirEntry[str]]:
        """Yield the files that are watched."""
        above = [folder for folder in (self._part, *self._part.parents) if folder.is_relative_to(self.path)]
        for parent in above[1:]:
            with os.scandir(parent) as entries:
                yield from (entry for entry in entries if entry.is_file())
        ways: Counter[_Place] = Counter()
        waiting: list[tuple[str, frozenset[_Place]]] = [(str(self._part), frozenset([_place(self._part.stat())]))]
        while waiting:
            folder, within = waiting.pop()
            with os.scandir(folder) as entries:
                for entry in entries:
                    if not entry.is_dir():
                        yield entry
                        continue
                    place = _place(entry.stat())
                    ways[place] += 1
                    if place in within or ways[place] > _MOST_WAYS:
                        raise FileFormatError(
                            f"{self}: symbolic links lead to {entry.path!r} again and again. Remove the links, or copy "
                            "what they point to."
                        )
                    waiting.append((entry.path, within | {place}))

    def _look(self) -> tuple[int, int]:
        """Return the number of files, and a digest of their names, sizes and times that does not see their order."""
        count = total = 0
        for file in self.files():
            state = file.stat()
            count += 1
            total ^= hash((file.path, state.st_size, state.st_mtime_ns, state.st_ino))
        return count, total


def _place(state: os.stat_result) -> _Place:
    return state.st_dev, state.st_ino
