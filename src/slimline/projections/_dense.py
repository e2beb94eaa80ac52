"""Projections with a dense R: Gaussian entries and random signs; the identity."""

from __future__ import annotations

import math
from abc import abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.layout import require_sound
from slimline._kernels import Rows, native_rows, one_blas_thread, thread_count
from slimline.errors import InvalidParameterError
from slimline.projections._base import FloatArray, KernelProjection, Projection
from slimline.projections._docstrings import with_shared_paragraphs
from slimline.projections._transformer import RandomProjection

#: Stored values of a copy in which rows are put in order.
_SORTED_AT_ONCE = 1 << 20


class RowDrawnProjection(KernelProjection):
    """A projection with an entry everywhere: n·d·r work, on tiles of R that are drawn and forgotten."""

    draws_every_entry = True

    @cached_property
    @abstractmethod
    def _native(self) -> Rows: ...

    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        start, stop, dtype = self._row_range(start, stop, dtype)
        out: FloatArray = np.empty((stop - start, self.n_components), dtype=dtype)
        self._native.rows(start, out)
        out *= out.dtype.type(self.scale)
        return out

    def _apply_dense(self, x: NDArray[Any], feature: int, out: FloatArray, accumulate: bool) -> None:
        with self._own_threads():
            super()._apply_dense(x, feature, out, accumulate)

    def _lift(self, v: FloatArray, feature: int, out: FloatArray) -> None:
        with self._own_threads():
            super()._lift(v, feature, out)

    def _own_threads(self) -> AbstractContextManager[None]:
        return one_blas_thread if isinstance(self._native, Rows) else nullcontext()

    def _apply_sparse(self, x: Any, feature: int, out: FloatArray, accumulate: bool) -> None:
        if x.format == "csc":
            parts = (x.indptr, x.indices, x.data)
            self._native.apply_columns(*parts, feature, self.scale, out, accumulate, thread_count())
            return
        require_sound(x)
        # Tiles of features go by, so each row must be in order; rows that are not are copied, a few at a time.
        step = x.shape[0] if x.has_sorted_indices else max(1, _SORTED_AT_ONCE * x.shape[0] // max(x.nnz, 1))
        for start in range(0, x.shape[0], step):
            rows = slice(start, min(start + step, x.shape[0]))
            part = x
            if not x.has_sorted_indices:
                part = x[rows]
                part.sort_indices()
            parts = (part.indptr, part.indices, part.data)
            width = x.shape[1]
            self._native.apply_rows(*parts, width, feature, self.scale, out[rows], accumulate, thread_count())


@with_shared_paragraphs
class Gaussian(RowDrawnProjection):
    """R with independent N(0, 1/r) entries.

    Parameters
    ----------
    ...
        Fields of every projection.

    See Also
    --------
    slimline.GaussianProjection : The same as a scikit-learn transformer.
    slimline.laws : The exact laws under this R.

    Notes
    -----
    For a fixed x, r‖Rᵀx‖²/‖x‖² has the χ² distribution with r degrees of freedom, whatever x is. From this law follow
    the lemma of Johnson and Lindenstrauss with explicit constants ([1]_, Lemmas 23.3 and 23.4) and everything in
    :mod:`slimline.laws`.

    The entries are float32 numbers from the Box-Muller transform of Philox words, the same for all types of data.

    References
    ----------
    .. [1] Shalev-Shwartz, S.; Ben-David, S. (2014). "Understanding machine learning." Cambridge University Press.
    """

    family: ClassVar[str] = "gaussian"

    @property
    def scale(self) -> float:
        """1 / √r."""
        return 1 / math.sqrt(self.n_components)

    @cached_property
    def _native(self) -> Rows:
        return native_rows("normal", self.seed, self.n_components)

    @property
    def kurtosis(self) -> float:
        """3, that of the normal law."""
        return 3.0


@with_shared_paragraphs
class RandomSign(RowDrawnProjection):
    """R with independent entries ±1/√r, each with probability ½.

    Parameters
    ----------
    ...
        Fields of every projection.

    See Also
    --------
    slimline.SignProjection : The same as a scikit-learn transformer.

    Notes
    -----
    This is the first of the two distributions of Achlioptas ([1]_, Theorem 1.1), and RS in Paul et al. [2]_. With k₄ =
    1 its second moment is never above that of a Gaussian R.

    Dense data are projected by look-up: the sixteen signed sums of four features of a sample are computed once and
    serve all components. This takes less than half the time of a matrix product.

    References
    ----------
    .. [1] Achlioptas, D. (2003). "Database-friendly random projections: Johnson-Lindenstrauss with binary coins."
       Journal of Computer and System Sciences 66(4), 671-687.
    .. [2] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.
    """

    family: ClassVar[str] = "sign"

    @property
    def scale(self) -> float:
        """1 / √r."""
        return 1 / math.sqrt(self.n_components)

    @cached_property
    def _native(self) -> Rows:
        return native_rows("sign", self.seed, self.n_components)

    def _apply_dense(self, x: NDArray[Any], feature: int, out: FloatArray, accumulate: bool) -> None:
        # looked up: BLAS, which the other families call and hold to one thread, has no part in it
        KernelProjection._apply_dense(self, x, feature, out, accumulate)


@dataclass(frozen=True)
class Identity(Projection):
    """R = I: what is done with a sketch can be done with the data themselves."""

    family: ClassVar[str] = "identity"

    def __post_init__(self) -> None:
        """Refuse another number of components."""
        super().__post_init__()
        if self.n_components != self.n_features:
            raise InvalidParameterError(
                f"must be n_features={self.n_features}, since nothing is projected; got {self.n_components}.",
                "n_components",
                self.n_components,
            )

    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        start, stop, dtype = self._row_range(start, stop, dtype)
        return sp.csr_array(sp.eye_array(stop - start, self.n_components, k=start, dtype=dtype))

    def _apply_dense(self, x: NDArray[Any], feature: int, out: FloatArray, accumulate: bool) -> None:
        if not accumulate:
            out[...] = 0
        out[:, feature : feature + x.shape[1]] += x

    def _apply_sparse(self, x: Any, feature: int, out: FloatArray, accumulate: bool) -> None:
        self._apply_dense(x.toarray(), feature, out, accumulate)

    def _lift(self, v: FloatArray, feature: int, out: FloatArray) -> None:
        out[...] = v[:, feature : feature + out.shape[1]]


@with_shared_paragraphs
class GaussianProjection(RandomProjection):
    """Projection onto independent N(0, 1/r) directions.

    Replaces scikit-learn's `GaussianRandomProjection`, with the same parameters. R is never stored: tiles of it are
    drawn while they are used, so memory stays at a few megabytes for any number of features.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components r. "auto": enough for all distances between the samples to stay within 1 ± `eps`.
    ...
        Parameters of every transformer.

    Attributes
    ----------
    projection_ : slimline.projections.Gaussian
        The projection as a frozen value; `projection_.to_json()` is all that needs to be saved.
    ...
        Attributes of every transformer.

    See Also
    --------
    SignProjection : Nearly the same quality, faster for dense data.
    HadamardProjection : For wide dense data.
    SparseEmbedding : The fastest.
    slimline.projections.Gaussian : The frozen value, with the exact laws.

    Notes
    -----
    With `delta`, "auto" is the smallest r for which the union bound over the n(n-1)/2 exact laws of the squared
    distances is at most `delta` (:func:`slimline.laws.norm_dimension`). Without it, r = 4 ln(n)/(eps²/2 - eps³/3); the
    theorem behind this formula ([1]_, Theorem 2.1) shows only that all distances are kept with a probability of at
    least 1/n.

    References
    ----------
    .. [1] Dasgupta, S.; Gupta, A. (2003). "An elementary proof of a theorem of Johnson and Lindenstrauss." Random
       Structures and Algorithms 22(1), 60-65.

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


@with_shared_paragraphs
class SignProjection(RandomProjection):
    """Projection onto directions of independent signs ±1/√r (RS).

    Nearly as good as Gaussian directions, and faster for dense data. R is never stored.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components r. "auto": enough for all distances between the samples to stay within 1 ± `eps`, if R were
        Gaussian.
    ...
        Parameters of every transformer.

    Attributes
    ----------
    projection_ : slimline.projections.RandomSign
        The projection as a frozen value.
    ...
        Attributes of every transformer.

    See Also
    --------
    GaussianProjection : If the exact laws matter.
    HadamardProjection : The same entries ±1/√r, faster for many components.
    slimline.projections.RandomSign : The frozen value.

    Notes
    -----
    A squared norm stays within 1 ± ε, except with probability 2 exp(-(r/2)(ε²/2 - ε³/3)), as for a Gaussian R ([1]_,
    proof of Theorem 1.1). A linear SVM keeps its margin if r is large enough for the rank of X: see `paul2013.sign` and
    `paul2013.1` in :mod:`slimline.bounds` ([2]_, Theorem 1 and the remark after Lemma 1).

    References
    ----------
    .. [1] Achlioptas, D. (2003). "Database-friendly random projections: Johnson-Lindenstrauss with binary coins."
       Journal of Computer and System Sciences 66(4), 671-687.
    .. [2] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.

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
