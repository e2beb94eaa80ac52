"""Names, ids and labels that a file carries beside its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from slimline.data.matrix import Matrix
from slimline.errors import FileFormatError


@dataclass(frozen=True)
class Names:
    """What travels along with a matrix.

    Parameters
    ----------
    features, samples : sequences of str, optional
        Names of columns and rows.
    labels : array of shape (n_samples,), optional
        Label of each row.
    """

    features: Sequence[str] | None = None
    samples: Sequence[str] | None = None
    labels: NDArray[Any] | None = None

    def require_fit(self, shape: tuple[int, int], where: str) -> None:
        """Raise if there are more or fewer of them than rows or columns."""
        for found, size, what in (
            (self.features, shape[1], "feature names"),
            (self.samples, shape[0], "sample ids"),
            (self.labels, shape[0], "labels"),
        ):
            if found is not None and len(found) != size:
                raise FileFormatError(
                    f"{where} has {len(found):,} {what}, and its matrix is {shape[0]:,} × {shape[1]:,}."
                )


class NamedMatrix(Matrix):
    """A matrix whose names were read when it was opened."""

    names = Names()

    @property
    def feature_names(self) -> Sequence[str] | None:
        """Return the names of the columns, where the file has any."""
        return self.names.features

    @property
    def sample_ids(self) -> Sequence[str] | None:
        """Return the names of the rows, where the file has any."""
        return self.names.samples

    @property
    def labels(self) -> NDArray[Any] | None:
        """Return the label of each row, where they were asked for."""
        return self.names.labels
