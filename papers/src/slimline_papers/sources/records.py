"""Records that readers return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from slimline.data._matrix import Matrix


@dataclass(frozen=True)
class Challenge:
    """A set of the NIPS 2003 challenge: training and validation part (labels of the test part are not public).

    Parameters
    ----------
    X, X_valid : array or csr_array
        Samples by features, float64.
    y, y_valid : array
        Labels, -1 and 1.
    """

    X: NDArray[np.float64] | csr_array
    y: NDArray[np.float64]
    X_valid: NDArray[np.float64] | csr_array
    y_valid: NDArray[np.float64]


@dataclass(frozen=True)
class DocumentPair:
    """Documents of two categories.

    Parameters
    ----------
    name : str
        The categories.
    X : csr_array
        Counts of the words that occur, float64.
    y : array
        Labels, -1 and 1.
    """

    name: str
    X: csr_array
    y: NDArray[np.int64]


@dataclass(frozen=True)
class Genotypes:
    """People and their variants.

    Parameters
    ----------
    matrix : Matrix
        Genotypes 0, 1, 2 and missing ones, of those people whose population is known.
    populations, regions : array of str
        Where they come from.
    """

    matrix: Matrix
    populations: NDArray[np.str_]
    regions: NDArray[np.str_]


@dataclass(frozen=True)
class Digits:
    """Handwritten digits.

    Parameters
    ----------
    X, X_test : array of uint8
        Pictures, one a row.
    y, y_test : array
        Digits.
    """

    X: NDArray[np.uint8]
    y: NDArray[np.uint8]
    X_test: NDArray[np.uint8]
    y_test: NDArray[np.uint8]
