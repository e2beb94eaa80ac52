"""Sparse sign projection: very sparse, or Achlioptas."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import scipy.sparse as sp

from slimline.errors import InvalidParameterError
from slimline.estimators.dense_output import SparseOutputProjection
from slimline.estimators.random_projection import _require_finite
from slimline.projections import Projection, SparseSign


class SparseSignProjection(SparseOutputProjection):
    """Project onto directions of sparse signs, without storing them.

    Takes the place of scikit-learn's `SparseRandomProjection`: the same parameters and the same law of R.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components r. "auto": as many as a Gaussian R would need for all distances between the samples to stay
        within 1 ± `eps`. With this R it is no guarantee: where two samples differ in a few features only, a sparse R
        may miss most of these.
    density : float, "auto" or "achlioptas", default="auto"
        Share of entries that are not zero. "auto": 1/√n_features (Li, Hastie and Church 2006); "achlioptas": 1/3.
    eps : float, default=0.1
        Distortion of squared distances that "auto" allows.
    delta : float, default=None
        Failure probability that "auto" allows, by the norm's law under a Gaussian R. None: scikit-learn's
        `johnson_lindenstrauss_min_dim`.
    dense_output : bool, default=True
        False: sparse data give a sparse result.
    compute_inverse_components : bool, default=False
        Prepare `inverse_transform` in `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed. The same int gives the same R on every machine and for every type of data.

    Attributes
    ----------
    n_components_ : int
        Number of components in use.
    components_ : sparse array of shape (n_components, n_features)
        Rᵀ, made at each request.
    inverse_components_ : array of shape (n_features, n_components)
        Pseudo-inverse of `components_`, with `compute_inverse_components=True`.
    density_ : float
        Density in use.
    projection_ : slimline.projections.SparseSign
        The projection as a frozen value.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import SparseSignProjection
    >>> X = np.random.default_rng(0).normal(size=(20, 10000))
    >>> projection = SparseSignProjection(n_components=256, random_state=0).fit(X)
    >>> projection.density_
    0.01
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        density: float | str = "auto",
        eps: float = 0.1,
        delta: float | None = None,
        dense_output: bool = True,
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
        self.density = density
        self.dense_output = dense_output

    @property
    def density_(self) -> float:
        """Share of the entries of R that are not zero."""
        projection = self._fitted_projection()
        assert isinstance(projection, SparseSign)
        return projection.density

    def _entries_a_feature(self) -> float:
        return self.n_components_ * self.density_

    def _make_projection(self, n_features: int, n_components: int, seed: int) -> Projection:
        self._check_dense_output()
        named = self.density if isinstance(self.density, str) else ""
        if named == "auto":
            density = 1 / math.sqrt(n_features)
        elif named == "achlioptas":
            density = 1 / 3
        elif isinstance(self.density, Real) and not isinstance(self.density, bool) and 0 < self.density <= 1:
            density = float(self.density)
        else:
            raise InvalidParameterError(
                f'density must be "auto", "achlioptas" or a number in (0, 1]; got {self.density!r}.'
            )
        return SparseSign(n_features, n_components, seed, density)

    def _sketch(self, X: Any) -> Any:
        # Here a feature may have no entry at all, so the sketch alone does not show that a value is not finite.
        if not sp.issparse(X):
            _require_finite(X, type(self).__name__)
        return super()._sketch(X)
