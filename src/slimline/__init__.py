"""Linear models for data too wide to train on.

slimline projects the features at random, trains on the small sketch, lifts the weights back to the original
features, and proves how far they are from what training on everything would have given.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from slimline import estimators, laws
from slimline.data import open_matrix
from slimline.estimators import (
    CertifiedClassifier,
    GaussianProjection,
    HadamardProjection,
    OneParameterClassifier,
    ProjectedClassifier,
    SignProjection,
    SparseEmbedding,
    SparseSignProjection,
    make_projection,
)

if TYPE_CHECKING:
    from slimline import bounds, geometry
    from slimline.auditing import audit
    from slimline.estimators import (
        CertifiedClassifierCV,
        CertifiedFeatureSelector,
        CertifiedRegressor,
        CertifiedRegressorCV,
    )
    from slimline.planning import plan

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in (
        "CertifiedClassifierCV",
        "CertifiedFeatureSelector",
        "CertifiedRegressor",
        "CertifiedRegressorCV",
    ):  # see `slimline.estimators`
        return getattr(estimators, name)
    if name in ("bounds", "geometry"):  # these and the next are loaded when they are asked for
        return import_module(f"slimline.{name}")
    if name == "audit":
        return import_module("slimline.auditing").audit
    if name == "plan":
        return import_module("slimline.planning").plan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CertifiedClassifier",
    "CertifiedClassifierCV",
    "CertifiedFeatureSelector",
    "CertifiedRegressor",
    "CertifiedRegressorCV",
    "GaussianProjection",
    "HadamardProjection",
    "OneParameterClassifier",
    "ProjectedClassifier",
    "SignProjection",
    "SparseEmbedding",
    "SparseSignProjection",
    "audit",
    "bounds",
    "geometry",
    "laws",
    "make_projection",
    "open_matrix",
    "plan",
]
