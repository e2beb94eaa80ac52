"""Table 3's experiment: pairs of document categories, projected and given to LIBSVM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from scipy.sparse import csr_array
from sklearn.model_selection import KFold

from slimline.errors import MissingDataSetError
from slimline_papers.item import Experiment, Part
from slimline_papers.paul2013.contenders import FAMILIES, best_seconds, cross_validate, projection
from slimline_papers.sources.records import DocumentPair
from slimline_papers.study import Study

DIMENSIONS = (128, 256, 512)
C = 500
#: Pairs of the paper's own collection; the newsgroups have 190.
_MOST_PAIRS = 295
_NAME = "paul2013.documents"


def document_pairs(study: Study) -> tuple[str, Sequence[DocumentPair]]:
    """Return the paper's own pairs of categories, or those of newsgroups where they are not at hand.

    Parameters
    ----------
    study : Study
        Where the data are.

    Returns
    -------
    source : {"techtc300", "newsgroups"}
        Which they are.
    pairs : sequence of DocumentPair
        In an order of chance, so that some are like all.
    """
    source = "techtc300"
    try:
        pairs = study.load(source)
    except (MissingDataSetError, KeyError):
        source = "newsgroups"
        pairs = study.load(source)
    order = np.random.default_rng(study.seed_of(_NAME, source)).permutation(len(pairs))
    return source, [pairs[number] for number in order]


def _parts(study: Study) -> Sequence[Part]:
    return [(number, cv) for number in range(study.pick(4, 20, _MOST_PAIRS)) for cv in range(study.pick(1, 1, 10))]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    source, pairs = document_pairs(study)
    number, cv = int(part[0]), int(part[1])
    if number >= len(pairs):
        return
    X, y = pairs[number].X, pairs[number].y
    about = (source, number, pairs[number].name, *X.shape, cv)
    shuffled = KFold(study.pick(5, 10, 10), shuffle=True, random_state=study.seed_of(_NAME, number, cv))
    folds = list(shuffled.split(y))
    found = cross_validate(X, y, folds, C)
    yield *about, "full", 0, 0, found.error_out, found.error_in, found.margin, 0.0, found.seconds
    for draw in range(study.pick(1, 1, 10)):
        for r in DIMENSIONS:
            for family in FAMILIES:
                transformer = projection(family, r, study.seed_of(_NAME, number, draw, family, r))
                Z, seconds = best_seconds(partial(transformer.fit_transform, X), 3)
                found = cross_validate(csr_array(Z), y, folds, C)
                total = seconds + found.seconds
                yield *about, family, r, draw, found.error_out, found.error_in, found.margin, seconds, total


_COLUMNS = (
    "source", "pair", "categories", "documents", "words", "cv", "family", "r", "draw",
    "error_out", "error_in", "margin", "t_rp", "t_run",
)  # fmt: skip
DOCUMENTS = Experiment(
    name=_NAME,
    about=(
        "Documents of two categories, counts of words: ten-fold cross-validation of LIBSVM, C = 500, on all words and "
        "on projections. Pairs of newsgroups stand in for TechTC-300 where it is not at hand; they "
        "share documents, so that their results are not independent."
    ),
    columns=_COLUMNS,
    parts=_parts,
    measure=_measure,
    sources=("newsgroups",),
    own_source="techtc300",
    timed=True,
)
