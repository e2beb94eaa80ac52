"""Data sets from the network, by pooch, into the user's cache."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from slimline.errors import DataError, FileFormatError, MissingDataSetError
from slimline_papers.sources.checking import require_sums
from slimline_papers.sources.source import Source
from slimline_papers.sources.unpacking import unpack

_TIMEOUT = 30  # seconds without an answer
_log = logging.getLogger("slimline")


def fetch(source: Source) -> Path:
    """Return the folder of a data set in the user's cache, its files checked; what is not there is fetched.

    Parameters
    ----------
    source : Source
        The data set, which has an address.

    Returns
    -------
    folder : Path
        Where its files are.
    """
    pooch = _pooch()
    folder = Path(pooch.os_cache("slimline")) / source.folder
    if source.missing(folder):
        _log.info("fetching %s from %s", source.name, source.address)
        try:
            _download(source, folder, pooch)
        except OSError as error:  # those of requests are such too
            raise MissingDataSetError(f"could not be fetched from {source.address} ({error}).") from error
        except FileFormatError as error:
            raise FileFormatError(f"{error} It came from {source.address}.") from error
    try:
        require_sums(source, folder)
    except DataError as error:
        for name in source.files:
            (folder / name).unlink(missing_ok=True)
        raise DataError(
            f"{error} It came from {source.address}; it is deleted, and the next run asks again."
        ) from error
    return folder


def _download(source: Source, folder: Path, pooch: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    downloader = pooch.HTTPDownloader(progressbar=False, timeout=_TIMEOUT)

    def get(address: str, name: str) -> Path:
        # no sum is told: those of archives change when they are packed anew, those of their content do not
        return Path(pooch.retrieve(address, known_hash=None, fname=name, path=folder, downloader=downloader))

    if not source.address.endswith(".zip"):
        for name in source.files:
            get(f"{source.address}/{name}", name)
        return
    archive = get(source.address, "archive.zip")
    try:
        unpack(archive, folder, [*source.files, *(names[0] for names in source.choices)])
    finally:
        archive.unlink()


def _pooch() -> Any:
    try:
        import pooch
    except ImportError as error:
        raise MissingDataSetError(
            f"cannot be fetched without the package pooch: pip install pooch ({error})."
        ) from error
    pooch.get_logger().setLevel(logging.WARNING)  # it would print the sum of everything that it fetches
    return pooch
