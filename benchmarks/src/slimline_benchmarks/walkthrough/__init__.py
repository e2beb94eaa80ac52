"""The walk-through behind `slimline demo --projections`: computed in `run`, held in `records`, shown by `view`."""

from slimline_benchmarks.walkthrough.records import DemoResult, DemoSettings
from slimline_benchmarks.walkthrough.run import run_demo

__all__ = ["DemoResult", "DemoSettings", "run_demo"]
