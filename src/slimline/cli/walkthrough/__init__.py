"""The walk-through behind `slimline demo`: what it computes (`run`), finds (`records`) and shows (`view`)."""

from slimline.cli.walkthrough.records import DemoResult, DemoSettings
from slimline.cli.walkthrough.run import run_demo

__all__ = ["DemoResult", "DemoSettings", "run_demo"]
