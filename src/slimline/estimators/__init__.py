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
    from slimline.estimators.aligned import aligned_decisions
    from slimline.estimators.certified_classifier_cv import CertifiedClassifierCV
    from slimline.estimators.certified_feature_selector import CertifiedFeatureSelector

#: What needs parts that take long to import: it comes when it is asked for.
_LATER = {
    "CertifiedClassifierCV": "slimline.estimators.certified_classifier_cv",
    "CertifiedFeatureSelector": "slimline.estimators.certified_feature_selector",
    "aligned_decisions": "slimline.estimators.aligned",
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
    "aligned_decisions",
    "make_projection",
]
