"""Every family of the theory sheet, under one name, as a factory of (n_features, n_components, seed)."""

import math
from collections.abc import Callable

from slimline.projections import Gaussian, HashEmbedding, Projection, RandomSign, SparseSign, SubsampledHadamard

FAMILIES: dict[str, Callable[[int, int, int], Projection]] = {
    "gaussian": Gaussian,
    "sign": RandomSign,
    "achlioptas": lambda d, r, seed: SparseSign(d, r, seed, 1 / 3),
    "very_sparse": lambda d, r, seed: SparseSign(d, r, seed, 1 / math.sqrt(d)),
    "srht": SubsampledHadamard,
    "srht_replaced": lambda d, r, seed: SubsampledHadamard(d, r, seed, replace=True),
    "cw": HashEmbedding,
    "cw_independent": lambda d, r, seed: HashEmbedding(d, r, seed, hash="independent"),
    "filled_cw": lambda d, r, seed: HashEmbedding(d, r, seed, bucket_width=2),
    "filled_cw_independent": lambda d, r, seed: HashEmbedding(d, r, seed, bucket_width=8, hash="independent"),
    "generalised_cw": lambda d, r, seed: HashEmbedding(d, r, seed, n_stacks=2, bucket_width=2),
    "generalised_cw_independent": lambda d, r, seed: HashEmbedding(
        d, r, seed, n_stacks=2, bucket_width=4, hash="independent"
    ),
    "osnap": lambda d, r, seed: HashEmbedding(d, r, seed, nnz_per_feature=2),
    "osnap_independent": lambda d, r, seed: HashEmbedding(d, r, seed, nnz_per_feature=4, hash="independent"),
    "osnap_wide": lambda d, r, seed: HashEmbedding(d, r, seed, 2, 2, hash="independent"),
}


def far_place(projection: Projection) -> int:
    """Return the feature at which the family's counter carries into its second word of 32 bits.

    The counter is the feature itself; in a sparse embedding it is shared by 16 features, or 4 with independent hashes.
    """
    if isinstance(projection, HashEmbedding):
        return 2**36 if projection.effective_hash == "grouped" else 2**34
    return 2**32
