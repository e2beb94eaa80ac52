"""Gaussian random projection."""

from slimline.estimators.random_projection import RandomProjection
from slimline.projections import Gaussian, Projection


class GaussianProjection(RandomProjection):
    """Project onto independent N(0, 1/r) directions, without storing them.

    Takes the place of scikit-learn's `GaussianRandomProjection`: the same parameters, but R is drawn in tiles while
    it is used, by coordinate, so that memory stays at a few megabytes for any number of features.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components r. "auto": enough for all distances between the samples to stay within 1 ± `eps`.
    eps : float, default=0.1
        Distortion of squared distances that "auto" allows.
    delta : float, default=None
        Failure probability that "auto" allows, by the exact law of the norm. None: scikit-learn's
        `johnson_lindenstrauss_min_dim`.
    compute_inverse_components : bool, default=False
        Prepare `inverse_transform` in `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed. The same int gives the same R on every machine and for every type of data.

    Attributes
    ----------
    n_components_ : int
        Number of components in use.
    components_ : array of shape (n_components, n_features)
        Rᵀ, made at each request.
    inverse_components_ : array of shape (n_features, n_components)
        Pseudo-inverse of `components_`, with `compute_inverse_components=True`.
    projection_ : slimline.projections.Gaussian
        The projection as a frozen value; `projection_.to_json()` is all there is to save.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import GaussianProjection
    >>> X = np.random.default_rng(0).normal(size=(20, 5000))
    >>> projection = GaussianProjection(n_components=256, random_state=0)
    >>> projection.fit_transform(X).shape
    (20, 256)
    """

    def _make_projection(self, n_features: int, n_components: int, seed: int) -> Projection:
        return Gaussian(n_features, n_components, seed)
