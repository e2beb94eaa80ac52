"""Where a value is that no sum can take: looked for only after a sum has shown that there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count
from slimline.data.affine import Affine
from slimline.data.block import MISSING_CALL, Block, PackedGenotypes
from slimline.errors import NonFiniteError

if TYPE_CHECKING:
    from slimline.data.matrix import Matrix

Places = NDArray[np.intp]

#: Values that are compared at a time.
_PIECE = 1 << 20


def require_finite(matrix: Matrix, block: Block, affine: Affine, *, missing: bool = True) -> None:
    """Raise with row and column of the first value in the block that is infinite, or missing with nothing to fill it.

    Parameters
    ----------
    matrix : Matrix
        Where the block comes from.
    block : Block
        The block to look through.
    affine : Affine
        What is done to its values.
    missing : bool
        Whether a missing value that is not filled counts as well.
    """
    infinite, absent = _places(block)
    if infinite[0].size:
        _refuse(matrix, block, infinite, "is infinite: correct it, or leave the row out with rows()")
    if missing and affine.fill is None and absent[0].size:
        _refuse(
            matrix,
            block,
            absent,
            "is missing (NaN, or no call): fill it, for instance with "
            "standardised(centre=None, scale=None, fill='mean')",
        )


def refuse_overflow(matrix: Matrix, dtype: Any) -> NoReturn:
    """Raise because a sum of finite values is not finite."""
    raise NonFiniteError(
        f"{matrix.name}: sums of its values, or of their squares, exceed the largest {dtype}: "
        "bring the columns to a common scale, for instance with standardised(centre=None, scale=...)."
    )


def missing_at_all(block: Block) -> bool:
    """Say whether a block of whole numbers has a missing value; NaN shows in the sums."""
    return block.missing is not None and _any_equal(block.values, block.missing)


def _any_equal(values: NDArray[np.generic], number: int) -> bool:
    """Say whether a number is among the values, in little memory."""
    if values.dtype in (np.int8, np.uint8):
        return _native.holds_byte(values, number, thread_count())
    lines = values if values.flags.c_contiguous else values.T
    step = max(1, _PIECE // max(lines.shape[1], 1))
    return any(bool((lines[start : start + step] == number).any()) for start in range(0, lines.shape[0], step))


def _places(block: Block) -> tuple[tuple[Places, Places], tuple[Places, Places]]:
    values, sentinel = block.values, block.missing
    if isinstance(values, PackedGenotypes):
        values, sentinel = values.unpack("F"), MISSING_CALL
    if sp.issparse(values):
        coordinates = values.tocoo()  # type: ignore[attr-defined]
        data, (row, column) = coordinates.data, coordinates.coords
    else:
        data = values
        row = column = None
    nothing = np.zeros(data.shape, dtype=bool)
    absent = nothing if sentinel is None else data == sentinel
    infinite = nothing
    if data.dtype.kind == "f":
        absent = absent | np.isnan(data)
        infinite = np.isinf(data)
    if row is None:
        return np.nonzero(infinite), np.nonzero(absent)  # type: ignore[return-value]
    return (row[infinite], column[infinite]), (row[absent], column[absent])


def _refuse(matrix: Matrix, block: Block, places: tuple[Places, Places], what: str) -> NoReturn:
    row, column = int(places[0][0]), int(places[1][0])
    row = block.rows.start + row if isinstance(block.rows, slice) else int(block.rows[row])
    column += block.columns.start
    names, ids = matrix.feature_names, matrix.sample_ids
    where = f"row {matrix._original_row(row):,}" + ("" if ids is None else f" ({ids[row]})")
    where += f", column {matrix._original_column(column):,}" + ("" if names is None else f" ({names[column]})")
    raise NonFiniteError(f"{matrix.name}: the value in {where}, counted from 0, {what}.")
