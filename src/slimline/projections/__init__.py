"""Random projections as frozen values: family, seed, sizes; never a stored matrix."""

from slimline.projections._base import Projection
from slimline.projections._dense import Gaussian, Identity, RandomSign
from slimline.projections._hadamard import SubsampledHadamard, walsh_hadamard
from slimline.projections._pseudo_inverse import PseudoInverse, pseudo_inverse
from slimline.projections._sparse import HashEmbedding, ShiftedEmbedding, SparseSign

__all__ = [
    "Gaussian",
    "HashEmbedding",
    "Identity",
    "Projection",
    "PseudoInverse",
    "RandomSign",
    "ShiftedEmbedding",
    "SparseSign",
    "SubsampledHadamard",
    "pseudo_inverse",
    "walsh_hadamard",
]
