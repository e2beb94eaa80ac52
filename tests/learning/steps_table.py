"""Print the table of docs/certified_steps.md: steps and passes to a certified error, LIBLINEAR's iterations beside.

Run with `SLIMLINE_DATA=<folder> SLIMLINE_FULL=1 python -m tests.learning.steps_table`.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from tests.learning.real_sets import NAMES
from tests.learning.test_real_data import row_scaled, steps_to

LOSSES = ["squared", "squared_hinge", "logistic", "hinge"]
MOST_ITERATIONS = 10_000


def liblinear_iterations(X, y, loss):
    """Return the iterations of LIBLINEAR's dual solver with scikit-learn's tolerance; each goes through all rows."""
    if loss == "squared":
        return None
    if sp.issparse(X):  # LIBLINEAR reads 32-bit indices only; a copy, for scikit-learn sorts them in place
        X = sp.csr_matrix((X.data.copy(), X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    if loss == "logistic":
        model = LogisticRegression(
            solver="liblinear", dual=True, fit_intercept=False, max_iter=MOST_ITERATIONS, random_state=0
        )
    else:
        model = LinearSVC(loss=loss, dual=True, fit_intercept=False, max_iter=MOST_ITERATIONS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return int(np.max(model.fit(X, y).n_iter_))


def print_table(folder, names=NAMES, losses=LOSSES):
    """Print a row for each set and loss."""
    print("| data, n × d | loss | steps (passes) to 1e-2 | to 1e-4 | LIBLINEAR iterations |")
    print("| --- | --- | --- | --- | --- |")
    for name in names:
        if name == "dorothea":  # rows of norm 1 are what is asked for
            continue
        X, y = row_scaled(folder, name)
        title = f"{name}, {X.shape[0]:,} × {X.shape[1]:,}"
        for loss in losses:
            found, _ = steps_to(X, y, loss)
            cells = [f"{step[0]} ({step[1]})" if step else "-" for step in found]
            peer = liblinear_iterations(X, y, loss)
            row = [title, loss.replace("_", " "), *cells, "-" if peer is None else f"{peer:,}"]
            print("| " + " | ".join(row) + " |", flush=True)
            title = ""


if __name__ == "__main__":
    print_table(Path(os.environ["SLIMLINE_DATA"]), sys.argv[1:] or NAMES)
