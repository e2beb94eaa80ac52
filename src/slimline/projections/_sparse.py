"""Sparse signs, and the products with the non-zeros of a sparse R."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.layout import require_sound
from slimline._kernels import Rows, Scatter, native_rows, native_scatter, thread_count
from slimline.errors import InvalidParameterError
from slimline.projections._base import FloatArray, Projection
from slimline.projections._dense import RowDrawnProjection
from slimline.projections._docstrings import with_shared_paragraphs
from slimline.projections._transformer import SparseOutputProjection, require_finite

#: Features whose rows of R are multiplied at a time.
_GRAM_FEATURES = 1 << 16

#: Stored values of a panel of columns that is turned into rows.
_PANEL = 1 << 20


def scattered_rows(native: Scatter, start: int, stop: int, n_components: int, scale: float, dtype: Any) -> sp.csr_array:
    """Return R[start:stop] as a CSR array."""
    count = native.count(start, stop - start)
    if count >= 2**31:
        raise InvalidParameterError(
            f"these rows of R have {count} entries, too many to write out: ask for fewer at a time."
        )
    pointer = np.empty(stop - start + 1, dtype=np.uint32)
    entries = np.empty(count, dtype=np.uint32)
    native.rows(start, pointer, entries)
    values = np.where(entries & np.uint32(1), -scale, scale).astype(dtype)
    rows = sp.csr_array(
        (values, (entries >> np.uint32(1)).astype(np.int32), pointer.astype(np.int32)),
        shape=(stop - start, n_components),
    )
    rows.sort_indices()
    return rows


def apply_sparse(native: Any, x: Any, feature: int, scale: float, out: FloatArray, accumulate: bool) -> None:
    """Write x R to `out`, or add it, row by row; columns are turned into rows panel by panel."""
    if x.format == "csr":
        native.apply_rows(x.indptr, x.indices, x.data, x.shape[1], feature, scale, out, accumulate, thread_count())
        return
    require_sound(x)
    panels = max(1, -(-x.nnz // _PANEL))
    step = -(-x.shape[1] // panels)
    for start in range(0, x.shape[1], step):
        part = x[:, start : start + step].tocsr()
        native.apply_rows(
            part.indptr,
            part.indices,
            part.data,
            part.shape[1],
            feature + start,
            scale,
            out,
            accumulate or start > 0,
            thread_count(),
        )


def scattered_gram(projection: Projection) -> NDArray[np.float64]:
    """Return RᵀR from the non-zeros alone: s² a feature."""
    total: Any = sp.csr_array((projection.n_components, projection.n_components))
    for start in range(0, projection.n_features, _GRAM_FEATURES):
        rows = projection.rows(start, min(start + _GRAM_FEATURES, projection.n_features))
        total = total + rows.T @ rows
    return np.asarray(total.toarray(), dtype=np.float64)


#: Density of Achlioptas (2003).
ACHLIOPTAS = 1 / 3

#: Above this density the tiles are written out and left to BLAS, which then does more a second than a scatter.
_DENSE_FROM = 0.12


@with_shared_paragraphs
@dataclass(frozen=True)
class SparseSign(RowDrawnProjection):
    """R with independent entries ±1/√(density · r), each with probability density/2, and 0 else.

    Parameters
    ----------
    ...
        Fields of every projection.
    density : float
        Share of the entries that are not zero, from 2⁻²⁴ to 1.

    See Also
    --------
    slimline.SparseSignProjection : The same as a scikit-learn transformer.
    HashEmbedding : A fixed number of non-zeros per feature.

    Notes
    -----
    `density` = 1/3 is the second distribution of Achlioptas ([1]_, Theorem 1.1); its k₄ is 3, as that of the normal
    law. 1/√d is the very sparse one of Li et al. [2]_, with k₄ = √d: the variance grows if a few features carry most of
    the weight of a sample. See `embedding.very_sparse` in :mod:`slimline.bounds`.

    References
    ----------
    .. [1] Achlioptas, D. (2003). "Database-friendly random projections: Johnson-Lindenstrauss with binary coins."
       Journal of Computer and System Sciences 66(4), 671-687.
    .. [2] Li, P.; Hastie, T. J.; Church, K. W. (2006). "Very sparse random projections." KDD, 287-296.
    """

    density: float

    family: ClassVar[str] = "sparse_sign"

    def __post_init__(self) -> None:
        """Refuse an impossible density."""
        super().__post_init__()
        if (
            isinstance(self.density, bool)
            or not isinstance(self.density, (float, int))
            or not 2**-24 <= self.density <= 1
        ):
            raise InvalidParameterError(
                f"must lie between 2**-24 and 1; got {self.density!r}.", "density", self.density
            )
        object.__setattr__(self, "density", float(self.density))

    @property
    def scale(self) -> float:
        """√(1 / (density · r))."""
        return 1.0 / math.sqrt(self.density) / math.sqrt(self.n_components)

    @property
    def kurtosis(self) -> float:
        """1 / density: 3 for Achlioptas, √d for very sparse."""
        return 1.0 / self.density

    @cached_property
    def _native(self) -> Rows | Scatter:  # type: ignore[override]
        if self.density >= _DENSE_FROM:
            return native_rows("sparse_sign", self.seed, self.n_components, self.density)
        return self._scatter

    @cached_property
    def _scatter(self) -> Scatter:
        return native_scatter("sparse_sign", self.seed, self.n_components, density=self.density)

    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        start, stop, dtype = self._row_range(start, stop, dtype)
        return scattered_rows(self._scatter, start, stop, self.n_components, self.scale, dtype)

    def gram(self) -> NDArray[np.float64]:
        return scattered_gram(self)

    def _apply_sparse(self, x: Any, feature: int, out: FloatArray, accumulate: bool) -> None:
        if self.density >= _DENSE_FROM:
            super()._apply_sparse(x, feature, out, accumulate)
        else:
            apply_sparse(self._scatter, x, feature, self.scale, out, accumulate)


@with_shared_paragraphs
class SparseSignProjection(SparseOutputProjection):
    """Projection onto directions of independent sparse signs.

    Replaces scikit-learn's `SparseRandomProjection`, with the same parameters and the same distribution of R. R is
    never stored.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components r. "auto": as many as a Gaussian R needs for all distances between the samples to stay
        within 1 ± `eps`. This R does not guarantee that: if two samples differ in a few features only, it may miss most
        of these.
    density : float, "auto" or "achlioptas", default="auto"
        Share of entries that are not zero. "auto": 1/√n_features (Li et al. 2006); "achlioptas": 1/3.
    dense_output : bool, default=True
        False: sparse data give a sparse result.
    ...
        Parameters of every transformer.

    Attributes
    ----------
    density_ : float
        Density in use.
    projection_ : slimline.projections.SparseSign
        The projection as a frozen value.
    ...
        Attributes of every transformer.

    See Also
    --------
    SparseEmbedding : Faster, and a fixed number of non-zeros per feature.
    slimline.projections.SparseSign : The frozen value.

    Notes
    -----
    An entry is ±1/√(density · r) with probability density/2 each, and 0 else. Density 1/3 is due to Achlioptas ([1]_,
    Theorem 1.1), who proved for it the same bound as for dense signs; 1/√d is due to Li et al. [2]_, whose results are
    asymptotic and need samples without dominant features.

    References
    ----------
    .. [1] Achlioptas, D. (2003). "Database-friendly random projections: Johnson-Lindenstrauss with binary coins."
       Journal of Computer and System Sciences 66(4), 671-687.
    .. [2] Li, P.; Hastie, T. J.; Church, K. W. (2006). "Very sparse random projections." KDD, 287-296.

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
        named = self.density if isinstance(self.density, str) else ""
        if named == "auto":
            density = 1 / math.sqrt(n_features)
        elif named == "achlioptas":
            density = ACHLIOPTAS
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
            require_finite(X, type(self).__name__)
        return super()._sketch(X)
