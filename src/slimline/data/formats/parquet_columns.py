"""Columns of a Parquet file: which are features, of what type, and how they become numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.readers import require_reader
from slimline.errors import FileFormatError, InvalidParameterError
from slimline.projections.blocks import KERNEL_TYPES


@dataclass(frozen=True)
class Column:
    """A feature.

    Parameters
    ----------
    name : str
        Of the column.
    position : int
        Of its column chunks in each row group.
    dtype : data type
        Of its values, missing ones apart.
    """

    name: str
    position: int
    dtype: np.dtype[Any]


def chosen_columns(
    handle: Any, where: str, label: str | None, id: str | None, wanted: Sequence[str] | None
) -> tuple[list[Column], str | None]:
    """Return the features, and the name of the column that pandas wrote its index to, if there is just one.

    Parameters
    ----------
    handle : pyarrow Parquet file
        The file.
    where : str
        What messages call it.
    label, id : str, optional
        Columns that are no features.
    wanted : sequence of str, optional
        Names of the features.

    Returns
    -------
    features : list of Column
        In their order.
    index : str or None
        Pandas' index.
    """
    arrow = require_reader("pyarrow", "parquet", "Parquet files")
    schema = handle.schema_arrow
    names: list[str] = schema.names
    known = set(names)
    if len(known) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1}) if len(names) < 10_000 else ["some"]
        raise FileFormatError(f"{where} has columns of the same name: {', '.join(twice[:5])}.")
    for option, name in (("label", label), ("id", id), *(("columns", name) for name in wanted or ())):
        if name is not None and name not in known:
            raise InvalidParameterError(f"{where} has no column {name!r}, which {option} names.")
    if wanted is not None and len(set(wanted)) < len(wanted):
        raise InvalidParameterError(f"{where}: a column is named twice in columns.")
    index = [name for name in _pandas_index(schema) if name in known]
    left_out = {label, id, *index}
    chosen = [name for name in names if name not in left_out] if wanted is None else list(wanted)
    # a nested column has several chunks in a row group, a plain one has one of its own name
    places = {handle.metadata.schema.column(i).path: i for i in range(handle.metadata.num_columns)}
    types = dict(zip(names, schema.types, strict=True))
    features = []
    for name in chosen:
        dtype = _dtype(arrow, types[name])
        if dtype is None or name not in places:
            raise FileFormatError(
                f"{where}: column {name!r} holds {types[name]}, not numbers. Name it with label= or id= if it is one "
                "of these, or name the features with columns=."
            )
        features.append(Column(name, places[name], dtype))
    return features, index[0] if len(index) == 1 else None


def _pandas_index(schema: Any) -> list[str]:
    try:
        said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return [name for name in said.get("index_columns", []) if isinstance(name, str)]
    except (ValueError, AttributeError, TypeError):  # not for us to judge
        return []


def _dtype(arrow: Any, kind: Any) -> np.dtype[Any] | None:
    types = arrow.types
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        dtype: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        return dtype
    return None


def common_type(columns: Sequence[Column], metadata: Any) -> np.dtype[Any]:
    """Return the type of the matrix: the one that all columns share or fit in, real where a value may be missing."""
    distinct = sorted({column.dtype for column in columns}, key=str)
    if not distinct:
        return np.dtype(np.float64)
    common = np.result_type(*distinct)
    if common.kind != "f" and not _no_nulls(columns, metadata):
        common = np.result_type(common, np.float32 if common in KERNEL_TYPES else np.float64)
    return common if common in KERNEL_TYPES else np.dtype(np.float64)


def _no_nulls(columns: Sequence[Column], metadata: Any) -> bool:
    """Say whether the file promises that no value is missing."""
    for group in (metadata.row_group(i) for i in range(metadata.num_row_groups)):
        for column in columns:
            statistics = group.column(column.position).statistics
            if statistics is None or not statistics.has_null_count or statistics.null_count:
                return False
    return True


def vector(chunk: Any) -> NDArray[Any]:
    """Return the values of an array of pyarrow, NaN where one is missing; not copied where they lie ready."""
    if chunk.null_count and str(chunk.type) == "bool":
        chunk = chunk.cast("int8")
    values: NDArray[Any] = chunk.to_numpy(zero_copy_only=False)
    return values
