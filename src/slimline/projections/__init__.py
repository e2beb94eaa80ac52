"""Random projections: each family as a frozen value (family, seed, sizes; no stored matrix) and as a transformer."""

from slimline.projections._base import Projection
from slimline.projections._dense import Gaussian, GaussianProjection, Identity, RandomSign, SignProjection
from slimline.projections._embedding import HashEmbedding, ShiftedEmbedding, SparseEmbedding
from slimline.projections._families import make_projection
from slimline.projections._hadamard import HadamardProjection, SubsampledHadamard, walsh_hadamard
from slimline.projections._pseudo_inverse import PseudoInverse, pseudo_inverse
from slimline.projections._sparse import SparseSign, SparseSignProjection

__all__ = [
    "Gaussian",
    "GaussianProjection",
    "HadamardProjection",
    "HashEmbedding",
    "Identity",
    "Projection",
    "PseudoInverse",
    "RandomSign",
    "ShiftedEmbedding",
    "SignProjection",
    "SparseEmbedding",
    "SparseSign",
    "SparseSignProjection",
    "SubsampledHadamard",
    "make_projection",
    "pseudo_inverse",
    "walsh_hadamard",
]
