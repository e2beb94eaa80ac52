"""Linear classifiers for data too wide to train on.

slimline projects the features at random, trains on the small sketch, lifts the weights back to the original
features, and proves how far they are from what training on everything would have given.
"""

from slimline import laws
from slimline.data import open_matrix
from slimline.estimators import (
    CertifiedClassifier,
    CertifiedClassifierCV,
    CertifiedFeatureSelector,
    GaussianProjection,
    HadamardProjection,
    OneParameterClassifier,
    ProjectedClassifier,
    SignProjection,
    SparseEmbedding,
    SparseSignProjection,
    make_projection,
)

__version__ = "0.1.0"

__all__ = [
    "CertifiedClassifier",
    "CertifiedClassifierCV",
    "CertifiedFeatureSelector",
    "GaussianProjection",
    "HadamardProjection",
    "OneParameterClassifier",
    "ProjectedClassifier",
    "SignProjection",
    "SparseEmbedding",
    "SparseSignProjection",
    "laws",
    "make_projection",
    "open_matrix",
]
