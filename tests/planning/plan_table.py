"""Print the table of benchmarks/results/plan.md: predictions for the public data sets, and measurements.

Run with `SLIMLINE_DATA=<folder> python -m tests.planning.plan_table`, on a machine that does nothing else.
"""

import os
import sys
from pathlib import Path

from tests.planning.real_plans import SETS, plan_and_fit

LOSSES = ["squared_hinge", "hinge", "logistic", "squared"]


def print_table(folder, names=SETS, losses=LOSSES):
    """Print a row for each set, loss and way: the one advised, and a sketch where another is."""
    print("| data, n × d | loss | way | steps, predicted | steps | time, predicted | time | ratio |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    beyond = [0, 0, 0]
    for name in names:
        title = ""
        for loss in losses:
            ways = ["auto"]
            while ways:
                made, model, seconds = plan_and_fit(folder, name, repeats=3, loss=loss, method=ways.pop())
                if made.choice.method != "sketch" and made.n_features > 2000 and loss in ("squared_hinge", "logistic"):
                    ways.append("sketch")
                choice = made.choice
                way = choice.label + (f" {choice.n_components:,}" if choice.n_components else "")
                ratio = choice.seconds / seconds
                beyond[0] += 1
                beyond[1] += not 0.5 <= choice.steps / model.n_iter_ <= 2.0
                beyond[2] += not 0.5 <= ratio <= 2.0
                shown = title or f"{name}, {made.n_samples:,} × {made.n_features:,}"
                title = " "
                cells = [shown.strip(), loss.replace("_", " "), way, choice.steps, model.n_iter_,
                         f"{1e3 * choice.seconds:,.3g} ms", f"{1e3 * seconds:,.3g} ms", f"{ratio:.2f}"]  # fmt: skip
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
                if choice.method == "sketch":
                    break
    print(f"\n{beyond[0]} predictions; off by more than a factor of two: {beyond[1]} of steps, {beyond[2]} of times")


if __name__ == "__main__":
    print_table(Path(os.environ["SLIMLINE_DATA"]), sys.argv[1:] or SETS)
