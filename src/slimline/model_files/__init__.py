"""Models on disk: arrays and plain data in one file that runs no code when it is opened; knows no estimator."""

from slimline.model_files._checkpoints import PassFiles
from slimline.model_files._stored_model import StoredModel
from slimline.model_files._tensors import read_tensors, write_tensors

__all__ = ["PassFiles", "StoredModel", "read_tensors", "write_tensors"]
