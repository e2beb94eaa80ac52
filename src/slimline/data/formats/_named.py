"""Names, ids and labels that travel beside the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data._matrix import Matrix
from slimline.errors import FileFormatError, InvalidParameterError, SlimlineError

#: Bytes that labels may take whatever their lengths; and how often their own size beyond that.
_ALWAYS_HELD, _MOST_PADDING = 64 << 20, 64


@dataclass(frozen=True)
class Names:
    """What travels along with a matrix."""

    #: Names of columns and rows.
    features: Sequence[str] | None = None
    samples: Sequence[str] | None = None
    #: Label of each row; of shape (n_samples,).
    labels: NDArray[Any] | None = None

    @classmethod
    def given(cls, features: Any, samples: Any, labels: Any, shape: tuple[int, int], where: str) -> Names:
        """Return what a user said about data in memory, or raise if it does not fit them."""
        if labels is not None:
            try:
                labels = np.asarray(labels)
            except ValueError as error:  # lists of different lengths
                raise InvalidParameterError(f"must be a vector: {error}", "labels") from error
            if labels.ndim != 1:
                raise InvalidParameterError(f"must be a vector; got an array of shape {labels.shape}.", "labels")
        names = cls(_texts(features, "feature_names"), _texts(samples, "sample_ids"), labels)
        names.require_fit(shape, where, InvalidParameterError)
        return names

    def require_fit(self, shape: tuple[int, int], where: str, error: type[SlimlineError] = FileFormatError) -> None:
        """Raise if there are more or fewer of them than rows or columns."""
        for found, size, what in (
            (self.features, shape[1], "feature names"),
            (self.samples, shape[0], "sample ids"),
            (self.labels, shape[0], "labels"),
        ):
            if found is not None and len(found) != size:
                count = f"{len(found):,} {what[:-1] if len(found) == 1 else what}"
                raise error(f"{where} has {count}, and its matrix is {shape[0]:,} × {shape[1]:,}.")


def _texts(given: Any, what: str) -> Sequence[str] | None:
    """Return names that were given as any collection, as a sequence."""
    if given is None or (isinstance(given, Sequence) and not isinstance(given, (str, bytes))):
        return given
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise InvalidParameterError(f"must be a sequence of texts; got {given!r:.100}.", what)
    return [str(name) for name in given]


def text_labels(values: Sequence[str], where: str) -> NDArray[np.str_]:
    """Return labels as an array, which gives each the room of the longest."""
    lengths = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
    require_even(lengths, int(lengths.max(initial=0)), where)
    return np.array(values, dtype=np.str_)


def require_even(lengths: NDArray[np.integer[Any]], longest: int, where: str) -> None:
    """Raise if the longest label is so much longer than the others that an array of them would fill the memory."""
    needed = 4 * len(lengths) * longest
    if needed > _ALWAYS_HELD and needed > 4 * _MOST_PADDING * int(lengths.sum()):
        raise FileFormatError(
            f"{where} has a label of {longest:,} characters: {len(lengths):,} labels of that length do not fit into "
            "memory. Shorten it."
        )


class NamedMatrix(Matrix):
    """A matrix whose names are known since it was opened."""

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
