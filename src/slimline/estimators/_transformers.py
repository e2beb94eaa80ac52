"""The five random projections as scikit-learn transformers, and the function that chooses one by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import scipy.sparse as sp
from sklearn.base import clone

from slimline.errors import InvalidParameterError
from slimline.estimators._random_projection import RandomProjection, SparseOutputProjection, _require_finite
from slimline.projections import Gaussian, HashEmbedding, Projection, RandomSign, SparseSign, SubsampledHadamard
from slimline.projections._sparse import GROUP, count_parts


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


class SignProjection(RandomProjection):
    """Project onto directions of independent signs ±1/√r (RS), without storing them.

    As good as Gaussian directions, and cheaper to draw.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components r. "auto": enough for all distances between the samples to stay within 1 ± `eps`.
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
    projection_ : slimline.projections.RandomSign
        The projection as a frozen value.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import SignProjection
    >>> X = np.random.default_rng(0).normal(size=(20, 5000))
    >>> SignProjection(n_components=256, random_state=0).fit_transform(X).shape
    (20, 256)
    """

    def _make_projection(self, n_features: int, n_components: int, seed: int) -> Projection:
        return RandomSign(n_features, n_components, seed)


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
                f'must be "auto", "achlioptas" or a number in (0, 1]; got {self.density!r}.', "density", self.density
            )
        return SparseSign(n_features, n_components, seed, density)

    def _sketch(self, X: Any) -> Any:
        # Here a feature may have no entry at all, so the sketch alone does not show that a value is not finite.
        if not sp.issparse(X):
            _require_finite(X, type(self).__name__)
        return super()._sketch(X)


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


class SparseEmbedding(SparseOutputProjection):
    """Add each feature, with a random sign, to one or a few of the r columns.

    The fastest projection: it takes as long as reading the data, whatever r is.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components r, a multiple of `nnz_per_feature` · `bucket_width`. "auto": as many as a Gaussian R would
        need for all distances between the samples to stay within 1 ± `eps`, rounded up. With this R it is no guarantee:
        where two samples differ in a few features only, these may meet in one column.
    nnz_per_feature : int, default=1
        Number s of columns that a feature is added to. 1: CW (CountSketch); more: OSNAP, which makes large errors
        on data with a few heavy features much rarer for little time.
    bucket_width : int, default=1
        Number v of columns that a bucket has; above 1 the generalised CW of Paul et al. (2013).
    hash : {"grouped", "independent"}, default="grouped"
        "grouped" sends 16 consecutive features to 16 distinct columns, which suits the machine; any two features
        still meet with probability at most 1 in the number of buckets. "independent" is the textbook hash, used also
        where the buckets are not a multiple of 16.
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
    projection_ : slimline.projections.HashEmbedding
        The projection as a frozen value.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import SparseEmbedding
    >>> X = np.random.default_rng(0).integers(0, 3, size=(20, 5000), dtype=np.int8)
    >>> Z = SparseEmbedding(n_components=256, nnz_per_feature=4, random_state=0).fit_transform(X)
    >>> Z.shape, Z.dtype
    ((20, 256), dtype('float32'))
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        nnz_per_feature: int = 1,
        bucket_width: int = 1,
        hash: str = "grouped",
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
        self.nnz_per_feature = nnz_per_feature
        self.bucket_width = bucket_width
        self.hash = hash
        self.dense_output = dense_output

    def _entries_a_feature(self) -> float:
        return float(count_parts(self.nnz_per_feature, self.bucket_width))

    def _granularities(self) -> tuple[int, ...]:
        parts = count_parts(self.nnz_per_feature, self.bucket_width)
        return (parts * GROUP, parts) if self.hash == "grouped" else (parts,)

    def _make_projection(self, n_features: int, n_components: int, seed: int) -> Projection:
        self._check_dense_output()
        return HashEmbedding(n_features, n_components, seed, self.nnz_per_feature, self.bucket_width, self.hash)


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
        raise InvalidParameterError(
            f'must be "auto" or one of {", ".join(_FAMILIES)}; got {family!r}.', "family", family
        )
    make, fixed = _FAMILIES[family]
    return make(n_components, **{**fixed, **parameters})


def transformer_of(projection: Any, n_components: int) -> RandomProjection:
    """Return the transformer that a name or another transformer stands for, with a number of components."""
    if isinstance(projection, str):
        return make_projection(projection, n_components)
    if isinstance(projection, RandomProjection):
        copied: RandomProjection = clone(projection).set_params(n_components=n_components)
        return copied
    raise InvalidParameterError(
        f"must be the name of a family or a projection transformer; got {projection!r:.100}.", "projection", projection
    )
