"""The pseudo-inverse where R is short of full rank: Moore and Penrose's four conditions."""

import numpy as np
import pytest

from slimline.projections import HashEmbedding, SubsampledHadamard, pseudo_inverse
from slimline.testing._moments import dense_rows


@pytest.mark.slow
@pytest.mark.parametrize(
    "projection",
    [
        SubsampledHadamard(1000, 1000, 0, replace=True),  # columns sampled twice
        SubsampledHadamard(513, 600, 0),  # more columns than features
        SubsampledHadamard(5000, 300, 0, replace=True),  # through the r × r matrix
        HashEmbedding(700, 160, 0),  # empty buckets
        HashEmbedding(20, 64, 0),
    ],
    ids=repr,
)
def test_moore_penrose(projection):
    R = dense_rows(projection)
    P = pseudo_inverse(projection).apply(np.eye(projection.n_components))
    scale = np.linalg.norm(R, 2)
    # rounding times the condition number of what is inverted; a noise value inverted would be off by 1e10
    assert np.abs(R @ P @ R - R).max() <= 1e-9 * scale
    assert np.abs(P @ R @ P - P).max() <= 1e-9 * max(1.0, np.abs(P).max())
    assert np.abs(R @ P - (R @ P).T).max() <= 1e-9
    assert np.abs(P @ R - (P @ R).T).max() <= 1e-9
