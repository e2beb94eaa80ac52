"""TechTC-300, in the layout of its preprocessed archive (Davidov, Gabrilovich and Markovitch, SIGIR 2004)."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from slimline.errors import DataError, FileFormatError, MissingDataSetError
from slimline_papers.sources.records import DocumentPair
from slimline_papers.sources.source import Source

_PAIR = re.compile(r"Exp_(\d+)_(\d+)")
#: What a pair can have: the collection has 150 to 280 documents and 10,000 to 40,000 words in each.
_DOCUMENTS, _WORDS = (100, 500), (5_000, 80_000)


def read_techtc(folder: Path) -> list[DocumentPair]:
    """Read all pairs of categories.

    Parameters
    ----------
    folder : Path
        With a folder Exp_ID1_ID2 for each pair, in which vectors.dat (svmlight: a label, -1 or 1, and
        NUMBER:COUNT for each word, numbers from 1; lines that begin with # are none) and features.idx (NUMBER WORD)
        are; both may be .gz.

    Returns
    -------
    pairs : list of DocumentPair
        In the order of their numbers, with the words that occur in a pair only.
    """
    found = sorted(
        (tuple(map(int, match.groups())), path)
        for path in folder.iterdir()
        if path.is_dir() and (match := _PAIR.fullmatch(path.name))
    )
    if not found:
        raise MissingDataSetError(
            f"{folder} has no folders Exp_ID1_ID2: unpack techtc300_preprocessed.zip of the Technion Repository there."
        )
    return [_read_pair(path, f"{first} / {second}") for (first, second), path in found]


def _read_pair(folder: Path, name: str) -> DocumentPair:
    words = _count_words(_file(folder, "features.idx"))
    path = _file(folder, "vectors.dat")
    try:
        stored, labels = load_svmlight_file(path, n_features=words, zero_based=False)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path} cannot be read as svmlight text of {words:,} words ({error}).") from error
    X = csr_array(stored)
    if set(np.unique(labels)) != {-1, 1}:
        raise DataError(f"{path}: its documents must be of two classes, -1 and 1, not {np.unique(labels).tolist()}.")
    for count, (fewest, most), what in ((X.shape[0], _DOCUMENTS, "documents"), (words, _WORDS, "words")):
        if not fewest <= count <= most:
            raise DataError(
                f"{folder} has {count:,} {what}; a pair of TechTC-300 has between {fewest:,} and {most:,}. Unpack "
                "the original there."
            )
    return DocumentPair(name, csr_array(X[:, np.unique(X.indices)]), labels.astype(np.int64))


def _file(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise MissingDataSetError(f"{folder} has no {name} (nor {name}.gz): unpack the original of TechTC-300 there.")


def _count_words(path: Path) -> int:
    """Return the number of words, listed under the numbers from 1 on."""
    try:
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path} cannot be read ({error}): it is truncated or of another kind.") from error
    numbers = [line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith(b"#")]
    if numbers != [b"%d" % number for number in range(1, len(numbers) + 1)]:
        raise FileFormatError(f"{path} must list words as NUMBER WORD, with the numbers 1, 2, 3, …")
    return len(numbers)


TECHTC = Source(
    name="techtc300",
    folder="techtc300",
    about="TechTC-300: pairs of categories of the Open Directory Project (Davidov, Gabrilovich, Markovitch)",
    layout="the folders Exp_ID1_ID2, each with vectors.dat and features.idx, of techtc300_preprocessed.zip",
    read=read_techtc,
)
