"""Exact laws of what a Gaussian projection does; no data, no bound."""

from slimline.laws.norm import norm_dimension, norm_failure

__all__ = ["norm_dimension", "norm_failure"]
