"""Sizes of the data of the suite."""

from __future__ import annotations

import re
from dataclasses import dataclass

from slimline.errors import InvalidParameterError

#: What `--only` chooses from.
PARTS = ("genotypes", "sparse", "formats")

_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
#: Smaller files would have no rows worth a block.
_SMALLEST = 10**5


@dataclass(frozen=True)
class Sizes:
    """Sizes of everything that the suite makes.

    Parameters
    ----------
    samples, features : int
        Genotypes.
    components : int
        Columns of the sketches.
    single_features : int
        Features of the float32 genotypes in memory, fewer for their size.
    sparse : (int, int, int)
        Rows, columns and entries a row of the CSR matrix.
    file_bytes, text_bytes : int
        Content of a file of each format; text is slower to read and may be less.
    file_components : int
        Columns of the sketches of these files, which may have a million rows.
    """

    samples: int = 2250
    features: int = 492_516
    components: int = 2048
    single_features: int = 131_072
    sparse: tuple[int, int, int] = (20_000, 1_000_000, 100)
    file_bytes: int = 500_000_000
    text_bytes: int = 125_000_000
    file_components: int = 64


#: A few minutes in all: each contender gets its share of the clock however small the data are.
QUICK = Sizes(100, 5000, 128, 2000, (200, 10_000, 20), 2_000_000, 500_000)


def parse_size(text: str) -> int:
    """Return the bytes that a text such as "4GB" or "500 MB" stands for.

    Parameters
    ----------
    text : str
        A number and, optionally, kB, MB or GB (powers of ten).

    Returns
    -------
    size : int
        Bytes.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kMG]?B?)\s*", text)
    unit = found.group(2) if found else None
    if found is None or unit not in _UNITS or float(found.group(1)) * _UNITS[unit] < _SMALLEST:
        raise InvalidParameterError(f"a size is a number with kB, MB or GB, 100kB or more; got {text!r}.")
    return int(float(found.group(1)) * _UNITS[unit])
