"""Matrix: the passes over X that everything is built from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import right_hand_sides, sample_weights
from slimline._base.layout import result_dtype
from slimline._kernels import half_of_the_threads
from slimline.data import _products as products
from slimline.data._blocks import PLAIN, Block, BlockRequest, ColumnTransform
from slimline.data._gram import GramSum, gram_of_rows
from slimline.data._passes import Pass, iterate_pass
from slimline.data._products import BlockedSum, Squares, require_squares
from slimline.data._statistics import ColumnStats, RunningStats, all_finite, refuse_overflow, require_finite
from slimline.data._storage import Storage
from slimline.errors import InvalidParameterError
from slimline.projections import HashEmbedding, Projection

if TYPE_CHECKING:
    from slimline.data._standardised import Standardised
    from slimline.data._views import ColumnView, RowView

FloatMatrix = NDArray[np.float64]

#: Blocks of which nothing is copied; panels of whole columns.
_LARGE, _PANELS = BlockRequest(size="large"), BlockRequest(whole_columns=True, size="large")


class Matrix(Storage):
    """Data of n samples × d features, in memory or not, read block by block.

    A storage format provides `blocks`; everything else is a sum over the blocks and is written here, once. Every method
    that reads the data says how many passes it takes; `passes` counts them.

    Parameters
    ----------
    shape : (int, int)
        Number of samples and of features.
    dtype : data type
        Element type of the blocks.
    name : str
        Name of the data in messages.

    See Also
    --------
    slimline.open_matrix : A matrix from an array, a data frame or a file.
    slimline.testing.check_matrix : Check a format of your own.

    Notes
    -----
    A block is a rectangle of rows and columns. The passes are the sketch XR, the products XW, XᵀA, XXᵀA (with XᵀA) and
    XXᵀ, the statistics of the columns and the norms of the rows. Columns of a right-hand side share the pass.

    Products are summed in float64 whatever the element type. With `return_terms=True` they return a number k of
    additions such that entry i of Xw is within γ_k‖w‖‖xᵢ‖ of its exact value, γ_k = ku/(1 - ku), u = 2⁻⁵³ ([1]_, §3.1);
    certificates rest on this bound. Means of columns are merged block by block [2]_.

    References
    ----------
    .. [1] Higham, N. J. (2002). "Accuracy and stability of numerical algorithms." 2nd edition, SIAM.
    .. [2] Chan, T. F.; Golub, G. H.; LeVeque, R. J. (1983). "Algorithms for computing the sample variance: analysis and
       recommendations." The American Statistician 37(3), 242-247.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import open_matrix
    >>> X = open_matrix(np.arange(6, dtype=np.int8).reshape(2, 3))
    >>> X.gram()
    array([[ 5., 14.],
           [14., 50.]])
    """

    # Passes ----------------------------------------------------------------------------------------

    def sketch(
        self, projection: Projection, *, double: bool = False, squares: Squares | None = None
    ) -> NDArray[np.floating[Any]]:
        """Return X R, in one pass.

        Parameters
        ----------
        projection : Projection
            R, for as many features as X has.
        double : bool
            Compute in float64 whatever the data are: for measurements that float32 would blur.
        squares : Squares, optional
            Filled with the sums of the squares of rows and columns, in the same pass.

        Returns
        -------
        Z : array of shape (n_samples, n_components)
            X R, in float64 for float64 data and in float32 for any other.
        """
        if not isinstance(projection, Projection):
            raise InvalidParameterError(
                f"must be one of slimline.projections; got {type(projection).__name__}. A transformer has one: "
                "transformer.projection_for(matrix.shape).",
                "projection",
                projection,
            )
        if projection.n_features != self.shape[1]:
            raise InvalidParameterError(
                f"the projection has n_features={projection.n_features}, and {self.name} has {self.shape[1]} columns."
            )
        dtype = np.dtype(np.float64) if double else result_dtype(self.dtype)
        shape = (self.shape[0], projection.n_components)
        out: NDArray[np.floating[Any]] = np.zeros(shape, dtype=dtype)
        request = BlockRequest(  # what is drawn for a panel of whole columns serves all rows
            whole_columns=projection.draws_every_entry and self.whole_columns,
            size="large" if isinstance(projection, HashEmbedding) else "normal",  # others may write blocks out first
        )
        work = Pass("sketch", request, lambda: {"out": out}, {"projection": projection.to_json()}, in_memory=True)
        for block, transform in self._pass(work, squares):
            with nullcontext() if projection.draws_every_entry else self._beside_the_reader():
                products.add_sketch(block, projection, transform, out)
            if not isinstance(block.rows, slice) or block.rows != slice(0, self.shape[0]):
                self._require_finite(out, block.rows, block, transform)
        if not all_finite(out):  # whole columns: looking at all sums after each panel would take too long
            for block in self.blocks():
                require_finite(self, block, self._transform(block))
            refuse_overflow(self, out.dtype)
        return out

    @overload
    def dot(self, W: Any, squares: Squares | None = None) -> FloatMatrix: ...
    @overload
    def dot(
        self, W: Any, squares: Squares | None = None, *, return_terms: Literal[True]
    ) -> tuple[FloatMatrix, int]: ...
    def dot(self, W: Any, squares: Squares | None = None, *, return_terms: bool = False) -> Any:
        """Return X W, in one pass.

        Parameters
        ----------
        W : array of shape (n_features,) or (n_features, k)
            Right-hand sides; all of them share the pass.
        squares : Squares, optional
            Filled with the sums of the squares of rows and columns, in the same pass.
        return_terms : bool, default=False
            Also return the bound of the rounding error.

        Returns
        -------
        product : array of shape (n_samples,) or (n_samples, k), float64
            X W.
        terms : int
            Only with `return_terms=True`: a sum of this many terms, added one after the other, loses at least as much
            to rounding as any entry of the product did.
        """
        W, flat = right_hand_sides(W, self.shape[1], "W", "feature")
        out = np.zeros((self.shape[0], W.shape[1]))
        sums = BlockedSum(out, self.shape[1])
        for block, transform in self._pass(Pass("dot", self._product_blocks, sums.arrays, {"W": W}), squares):
            into = sums.of(block, transform)
            with self._beside_the_reader():
                products.add_dot(block, W, transform, into)
            self._require_finite(into, block.rows, block, transform)
            sums.add(block)
        sums.finish()
        if not all_finite(out):
            refuse_overflow(self, out.dtype)
        product = out[:, 0] if flat else out
        return (product, sums.terms) if return_terms else product

    def tdot(self, A: Any, squares: Squares | None = None) -> FloatMatrix:
        """Return Xᵀ A, in one pass.

        Parameters
        ----------
        A : array of shape (n_samples,) or (n_samples, k)
            Right-hand sides; all of them share the pass.
        squares : Squares, optional
            Filled with the sums of the squares of rows and columns, in the same pass.

        Returns
        -------
        product : array of shape (n_features,) or (n_features, k), float64
            Xᵀ A.
        """
        A, flat = right_hand_sides(A, self.shape[0], "A", "sample")
        out = np.zeros((self.shape[1], A.shape[1]))
        work = Pass("tdot", self._product_blocks, lambda: {"out": out}, {"A": A})
        for block, transform in self._pass(work, squares):
            with self._beside_the_reader():
                products.add_tdot(block, A, transform, out)
            self._require_finite(out, block.columns, block, transform)
        return out[:, 0] if flat else out

    def tdot_parts(self, A: Any) -> Iterator[tuple[slice, FloatMatrix]]:
        """Yield Xᵀ A some features at a time, in one pass; all of it at once if whole columns cannot be read.

        Parameters
        ----------
        A : array of shape (n_samples, k)
            Right-hand sides.

        Yields
        ------
        columns : slice
            Features.
        product : array of shape (n_columns, k), float64
            Their rows of Xᵀ A, which may be written to.
        """
        if self.normal_passes == 2:
            yield slice(0, self.shape[1]), self.tdot(A)
            return
        A, _ = right_hand_sides(A, self.shape[0], "A", "sample")
        for block, transform in self._pass(Pass("tdot", _PANELS)):
            out = np.zeros((block.values.shape[1], A.shape[1]))
            here = Block(block.rows, slice(0, len(out)), block.values, block.missing)
            with self._beside_the_reader():
                products.add_tdot(here, A, ColumnTransform(transform.centre, None, transform.fill), out)
            if transform.factor is not None:
                out *= transform.factor[:, None]
            self._require_finite(out, slice(None), block, transform)
            yield block.columns, out

    @overload
    def normal(self, A: Any, squares: Squares | None = None) -> tuple[FloatMatrix, FloatMatrix]: ...
    @overload
    def normal(
        self, A: Any, squares: Squares | None = None, *, return_terms: Literal[True]
    ) -> tuple[FloatMatrix, FloatMatrix, int]: ...
    def normal(self, A: Any, squares: Squares | None = None, *, return_terms: bool = False) -> Any:
        """Return Xᵀ A and X Xᵀ A: in one pass if whole columns can be read at full speed, else in two.

        Parameters
        ----------
        A : array of shape (n_samples,) or (n_samples, k)
            Right-hand sides.
        squares : Squares, optional
            Filled with the sums of the squares of rows and columns, in the first pass.
        return_terms : bool, default=False
            Also return the bound of the rounding error.

        Returns
        -------
        W : array of shape (n_features,) or (n_features, k), float64
            Xᵀ A.
        product : array of shape (n_samples,) or (n_samples, k), float64
            X Xᵀ A.
        terms : int
            Only with `return_terms=True`: as for `dot`, for the product X W of the computed W.
        """
        if self.normal_passes == 2:
            W = self.tdot(A, squares)
            product, terms = self.dot(W, return_terms=True)
            return (W, product, terms) if return_terms else (W, product)
        A, flat = right_hand_sides(A, self.shape[0], "A", "sample")
        W, out = np.zeros((self.shape[1], A.shape[1])), np.zeros(A.shape)
        sums = BlockedSum(out, self.shape[1])
        work = Pass("normal", _PANELS, lambda: {"W": W, **sums.arrays()}, {"A": A})
        for block, transform in self._pass(work, squares):
            with self._beside_the_reader():
                products.add_normal(block, A, transform, W, sums.of(block, transform))
            sums.add(block)
            self._require_finite(W, block.columns, block, transform)
        sums.finish()
        if not all_finite(out):
            refuse_overflow(self, out.dtype)
        both = (W[:, 0], out[:, 0]) if flat else (W, out)
        return (*both, sums.terms) if return_terms else both

    def gram(self) -> FloatMatrix:
        """Return X Xᵀ: in one pass if whole columns can be read, else in one for each group of rows in memory.

        Returns
        -------
        product : array of shape (n_samples, n_samples), float64
            X Xᵀ, symmetric to the last bit.
        """
        if not self.whole_columns:
            return gram_of_rows(self)
        total = GramSum(self.shape[0])
        for block, transform in self._pass(
            Pass("gram", BlockRequest(whole_columns=True), total.arrays, in_memory=True)
        ):
            total.add(block, transform)
            self._require_finite(total.diagonal, slice(None), block, transform)
        return total.result()

    def column_stats(self, sample_weight: Any = None) -> ColumnStats:
        """Return sums, means, deviations, non-zeros and missing values of each column, in one pass.

        Parameters
        ----------
        sample_weight : array of shape (n_samples,), optional
            Weight of each row, 0 or more.

        Returns
        -------
        stats : ColumnStats
            One entry a column.
        """
        weight = sample_weights(sample_weight, self.shape[0])
        running = RunningStats(*self.shape)
        work = Pass("column_stats", self._product_blocks, running.arrays, in_memory=weight is not None)
        for block, transform in self._pass(work):
            with self._beside_the_reader():
                part = products.statistics(block, transform, None if weight is None else weight[block.rows])
            self._require_finite(part.deviation, slice(None), block, transform, missing=False)
            running.add(block.columns, part)
        return self._sound(running.result())

    def row_norms(self) -> NDArray[np.float64]:
        """Return the Euclidean norm of each row, in one pass.

        Returns
        -------
        norms : array of shape (n_samples,), float64
            The norms.
        """
        squares = Squares(*self.shape)
        for _ in self._pass(Pass("row_norms", _LARGE, dict, in_memory=True), squares):
            pass
        return np.sqrt(squares.rows)

    @property
    def normal_passes(self) -> int:
        """Return how many passes `normal` takes."""
        return 1 if self.whole_columns and not self.traits.narrow_panels else 2

    # Views -----------------------------------------------------------------------------------------

    def rows(self, index: Any) -> RowView:
        """Return a view of some rows, in any order; it shares the storage and the count of passes.

        Parameters
        ----------
        index : array of row numbers, bool array of shape (n_samples,), or slice
            Which rows; one may come more than once.

        Returns
        -------
        view : Matrix
            Its passes go through the same data.
        """
        from slimline.data._views import RowView

        return RowView(self, index)

    def columns(self, index: Any) -> ColumnView:
        """Return a view of some columns, in their order; it shares the storage and the count of passes.

        Parameters
        ----------
        index : array of ascending column numbers, bool array of shape (n_features,), or slice
            Which columns.

        Returns
        -------
        view : Matrix
            Its passes go through the same data; what the other columns hold does not matter.
        """
        from slimline.data._views import ColumnView

        return ColumnView(self, index)

    def standardised(
        self, centre: Any = "mean", scale: Any = "std", fill: Any = None, *, sample_weight: Any = None
    ) -> Standardised:
        """Return a view with each column centred and scaled and missing values imputed; nothing is copied.

        Parameters
        ----------
        centre : "mean", None or array of shape (n_features,)
            What is subtracted.
        scale : "std", None or array of shape (n_features,)
            What is divided by; 1 is taken where it is 0 (a constant column), and infinity makes a column 0.
        fill : "mean", None, number or array of shape (n_features,)
            Imputed for a missing value, before centring. None: a missing value is an error.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows in mean and standard deviation.

        Returns
        -------
        view : Matrix
            Its first pass computes the statistics that it needs, if it reads whole columns; else a pass before does.
        """
        from slimline.data._standardised import Standardised

        return Standardised(self, centre, scale, fill, sample_weight)

    @property
    def _product_blocks(self) -> BlockRequest:
        return _PANELS if self.traits.products_by_column else _LARGE

    def _pass(self, work: Pass, squares: Squares | None = None) -> Iterator[tuple[Block, ColumnTransform]]:
        """Yield each block and the transform of its columns, and add the squares of a block once it has been used."""
        if squares is None:
            yield from self._iterate(work)
            return
        require_squares(squares).begin(self.shape)
        if (sums := work.sums) is not None:
            work = replace(work, sums=lambda: {**sums(), **squares.arrays()})
        for block, transform in self._iterate(replace(work, in_memory=True)):
            yield block, transform
            with self._beside_the_reader():
                squares.add(block, transform)
            self._require_finite(squares.rows, block.rows, block, transform)
            self._require_finite(squares.columns, block.columns, block, transform)

    def _iterate(self, work: Pass) -> Iterator[tuple[Block, ColumnTransform]]:
        return iterate_pass(self, work)

    def _beside_the_reader(self) -> AbstractContextManager[None]:
        """Return a context in which the kernels leave a CPU to the thread that prefetches."""
        return half_of_the_threads() if self.traits.prefetch and not self.traits.compute_bound else nullcontext()

    def _transform(self, block: Block) -> ColumnTransform:
        return PLAIN

    def _original_row(self, row: int) -> int:
        return row  # the number that a row of a view has in the data, for messages

    def _original_column(self, column: int) -> int:
        return column

    def _require_finite(
        self, sums: NDArray[Any], where: Any, block: Block, transform: ColumnTransform, *, missing: bool = True
    ) -> None:
        if not all_finite(sums[where]):
            require_finite(self, block, transform, missing=missing)
            refuse_overflow(self, sums.dtype)

    def _sound(self, stats: ColumnStats) -> ColumnStats:
        if not np.isfinite(stats.deviation).all():
            refuse_overflow(self, stats.deviation.dtype)
        return stats
