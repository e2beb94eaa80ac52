"""Exact laws of what a Gaussian projection does; no data, no bound."""

from slimline.laws._law import Law
from slimline.laws._laws import cosine, inner_product, norm, norm_dimension, norm_failure

__all__ = ["Law", "cosine", "inner_product", "norm", "norm_dimension", "norm_failure"]
