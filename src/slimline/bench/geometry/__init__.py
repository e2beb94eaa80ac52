"""The suite of `slimline bench geometry`: margins, balls and distortions beside the Gram matrix, and against peers."""

from slimline.bench.geometry.run import run_geometry_case
from slimline.bench.geometry.sizes import PARTS, QUICK, GeometrySizes
from slimline.bench.geometry.suite import geometry_cases
from slimline.bench.geometry.view import print_geometry_case

__all__ = ["PARTS", "QUICK", "GeometrySizes", "geometry_cases", "print_geometry_case", "run_geometry_case"]
