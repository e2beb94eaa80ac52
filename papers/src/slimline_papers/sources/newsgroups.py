"""Pairs of newsgroups: documents of two categories, as TechTC-300 has them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz

from slimline_papers.sources.records import DocumentPair
from slimline_papers.sources.source import Source


def read_newsgroup_pairs(folder: Path) -> list[DocumentPair]:
    """Read the 190 pairs of newsgroups.

    Parameters
    ----------
    folder : Path
        With counts_train.npz, pairs.json.gz and classes.txt.

    Returns
    -------
    pairs : list of DocumentPair
        With the words that occur in a pair only.
    """
    stored: Any = load_npz(folder / "counts_train.npz")
    counts = csr_array(stored.astype(np.float64))
    names = (folder / "classes.txt").read_text(encoding="utf-8").split()
    pairs = []
    for pair in json.loads(gzip.decompress((folder / "pairs.json.gz").read_bytes())):
        X = counts[pair["rows_pos"] + pair["rows_neg"]]
        y = np.repeat([1, -1], [len(pair["rows_pos"]), len(pair["rows_neg"])])
        name = f"{names[pair['pos']]} / {names[pair['neg']]}"
        pairs.append(DocumentPair(name, csr_array(X[:, np.unique(X.indices)]), y))
    return pairs


NEWSGROUPS = Source(
    name="newsgroups",
    folder="newsgroups20",
    about="190 pairs of the 20 newsgroups that Ken Lang collected (all terms; prepared by Ana Cardoso Cachopo)",
    files={
        "classes.txt": "e639d15e21a5fef5fa90955acc42bbf428a9bd3a379cd3084b9595cb0066831b",
        "counts_train.npz": "5ce6746df2ca2112fd9907e203ac5a5571d7155818f9a06f91955c038fb0a64c",
        "pairs.json.gz": "25618d9d5afa0a7639e2505a796e3b19c915c820fbae1f9440d24deaffbeafd0",
    },
    read=read_newsgroup_pairs,
    stand_in_for="TechTC-300, the 295 pairs of categories of the Open Directory Project",
)
