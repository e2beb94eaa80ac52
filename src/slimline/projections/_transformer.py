"""The scikit-learn transformer of a projection: what all families share."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import DataDimensionalityWarning
from sklearn.random_projection import johnson_lindenstrauss_min_dim
from sklearn.utils import assert_all_finite, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from slimline._base.checks import chance, flag, is_auto, whole
from slimline._base.layout import KERNEL_TYPES, require_sound, result_dtype, without_wrapping
from slimline.errors import InvalidParameterError, NoDimensionError
from slimline.laws import norm_dimension
from slimline.projections._base import FloatArray, Projection
from slimline.projections._pseudo_inverse import PseudoInverse, pseudo_inverse

#: Below this a dimension that scikit-learn's formula gives is no longer a number of 64 bits.
_LEAST_EPS = 1e-8


class RandomProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the projection transformers; not for direct use."""

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        eps: float = 0.1,
        delta: float | None = None,
        compute_inverse_components: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.eps = eps
        self.delta = delta
        self.compute_inverse_components = compute_inverse_components
        self.random_state = random_state

    @abstractmethod
    def _make_projection(self, n_features: int, n_components: int, seed: int) -> Projection:
        """Return the frozen projection that this transformer stands for."""

    def _granularities(self) -> tuple[int, ...]:
        """Return the steps in which "auto" may choose the number of components, the preferred one first."""
        return (1,)

    def _part_names(self) -> tuple[str, ...]:
        """Return the names of the parameters whose product those steps are."""
        return ()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the projection: from the shape of `X` and the seed; its values are only checked.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data, or anything of the same shape.
        y : None
            There for the convention.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._forget()
        X = self._validate(X, reset=True)
        require_finite(X, type(self).__name__)
        self._choose(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Choose the projection and return the sketch of `X`, in one pass over the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.
        y : None
            There for the convention.

        Returns
        -------
        Z : array of shape (n_samples, n_components)
            X R.
        """
        self._forget()
        X = self._validate(X, reset=True)
        self._choose(X)
        try:
            return self._sketch(X)
        except ValueError:  # values that are not finite: nothing was fitted
            self._forget()
            raise

    def transform(self, X: Any) -> Any:
        """Return the sketch of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            float64 and float32 are kept; float16, int8, uint8, int16 and bool are read as they are and give
            float32; any other type becomes float64.

        Returns
        -------
        Z : array of shape (n_samples, n_components)
            X R.
        """
        check_is_fitted(self, "projection_")
        return self._sketch(self._validate(X, reset=False))

    def projection_for(self, shape: tuple[int, int]) -> Projection:
        """Return the projection that `fit` would choose for data of this shape, nothing being fitted.

        Parameters
        ----------
        shape : (int, int)
            Number of samples and features.

        Returns
        -------
        projection : slimline.projections.Projection
            A new one at each call, unless `random_state` is a number.
        """
        self._check_parameters()
        n_samples, n_features = shape
        n_components = self._dimension(n_samples, n_features)
        return self._make_projection(n_features, n_components, projection_seed(self.random_state))

    def lift(self, V: Any) -> FloatArray:
        """Return V Rᵀ: weights that were learnt on the sketch, as weights on the original features.

        Parameters
        ----------
        V : array of shape (n_components,) or (k, n_components)
            For example `coef_` of a linear model that was trained on the sketch.

        Returns
        -------
        W : array of shape (n_features,) or (k, n_features)
            X @ W.T equals Z @ V.T: the lifted weights predict on X what V predicts on the sketch Z.
        """
        check_is_fitted(self, "projection_")
        V = check_array(V, dtype=[np.float64, np.float32], ensure_2d=False, input_name="V", estimator=self)
        return self.projection_.lift(V)

    def inverse_transform(self, Z: Any) -> FloatArray:
        """Return the least-norm data whose sketch is `Z`.

        Parameters
        ----------
        Z : array-like or sparse matrix of shape (n_samples, n_components)
            A sketch.

        Returns
        -------
        X : array of shape (n_samples, n_features)
            Z times the pseudo-inverse of R, through the r × r matrix RᵀR.
        """
        check_is_fitted(self, "projection_")
        Z = check_array(Z, dtype=[np.float64, np.float32], accept_sparse=("csr", "csc", "coo"))
        Z = Z.toarray() if sp.issparse(Z) else Z  # type: ignore[attr-defined]
        if Z.shape[1] != self.n_components_:
            raise InvalidParameterError(f"has {Z.shape[1]} columns, but n_components_ is {self.n_components_}.", "Z")
        return self._inverse().apply(Z)

    @property
    def n_components_(self) -> int:
        """Number of components in use."""
        return self._fitted_projection().n_components

    @property
    def components_(self) -> Any:
        """Rᵀ, of shape (n_components, n_features): made at each request, sparse for the sparse families."""
        rows = self._fitted_projection().rows(dtype=self._dtype)
        return rows.T.tocsr() if sp.issparse(rows) else np.ascontiguousarray(rows.T)

    @property
    def inverse_components_(self) -> NDArray[Any]:
        """Pseudo-inverse of `components_`, of shape (n_features, n_components), if `compute_inverse_components`."""
        projection = self._fitted_projection()
        if not self.compute_inverse_components:
            raise AttributeError("inverse_components_ is only there with compute_inverse_components=True.")
        return np.ascontiguousarray(self._inverse().apply(np.eye(projection.n_components, dtype=self._dtype)).T)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        """Return the tags of scikit-learn: sparse input is accepted, and floats keep their type."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _fitted_projection(self) -> Projection:
        projection: Projection | None = self.__dict__.get("projection_")
        if projection is None:
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: call fit first.")
        return projection

    def _forget(self) -> None:
        """Drop what an earlier fit left, so that a fit that fails leaves nothing half fitted."""
        for name in ("projection_", "_pseudo_inverse"):
            self.__dict__.pop(name, None)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        if callable(getattr(X, "sketch", None)):  # a Matrix; its class lies above this subpackage
            raise InvalidParameterError(
                "X is a slimline Matrix, which makes its own sketch, a block at a time: "
                "X.sketch(transformer.projection_for(X.shape))."
            )
        X = without_wrapping(X)
        if _is_ready(X):
            # Nothing to convert and no names to check: scikit-learn's look takes longer than a small sketch.
            if reset:
                self.__dict__.pop("feature_names_in_", None)
                self.n_features_in_ = X.shape[1]
                return X
            if X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_"):
                return X
            return validate_data(self, X, reset=False, skip_check_array=True)
        if _is_dense_frame(X) and _is_ready(values := X.to_numpy()):
            validate_data(self, X, reset=reset, skip_check_array=True)  # names and number of the frame's columns
            return values
        # Finiteness is looked at later: reading X once more would double the time of a transform.
        return validate_data(
            self, X, reset=reset, accept_sparse=["csr", "csc"], dtype=list(KERNEL_TYPES), ensure_all_finite=False
        )

    def _choose(self, X: Any) -> None:
        self.projection_ = self.projection_for(X.shape)
        self._dtype = result_dtype(X.dtype)
        if self.compute_inverse_components:
            self._pseudo_inverse = pseudo_inverse(self.projection_)

    def _dimension(self, n_samples: int, n_features: int) -> int:
        if is_auto(self.n_components):
            return self._automatic_dimension(n_samples, n_features)
        n_components = whole("n_components", self.n_components, auto=True)
        warn_if_no_reduction(n_features, n_components, stacklevel=5)
        return n_components

    def _check_parameters(self) -> None:
        chance("eps", self.eps)
        if self.delta is not None:
            chance("delta", self.delta)
        flag("compute_inverse_components", self.compute_inverse_components)

    def _automatic_dimension(self, n_samples: int, n_features: int) -> int:
        eps, delta = float(self.eps), self.delta
        shown = f"{eps:f}" if eps >= 1e-6 else f"{eps:g}"
        given = (
            f"eps={shown} and n_samples={n_samples}" if delta is None else f"eps={shown}, {delta=:g} and {n_samples=}"
        )
        allow_more = "raise eps" if delta is None else "raise eps or delta"
        if eps < _LEAST_EPS:
            raise InvalidParameterError(f"{given} lead to more dimensions than there are: {allow_more}.")
        try:
            if delta is None:
                n_components = int(johnson_lindenstrauss_min_dim(n_samples=n_samples, eps=eps))
            else:
                n_components = norm_dimension(eps, float(delta), max(1, n_samples * (n_samples - 1) // 2))
        except NoDimensionError as error:
            raise NoDimensionError(f"{given} lead to more dimensions than there are: {allow_more}.") from error
        if n_components < 1:
            raise InvalidParameterError(
                f"{given} lead to a target dimension of {n_components} which is invalid: set n_components to a number."
            )
        if n_components > n_features:
            raise InvalidParameterError(
                f"{given} lead to a target dimension of {n_components} which is larger than the original space with "
                f"n_features={n_features}: {allow_more}, or set n_components to a number."
            )
        steps = self._granularities()
        fitting = [r for r in (-(-n_components // step) * step for step in steps) if r <= n_features]
        if not fitting:
            names = self._part_names()
            raise InvalidParameterError(
                f"{given} lead to a target dimension of {n_components}, and there is no multiple of {steps[-1]} "
                f"({' times '.join(names)}) from that to n_features={n_features}: {allow_more}, lower "
                f"{', '.join(names[:-1])} or {names[-1]}, or set n_components to a number."
            )
        return fitting[0]

    def _sketch(self, X: Any) -> Any:
        if sp.issparse(X):  # few values, many results
            require_finite(X, type(self).__name__)
            return self.projection_.apply(X)
        Z = self.projection_.apply(X)
        # Every feature takes part in the sketch, so a value that is not finite shows in it.
        if not sklearn.get_config()["assume_finite"] and not _sum_is_finite(Z):
            require_finite(X, type(self).__name__)
        return Z

    def _inverse(self) -> PseudoInverse:
        prepared: PseudoInverse | None = self.__dict__.get("_pseudo_inverse")
        if prepared is None or prepared.projection != self.projection_:
            prepared = self._pseudo_inverse = pseudo_inverse(self.projection_)
        return prepared


def warn_if_no_reduction(n_features: int, n_components: int, stacklevel: int = 4) -> None:
    """Warn, as scikit-learn does, of a sketch with more columns than the data."""
    if n_components > n_features:
        warnings.warn(
            "The number of components is higher than the number of features: n_features < n_components "
            f"({n_features} < {n_components}). The dimensionality of the problem will not be reduced.",
            DataDimensionalityWarning,
            stacklevel=stacklevel,
        )


def _is_ready(X: Any) -> bool:
    """Return whether the kernels take X as it is: a matrix with at least one row and column."""
    if type(X) in (np.ndarray, np.memmap):
        return X.ndim == 2 and X.dtype in KERNEL_TYPES and X.size > 0
    if not sp.issparse(X) or X.ndim != 2:  # type: ignore[attr-defined]
        return False
    return X.format in ("csr", "csc") and X.dtype in KERNEL_TYPES and min(X.shape) > 0  # type: ignore[attr-defined]


def _is_dense_frame(X: Any) -> bool:
    """Return whether X is a data frame without columns of pandas' sparse type."""
    if not (hasattr(X, "columns") and hasattr(X, "to_numpy")):
        return False
    return not any(hasattr(dtype, "subtype") and hasattr(dtype, "fill_value") for dtype in getattr(X, "dtypes", ()))


def _sum_is_finite(values: NDArray[Any]) -> bool:
    """Return whether the sum is finite: if it is, so are all values; if not, it may have overflowed."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(values.sum(dtype=np.float32 if values.itemsize == 2 else None)))


def require_finite(X: Any, name: str) -> None:
    """Raise scikit-learn's error for NaN and infinity."""
    values = X.data if sp.issparse(X) else X  # type: ignore[attr-defined]
    if values.dtype.kind in "biu" or _sum_is_finite(values):
        return
    assert_all_finite(values, estimator_name=name, input_name="X")


def projection_seed(random_state: Any) -> int:
    """Return the 64-bit key that `random_state` means: an int is the key itself."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        seed = int(random_state)
        if not 0 <= seed < 2**64:
            raise InvalidParameterError(
                f"must lie between 0 and 2**64 - 1; got {random_state!r}.", "random_state", random_state
            )
        return seed
    try:
        generator = check_random_state(random_state)
    except ValueError:
        raise InvalidParameterError(
            "must be a whole number, a numpy.random.RandomState or None; "
            f"got {random_state!r}. Of a numpy Generator pass a number: int(rng.integers(2**32)).",
            "random_state",
            random_state,
        ) from None
    low, high = generator.randint(0, 2**32, size=2, dtype=np.uint64)
    return int(low) | int(high) << 32


#: Of rows of the result that are made dense at a time.
_BLOCK_BYTES = 8 << 20
#: Entries of R that are written out at a time, where it is multiplied as a sparse matrix.
_ENTRIES = 1 << 21
#: Numbers of a dense result that take as long as one entry of a sparse R or of a product with it (measured: 4 to 20).
_COST_OF_ENTRY = 8


class SparseOutputProjection(RandomProjection):
    """A projection whose result stays sparse for sparse data when `dense_output` is False."""

    dense_output: bool

    @abstractmethod
    def _entries_a_feature(self) -> float:
        """Return how many entries of R a feature has, on average."""

    def _sketch(self, X: Any) -> Any:
        if self.dense_output or not sp.issparse(X):
            return super()._sketch(X)
        require_finite(X, type(self).__name__)
        require_sound(X)
        matrix: Any = X
        rows = matrix.tocsr()  # CSR as it is; CSC is turned
        entries = self._entries_a_feature() * (rows.shape[1] + rows.nnz)
        few = entries * _COST_OF_ENTRY < rows.shape[0] * self.n_components_
        Z = self._by_entries(rows) if few else self._by_rows(rows)
        return Z if isinstance(matrix, sp.sparray) else sp.csr_matrix(Z)

    def _by_rows(self, rows: Any) -> Any:
        """Return the sketch of CSR rows, some rows at a time, dense in between."""
        step = max(1, _BLOCK_BYTES // (self.n_components_ * 8))
        parts = [
            sp.csr_array(self.projection_.apply(rows[start : start + step])) for start in range(0, rows.shape[0], step)
        ]
        return sp.vstack(parts, format="csr")

    def _by_entries(self, rows: Any) -> Any:
        """Return the sketch of CSR rows by sparse products, some features at a time: nothing of size n r is made."""
        dtype = result_dtype(rows.dtype)
        X = sp.csr_array((rows.data.astype(dtype, copy=False), rows.indices, rows.indptr), shape=rows.shape)
        step = max(16, int(_ENTRIES / self._entries_a_feature()))
        Z: Any = sp.csr_array((X.shape[0], self.n_components_), dtype=dtype)
        for start in range(0, X.shape[1], step):
            stop = min(start + step, X.shape[1])
            part = X if stop - start == X.shape[1] else X[:, start:stop]
            if part.nnz:
                Z = Z + part @ sp.csr_array(self.projection_.rows(start, stop, dtype))
        Z.eliminate_zeros()
        Z.sort_indices()
        return Z

    def _check_parameters(self) -> None:
        super()._check_parameters()
        flag("dense_output", self.dense_output)
