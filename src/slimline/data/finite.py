"""Where a value is that no sum can take: looked for only after a sum has shown that there is one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
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

Place = tuple[int, int]

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
    infinite, absent = _first_places(block)
    if infinite is not None:
        _refuse(matrix, block, infinite, "is infinite: correct it, or leave the row out with rows()")
    if missing and affine.fill is None and absent is not None:
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
    return any(bool((piece == number).any()) for _, _, piece in _pieces(_lines(values)))


def _lines(values: NDArray[Any]) -> NDArray[Any]:
    """Return what lies together in memory as rows."""
    return values if abs(values.strides[0]) >= abs(values.strides[1]) else values.T


def _pieces(lines: NDArray[Any]) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """Yield first line, first place and values of pieces of no more than so many values."""
    height = max(1, _PIECE // max(lines.shape[1], 1))
    for line, place in product(range(0, lines.shape[0], height), range(0, lines.shape[1], _PIECE)):
        yield line, place, lines[line : line + height, place : place + _PIECE]


def all_finite(sums: NDArray[Any]) -> bool:
    """Say whether sums are finite, all of them; no mask as large as they are is made."""
    if sums.flags.c_contiguous or sums.flags.f_contiguous:
        return _native.all_finite(sums.reshape(-1, order="A"), thread_count())
    return bool(np.isfinite(sums).all())


def _first_places(block: Block) -> tuple[Place | None, Place | None]:
    """Return row and column, within the block, of an infinite value and of a missing one, if there are such."""
    values, sentinel = block.values, block.missing
    if isinstance(values, PackedGenotypes):
        values, sentinel = values.unpack("F"), MISSING_CALL
    if sp.issparse(values):
        stored = values.tocoo()  # type: ignore[attr-defined]
        infinite, absent = _first_in(stored.data, sentinel)
        row, column = stored.coords

        def place(at: int | None) -> Place | None:
            return None if at is None else (int(row[at]), int(column[at]))

        return place(infinite), place(absent)
    lines = _lines(values)
    found: list[Place | None] = [None, None]
    for first_line, first_place, piece in _pieces(lines):
        for kind, at in enumerate(_first_in(piece, sentinel)):
            if at is not None and found[kind] is None:
                line, along = divmod(at, piece.shape[1])
                here = (first_line + line, first_place + along)
                found[kind] = here if lines is values else here[::-1]
        if found[0] is not None:
            break
    return found[0], found[1]


def _first_in(data: NDArray[Any], sentinel: int | None) -> tuple[int | None, int | None]:
    """Return where the first infinite and the first missing number is, counted through all of them."""
    absent = np.zeros(data.shape, dtype=bool) if sentinel is None else data == sentinel
    if data.dtype.kind != "f":
        return None, _first(absent)
    return _first(np.isinf(data)), _first(absent | np.isnan(data))


def _first(mask: NDArray[np.bool_]) -> int | None:
    at = int(mask.argmax()) if mask.size else 0
    return at if mask.size and mask.ravel()[at] else None


def _refuse(matrix: Matrix, block: Block, place: Place, what: str) -> NoReturn:
    row, column = place
    row = block.rows.start + row if isinstance(block.rows, slice) else int(block.rows[row])
    column += block.columns.start
    names, ids = matrix.feature_names, matrix.sample_ids
    where = f"row {matrix._original_row(row):,}" + ("" if ids is None else f" ({ids[row]})")
    where += f", column {matrix._original_column(column):,}" + ("" if names is None else f" ({names[column]})")
    raise NonFiniteError(f"{matrix.name}: the value in {where}, counted from 0, {what}.")
