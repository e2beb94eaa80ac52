"""ARCENE, in the layout of the UCI repository."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from slimline.errors import DataError
from slimline_papers.sources.records import Challenge
from slimline_papers.sources.source import Source

#: Sums of all entries, which the challenge publishes.
_SUMS = {"train": 70_726_744, "valid": 71_410_108}


def read_arcene(folder: Path) -> Challenge:
    """Read the training and the validation part.

    Parameters
    ----------
    folder : Path
        With arcene_train.data, arcene_train.labels, arcene_valid.data and arcene_valid.labels.

    Returns
    -------
    challenge : Challenge
        100 + 100 samples of 10,000 features.
    """
    parts = []
    for part, total in _SUMS.items():
        X = np.loadtxt(folder / f"arcene_{part}.data")
        if X.shape != (100, 10_000) or X.sum() != total:
            raise DataError(
                f"{folder / f'arcene_{part}.data'}: its entries do not add up to {total:,}, as the original's do: put "
                "that in its place."
            )
        parts += [X, np.loadtxt(folder / f"arcene_{part}.labels")]
    return Challenge(*parts)


ARCENE = Source(
    name="arcene",
    folder="arcene",
    about="ARCENE: mass spectra of cancer patients and healthy people, NIPS 2003 challenge (Guyon et al.)",
    files={
        "arcene_train.data": "580f314d09fd3d67aa8b58a8250efb59a28d69a7d23a612a78a0b0cefc4d0264",
        "arcene_train.labels": "434bb813ff7e69d182eeed347f77bd4981917d6233efedd01b5f6d916c282fbe",
        "arcene_valid.data": "7f8792b3cfb083c3b722e31b37a0c40604506bdece1d2db621e00d862da1c549",
        "arcene_valid.labels": "b591228155de082dd39b2e85b12b75a55bd8ca057b7e1c0d7f54683d0a594fc3",
    },
    read=read_arcene,
    address="https://archive.ics.uci.edu/static/public/167/arcene.zip",
)
