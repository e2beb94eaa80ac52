"""The published iteration diverges; the certified one cannot
==========================================================

Both start from the same sketch and are compared with the exact weights.

The data are DOROTHEA (800 × 100,000, sparse) without scaling, with squared loss, C = 1 and a sketch of 500 components.
The iteration of Zhang et al. (2013; Vaswani 2013, §2.5) multiplies its error by about a thousand in every step. Run the
example with ``python examples/published_iteration.py``. Add a file name (``picture.png``) to draw the figure of
docs/certificates.md.

The example looks for the data set in the folder SLIMLINE_DATA. Without this variable it simulates a smaller one.
"""
# sphinx_gallery_thumbnail_path = 'images/published_iteration.png'

import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from slimline import CertifiedClassifier

PUBLISHED_STEPS = (1, 2, 3, 4, 8)
CERTIFIED_PASSES = (2, 3, 5, 7, 9, 11, 13, 17, 21)


@dataclass
class Problem:
    """Data, the exact weights, and the size of the sketch."""

    name: str
    X: sp.csc_array
    y: np.ndarray
    n_components: int

    def __post_init__(self) -> None:
        # The dual of the squared loss is a linear system, (XXᵀ + I/C) α = y with w = Xᵀα: solved directly, in float64,
        # without slimline.
        K = (self.X @ self.X.T).toarray()
        self.exact = self.X.T @ scipy.linalg.solve(K + np.eye(len(self.y)), self.y, assume_a="pos")
        self.norm = np.linalg.norm(self.exact)

    def fit(self, recovery: str, max_passes: int) -> CertifiedClassifier:
        """Return the model that a recovery reaches within `max_passes`."""
        model = CertifiedClassifier(
            C=1.0,
            loss="squared",
            method="sketch",
            recovery=recovery,
            n_components=self.n_components,
            tol=1e-2,
            max_passes=max_passes,
            fit_intercept=False,
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # few passes, on purpose
            return model.fit(self.X, self.y)

    def error(self, model: CertifiedClassifier) -> float:
        """Return ‖w - w*‖/‖w*‖."""
        return float(np.linalg.norm(model.coef_[0] - self.exact) / self.norm)


def load() -> Problem:
    """Return DOROTHEA, or a simulated data set in its place."""
    folder = os.environ.get("SLIMLINE_DATA")
    if folder and (Path(folder) / "dorothea").is_dir():
        X = sp.load_npz(Path(folder) / "dorothea" / "dorothea_train.npz")
        y = np.loadtxt(Path(folder) / "dorothea" / "dorothea_train.labels")
        return Problem("DOROTHEA", sp.csc_array(X, dtype=np.float64), y, 500)
    print("SLIMLINE_DATA does not contain DOROTHEA: using a simulated sparse data set\n")
    rng = np.random.default_rng(0)
    X = sp.csc_array((rng.random((400, 20_000)) < 0.01).astype(np.float64))
    return Problem("simulated", X, np.where(X[:, [0]].toarray()[:, 0] + (rng.random(400) < 0.1) > 0, 1.0, -1.0), 250)


def main(figure: str | None = None) -> None:
    """Print both traces and draw them."""
    problem = load()
    n, d = problem.X.shape
    print(f"{problem.name}: {n:,} × {d:,}, squared loss, C = 1, {problem.n_components} components\n")
    print("published iteration\n passes  steps  true error")
    published = []
    for steps in PUBLISHED_STEPS:  # one pass for the sketch, one per step: CSC matrices are stored by columns
        model = problem.fit("iterative", 1 + steps)
        published.append((model.n_passes_, problem.error(model)))
        print(f"{model.n_passes_:7}  {steps:5}  {published[-1][1]:10.1e}")
    print("\ncertified (a sketch that contracts too slowly is enlarged, which costs a pass)")
    print(" passes  steps  components  true error  certified error")
    certified = []
    for passes in CERTIFIED_PASSES:
        model = problem.fit("certified", passes)
        # The radius is certified. Here it is divided by the norm of the exact weights, as the true error is. A user
        # does not know that norm: `relative_error` divides the radius by a lower bound of it.
        proved = model.certificate_.radius[0] / problem.norm
        certified.append((model.n_passes_, problem.error(model), proved))
        components = model.history_[-1].n_components
        print(f"{model.n_passes_:7}  {model.n_iter_:5}  {components:10}  {certified[-1][1]:10.1e}  {proved:15.1e}")
        if model.certificate_.relative_error[0] <= model.tol:
            print(f"\ncertified relative error {model.certificate_.relative_error[0]:.1e}: done")
            break
    if figure is not None:
        draw(problem, published, certified, figure)


def draw(problem: Problem, published: list, certified: list, path: str) -> None:
    """Draw error against passes, in the colour-blind safe colours of Okabe and Ito."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    n, d = problem.X.shape
    with plt.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        axes = plt.figure(figsize=(7.2, 4.4), dpi=110, layout="constrained").subplots()
        passes, error, proved = np.array(certified).T
        axes.semilogy(*np.array(published).T, "s-", color="#D55E00")
        axes.semilogy(passes, proved, "^--", color="#0072B2")
        axes.semilogy(passes, error, "o-", color="#0072B2")
        axes.set(xlim=(1.4, passes[-1] + 0.6), ylim=(1e-4, 1e13), xlabel="passes over the data")
        axes.set_ylabel("‖w − w*‖ / ‖w*‖")
        axes.set_xticks(np.arange(2, passes[-1] + 1, 2))
        axes.set_yticks([1e-4, 1e-2, 1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12])
        axes.axhline(1.0, color="0.75", linewidth=0.8, zorder=0)
        axes.annotate("no better than w = 0", (passes[-1] + 0.5, 1.3), ha="right", color="0.45", fontsize=9)
        last_pass, last = published[-1]
        power = int(np.floor(np.log10(last)))
        words = f"published iteration:\n{last / 10**power:.0f}·10$^{{{power}}}$ after {last_pass - 1} steps"
        axes.annotate(words, (5.6, 3e10), color="#D55E00", va="center")
        middle = len(passes) // 2
        axes.annotate(
            "certified error",
            (passes[middle - 1], proved[middle - 1]),  # to the left of the label of w = 0
            (8, 8),
            color="#0072B2",
            textcoords="offset points",
        )
        axes.annotate(
            "true error of the certified steps",
            (passes[middle], error[middle]),
            (-8, -8),
            color="#0072B2",
            textcoords="offset points",
            ha="right",
            va="top",
        )
        axes.set_title(
            f"{problem.name}, {n:,} × {d:,}: squared loss, C = 1, sketch of {problem.n_components}",
            loc="left",
            fontsize=10,
        )
        axes.figure.savefig(path)
        plt.close(axes.figure)
    print(f"figure: {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
