"""The families by name: the frozen value and the transformer that each name stands for."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

from slimline.errors import InvalidParameterError
from slimline.projections._base import Projection
from slimline.projections._dense import Gaussian, GaussianProjection, RandomSign, SignProjection
from slimline.projections._embedding import HashEmbedding, SparseEmbedding, count_parts
from slimline.projections._hadamard import HadamardProjection, SubsampledHadamard
from slimline.projections._sparse import ACHLIOPTAS, SparseSign, SparseSignProjection
from slimline.projections._transformer import RandomProjection, warn_if_no_reduction

#: Non-zeros per feature of OSNAP: removes most of CountSketch's heavy tail for little time.
OSNAP_NONZEROS = 4

#: Stacks of a bucket of generalised CW, and components of each.
STACKS, STACK_WIDTH = 4, 4


def _very_sparse(n_features: int, n_components: int, seed: int) -> SparseSign:
    return SparseSign(n_features, n_components, seed, 1 / math.sqrt(n_features))


#: For each name, a function of (n_features, n_components, seed) that returns the frozen value, and the transformer.
FAMILIES: dict[str, tuple[Callable[[int, int, int], Projection], Callable[..., RandomProjection]]] = {
    "gaussian": (Gaussian, GaussianProjection),
    "sign": (RandomSign, SignProjection),
    "achlioptas": (partial(SparseSign, density=ACHLIOPTAS), partial(SparseSignProjection, density="achlioptas")),
    "very_sparse": (_very_sparse, partial(SparseSignProjection, density="auto")),
    "srht": (SubsampledHadamard, HadamardProjection),
    "srht_replaced": (partial(SubsampledHadamard, replace=True), partial(HadamardProjection, replace=True)),
    "cw": (HashEmbedding, SparseEmbedding),
    "generalised_cw": (
        partial(HashEmbedding, n_stacks=STACKS, bucket_width=STACK_WIDTH),
        partial(SparseEmbedding, n_stacks=STACKS, bucket_width=STACK_WIDTH),
    ),
    "osnap": (
        partial(HashEmbedding, nnz_per_feature=OSNAP_NONZEROS),
        partial(SparseEmbedding, nnz_per_feature=OSNAP_NONZEROS),
    ),
}


def make_projection(family: str = "auto", n_components: int | str = "auto", **parameters: Any) -> RandomProjection:
    """Return the projection transformer of a family.

    Parameters
    ----------
    family : str, default="auto"
        "gaussian", "sign", "achlioptas", "very_sparse", "srht", "srht_replaced", "cw", "generalised_cw" or "osnap".
        "auto" is "osnap" if `n_components` is a multiple of its 4 · `n_stacks` · `bucket_width` parts, else "cw".
    n_components : int or "auto", default="auto"
        Number of components.
    **parameters : dict
        Other parameters of the class: `random_state`, `eps`, `delta`, `n_stacks` and `bucket_width` for
        "generalised_cw", `hash` for "cw".

    Returns
    -------
    projection : transformer
        A :class:`GaussianProjection`, :class:`SignProjection`, :class:`SparseSignProjection`,
        :class:`HadamardProjection` or :class:`SparseEmbedding`, not yet fitted.

    See Also
    --------
    slimline.projections.Projection : The frozen value that a fitted transformer holds.

    Notes
    -----
    "achlioptas" is a `SparseSignProjection` with density 1/3, "very_sparse" one with density 1/√n_features.
    "srht_replaced" is an SRHT whose columns are sampled with replacement, as in Paul et al. (2013). "cw" is a
    `SparseEmbedding` with one non-zero per feature, "osnap" one with four, and "generalised_cw" one with four stacks of
    four components in a bucket.

    Examples
    --------
    >>> from slimline import make_projection
    >>> make_projection("osnap", 512, random_state=0)
    SparseEmbedding(n_components=512, nnz_per_feature=4, random_state=0)
    """
    given = parameters.get("bucket_width", 1), parameters.get("n_stacks")
    _, transformer = FAMILIES[_known_family(family, n_components, *given)]
    return transformer(n_components, **parameters)


def frozen_projection(family: Any, n_features: int, n_components: int, seed: int) -> Projection:
    """Return the frozen projection of a family, or of a transformer with this number of components and seed."""
    warn_if_no_reduction(n_features, n_components)
    if isinstance(family, str):
        value, _ = FAMILIES[_known_family(family, n_components)]
        return value(n_features, n_components, seed)
    require_family(family)
    family._check_parameters()
    projection: Projection = family._make_projection(n_features, n_components, seed)
    return projection


def require_family(family: Any) -> None:
    """Raise unless this is the name of a family or a projection transformer."""
    if isinstance(family, str):
        _known_family(family, 1)
    elif not isinstance(family, RandomProjection):
        raise InvalidParameterError(
            f"must be the name of a family or a projection transformer; got {family!r:.100}.", "projection", family
        )


def _known_family(family: str, n_components: int | str, bucket_width: int = 1, n_stacks: int | None = None) -> str:
    """Return the family that a name, perhaps "auto", means for this number of components."""
    if family == "auto":
        parts = count_parts(OSNAP_NONZEROS, bucket_width, n_stacks)
        fits = n_components == "auto" or (isinstance(n_components, Integral) and int(n_components) % parts == 0)
        return "osnap" if fits else "cw"
    if family not in FAMILIES:
        raise InvalidParameterError(
            f'must be "auto" or one of {", ".join(FAMILIES)}; got {family!r}.', "family", family
        )
    return family
