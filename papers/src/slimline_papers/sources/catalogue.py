"""All data sets, and how to come by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slimline.errors import InvalidParameterError
from slimline_papers.sources.arcene import ARCENE
from slimline_papers.sources.dorothea import DOROTHEA
from slimline_papers.sources.genotypes import HAPMAP3, THOUSAND_GENOMES
from slimline_papers.sources.locate import locate
from slimline_papers.sources.mnist import MNIST
from slimline_papers.sources.newsgroups import NEWSGROUPS
from slimline_papers.sources.source import Source
from slimline_papers.sources.techtc import TECHTC

#: By name.
SOURCES: dict[str, Source] = {
    source.name: source for source in (ARCENE, DOROTHEA, TECHTC, NEWSGROUPS, HAPMAP3, THOUSAND_GENOMES, MNIST)
}


def load(name: str, data: Path | None = None) -> Any:
    """Find a data set, check it and read it.

    Parameters
    ----------
    name : str
        One of `SOURCES`.
    data : Path, optional
        Folder of the public data sets; else the one that SLIMLINE_DATA names. What is not there is fetched, where it
        can be.

    Returns
    -------
    data : object
        What the source's reader returns.
    """
    if name not in SOURCES:
        raise InvalidParameterError(f"there is no data set called {name!r}; there are {', '.join(SOURCES)}.")
    source = SOURCES[name]
    return source.read(locate(source, data))
