"""The suite of `slimline bench learn`: time and memory to a certified error, against exact and approximate peers."""

from slimline.bench.learn.run import run_learn_case
from slimline.bench.learn.sizes import QUICK, LearnSizes
from slimline.bench.learn.suite import learn_cases
from slimline.bench.learn.view import print_learn_case

__all__ = ["QUICK", "LearnSizes", "learn_cases", "print_learn_case", "run_learn_case"]
