"""Sparse embeddings by hashing: CountSketch, its generalised form, and OSNAP."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.checks import one_of, whole
from slimline._base.layout import result_dtype
from slimline._kernels import Scatter, _native, native_scatter, thread_count
from slimline.errors import InvalidParameterError
from slimline.projections._base import FloatArray, KernelProjection, Projection
from slimline.projections._docstrings import with_shared_paragraphs
from slimline.projections._sparse import apply_sparse, scattered_gram, scattered_rows
from slimline.projections._transformer import SparseOutputProjection

#: Features (and buckets) that the grouped hash moves together.
GROUP = 16


def count_parts(nnz_per_feature: Any, bucket_width: Any, n_stacks: Any = None) -> int:
    """Return into how many equal parts the components fall, one component a bucket in each."""
    parts = whole("nnz_per_feature", nnz_per_feature, most=65535) * whole("bucket_width", bucket_width, most=65535)
    return parts if n_stacks is None else parts * whole("n_stacks", n_stacks, most=65535)


def part_names(n_stacks: Any) -> tuple[str, ...]:
    """Return the names of the parameters whose product `n_components` must be a multiple of."""
    return ("nnz_per_feature", "bucket_width") if n_stacks is None else ("nnz_per_feature", "n_stacks", "bucket_width")


@with_shared_paragraphs
@dataclass(frozen=True)
class HashEmbedding(KernelProjection):
    """R with s·a entries ±1/√(s·a) per feature, at hashed places: CountSketch, generalised CW and OSNAP.

    Parameters
    ----------
    ...
        Fields of every projection.
    nnz_per_feature : int, default=1
        Number s of buckets of a feature.
    bucket_width : int, default=1
        Number v of components of each stack in a bucket. If `n_stacks` is None, number of components in a bucket.
    hash : {"grouped", "independent"}, default="grouped"
        "grouped" hashes 16 consecutive features together; "independent" hashes each feature by itself.
    n_stacks : int, optional
        Number a of stacks in a bucket: each has v components, one of which is not zero. None: all components in the
        bucket are not zero (a = v stacks of one component).

    See Also
    --------
    slimline.SparseEmbedding : The same as a scikit-learn transformer.

    Notes
    -----
    The r = s·a·v·q components form s·a·v equal parts, and each of the q buckets is one component in every part. A
    feature has s random buckets. Each bucket has a stacks of v components (parts), and in each stack one component,
    chosen at random, has a random sign, so that a feature has s·a entries. s = a = v = 1 is CountSketch, the embedding
    of Clarkson and Woodruff [1]_ (CW). s = 1 is their generalised sparse embedding: a hash to q buckets, and inside
    each bucket the sparse Johnson-Lindenstrauss transform of Kane and Nelson [3]_. Paul et al. [4]_ refer to it, with
    r = q·a·v. s > 1 with a = v = 1 is OSNAP [2]_.

    Without `n_stacks`, `bucket_width` alone fills all components of a bucket with signs: the generalised embedding of
    that many stacks with one component each, with the same R.

    For a matrix V with ρ orthonormal columns, ‖VᵀV - VᵀRRᵀV‖₂ ≤ ε except with probability δ, if r ≥ (ρ² + ρ)/(δε²),
    from the second moment of the error (`paul2013.cw` in :mod:`slimline.bounds`). That moment depends on r alone, not
    on how q, a and v share it; `paul2013.cw.generalised` has the choice of [4]_, and
    :func:`slimline.bounds.generalised_embedding` its factors.

    `hash="grouped"` sends 16 consecutive features to 16 distinct buckets, by a random permutation of lanes, and chooses
    the same place in a stack for all of them. Two features meet in a component of a stack with probability
    1/(v · number of buckets) if they are in different groups, and never if they are in the same one. So the second
    moment is at most that of independent hashing, and 16 entries of a dense row are added at a time. The s keys of a
    group share one bit, for speed; buckets stay uniform and signs independent, so the second moment does not change.

    References
    ----------
    .. [1] Clarkson, K. L.; Woodruff, D. P. (2013). "Low rank approximation and regression in input sparsity time."
       STOC, 81-90.
    .. [2] Nelson, J.; Nguyễn, H. L. (2013). "OSNAP: faster numerical linear algebra algorithms via sparser subspace
       embeddings." FOCS, 117-126.
    .. [3] Kane, D. M.; Nelson, J. (2014). "Sparser Johnson-Lindenstrauss transforms." Journal of the ACM 61(1), 4.
    .. [4] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.
    """

    nnz_per_feature: int = 1
    bucket_width: int = 1
    hash: str = "grouped"
    n_stacks: int | None = field(default=None, kw_only=True)

    family: ClassVar[str] = "sparse_embedding"

    def __post_init__(self) -> None:
        """Refuse components that cannot be shared out."""
        super().__post_init__()
        parts = count_parts(self.nnz_per_feature, self.bucket_width, self.n_stacks)
        for name in ("nnz_per_feature", "bucket_width", "n_stacks"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else int(given))
        one_of("hash", self.hash, ("grouped", "independent"))
        if self.n_components % parts:
            raise InvalidParameterError(
                f"must be a multiple of {parts} for this projection, for example "
                f"{(self.n_components // parts + 1) * parts}; got {self.n_components}.",
                "n_components",
                self.n_components,
                in_python=f"{parts} is {' times '.join(part_names(self.n_stacks))}.",
            )

    @property
    def buckets(self) -> int:
        """Number q of buckets that a feature chooses from."""
        return self.n_components // count_parts(self.nnz_per_feature, self.bucket_width, self.n_stacks)

    @property
    def effective_hash(self) -> str:
        """The hash in use: "independent" also where the buckets do not come in groups of 16."""
        return "grouped" if self.hash == "grouped" and self.buckets % GROUP == 0 else "independent"

    @property
    def _stacks(self) -> tuple[int, int]:
        """Stacks in a bucket, and components of each."""
        return (self.bucket_width, 1) if self.n_stacks is None else (self.n_stacks, self.bucket_width)

    @property
    def scale(self) -> float:
        """1 / √(s·a)."""
        return 1 / math.sqrt(self.nnz_per_feature * self._stacks[0])

    @cached_property
    def _native(self) -> Scatter:
        return native_scatter(self.effective_hash, self.seed, self.n_components, self.nnz_per_feature, *self._stacks)

    def collision(self) -> tuple[int, float]:
        return (GROUP if self.effective_hash == "grouped" else 1), 1.0

    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        start, stop, dtype = self._row_range(start, stop, dtype)
        first, last = self._kernel_row(start), self._kernel_row(stop)
        return scattered_rows(self._native, first, last, self.n_components, self.scale, dtype)

    def gram(self) -> NDArray[np.float64]:
        return scattered_gram(self)

    def add_standardised(
        self,
        x: NDArray[Any],
        missing: int | None,
        parts: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None],
        first_feature: int,
        out: FloatArray,
    ) -> bool:
        """Add the sketch of standardised values, if the kernels can standardise them on the way.

        Parameters
        ----------
        x : array of shape (n_samples, width)
            Some columns of X.
        missing : int, optional
            The whole number that codes a missing value; among floats NaN does.
        parts : (centre, factor, fill)
            What is subtracted from the values of each column, what they are multiplied by, and what replaces a missing
            one beforehand (NaN, if not given).
        first_feature : int
            Number of the first column.
        out : array of shape (n_samples, n_components)
            Added to.

        Returns
        -------
        done : bool
            False: the kernels cannot do that for these data, and nothing was added.
        """
        self._check_range(first_feature, first_feature + x.shape[1])
        by_row = x.shape[1] <= 1 or x.strides[1] == x.itemsize
        if (by_row and self.effective_hash != "grouped") or out.dtype != result_dtype(x.dtype):
            return False
        row = self._kernel_row(first_feature)
        transform = _native.ColumnTransform(*parts)
        return self._native.apply_standard(x, missing, transform, row, self.scale, out, thread_count())

    def add_genotypes(
        self,
        packed: NDArray[np.uint8],
        n_samples: int,
        parts: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None],
        first_feature: int,
        out: FloatArray,
    ) -> bool:
        """Add the sketch of packed genotypes, if the kernels can read them as they are.

        Parameters
        ----------
        packed : array of shape (n_variants, ceil(n_samples / 4)), uint8
            Two bits each, as in a PLINK file.
        n_samples : int
            Number of samples.
        parts : (centre, factor, fill)
            As for `add_standardised`.
        first_feature : int
            Number of the first variant.
        out : array of shape (n_samples, n_components)
            Added to.

        Returns
        -------
        done : bool
            False: the kernels cannot do that for these data, and nothing was added.
        """
        self._check_range(first_feature, first_feature + len(packed))
        if out.dtype != np.float32:
            return False
        row = self._kernel_row(first_feature)
        transform = _native.ColumnTransform(*parts)
        return self._native.apply_genotypes(packed, n_samples, transform, row, self.scale, out, thread_count())

    def _apply_sparse(self, x: Any, feature: int, out: FloatArray, accumulate: bool) -> None:
        apply_sparse(self._native, x, self._kernel_row(feature), self.scale, out, accumulate)


@dataclass(frozen=True)
class ShiftedEmbedding(HashEmbedding):
    """Rows `first`, …, `first` + n_features - 1 of the `HashEmbedding` of the same seed.

    Entries are drawn by coordinate, so stretches that do not overlap are independent projections of one seed. A
    stretch begins at a multiple of 16: the grouped hash draws 16 rows together.
    """

    first: int = 0

    family: ClassVar[str] = "shifted_embedding"

    def __post_init__(self) -> None:
        """Refuse a stretch that would share a group of rows with the one before it."""
        super().__post_init__()
        first = self.first
        whole = isinstance(first, (int, np.integer)) and not isinstance(first, bool)
        if not whole or first < 0 or first % GROUP or first + self.n_features >= 2**62:
            raise InvalidParameterError(
                f"must be a multiple of {GROUP}, 0 or more, below 2**62; got {first!r}.", "first", first
            )
        object.__setattr__(self, "first", int(first))

    def _kernel_row(self, feature: int) -> int:
        return self.first + feature


@with_shared_paragraphs
class SparseEmbedding(SparseOutputProjection):
    """Projection that adds each feature, with random signs, to one or a few components (CW, generalised CW, OSNAP).

    The fastest projection: a sketch takes little longer than reading the data, whatever r is. R is never stored.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components r, a multiple of `nnz_per_feature` · `n_stacks` · `bucket_width`. "auto": as many as a
        Gaussian R needs for all distances between the samples to stay within 1 ± `eps`, rounded up. This R does not
        guarantee that: if two samples differ in a few features only, these may meet in one component.
    nnz_per_feature : int, default=1
        Number s of buckets of a feature. 1 is CountSketch (CW). More is OSNAP, if a bucket is one component; 4 makes
        large errors on data with a few heavy features much rarer for little time.
    bucket_width : int, default=1
        Number v of components of each stack in a bucket. If `n_stacks` is None, each feature is added to all
        `bucket_width` components of its buckets.
    n_stacks : int, optional
        Number a of stacks in a bucket. Each feature is added to one of the v components of each stack: the generalised
        CW of Clarkson and Woodruff, with r/(a·v) buckets.
    hash : {"grouped", "independent"}, default="grouped"
        "grouped" sends 16 consecutive features to 16 distinct components, which is faster; any two features still meet
        with a probability of at most 1 in the number of buckets. "independent" hashes each feature by itself, and is
        used as well if the number of buckets is not a multiple of 16.
    dense_output : bool, default=True
        False: sparse data give a sparse result.
    ...
        Parameters of every transformer.

    Attributes
    ----------
    projection_ : slimline.projections.HashEmbedding
        The projection as a frozen value.
    ...
        Attributes of every transformer.

    See Also
    --------
    HadamardProjection : Slower, with stronger guarantees.
    SparseSignProjection : Independent sparse entries.
    slimline.projections.HashEmbedding : The frozen value, with the definition of R.

    Notes
    -----
    Each feature has s·a entries ±1/√(s·a) in R, where a is `n_stacks`, or `bucket_width` if there are no stacks. The
    sketch of X takes s·a additions per stored value: it runs in input sparsity time [1]_. R keeps a subspace of
    dimension ρ within ε, except with probability δ, if r ≥ (ρ² + ρ)/(δε²) (`paul2013.cw` in :mod:`slimline.bounds`);
    with more non-zeros fewer components suffice [2]_. Paul et al. [3]_ use CW for support vector machines; the r that
    they print is that of the generalised form, r = q·a·v with q buckets of a stacks of v components.

    References
    ----------
    .. [1] Clarkson, K. L.; Woodruff, D. P. (2013). "Low rank approximation and regression in input sparsity time."
       STOC, 81-90.
    .. [2] Nelson, J.; Nguyễn, H. L. (2013). "OSNAP: faster numerical linear algebra algorithms via sparser subspace
       embeddings." FOCS, 117-126.
    .. [3] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.

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
        n_stacks: int | None = None,
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
        self.n_stacks = n_stacks
        self.dense_output = dense_output

    def _entries_a_feature(self) -> float:
        stacks = self.bucket_width if self.n_stacks is None else self.n_stacks
        return float(self.nnz_per_feature * stacks)

    def _granularities(self) -> tuple[int, ...]:
        parts = count_parts(self.nnz_per_feature, self.bucket_width, self.n_stacks)
        return (parts * GROUP, parts) if self.hash == "grouped" else (parts,)

    def _part_names(self) -> tuple[str, ...]:
        return part_names(self.n_stacks)

    def _make_projection(self, n_features: int, n_components: int, seed: int) -> Projection:
        return HashEmbedding(
            n_features, n_components, seed, self.nnz_per_feature, self.bucket_width, self.hash, n_stacks=self.n_stacks
        )
