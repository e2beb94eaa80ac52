"""Random projections as frozen values: family, seed, sizes; never a stored matrix."""

from slimline.projections.base import Projection
from slimline.projections.gaussian import Gaussian
from slimline.projections.hadamard import SubsampledHadamard, walsh_hadamard
from slimline.projections.identity import Identity
from slimline.projections.pseudo_inverse import PseudoInverse, pseudo_inverse
from slimline.projections.shifted_embedding import ShiftedEmbedding
from slimline.projections.sign import RandomSign
from slimline.projections.sparse_embedding import HashEmbedding
from slimline.projections.sparse_sign import SparseSign

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
