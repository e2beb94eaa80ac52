"""Subsampled randomised Hadamard transform."""

from __future__ import annotations

from typing import Any

from slimline.estimators.random_projection import RandomProjection
from slimline.projections import Projection, SubsampledHadamard


class HadamardProjection(RandomProjection):
    """Flip signs at random, take the Walsh-Hadamard transform, keep r of its columns (SRHT).

    Every entry of R is ±1/√r, as in :class:`SignProjection`, but n·d·log r work does what takes n·d·r there.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components r. "auto": as many as a Gaussian R would need for all distances between the samples to stay
        within 1 ± `eps`; what is proved of this R needs a logarithm more.
    replace : bool, default=False
        Sample the columns with replacement, as Paul et al. (2013) do; without has the smaller variance.
    eps : float, default=0.1
        Distortion of squared distances that "auto" allows.
    delta : float, default=None
        Failure probability that "auto" allows, by the norm's law under a Gaussian R. None: scikit-learn's
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
    projection_ : slimline.projections.SubsampledHadamard
        The projection as a frozen value.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import HadamardProjection
    >>> X = np.random.default_rng(0).normal(size=(20, 5000))
    >>> projection = HadamardProjection(n_components=256, random_state=0)
    >>> Z = projection.fit_transform(X)
    >>> weights = projection.lift(Z[0])
    >>> weights.shape
    (5000,)
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        replace: bool = False,
        eps: float = 0.1,
        delta: float | None = None,
        compute_inverse_components: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            eps=eps,
            delta=delta,
            compute_inverse_components=compute_inverse_components,
            random_state=random_state,
        )
        self.replace = replace

    def _make_projection(self, n_features: int, n_components: int, seed: int) -> Projection:
        return SubsampledHadamard(n_features, n_components, seed, self.replace)
