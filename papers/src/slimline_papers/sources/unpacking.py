"""Files out of a .zip archive, and nothing else."""

from __future__ import annotations

import os
import shutil
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from slimline.errors import FileFormatError

#: No file of the data sets is half as large; one that claims to be is no data.
_LARGEST = 2**30


def unpack(archive: Path, folder: Path, names: Sequence[str]) -> None:
    """Write files of an archive into a folder, whatever folders they are in there.

    Only the names asked for are written, so that no entry of the archive can choose a place of its own.

    Parameters
    ----------
    archive : Path
        A .zip file.
    folder : Path
        Where the files go.
    names : sequence of str
        Their names, without folders.
    """
    try:
        with zipfile.ZipFile(archive) as packed:
            for name in names:
                _extract(packed, _entry(packed, name, archive), folder / name)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise FileFormatError(f"{archive} cannot be unpacked ({error}): it is truncated or no .zip file.") from error


def _entry(packed: zipfile.ZipFile, name: str, archive: Path) -> zipfile.ZipInfo:
    found = [entry for entry in packed.infolist() if PurePosixPath(entry.filename.replace("\\", "/")).name == name]
    files = [entry for entry in found if not entry.is_dir()]
    if len(files) != 1:
        raise FileFormatError(f"{archive} has {len(files)} files called {name} in place of one.")
    if files[0].file_size > _LARGEST:
        raise FileFormatError(f"{archive}: {name} would take {files[0].file_size:,} bytes, far more than the data do.")
    return files[0]


def _extract(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> None:
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with packed.open(entry) as content, unfinished.open("wb") as file:
            shutil.copyfileobj(content, file)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
