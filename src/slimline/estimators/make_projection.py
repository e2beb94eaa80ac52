"""Projections by the names that the papers use."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

from sklearn.base import clone

from slimline.errors import InvalidParameterError
from slimline.estimators.gaussian_projection import GaussianProjection
from slimline.estimators.hadamard_projection import HadamardProjection
from slimline.estimators.random_projection import RandomProjection
from slimline.estimators.sign_projection import SignProjection
from slimline.estimators.sparse_embedding import SparseEmbedding
from slimline.estimators.sparse_sign_projection import SparseSignProjection
from slimline.projections.sparse_embedding import count_parts

#: Non-zeros a feature of OSNAP: removes most of CountSketch's heavy tail for little time.
OSNAP_NONZEROS = 4

_FAMILIES: dict[str, tuple[Callable[..., RandomProjection], dict[str, Any]]] = {
    "gaussian": (GaussianProjection, {}),
    "sign": (SignProjection, {}),
    "achlioptas": (SparseSignProjection, {"density": "achlioptas"}),
    "very_sparse": (SparseSignProjection, {"density": "auto"}),
    "srht": (HadamardProjection, {}),
    "cw": (SparseEmbedding, {}),
    "osnap": (SparseEmbedding, {"nnz_per_feature": OSNAP_NONZEROS}),
}


def make_projection(family: str = "auto", n_components: int | str = "auto", **parameters: Any) -> RandomProjection:
    """Return the projection transformer of a family.

    Parameters
    ----------
    family : str, default="auto"
        "gaussian", "sign", "achlioptas", "very_sparse", "srht", "cw" or "osnap"; "auto" is "osnap" where
        `n_components` can be shared out among its parts, else "cw".
    n_components : int or "auto", default="auto"
        Number of components.
    **parameters : dict
        Passed on to the class: `random_state`, `eps`, `delta`, `bucket_width` for "cw", `replace` for "srht", …

    Returns
    -------
    projection : transformer
        A :class:`GaussianProjection`, :class:`SignProjection`, :class:`SparseSignProjection`,
        :class:`HadamardProjection` or :class:`SparseEmbedding`, not yet fitted.

    Examples
    --------
    >>> from slimline import make_projection
    >>> make_projection("osnap", 512, random_state=0)
    SparseEmbedding(n_components=512, nnz_per_feature=4, random_state=0)
    """
    if family == "auto":
        parts = count_parts(OSNAP_NONZEROS, parameters.get("bucket_width", 1))
        fits = n_components == "auto" or (isinstance(n_components, Integral) and int(n_components) % parts == 0)
        family = "osnap" if fits else "cw"
    if family not in _FAMILIES:
        raise InvalidParameterError(f'family must be "auto" or one of {", ".join(_FAMILIES)}; got {family!r}.')
    make, fixed = _FAMILIES[family]
    return make(n_components, **{**fixed, **parameters})


def transformer_of(projection: Any, n_components: int) -> RandomProjection:
    """Return the transformer that a name or another transformer stands for, with a number of components.

    Parameters
    ----------
    projection : str or projection transformer
        A name of `make_projection`, or a transformer, which is copied.
    n_components : int
        Number of components.

    Returns
    -------
    transformer : RandomProjection
        Not fitted.
    """
    if isinstance(projection, str):
        return make_projection(projection, n_components)
    if isinstance(projection, RandomProjection):
        copied: RandomProjection = clone(projection).set_params(n_components=n_components)
        return copied
    raise InvalidParameterError(
        f"projection must be the name of a family or a projection transformer; got {projection!r:.100}."
    )
