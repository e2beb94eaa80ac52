"""Sparse embedding: CountSketch and its relatives."""

from __future__ import annotations

from typing import Any

from slimline.estimators.dense_output import SparseOutputProjection
from slimline.projections import HashEmbedding, Projection
from slimline.projections.sparse_embedding import GROUP, count_parts


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
