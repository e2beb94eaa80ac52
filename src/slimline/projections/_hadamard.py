"""Subsampled randomised Hadamard transform (SRHT, FHT)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.checks import flag
from slimline._kernels import Hadamard, _native, thread_count
from slimline.errors import InvalidParameterError
from slimline.projections._base import FloatArray, KernelProjection, Projection
from slimline.projections._docstrings import with_shared_paragraphs
from slimline.projections._sparse import apply_sparse
from slimline.projections._transformer import RandomProjection

#: Blocks of features that may be transformed at a time: at most what the second-level cache holds.
_BLOCKS = tuple(1 << k for k in range(10, 16))
#: A sampled column of a block costs about as much as so many additions of its transform (measured).
_SAMPLE_COST = 15


@with_shared_paragraphs
@dataclass(frozen=True)
class SubsampledHadamard(KernelProjection):
    """R = √(d'/r) · D · H · S: random signs, Walsh-Hadamard transform, r sampled columns (SRHT).

    Parameters
    ----------
    ...
        Fields of every projection.
    replace : bool, default=False
        Sample the columns with replacement.

    See Also
    --------
    slimline.HadamardProjection : The same as a scikit-learn transformer.
    walsh_hadamard : The transform alone.

    Notes
    -----
    D is diagonal with independent random signs, H the Walsh-Hadamard matrix of order d', divided by √d', and S selects
    r of its columns. d' is the smallest power of two that is at least d; the padding is never stored. So entry (j, k)
    of R is ::

        Dⱼ (-1)^popcount(j & sₖ)/√r,      s₁, …, s_r: the sampled columns.

    Sampling is with replacement in Paul et al. ([1]_, eq. 4). Without replacement the variance gets the additional
    factor (d' - r)/(d' - 1). How many components keep a subspace is Lemma 1 of [1]_ and Theorem 1.3 of [2]_
    (`paul2013.srht` in :mod:`slimline.bounds` has an explicit form).

    A dense sample takes about d log r operations: blocks of features are transformed, and each block is sampled. A
    sparse sample is projected entry by entry.

    References
    ----------
    .. [1] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.
    .. [2] Tropp, J. A. (2011). "Improved analysis of the subsampled randomized Hadamard transform." Advances in
       Adaptive Data Analysis 3(1-2), 115-126.
    """

    replace: bool = False

    family: ClassVar[str] = "srht"

    def __post_init__(self) -> None:
        """Refuse more columns than there are."""
        super().__post_init__()
        flag("replace", self.replace)
        object.__setattr__(self, "replace", bool(self.replace))
        if self.n_features > 2**32:
            raise InvalidParameterError(
                f"must be at most 2**32 for a Hadamard projection; got {self.n_features}.",
                "n_features",
                self.n_features,
            )
        if not self.replace and self.n_components > self.size:
            raise InvalidParameterError(
                f"must be at most {self.size}, the columns to sample from for {self.n_features} features, unless they "
                f"are sampled with replacement; got {self.n_components}.",
                "n_components",
                self.n_components,
            )

    @property
    def size(self) -> int:
        """Order d' of the Walsh-Hadamard matrix."""
        return 1 << (self.n_features - 1).bit_length()

    @property
    def scale(self) -> float:
        """1 / √r."""
        return 1 / math.sqrt(self.n_components)

    @cached_property
    def _native(self) -> Hadamard:
        return Hadamard(self.seed, self.size, self.n_components, self.replace, self._block())

    def _block(self) -> int:
        """Return the block that makes the least work; R does not depend on it."""

        def work(block: int) -> int:  # a block that the features fill in part is transformed whole
            each = block * block.bit_length() + _SAMPLE_COST * self.n_components
            return -(-self.n_features // block) * each

        return min((min(block, self.size) for block in _BLOCKS), key=work)

    def collision(self) -> tuple[int, float]:
        if self.replace or self.size == 1:
            return 1, 1.0
        return 1, (self.size - self.n_components) / (self.size - 1)

    @property
    def samples(self) -> NDArray[np.uint32]:
        """The sampled columns of the Walsh-Hadamard matrix."""
        return self._native.samples()

    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        start, stop, dtype = self._row_range(start, stop, dtype)
        samples = self.samples
        first = start // 128 * 128
        words = np.empty(-(-(stop - first) // 32), dtype=np.uint32)
        self._native.signs(first, words)
        negative = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")[start - first : stop - first]
        odd = np.bitwise_count(np.arange(start, stop, dtype=np.uint32)[:, None] & samples[None, :]) & np.uint8(1)
        return np.where(odd ^ negative[:, None], -self.scale, self.scale).astype(dtype)

    def gram(self) -> NDArray[np.float64]:
        # The signs D cancel, which leaves sums of Walsh functions over 0, …, d - 1. [0, d) falls into one run of 2^k
        # features for each set bit of d; over it a Walsh function adds up to ±2^k if it is constant there, else to 0.
        mask = self.samples[:, None] ^ self.samples[None, :]
        total = np.zeros(mask.shape)
        begin = 0
        for k in reversed(range(self.n_features.bit_length())):
            length = 1 << k
            if not self.n_features & length:
                continue
            constant = (mask & np.uint32(length - 1)) == 0
            odd = np.bitwise_count(mask & np.uint32(begin)) & np.uint8(1)
            total += np.where(constant, np.where(odd, -float(length), float(length)), 0.0)
            begin += length
        return total / self.n_components

    def _apply_sparse(self, x: Any, feature: int, out: FloatArray, accumulate: bool) -> None:
        apply_sparse(self._native, x, feature, self.scale, out, accumulate)


@with_shared_paragraphs
class HadamardProjection(RandomProjection):
    """Projection by random signs, a Walsh-Hadamard transform and r sampled columns (SRHT).

    Every entry of R is ±1/√r, as in :class:`SignProjection`, but the product takes n·d·log r operations instead of
    n·d·r. R is never stored.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components r. "auto": as many as a Gaussian R needs for all distances between the samples to stay
        within 1 ± `eps`. The theorems on this R need a logarithmic factor more.
    replace : bool, default=False
        Sample the columns with replacement, as Paul et al. (2013). Sampling without has the smaller variance.
    ...
        Parameters of every transformer.

    Attributes
    ----------
    projection_ : slimline.projections.SubsampledHadamard
        The projection as a frozen value.
    ...
        Attributes of every transformer.

    See Also
    --------
    SparseEmbedding : Faster, in particular for sparse data.
    SignProjection : Independent entries ±1/√r.
    slimline.projections.SubsampledHadamard : The frozen value, with R written out.

    Notes
    -----
    Fast transforms as random projections are due to Ailon and Chazelle [1]_. The SRHT keeps the margin and the radius
    of a linear SVM if r is large enough for the rank of X ([2]_, Lemma 1, Theorems 1 and 2); an explicit number of
    components is `paul2013.srht` in :mod:`slimline.bounds`, after Tropp ([3]_, Theorem 1.3).

    References
    ----------
    .. [1] Ailon, N.; Chazelle, B. (2009). "The fast Johnson-Lindenstrauss transform and approximate nearest neighbors."
       SIAM Journal on Computing 39(1), 302-322.
    .. [2] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.
    .. [3] Tropp, J. A. (2011). "Improved analysis of the subsampled randomized Hadamard transform." Advances in
       Adaptive Data Analysis 3(1-2), 115-126.

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


def walsh_hadamard(X: FloatArray) -> FloatArray:
    """Return the unnormalised Walsh-Hadamard transform of each row of `X`.

    Parameters
    ----------
    X : array of shape (n, size) or (size,)
        float32 or float64, `size` a power of two. Any other type becomes float64.

    Returns
    -------
    Y : array of the same shape
        X H.

    Notes
    -----
    H is in Sylvester's order, H[i, j] = (-1)^popcount(i & j), and HHᵀ = size · I. The transform takes size · log₂(size)
    additions per row.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.projections import walsh_hadamard
    >>> walsh_hadamard(np.array([1.0, 0.0, 2.0, 0.0]))
    array([ 3.,  3., -1., -1.])
    """
    X = np.asarray(X)
    Y: FloatArray = np.array(X, dtype=np.float32 if X.dtype == np.float32 else np.float64, order="C", copy=True)
    if Y.ndim not in (1, 2) or Y.shape[-1] < 1 or Y.shape[-1] & (Y.shape[-1] - 1):
        raise InvalidParameterError(
            f"must have rows of a power of two entries; got shape {X.shape}. Pad them with zeros.", "X"
        )
    _native.walsh_hadamard(np.atleast_2d(Y), thread_count())
    return Y
