"""The scikit-learn classes: validation and wiring, no mathematics."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from slimline.estimators._certified_classifier import CertifiedClassifier
from slimline.estimators._one_parameter import OneParameterClassifier
from slimline.estimators._projected_classifier import ProjectedClassifier
from slimline.projections import (
    GaussianProjection,
    HadamardProjection,
    SignProjection,
    SparseEmbedding,
    SparseSignProjection,
    make_projection,
)

if TYPE_CHECKING:
    from slimline.estimators._aligned import aligned_decisions, aligned_predictions
    from slimline.estimators._certified_classifier_cv import CertifiedClassifierCV
    from slimline.estimators._certified_regressor import CertifiedRegressor
    from slimline.estimators._certified_regressor_cv import CertifiedRegressorCV
    from slimline.estimators._decisions import CovariateEffects
    from slimline.estimators._predictions import CertifiedPredictions, ScoreInterval
    from slimline.estimators._selector import CertifiedFeatureSelector

#: What needs parts that take long to import: it comes when it is asked for.
_LATER = {
    "CertifiedClassifierCV": "slimline.estimators._certified_classifier_cv",
    "CertifiedFeatureSelector": "slimline.estimators._selector",
    "CertifiedPredictions": "slimline.estimators._predictions",
    "CertifiedRegressor": "slimline.estimators._certified_regressor",
    "CertifiedRegressorCV": "slimline.estimators._certified_regressor_cv",
    "CovariateEffects": "slimline.estimators._decisions",
    "ScoreInterval": "slimline.estimators._predictions",
    "aligned_decisions": "slimline.estimators._aligned",
    "aligned_predictions": "slimline.estimators._aligned",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CertifiedClassifier",
    "CertifiedClassifierCV",
    "CertifiedFeatureSelector",
    "CertifiedPredictions",
    "CertifiedRegressor",
    "CertifiedRegressorCV",
    "CovariateEffects",
    "GaussianProjection",
    "HadamardProjection",
    "OneParameterClassifier",
    "ProjectedClassifier",
    "ScoreInterval",
    "SignProjection",
    "SparseEmbedding",
    "SparseSignProjection",
    "aligned_decisions",
    "aligned_predictions",
    "make_projection",
]
