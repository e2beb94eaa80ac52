"""From a store of named arrays to the matrix that is meant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from slimline.data.formats.anndata_groups import anndata_names, is_10x, is_anndata, names_of_10x, plain_vector
from slimline.data.formats.chunked import ChunkedMatrix
from slimline.data.formats.compressed import CompressedMatrix, is_compressed, layout
from slimline.data.formats.named import NamedMatrix, Names
from slimline.data.formats.stores import Store, is_group, is_matrix
from slimline.errors import FileFormatError, InvalidParameterError

#: Candidates that a message lists.
_SHOWN = 12


def chosen(store: Store, root: Any, key: str | None, option: str) -> str:
    """Return the name of the matrix in a store: the one asked for, AnnData's X, or the only one there is.

    Parameters
    ----------
    store : Store
        The store.
    root : group of the store
        Its root.
    key : str, optional
        What was asked for.
    option : str
        Name of the parameter that asks for it.

    Returns
    -------
    key : str
        Name of an array or a sparse group.
    """
    if key is not None:
        key = key.strip("/")
        if key in root and (is_matrix(root[key]) or is_compressed(root[key])):
            return key
        what = "is no matrix of real numbers" if key in root else "is not there"
        raise InvalidParameterError(f"{store}: {option}={key!r} {what}; there are {_listed(store, root)}.")
    if is_anndata(root) and "X" in root and (is_matrix(root["X"]) or is_compressed(root["X"])):
        return "X"
    found = _candidates(store, root)
    if len(found) == 1:
        return next(iter(found))
    if not found:
        raise FileFormatError(f"{store} holds no matrix: no array of real numbers with two dimensions, none sparse.")
    raise InvalidParameterError(
        f"{store} holds {len(found)} matrices: say which with {option}=, one of {_listed(store, root)}."
    )


def _candidates(store: Store, root: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    sparse: list[str] = []
    for name, node in sorted(store.arrays(root), key=lambda item: item[0]):
        if any(name.startswith(f"{group}/") for group in sparse):
            continue
        if is_compressed(node):
            sparse.append(name)
            found[name] = node
        elif is_matrix(node):
            found[name] = node
    return found


def _listed(store: Store, root: Any) -> str:
    found = _candidates(store, root)
    shown = [f"{name} {'(sparse)' if is_group(node) else node.shape}" for name, node in list(found.items())[:_SHOWN]]
    return ", ".join(shown) + (", ..." if len(found) > _SHOWN else "") or "none"


def matrix_of(store: Store, root: Any, key: str, label: str | None, missing: int | None) -> NamedMatrix:
    """Return the matrix of a name.

    Parameters
    ----------
    store : Store
        The store.
    root : group of the store
        Its root.
    key : str
        Name of an array or a sparse group.
    label : str, optional
        Column of AnnData's `obs`, or name of a vector in the store, that holds the labels.
    missing : int, optional
        Whole number that stands for a missing value in a dense array.

    Returns
    -------
    matrix : NamedMatrix
        Dense or sparse.
    """
    node = root[key]
    where = f"{store}, group {key!r}"
    if not is_compressed(node):
        return ChunkedMatrix(store, key, node, names_of(store, root, key, node.shape, label), missing)
    if missing is not None:
        raise InvalidParameterError(f"{where} is sparse: `missing` is for dense whole numbers; NaN is missing anyway.")
    if is_10x(node):
        genes, cells = (int(size) for size in store.whole(node["shape"], (2,), "sizes"))
        by_row, shape = True, (cells, genes)
    else:
        by_row, shape = layout(store, node, where)
    names = names_of(store, root, key, shape, label)
    return CompressedMatrix(store, key, node, names, by_row=by_row, shape=shape)


def names_of(store: Store, root: Any, key: str, shape: tuple[int, int], label: str | None) -> Names:
    """Return what a store says about the rows and columns of a matrix.

    Parameters
    ----------
    store : Store
        The store.
    root : group of the store
        Its root.
    key : str
        Name of the matrix.
    shape : (int, int)
        Of the matrix: nothing is read that does not fit it.
    label : str, optional
        Where the labels are.

    Returns
    -------
    names : Names
        Ids, names and labels.
    """
    if is_anndata(root):
        return anndata_names(store, root, key, shape, label)
    node = root[key]
    names = names_of_10x(store, node, shape) if is_compressed(node) and is_10x(node) else Names()
    if label is None:
        return names
    if label not in root or is_group(root[label]) or len(root[label].shape) != 1:
        raise InvalidParameterError(f"{store}: label={label!r} is not the name of a vector in it.")
    return replace(names, labels=plain_vector(store.whole(root[label], shape[:1], "labels"), str(store)))
