"""Shorthands: the rows of R that a native object makes, as an array of unscaled values."""

import numpy as np


def written_rows(native, start, count, n_components, dtype=np.float32):
    """Rows of a `Rows` object."""
    out = np.full((count, n_components), np.nan, dtype=dtype)
    native.rows(start, out)
    return out


def scattered_rows(native, start, count, n_components):
    """Rows of a `Scatter` object."""
    pointer = np.empty(count + 1, dtype=np.uint32)
    entries = np.empty(native.count(start, count), dtype=np.uint32)
    native.rows(start, pointer, entries)
    out = np.zeros((count, n_components), dtype=np.float32)
    row = np.repeat(np.arange(count), np.diff(pointer.astype(np.int64)))
    np.add.at(out, (row, entries >> np.uint32(1)), np.where(entries & np.uint32(1), -1, 1))
    return out
