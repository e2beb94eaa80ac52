"""The scikit-learn classes: validation and wiring, no mathematics."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from slimline.estimators.certified_classifier import CertifiedClassifier
from slimline.estimators.gaussian_projection import GaussianProjection
from slimline.estimators.hadamard_projection import HadamardProjection
from slimline.estimators.make_projection import make_projection
from slimline.estimators.one_parameter_classifier import OneParameterClassifier
from slimline.estimators.projected_classifier import ProjectedClassifier
from slimline.estimators.sign_projection import SignProjection
from slimline.estimators.sparse_embedding import SparseEmbedding
from slimline.estimators.sparse_sign_projection import SparseSignProjection

if TYPE_CHECKING:
    from slimline.estimators.certified_classifier_cv import CertifiedClassifierCV
    from slimline.estimators.certified_feature_selector import CertifiedFeatureSelector

#: Classes that need parts of scikit-learn which take long to import: they come when they are asked for.
_LATER = {
    "CertifiedClassifierCV": "slimline.estimators.certified_classifier_cv",
    "CertifiedFeatureSelector": "slimline.estimators.certified_feature_selector",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
