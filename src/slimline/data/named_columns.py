"""A matrix whose columns were given other names."""

from __future__ import annotations

from collections.abc import Sequence

from slimline.data.column_view import ColumnView
from slimline.data.matrix import Matrix
from slimline.errors import InvalidParameterError


class NamedColumns(ColumnView):
    """All columns of another matrix, with names of their own.

    Parameters
    ----------
    base : Matrix
        The data.
    names : sequence of str
        One a column.
    where : str
        Where they come from, for messages.
    """

    def __init__(self, base: Matrix, names: Sequence[str], where: str = "feature names") -> None:
        if len(names) != base.shape[1]:
            raise InvalidParameterError(
                f"{where}: {len(names):,} names, and {base.name} has {base.shape[1]:,} columns: give one a column."
            )
        super().__init__(base, slice(None))
        self._names = names

    @property
    def feature_names(self) -> Sequence[str]:
        """Return the names."""
        return self._names
