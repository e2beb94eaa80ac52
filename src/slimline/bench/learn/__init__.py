"""The suite of `slimline bench learn`: time and memory to a certified error, against exact and approximate peers."""

from slimline.bench.learn.names import AUTO
from slimline.bench.learn.sizes import QUICK, LearnSizes
from slimline.bench.learn.suite import learn_cases

__all__ = ["AUTO", "QUICK", "LearnSizes", "learn_cases"]
