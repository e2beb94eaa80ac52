"""Every transformer, under one name, as a function of its keyword parameters."""

from functools import partial

from slimline import GaussianProjection, HadamardProjection, SignProjection, SparseEmbedding, SparseSignProjection

TRANSFORMERS = {
    "gaussian": GaussianProjection,
    "sign": SignProjection,
    "achlioptas": partial(SparseSignProjection, density="achlioptas"),
    "very_sparse": SparseSignProjection,
    "srht": HadamardProjection,
    "srht_replaced": partial(HadamardProjection, replace=True),
    "cw": SparseEmbedding,
    "cw_independent": partial(SparseEmbedding, hash="independent"),
    "filled_cw": partial(SparseEmbedding, bucket_width=2),
    "generalised_cw": partial(SparseEmbedding, n_stacks=2, bucket_width=2),
    "osnap": partial(SparseEmbedding, nnz_per_feature=2),
}
CLASSES = [GaussianProjection, SignProjection, SparseSignProjection, HadamardProjection, SparseEmbedding]
