"""Draw the figure of bounds.md: the dimension that keeps a positive margin, against the margin before.

`python docs/margin_dimensions.py docs/images/margin_dimensions.png`
"""

import sys

import matplotlib as mpl
import numpy as np

from slimline.bounds import get
from slimline.laws import cosine

POINTS, DELTA = 10_000, 0.05
MARGINS = np.geomspace(0.02, 0.8, 80)


def dimensions() -> dict[str, np.ndarray]:
    """Return what theorem, sharpened theorem and exact law ask for at each margin."""
    asked = {}
    for name in ("shi2012.6", "shi2012.6.sharp"):
        bound = get(name)
        eps = bound.eps_keeping(0.0, margin=MARGINS)  # the largest distortion that leaves a positive margin
        asked[name] = bound.dimension(eps, DELTA, points=POINTS)
    asked["exact"] = cosine.dimension(0.0, DELTA / POINTS, MARGINS)
    return asked


def draw(path: str) -> None:
    """Draw all three; colours of Okabe and Ito, which colour-blind readers can tell apart."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    asked = dimensions()
    labels = {
        "shi2012.6": ("Theorem 6 as printed", "#D55E00", 0.12, (8, 8), "left"),
        "shi2012.6.sharp": ("sharpened", "#009E73", 0.21, (-8, -10), "right"),
        "exact": ("exact law", "#0072B2", 0.12, (-8, -10), "right"),
    }
    with plt.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        axes = plt.figure(figsize=(7.2, 4.4), dpi=110, layout="constrained").subplots()
        for name, (words, colour, place, offset, side) in labels.items():
            axes.loglog(MARGINS, asked[name], color=colour, linewidth=2)
            nearest = np.abs(MARGINS - place).argmin()
            at = (MARGINS[nearest], asked[name][nearest])
            axes.annotate(words, at, offset, color=colour, textcoords="offset points", ha=side, va="center")
        here = np.abs(MARGINS - 0.3).argmin()
        factor = asked["shi2012.6"][here] / asked["exact"][here]
        x = MARGINS[here]
        axes.annotate("", (x, asked["exact"][here]), (x, asked["shi2012.6"][here]), arrowprops={"arrowstyle": "<->"})
        axes.annotate(f"{factor:.0f} times fewer", (x, 310), (6, 0), textcoords="offset points", va="center")
        ticks = [0.02, 0.05, 0.1, 0.2, 0.5, 0.8]
        axes.set(xlim=(0.02, 0.8), ylim=(10, 1e6), xlabel="normalised margin γ before the projection")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_yticks(powers := [10**power for power in range(1, 7)], [f"{power:,}" for power in powers])
        axes.minorticks_off()
        axes.set_ylabel("dimensions")
        axes.grid(color="0.9", linewidth=0.6)
        axes.set_title(f"{POINTS:,} points stay separable, except with probability {DELTA}", loc="left", fontsize=10)
        axes.figure.savefig(path)
        plt.close(axes.figure)


if __name__ == "__main__":
    draw(sys.argv[1])
