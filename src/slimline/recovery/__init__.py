"""From the sketch back to the original features, with proof."""

from slimline.recovery.build import exact_model, growing, sketch_model
from slimline.recovery.certified import Outcome, Step, recover_certified
from slimline.recovery.claims import Certificate, TopFeatures, certificate_of, membership, rank_bounds
from slimline.recovery.direct_model import direct_model
from slimline.recovery.model import Model
from slimline.recovery.published import recover_dual, recover_iterative, recover_naive
from slimline.recovery.task import Task
from slimline.recovery.training_data import TrainingData

__all__ = [
    "Certificate",
    "Model",
    "Outcome",
    "Step",
    "Task",
    "TopFeatures",
    "TrainingData",
    "certificate_of",
    "direct_model",
    "exact_model",
    "growing",
    "membership",
    "rank_bounds",
    "recover_certified",
    "recover_dual",
    "recover_iterative",
    "recover_naive",
    "sketch_model",
]
