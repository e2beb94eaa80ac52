"""A random projection as a frozen value: its matrix R by blocks, products, lifting, JSON."""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.checks import whole
from slimline._base.layout import as_kernel_blocks, require_sound, result_dtype
from slimline._kernels import thread_count
from slimline.errors import InvalidParameterError, InvalidProjectionLineError
from slimline.projections._docstrings import with_shared_paragraphs

#: float32 or float64.
FloatArray = NDArray[np.floating[Any]]

#: Number of the JSON line's layout. Raise it when a field changes its meaning, and keep reading the old one.
PROTOCOL = 1

_TILE_BYTES = 8 << 20


@with_shared_paragraphs
@dataclass(frozen=True)
class Projection(ABC):
    """Random linear map x ↦ Rᵀx from features to components, as a frozen value.

    A projection holds its family, seed and sizes, and never the matrix R. It makes parts of R when a product needs
    them.

    Parameters
    ----------
    ...
        Fields of every projection.

    See Also
    --------
    slimline.make_projection : A projection of a named family, as a scikit-learn transformer.
    slimline.testing.check_projection : Check a projection of your own.

    Notes
    -----
    R is d × r, and Z = XR is the sketch of X. Every family satisfies E[RRᵀ] = I, so that E⟨Rᵀw, Rᵀx⟩ = ⟨w, x⟩ for all w
    and x ([1]_, Lemma 4, for a Gaussian R). For independent entries the second moment is ::

        Var⟨Rᵀw, Rᵀx⟩ = (‖w‖²‖x‖² + ⟨w, x⟩² + (k₄ - 3) Σ wⱼ²xⱼ²)/r,      k₄ = kurtosis.

    The other families have k₄ = 1, and `collision` gives what lowers their variance below this formula.

    Entry (feature, component) of R is a function of the seed and of its position: its random bits come from the
    counter-based generator Philox 4x32-10 [2]_. R therefore does not depend on the order of the work, the number of
    threads, the instruction set or the type of the data.

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.
    .. [2] Salmon, J. K.; Moraes, M. A.; Dror, R. O.; Shaw, D. E. (2011). "Parallel random numbers: as easy as 1, 2, 3."
       SC '11.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.projections import Gaussian, Projection
    >>> projection = Gaussian(n_features=1000, n_components=64, seed=0)
    >>> projection.apply(np.ones((2, 1000))).shape
    (2, 64)
    >>> Projection.from_json(projection.to_json()) == projection
    True
    """

    n_features: int
    n_components: int
    seed: int

    family: ClassVar[str]
    #: Whether drawing the rows of R for a panel of columns costs about as much as multiplying with them, so that all
    #: rows of X should be there when it is done.
    draws_every_entry: ClassVar[bool] = False
    _families: ClassVar[dict[str, type[Projection]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make the family known to `from_json`."""
        super().__init_subclass__(**kwargs)
        if "family" in cls.__dict__:
            Projection._families[cls.family] = cls

    def __post_init__(self) -> None:
        """Refuse what no family can do."""
        for name, least in (("n_features", 1), ("n_components", 1), ("seed", 0)):
            object.__setattr__(self, name, whole(name, getattr(self, name), least))
        for name, limit in (("seed", 64), ("n_features", 62)):
            if getattr(self, name) >= 2**limit:
                raise InvalidParameterError(
                    f"must be below 2**{limit}; got {getattr(self, name)}.", name, getattr(self, name)
                )
        if self.n_components > 2**30:
            raise InvalidParameterError(
                f"must be at most 2**30; got {self.n_components}.", "n_components", self.n_components
            )

    # What a family must say ------------------------------------------------------------------

    @abstractmethod
    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        """Return R[start:stop], dense or CSR as the family likes. Products never need it.

        Parameters
        ----------
        start, stop : int
            First feature, and the one after the last (default: all).
        dtype : data type
            float64 or float32; any other is refused.

        Returns
        -------
        rows : array or sparse array of shape (stop - start, n_components)
            The rows of R that belong to these features.
        """

    @property
    def kurtosis(self) -> float:
        """Kurtosis k₄ = E[g⁴] / E[g²]² of the entries, as it enters the second moment."""
        return 1.0

    def collision(self) -> tuple[int, float]:
        """Return how the second moment differs from that of independent columns.

        Returns
        -------
        block : int
            Features in the same block of this size never share a component. 1: any two features can.
        factor : float
            Factor on what pairs of features contribute to the variance; 1.0 for independent columns.
        """
        return 1, 1.0

    # What a family may do faster than with tiles of R -----------------------------------------

    def _apply_dense(self, x: NDArray[Any], feature: int, out: FloatArray, accumulate: bool) -> None:
        """Write x R to `out`, or add it, for a block of columns that begins at `feature`."""
        if not accumulate:
            out[...] = 0
        for start, stop in self._tiles(feature, feature + x.shape[1]):
            out += x[:, start - feature : stop - feature].astype(out.dtype) @ self.rows(start, stop, out.dtype)

    def _apply_sparse(self, x: Any, feature: int, out: FloatArray, accumulate: bool) -> None:
        """Write x R to `out`, or add it, for a CSR or CSC block of columns that begins at `feature`."""
        if not accumulate:
            out[...] = 0
        require_sound(x)
        columns = x.tocsc()
        for start, stop in self._tiles(feature, feature + x.shape[1]):
            product: Any = columns[:, start - feature : stop - feature] @ self.rows(start, stop, out.dtype)
            out += product.toarray() if sp.issparse(product) else product  # type: ignore[attr-defined]

    def _lift(self, v: FloatArray, feature: int, out: FloatArray) -> None:
        """Write v Rᵀ for the features of `out`, from `feature` on."""
        for start, stop in self._tiles(feature, feature + out.shape[1]):
            out[:, start - feature : stop - feature] = (self.rows(start, stop, out.dtype) @ v.T).T

    # What is the same for all ------------------------------------------------------------------

    def apply(self, X: Any, *, first_feature: int = 0, out: FloatArray | None = None) -> FloatArray:
        """Return X R, or add it to `out`.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, width)
            A block of columns: float64, float32, float16, int8, uint8, int16, bool, dense or sparse.
        first_feature : int
            Number of its first column.
        out : array of shape (n_samples, n_components), C order, optional
            Added to. float64 for float64 X, float32 for any other type.

        Returns
        -------
        out : array of shape (n_samples, n_components)
            X R, in float64 for float64 data and float32 else.
        """
        if getattr(X, "ndim", None) != 2 or not hasattr(X, "dtype"):
            raise InvalidParameterError("must be an array or a sparse matrix with two dimensions.", "X")
        n, width = X.shape
        if whole("first_feature", first_feature, 0) + width > self.n_features:
            raise InvalidParameterError(
                f"has columns {first_feature} to {first_feature + width - 1}, but the projection has "
                f"n_features={self.n_features}.",
                "X",
            )
        dtype = result_dtype(X.dtype)
        if accumulate := out is not None:
            if out.shape != (n, self.n_components) or out.dtype != dtype or not out.flags.carray:
                raise InvalidParameterError(
                    f"must be a C-ordered {dtype} array of shape {(n, self.n_components)}.", "out"
                )
        else:
            out = np.empty((n, self.n_components), dtype=dtype)
        if width == 0 or n == 0:
            if not accumulate:
                out[...] = 0
            return out
        for block, rows, column in as_kernel_blocks(X):
            if sp.issparse(block):
                self._apply_sparse(block, first_feature + column, out[rows], accumulate or column > 0)
            else:
                self._apply_dense(block, first_feature + column, out[rows], accumulate or column > 0)
        return out

    def lift(self, V: Any, *, start: int = 0, stop: int | None = None) -> FloatArray:
        """Return V Rᵀ: weights of the sketch as weights of the features.

        Parameters
        ----------
        V : array of shape (n_components,) or (k, n_components)
            float32 is kept; any other type becomes float64.
        start, stop : int
            Range of features (default: all).

        Returns
        -------
        W : array of shape (stop - start,) or (k, stop - start)
            The lifted rows: X @ W.T equals (X R) @ V.T.
        """
        stop = self.n_features if stop is None else stop
        self._check_range(start, stop)
        V = np.asarray(V)
        if V.dtype.kind not in "fiub":
            raise InvalidParameterError(f"must hold real numbers; got element type {V.dtype}.", "V")
        given, flat = V.shape, V.ndim == 1
        dtype = np.float32 if V.dtype == np.float32 else np.float64
        V = np.require(np.atleast_2d(V), dtype, ["C", "A"])
        if V.ndim != 2 or V.shape[1] != self.n_components:
            raise InvalidParameterError(f"must have n_components={self.n_components} columns; got shape {given}.", "V")
        out: FloatArray = np.empty((V.shape[0], stop - start), dtype=dtype)
        if out.size:
            self._lift(V, start, out)
        return out[0] if flat else out

    def gram(self) -> NDArray[np.float64]:
        """Return RᵀR, computed from tiles of R.

        Returns
        -------
        gram : array of shape (n_components, n_components)
            RᵀR in float64.
        """
        total = np.zeros((self.n_components, self.n_components))
        for start, stop in self._tiles(0, self.n_features):
            tile = self.rows(start, stop)
            product: Any = tile.T @ tile
            total += product.toarray() if sp.issparse(product) else product  # type: ignore[attr-defined]
        return total

    def to_json(self) -> str:
        """Return one line of JSON from which `from_json` makes the same projection again.

        Returns
        -------
        line : str
            Family, sizes, seed and the parameters of the family, except those that are None.
        """
        given = {name: value for name, value in dataclasses.asdict(self).items() if value is not None}
        return json.dumps({"slimline_projection": PROTOCOL, "family": self.family} | given)

    @staticmethod
    def from_json(line: str) -> Projection:
        """Return the projection that a line of `to_json` describes.

        Parameters
        ----------
        line : str
            One line of JSON. The module that defines its family must have been imported.

        Returns
        -------
        projection : Projection
            Equal to the one that was written, with the same R bit by bit.
        """
        if not isinstance(line, str):
            raise InvalidProjectionLineError(
                f"A projection is described by one line of JSON; got {type(line).__name__}."
            )
        try:
            fields = json.loads(line)
            if not isinstance(fields, dict):
                raise TypeError("not an object")
            protocol = fields.pop("slimline_projection")
            if protocol != PROTOCOL:
                raise InvalidProjectionLineError(
                    f"The line has layout {protocol!r}, and this slimline reads {PROTOCOL}: "
                    "use the slimline that wrote it, or a newer one."
                )
            family = fields.pop("family")
            if family not in Projection._families:
                raise InvalidProjectionLineError(
                    f"The line is of the family {family!r}, and no such family is known: import the module that "
                    "defines it first, or use a newer slimline."
                )
            return Projection._families[family](**fields)
        except InvalidProjectionLineError:
            raise
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidProjectionLineError(
                f"Not a line that describes a projection ({error}): {line[:200]!r}"
            ) from error

    def with_components(self, n_components: int) -> Self:
        """Return the projection of the same seed with another number of components.

        Parameters
        ----------
        n_components : int
            Number of components.

        Returns
        -------
        projection : Projection
            A new value; `self` does not change.
        """
        return dataclasses.replace(self, n_components=n_components)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields alone."""
        return partial(type(self), **{field.name: getattr(self, field.name) for field in dataclasses.fields(self)}), ()

    def _row_range(self, start: int, stop: int | None, dtype: Any) -> tuple[int, int, np.dtype[Any]]:
        """Return what `rows` was asked for, the end filled in; refuse what no family writes out."""
        stop = self.n_features if stop is None else stop
        self._check_range(start, stop)
        try:
            wanted = np.dtype(dtype)
        except TypeError:
            wanted = None
        if wanted not in (np.float64, np.float32):
            raise InvalidParameterError(
                f"must be float64 or float32; got {dtype!r}. For another type convert the rows: "
                "projection.rows().astype(dtype).",
                "dtype",
                dtype,
            )
        return start, stop, wanted

    def _check_range(self, start: int, stop: int) -> None:
        if not 0 <= start <= stop <= self.n_features:
            raise InvalidParameterError(f"features {start}:{stop} are not within 0:{self.n_features}.")

    def _tiles(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        step = max(16, _TILE_BYTES // (8 * self.n_components))
        for start in range(first, last, step):
            yield start, min(start + step, last)


class Kernel(Protocol):
    """Interface of the C++ object behind a projection."""

    def apply(self, x: Any, feature: int, scale: float, out: Any, accumulate: bool, threads: int) -> None:
        """Write x R to `out`, or add it."""

    def lift(self, v: Any, feature: int, scale: float, out: Any, threads: int) -> None:
        """Write v Rᵀ for the features of `out`, from `feature` on."""


class KernelProjection(Projection):
    """A projection whose products never see R written out whole."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """The factor between the values that the kernel draws and the entries of R."""

    @cached_property
    @abstractmethod
    def _native(self) -> Kernel:
        """The kernel of this projection; made when first used, never pickled."""

    def _kernel_row(self, feature: int) -> int:
        """Return the number of the kernel's row that belongs to a feature."""
        return feature

    def _apply_dense(self, x: NDArray[Any], feature: int, out: FloatArray, accumulate: bool) -> None:
        self._native.apply(x, self._kernel_row(feature), self.scale, out, accumulate, thread_count())

    def _lift(self, v: FloatArray, feature: int, out: FloatArray) -> None:
        self._native.lift(v, self._kernel_row(feature), self.scale, out, thread_count())
