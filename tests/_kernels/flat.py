"""The functions of the native module with one argument for each array, as the reference implementations take them."""

from slimline._kernels import _native


def block_dot(x, samples, missing, W, centre, fill, out, threads):
    _native.block_dot(_block(x, samples, missing), _native.ColumnTransform(centre, None, fill), W, out, threads)


def block_tdot(x, samples, missing, A, centre, fill, out, threads):
    _native.block_tdot(_block(x, samples, missing), _native.ColumnTransform(centre, None, fill), A, out, threads)


def block_normal(x, samples, missing, A, centre, factor, fill, W, out, threads):
    transform = _native.ColumnTransform(centre, factor, fill)
    _native.block_normal(_block(x, samples, missing), transform, A, W, out, threads)


def block_tile(x, samples, missing, centre, factor, fill, out, threads):
    _native.block_tile(_block(x, samples, missing), _native.ColumnTransform(centre, factor, fill), out, threads)


def block_squares(x, samples, missing, centre, factor, fill, weight, rows, columns, threads):
    transform = _native.ColumnTransform(centre, factor, fill)
    _native.block_squares(_block(x, samples, missing), transform, weight, rows, columns, threads)


def block_statistics(x, samples, missing, weights, weight, mean, deviation, nonzeros, absent, threads):
    moments = _native.Moments(weight, mean, deviation, nonzeros, absent)
    _native.block_statistics(_block(x, samples, missing), weights, moments, threads)


def compressed_gather(indptr, indices, data, V, line_fill, index_fill, out, threads):
    x = _native.Compressed(indptr, indices, data)
    _native.compressed_gather(x, V, line_fill, index_fill, out, threads)


def compressed_scatter(indptr, indices, data, V, line_fill, index_fill, out, threads):
    x = _native.Compressed(indptr, indices, data)
    _native.compressed_scatter(x, V, line_fill, index_fill, out, threads)


def compressed_totals(
    indptr,
    indices,
    data,
    by_row,
    rows,
    all,
    coarse,
    rest,
    centre,
    factor,
    fill,
    sums,
    of_weights,
    zeros,
    absent,
    threads,
):
    x, transform = _native.Compressed(indptr, indices, data), _native.ColumnTransform(centre, factor, fill)
    weights, totals = _native.RowWeights(all, coarse, rest), _native.Totals(sums, of_weights, zeros, absent)
    _native.compressed_totals(x, by_row, rows, transform, weights, totals, threads)


def compressed_deviations(indptr, indices, data, by_row, rows, weights, centre, factor, fill, around, threads):
    x, transform = _native.Compressed(indptr, indices, data), _native.ColumnTransform(centre, factor, fill)
    _native.compressed_deviations(x, by_row, rows, transform, weights, around, threads)


def _block(x, samples, missing):
    return _native.Block(x, samples) if isinstance(x, _native.FileRows) else _native.Block(x, samples, missing)
