"""Projections with a sparse R: sparse embeddings by hashing (CountSketch, OSNAP) and sparse signs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import Rows, Scatter, native_rows, native_scatter, thread_count
from slimline.errors import InvalidParameterError
from slimline.projections._base import FloatArray, KernelProjection, Projection, require_sound, result_dtype
from slimline.projections._dense import RowDrawnProjection

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


#: Features (and buckets) that the grouped hash moves together.
GROUP = 16


def count_parts(nnz_per_feature: Any, bucket_width: Any) -> int:
    """Return into how many equal parts the columns fall."""
    for name, value in (("nnz_per_feature", nnz_per_feature), ("bucket_width", bucket_width)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= 65535:
            raise InvalidParameterError(f"must be a whole number from 1 to 65535; got {value!r}.", name, value)
    return int(nnz_per_feature) * int(bucket_width)


@dataclass(frozen=True)
class HashEmbedding(KernelProjection):
    """R with `nnz_per_feature` · `bucket_width` entries ±1/√(s·v) a feature.

    The columns form s · v equal parts. A feature has s buckets; each bucket is one column in each of
    v parts, with a sign of its own. s = v = 1 is the transform of Clarkson and Woodruff (CW, CountSketch), v > 1
    the generalised one of Paul et al. (2013), s > 1 OSNAP (Nelson and Nguyễn 2013).

    `hash="grouped"` sends 16 consecutive features to 16 distinct buckets: lanes permuted by a random key, one
    random sign a feature. Two features meet with probability 1/(number of buckets) if they are in different
    groups and never if in the same, so the second moment is at most that of the textbook hash; and a dense row is
    taken 16 entries at a time. The s keys of a group have one bit in common (it moves a dense row faster): buckets
    stay uniform and signs independent, so the second moment does not change. `hash="independent"` is the textbook
    hash.
    """

    nnz_per_feature: int = 1
    bucket_width: int = 1
    hash: str = "grouped"

    family: ClassVar[str] = "sparse_embedding"

    def __post_init__(self) -> None:
        """Refuse columns that cannot be shared out."""
        super().__post_init__()
        parts = count_parts(self.nnz_per_feature, self.bucket_width)
        for name in ("nnz_per_feature", "bucket_width"):
            object.__setattr__(self, name, int(getattr(self, name)))
        if self.hash not in ("grouped", "independent"):
            raise InvalidParameterError(f"must be 'grouped' or 'independent'; got {self.hash!r}.", "hash", self.hash)
        if self.n_components % parts:
            raise InvalidParameterError(
                f"n_components={self.n_components} must be a multiple of nnz_per_feature * bucket_width = {parts}; "
                f"for example {(self.n_components // parts + 1) * parts}."
            )

    @property
    def buckets(self) -> int:
        """Number of buckets that a feature chooses from."""
        return self.n_components // (self.nnz_per_feature * self.bucket_width)

    @property
    def effective_hash(self) -> str:
        """The hash in use: "independent" also where the buckets do not come in groups of 16."""
        return "grouped" if self.hash == "grouped" and self.buckets % GROUP == 0 else "independent"

    @property
    def scale(self) -> float:
        """1 / √(s·v)."""
        return 1 / math.sqrt(self.nnz_per_feature * self.bucket_width)

    @cached_property
    def _native(self) -> Scatter:
        return native_scatter(
            self.effective_hash, self.seed, self.n_components, self.nnz_per_feature, self.bucket_width
        )

    def collision(self) -> tuple[int, float]:
        """Features of one group never meet."""
        return (GROUP if self.effective_hash == "grouped" else 1), 1.0

    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        """Return R[start:stop] as a CSR array."""
        start, stop, dtype = self._row_range(start, stop, dtype)
        first, last = self._kernel_row(start), self._kernel_row(stop)
        return scattered_rows(self._native, first, last, self.n_components, self.scale, dtype)

    def gram(self) -> NDArray[np.float64]:
        """Return RᵀR from the non-zeros of R."""
        return scattered_gram(self)

    def add_standardised(
        self,
        x: NDArray[Any],
        missing: int | None,
        parts: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None],
        first_feature: int,
        out: FloatArray,
    ) -> bool:
        """Add the sketch of values that are filled, centred and scaled on the way, where the kernels can do that.

        Parameters
        ----------
        x : array of shape (n, columns)
            Some columns of X.
        missing : int, optional
            The whole number that stands for a missing value; among floats NaN does.
        parts : (centre, factor, fill)
            What is subtracted from the values of each column, what they are multiplied with, and what stands for a
            missing one before (NaN, if not given).
        first_feature : int
            Number of the first column.
        out : array of shape (n, n_components)
            Added to.

        Returns
        -------
        done : bool
            False: nothing was added. So it is where float32 does not hold what is done to some column.
        """
        self._check_range(first_feature, first_feature + x.shape[1])
        by_row = x.shape[1] <= 1 or x.strides[1] == x.itemsize
        if (by_row and self.effective_hash != "grouped") or out.dtype != result_dtype(x.dtype):
            return False
        row = self._kernel_row(first_feature)
        return self._native.apply_standard(x, missing, *parts, row, self.scale, out, thread_count())

    def add_genotypes(
        self,
        packed: NDArray[np.uint8],
        n_samples: int,
        parts: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None],
        first_feature: int,
        out: FloatArray,
    ) -> bool:
        """Add the sketch of genotypes that stay packed, where the kernels can do that.

        Parameters
        ----------
        packed : array of shape (n_variants, ceil(n_samples / 4)), uint8
            Two bits each, as in a PLINK file.
        n_samples : int
            Number of people.
        parts : (centre, factor, fill)
            As for `add_standardised`.
        first_feature : int
            Number of the first variant.
        out : array of shape (n_samples, n_components)
            Added to; faster in Fortran order.

        Returns
        -------
        done : bool
            False: nothing was added.
        """
        self._check_range(first_feature, first_feature + len(packed))
        if out.dtype != np.float32:
            return False
        row = self._kernel_row(first_feature)
        return self._native.apply_genotypes(packed, n_samples, *parts, row, self.scale, out, thread_count())

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


#: Above this density the tiles are written out and left to BLAS, which then does more a second than a scatter.
_DENSE_FROM = 0.12


@dataclass(frozen=True)
class SparseSign(RowDrawnProjection):
    """R with independent entries ±√(1 / (density · r)), each with probability density / 2, else 0.

    `density` = 1/3 is Achlioptas (2003), 1/√d Li, Hastie and Church (2006).
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
        """Return R[start:stop] as a CSR array."""
        start, stop, dtype = self._row_range(start, stop, dtype)
        return scattered_rows(self._scatter, start, stop, self.n_components, self.scale, dtype)

    def gram(self) -> NDArray[np.float64]:
        """Return RᵀR from the non-zeros of R."""
        return scattered_gram(self)

    def _apply_sparse(self, x: Any, feature: int, out: FloatArray, accumulate: bool) -> None:
        if self.density >= _DENSE_FROM:
            super()._apply_sparse(x, feature, out, accumulate)
        else:
            apply_sparse(self._scatter, x, feature, self.scale, out, accumulate)
