"""What `slimline fit` does, step by step."""

from slimline.cli.fitting.run import Finished, run_fit
from slimline.cli.fitting.settings import FitSettings, Outputs

__all__ = ["Finished", "FitSettings", "Outputs", "run_fit"]
