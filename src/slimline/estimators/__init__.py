"""The scikit-learn classes: validation and wiring, no mathematics."""

from slimline.estimators.certified_classifier import CertifiedClassifier
from slimline.estimators.certified_classifier_cv import CertifiedClassifierCV
from slimline.estimators.certified_feature_selector import CertifiedFeatureSelector
from slimline.estimators.gaussian_projection import GaussianProjection
from slimline.estimators.hadamard_projection import HadamardProjection
from slimline.estimators.make_projection import make_projection
from slimline.estimators.one_parameter_classifier import OneParameterClassifier
from slimline.estimators.projected_classifier import ProjectedClassifier
from slimline.estimators.sign_projection import SignProjection
from slimline.estimators.sparse_embedding import SparseEmbedding
from slimline.estimators.sparse_sign_projection import SparseSignProjection

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
    "make_projection",
]
