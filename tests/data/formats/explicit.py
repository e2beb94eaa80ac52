"""Matrix against the same numbers written out: what every format's tests share."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline.projections import Gaussian, HashEmbedding


def dense_of(matrix):
    """All blocks of a pass put together; each cell comes exactly once."""
    out, seen = np.zeros(matrix.shape), np.zeros(matrix.shape, dtype=int)
    for block in matrix.blocks():
        values = block.values.toarray() if sp.issparse(block.values) else block.values
        assert values.shape == out[block.rows, block.columns].shape
        out[block.rows, block.columns] = values
        seen[block.rows, block.columns] += 1
    assert (seen == 1).all()
    return out


def check_products(matrix, X):
    """Every pass over the matrix gives what the explicit array gives, to float64 rounding; passes are counted."""
    X = np.asarray(X, dtype=np.float64)
    n, d = X.shape
    rng = np.random.default_rng(0)
    W, A = rng.standard_normal((d, 2)), rng.standard_normal((n, 3))
    before = matrix.passes

    def close(got, expected, size):
        assert np.all(np.abs(got - expected) <= 4 * (n + d) * 2.0**-53 * size + 1e-300)

    close(matrix.dot(W), X @ W, np.abs(X) @ np.abs(W))
    close(matrix.tdot(A), X.T @ A, np.abs(X.T) @ np.abs(A))
    assert matrix.passes == before + 2
    wide, square = matrix.normal(A)
    close(wide, X.T @ A, np.abs(X.T) @ np.abs(A))
    close(square, X @ (X.T @ A), np.abs(X) @ (np.abs(X.T) @ np.abs(A)))
    close(matrix.gram(), X @ X.T, np.abs(X) @ np.abs(X.T))
    stats = matrix.column_stats()
    np.testing.assert_allclose(stats.mean, X.mean(axis=0), rtol=1e-12, atol=1e-14 * np.abs(X).max())
    np.testing.assert_array_equal(stats.nonzeros, (X != 0).sum(axis=0))
    np.testing.assert_allclose(matrix.row_norms(), np.linalg.norm(X, axis=1), rtol=1e-12)
    unit = 2.0**-53 if matrix.dtype == np.float64 else 2.0**-24
    for projection in (HashEmbedding(d, 16, seed=3), Gaussian(d, 8, seed=3)):
        R = projection.rows(0, d)
        R = R.toarray() if sp.issparse(R) else np.asarray(R)
        bound = 4 * (d + 16) * unit * (np.abs(X) @ np.abs(R)) + 1e-300
        assert np.all(np.abs(matrix.sketch(projection) - X @ R) <= bound)


def check_changes_are_noticed(path, matrix):
    """Another size, another time or no file at all: the next pass says so."""
    from slimline.errors import FileChangedError

    W = np.ones(matrix.shape[1])
    matrix.dot(W)
    content = path.read_bytes()
    path.write_bytes(content + b"\n")
    with pytest.raises(FileChangedError, match="changed"):
        matrix.dot(W)
    path.unlink()
    with pytest.raises(FileChangedError, match="vanished"):
        matrix.dot(W)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(FileChangedError):
        matrix.dot(W)
