"""AnnData's groups, and those of 10x Genomics: who the rows and columns are. The same in HDF5 and Zarr."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.formats.named import Names
from slimline.data.formats.stores import is_group, text, texts
from slimline.errors import FileFormatError, InvalidParameterError


def is_anndata(root: Any) -> bool:
    """Say whether the root group of a store is an AnnData object."""
    if text(root.attrs.get("encoding-type", "")) == "anndata":
        return True
    return "obs" in root and "var" in root and "X" in root  # versions before 0.7 do not say it


def anndata_names(root: Any, key: str, label: str | None, where: str) -> Names:
    """Return ids, names and labels for a matrix of an AnnData object.

    Parameters
    ----------
    root : group of a store
        The object.
    key : str
        Name of the matrix: X, layers/…, raw/X, obsm/…
    label : str, optional
        Column of `obs` that holds the labels.
    where : str
        What messages call the store.

    Returns
    -------
    names : Names
        What the object says about the rows and columns.
    """
    part = key.strip("/").split("/")[0]
    if part not in ("X", "layers", "raw", "obsm"):
        raise InvalidParameterError(
            f"{where}: {key!r} is no matrix with a row for each observation; take X, layers/..., raw/X or obsm/..."
        )
    variables = root["raw"]["var"] if part == "raw" else root["var"]
    labels = None if label is None else frame_column(root["obs"], label, f"{where}, obs")
    return Names(None if part == "obsm" else frame_index(variables), frame_index(root["obs"]), labels)


def frame_index(frame: Any) -> list[str] | None:
    """Return the index of a data frame: the column that its `_index` attribute names."""
    if not is_group(frame):  # before 0.7 a frame was an array of records
        fields = frame.dtype.names or ()
        name = next((name for name in ("index", "_index") if name in fields), None)
        return None if name is None else texts(frame[...][name])
    name = text(frame.attrs.get("_index", "_index"))
    return None if name not in frame else [str(value) for value in _decoded(frame[name]).tolist()]


def frame_column(frame: Any, name: str, where: str) -> NDArray[Any]:
    """Return a column of a data frame: numbers, or strings with None for one that is missing."""
    if not is_group(frame):
        fields = frame.dtype.names or ()
        if name not in fields:
            raise _no_column(name, fields, where)
        return _plain(frame[...][name])
    columns = [key for key in frame if not key.startswith("__")]
    if name not in columns:
        raise _no_column(name, columns, where)
    node = frame[name]
    reference = None if is_group(node) else node.attrs.get("categories")
    if reference is None:
        return _decoded(node)
    # 0.7: the codes are an array whose attribute points to the categories (Zarr has no references: a name)
    categories = frame[text(reference)] if isinstance(reference, (str, bytes)) else node.file[reference]
    return _categorical(_plain(categories[...]), np.asarray(node[...]), where)


def _no_column(name: str, columns: Any, where: str) -> InvalidParameterError:
    return InvalidParameterError(f"{where} has no column {name!r}; there are {', '.join(columns) or 'none'}.")


def _decoded(node: Any) -> NDArray[Any]:
    if not is_group(node):
        return _plain(node[...])
    if "codes" in node and "categories" in node:
        return _categorical(_decoded(node["categories"]), np.asarray(node["codes"][...]), node.name)
    if "values" in node and "mask" in node:  # pandas' nullable numbers and strings
        values, mask = _plain(node["values"][...]), np.asarray(node["mask"][...])
        if mask.any():
            values = values.astype(object)
            values[mask] = None
        return values
    kind = text(node.attrs.get("encoding-type", "unknown"))
    raise FileFormatError(f"{node.name} is a column of a kind that is not known ({kind}).")


def _categorical(categories: NDArray[Any], codes: NDArray[Any], where: str) -> NDArray[Any]:
    if codes.size and (codes.min() < -1 or codes.max() >= len(categories)):
        raise FileFormatError(f"{where} is damaged: a code of a category is not among the {len(categories)}.")
    if (codes >= 0).all():
        return np.asarray(categories[codes] if len(categories) else categories)
    return np.asarray(np.append(categories.astype(object), [None])[codes])


def _plain(values: Any) -> NDArray[Any]:
    """Return numbers as they are, strings of any kind as NumPy's."""
    values = np.asarray(values)
    if values.dtype.kind in "fiub":
        return np.asarray(values)
    return np.array([text(value) for value in values.tolist()], dtype=np.str_)


# 10x Genomics ----------------------------------------------------------------------------------------


def is_10x(group: Any) -> bool:
    """Say whether a sparse group is a count matrix of Cell Ranger: genes × cells, column after column."""
    return "barcodes" in group and ("features" in group or "genes" in group)


def names_of_10x(group: Any) -> Names:
    """Return barcodes and gene names (those that scanpy takes) of a count matrix of Cell Ranger."""
    if "features" in group:
        genes = group["features"]["name"]
    else:
        genes = group["gene_names"] if "gene_names" in group else group["genes"]
    return Names(texts(genes), texts(group["barcodes"]), None)
