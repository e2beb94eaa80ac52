"""Settings of a replay: size, data folder and seeds."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from slimline.errors import MissingDataSetError

Size = Literal["miniature", "default", "full"]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Study:
    """The setting of a replay.

    Parameters
    ----------
    size : {"miniature", "default", "full"}
        How much is measured: for tests, for a look within minutes, or as much as in the document.
    seed : int
        All randomness follows from it.
    data : Path or None
        Folder of the public data sets; None: SLIMLINE_DATA, or fetched.
    """

    size: Size = "default"
    seed: int = 0
    data: Path | None = None
    _loaded: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _missed: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def pick(self, miniature: _T, default: _T, full: _T) -> _T:
        """Return what belongs to the size of this study.

        Parameters
        ----------
        miniature, default, full : object
            What belongs to each size.

        Returns
        -------
        chosen : object
            One of them.
        """
        return {"miniature": miniature, "default": default, "full": full}[self.size]

    def seed_of(self, *part: str | int | float) -> int:
        """Return a seed of its own for a piece of work: the same in every run, whatever ran before.

        Parameters
        ----------
        *part : text or number
            What tells the piece from others.

        Returns
        -------
        seed : int
            From 0 to 2³² - 1; for `random_state` and `numpy.random.default_rng`.
        """
        return zlib.crc32(repr((self.seed, *part)).encode())

    def load(self, source: str) -> Any:
        """Return a data set, read once. What is not at hand at first is not looked for again.

        Otherwise a set that arrives while others stand in for it would be mixed with them.

        Parameters
        ----------
        source : str
            Its name: see `slimline_papers.sources`.

        Returns
        -------
        data : object
            What its reader returns.
        """
        if source in self._missed:
            raise MissingDataSetError(self._missed[source])
        if source not in self._loaded:
            from slimline_papers.sources import load

            try:
                self._loaded[source] = load(source, self.data)
            except MissingDataSetError as error:
                self._missed[source] = str(error)
                raise
        return self._loaded[source]
