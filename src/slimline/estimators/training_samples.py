"""Which samples a model was trained on, so that other data can be told from them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix
from slimline.data.column_view import ColumnView
from slimline.data.row_view import RowView
from slimline.data.standardised import Standardised
from slimline.model_files import StoredModel

#: Bytes of the digest of a name: two of a million names agree by accident with probability 3e-8.
_DIGEST_BYTES = 8


@dataclass(frozen=True)
class TrainingSamples:
    """The samples that a model was trained on, as row numbers and as digests of their names.

    Parameters
    ----------
    source : str
        Fingerprint of the data that they are rows of; empty if it is not known.
    rows : array of int64, optional
        Which rows of these data they are.
    names : array of uint64, optional
        Digests of their names, rising. The names themselves are not stored: they may be those of patients.
    """

    source: str
    rows: NDArray[np.int64] | None
    names: NDArray[np.uint64] | None

    @classmethod
    def of(cls, matrix: Matrix) -> Self:
        """Return the samples of training data.

        Parameters
        ----------
        matrix : Matrix
            What is trained on; a view of some rows of a file knows which they are.

        Returns
        -------
        samples : TrainingSamples
            Nothing is read but the fingerprint and the names.
        """
        source, rows = _whole(matrix)
        ids = matrix.sample_ids
        names = None if ids is None else np.unique(_digests(ids))
        return cls(source.fingerprint, rows.astype(np.int64), names)

    @classmethod
    def of_model(cls, stored: StoredModel) -> Self:
        """Return what a model file says of its training samples.

        Parameters
        ----------
        stored : StoredModel
            The model.

        Returns
        -------
        samples : TrainingSamples
            Empty if the file does not say.
        """
        return cls(stored.sample_source, stored.sample_rows, stored.sample_names)

    def fields(self) -> dict[str, Any]:
        """Return the fields of `StoredModel` that hold them."""
        return {"sample_source": self.source, "sample_rows": self.rows, "sample_names": self.names}

    def among(self, matrix: Matrix) -> NDArray[np.bool_] | None:
        """Return which rows of some data are among these samples.

        Parameters
        ----------
        matrix : Matrix
            The data.

        Returns
        -------
        mask : array of shape (n_samples,), bool, or None
            By row number if these are rows of the same data, as the fingerprint tells; else by name. None if neither
            can be compared.
        """
        source, rows = _whole(matrix)
        if self.rows is not None and source.fingerprint == self.source:
            return np.isin(rows, self.rows)
        ids = matrix.sample_ids
        if self.names is None or ids is None:
            return None
        return np.isin(_digests(ids), self.names)


def _whole(matrix: Matrix) -> tuple[Matrix, NDArray[np.intp]]:
    """Return the data behind the views of a matrix, and which rows of them it shows."""
    rows = np.arange(matrix.shape[0])
    while isinstance(matrix, (RowView, ColumnView, Standardised)):
        if isinstance(matrix, RowView):
            rows = matrix._index[rows]
        matrix = matrix._base
    return matrix, rows


def _digests(names: Iterable[str]) -> NDArray[np.uint64]:
    digests = (hashlib.blake2b(str(name).encode(), digest_size=_DIGEST_BYTES).digest() for name in names)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
