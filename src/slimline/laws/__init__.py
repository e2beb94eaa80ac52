"""Exact laws of what a Gaussian projection does; no data, no bound."""

from slimline.laws.cosine_law import cosine
from slimline.laws.inner_product_law import inner_product
from slimline.laws.law import Law
from slimline.laws.norm_law import norm, norm_dimension, norm_failure

__all__ = ["Law", "cosine", "inner_product", "norm", "norm_dimension", "norm_failure"]
