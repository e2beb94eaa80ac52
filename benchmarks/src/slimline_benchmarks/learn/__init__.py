"""The suite of `slimline bench learn`: time and memory to a certified error, against exact and approximate peers."""

from slimline_benchmarks.learn.names import AUTO
from slimline_benchmarks.learn.sizes import QUICK, LearnSizes
from slimline_benchmarks.learn.suite import learn_cases

__all__ = ["AUTO", "QUICK", "LearnSizes", "learn_cases"]
