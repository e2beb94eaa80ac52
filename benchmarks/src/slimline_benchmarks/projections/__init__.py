"""The suite of `slimline bench projections`: every family against the peers, at the sizes that matter."""

from slimline_benchmarks.projections.suite import projection_cases

__all__ = ["projection_cases"]
