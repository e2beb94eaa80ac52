"""What a projection is called, and which theorems know it."""

from __future__ import annotations

import numpy as np

from slimline.projections import Projection

#: Theorems on the embedding error that hold for a family, by the names of `make_projection` and of `slimline.bounds`.
EMBEDDINGS = {
    "gaussian": ("vaswani2013.c2",),
    "sign": ("paul2013.sign", "paul2013.cw"),
    "achlioptas": ("paul2013.sign", "paul2013.cw"),
    "very_sparse": ("embedding.very_sparse",),
    "srht": ("paul2013.srht", "paul2013.cw"),
    "cw": ("paul2013.cw",),
    "osnap": ("paul2013.cw",),
}


def family_name(projection: Projection) -> str:
    """Return what `make_projection` calls the family of a projection.

    Parameters
    ----------
    projection : Projection
        Any.

    Returns
    -------
    name : str
        For one that it does not make, the projection's own name of it.
    """
    family = projection.family
    if family == "sparse_sign":
        density = _density(projection)
        if np.isclose(density, 1.0 / 3.0):
            return "achlioptas"
        return "very_sparse" if np.isclose(density, 1.0 / np.sqrt(projection.n_features)) else family
    if family == "sparse_embedding":
        return "cw" if getattr(projection, "nnz_per_feature", 1) == 1 else "osnap"
    return family


def known_family(projection: Projection) -> str:
    """Return the family whose theorems hold for a projection.

    Parameters
    ----------
    projection : Projection
        Any.

    Returns
    -------
    name : str
        A name of `make_projection`; "" where no theorem knows it.
    """
    name = family_name(projection)
    if name == "sparse_sign":
        # that theorem stands on the fourth moment of the entries, 1/density: for denser ones it holds all the more
        least = (1.0 - 1e-9) / np.sqrt(projection.n_features)
        return "very_sparse" if _density(projection) >= least else ""
    return name if name in EMBEDDINGS else ""


def _density(projection: Projection) -> float:
    return float(getattr(projection, "density", 0.0))
