"""The suite of `slimline bench geometry`: margins, balls and distortions beside the Gram matrix, and against peers."""

from slimline_benchmarks.geometry.sizes import PARTS, QUICK, GeometrySizes
from slimline_benchmarks.geometry.suite import geometry_cases

__all__ = ["PARTS", "QUICK", "GeometrySizes", "geometry_cases"]
