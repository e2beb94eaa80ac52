"""The suite of `slimline bench matrix`: passes over genotypes, sparse data and files of every format."""

from slimline_benchmarks.matrix.sizes import PARTS, QUICK, Sizes, parse_size
from slimline_benchmarks.matrix.suite import matrix_cases

__all__ = ["PARTS", "QUICK", "Sizes", "matrix_cases", "parse_size"]
