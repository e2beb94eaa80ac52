"""Sparse embeddings of packed genotypes: any number of samples, and columns with many variants."""

import numpy as np
import pytest

from slimline._kernels import instruction_set
from slimline.data._blocks import MISSING_CALL, PackedGenotypes
from slimline.projections import HashEmbedding

#: Samples and variants.
SHAPES = [
    *((n, 5) for n in (*range(58, 68), *range(122, 132), *range(250, 262), *range(508, 516), *range(1020, 1028))),
    *((n, 3) for n in (*range(4093, 4100), 8191, 8192, 8193)),
    (70, 3000),
    (257, 2500),
]


@pytest.mark.parametrize("columns, stacks", [(16, None), (64, None), (80, None), (208, None), (192, 3), (24, 3)])
def test_any_number_of_samples(columns, stacks):
    rng = np.random.default_rng(0)
    projection = HashEmbedding(3000, columns, 3, bucket_width=1 if stacks is None else 4, n_stacks=stacks)
    R = projection.rows().toarray()
    for n, d in SHAPES:
        genotypes = PackedGenotypes(rng.integers(0, 256, (d, (n + 3) // 4), dtype=np.uint8), n)
        values = genotypes.unpack().astype(np.float64)
        values[values == MISSING_CALL] = np.nan
        centre, fill = rng.random(d), 2 * rng.random(d)
        explicit = np.where(np.isnan(values), fill, values) - centre
        begin = rng.random((n, columns)).astype(np.float32)
        expected = begin + explicit @ R[:d]
        bound = (d + 8) * np.finfo(np.float32).eps * (np.abs(explicit) @ np.abs(R[:d]) + np.abs(begin))
        for threads in ("1", "3"):
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("SLIMLINE_NUM_THREADS", threads)
                out = begin.copy()
                done = projection.add_genotypes(genotypes.packed, n, (centre, None, fill), 0, out)
            assert done == (instruction_set() != "baseline")
            if not done:
                return
            assert (np.abs(out - expected) <= bound).all(), (n, d, threads)
        projection.add_genotypes(genotypes.packed, n, (centre, None, None), 0, out)
        assert np.array_equal(np.isnan(out).any(axis=1), np.isnan(values).any(axis=1)), (n, d)
