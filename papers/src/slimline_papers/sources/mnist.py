"""MNIST, the four original files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slimline_papers.sources.records import Digits
from slimline_papers.sources.source import Source


def read_mnist(folder: Path) -> Digits:
    """Read the digits.

    Parameters
    ----------
    folder : Path
        With train-images-idx3-ubyte.gz and the other three.

    Returns
    -------
    digits : Digits
        60,000 + 10,000 pictures of 28 × 28 pixels.
    """
    images = [_bytes(folder / f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784) for part in ("train", "t10k")]
    labels = [_bytes(folder / f"{part}-labels-idx1-ubyte.gz", 8) for part in ("train", "t10k")]
    return Digits(images[0], labels[0], images[1], labels[1])


def _bytes(path: Path, header: int) -> NDArray[np.uint8]:
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)


MNIST = Source(
    name="mnist",
    folder="mnist",
    about="MNIST: handwritten digits (LeCun, Cortes, Burges)",
    files={
        "t10k-images-idx3-ubyte.gz": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "t10k-labels-idx1-ubyte.gz": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        "train-images-idx3-ubyte.gz": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "train-labels-idx1-ubyte.gz": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    },
    read=read_mnist,
    address="https://storage.googleapis.com/cvdf-datasets/mnist",
    stand_in_for="TiCC, handwritten characters",
)
