"""Print the tables of docs/certified_steps.md: steps and passes to a certified error, LIBLINEAR's iterations beside.

Run with `SLIMLINE_DATA=<folder> SLIMLINE_FULL=1 python -m tests.learning.steps_table`; with `--free` it prints the
second one, of intercepts and covariates without a penalty. Names of data sets limit both.
"""

import argparse
import os
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from slimline import CertifiedClassifier, CertifiedRegressor
from slimline.learning import LOSSES as CLASS_LOSSES
from slimline.learning import BinaryProblem
from slimline.learning.covariates import Covariates
from tests.learning.real_sets import NAMES, as_dense, real_set, rows_of_norm_one, some_rows, standardised

LOSSES = ["squared", "squared_hinge", "logistic", "hinge"]
REGRESSION_LOSSES = ["squared", "huber", "squared_epsilon_insensitive"]
TOLERANCES = (1e-2, 1e-4)
MOST_ITERATIONS = 10_000
MOST_ROWS = 1000 if os.environ.get("SLIMLINE_FULL") == "1" else 200
COMPONENTS = 10


@cache
def row_scaled(folder, name):
    """Return a set with rows of norm 1, genotypes standardised before."""
    y = real_set(folder, name)[1]
    rows = some_rows(y, MOST_ROWS)
    if name == "hapmap3":
        X = rows_of_norm_one(standardised(as_dense(folder, name, rows))).astype(np.float32)
    else:
        X = rows_of_norm_one(real_set(folder, name)[0][rows])
    return X, y[rows]


def steps_to(X, y, loss, tolerances=TOLERANCES, *, kind=CertifiedClassifier, covariates=None, intercept=None):
    """Return, for each tolerance, steps and passes to it; and the model. Without an intercept, unless one is given."""
    model = kind(
        loss=loss,
        tol=min(tolerances),
        method="sketch",
        n_components=X.shape[1] // 4,
        fit_intercept=intercept is not None,
        random_state=0,
        max_passes=40,
        intercept=intercept or "penalised",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, covariates=covariates)
    found = []
    for tolerance in tolerances:
        reached = [k for k, step in enumerate(model.history_, 1) if step.relative_error[0] <= tolerance]
        found.append((reached[0], model.history_[reached[0] - 1].passes) if reached else None)
    return found, model


class Beside(NamedTuple):
    """What a person's record would add to a data set: covariates, and a trait that depends on them."""

    sex: np.ndarray
    age: np.ndarray
    #: Scores of principal components of the rows, the largest first.
    components: np.ndarray
    trait: np.ndarray

    def columns(self, loss=None, labels=None):
        """Return sex, age and the components; given labels, without components that separate their classes."""
        found = np.column_stack([self.sex, self.age])
        for component in self.components.T:
            more = np.column_stack([found, component])
            if labels is None or overlap(loss, labels, more):
                found = more
        return found


@cache
def beside(folder, name):
    """Return simulated sex, age and trait: half of the trait's variance is that of a linear model of all features."""
    X, _ = row_scaled(folder, name)
    rng = np.random.default_rng(len(name))
    n, d = X.shape
    sex, age = rng.integers(0, 2, n).astype(float), np.round(rng.uniform(20, 80, n))
    K = np.asarray((X @ X.T).toarray() if sp.issparse(X) else X @ X.T, dtype=np.float64)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = np.linalg.eigh(centred)
    components = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1][:, :COMPONENTS]
    score = np.asarray(X @ rng.standard_normal(d))
    trait = (score - score.mean()) / score.std() + rng.standard_normal(n) + 0.5 * sex + 0.02 * (age - 50.0)
    return Beside(sex, age, components, trait - trait.mean())  # a penalised intercept would be most of the weights


def overlap(loss, labels, columns):
    """Return whether columns and an intercept do not separate classes: if they do, a fit is refused."""
    s = np.ones(len(labels))
    covariates = Covariates(np.column_stack([s, columns]), s)
    return BinaryProblem(CLASS_LOSSES[loss], labels, s, 1.0, covariates=covariates).inside is not None


class FreeSteps(NamedTuple):
    """(steps, passes) to each tolerance, or None; and how many components do not separate the classes."""

    penalised: list
    free: list
    covariates: list
    n_components: int

    @property
    def exceeding(self):
        """Return which of the two exceed the penalised intercept anywhere, in steps or in passes."""
        never = (np.inf, np.inf)
        found = []
        for name in ("free", "covariates"):
            pairs = zip(getattr(self, name), self.penalised, strict=True)
            if any(a > b for one, other in pairs for a, b in zip(one or never, other or never, strict=True)):
                found.append(name)
        return found


def free_steps(folder, name, loss, task):
    """Return the steps of a loss with a penalised intercept, a free one, and 13 free columns."""
    X, labels = row_scaled(folder, name)
    records = beside(folder, name)
    kind, y = (CertifiedClassifier, labels) if task == "classes" else (CertifiedRegressor, records.trait)
    penalised, _ = steps_to(X, y, loss, kind=kind, intercept="penalised")
    free, _ = steps_to(X, y, loss, kind=kind, intercept="free")
    columns = records.columns(loss, labels) if task == "classes" else records.columns()
    covariates, _ = steps_to(X, y, loss, kind=kind, intercept="free", covariates=columns)
    return FreeSteps(penalised, free, covariates, columns.shape[1] - 2)


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
        X, y = row_scaled(folder, name)
        title = title_of(folder, name)
        for loss in losses:
            found, _ = steps_to(X, y, loss)
            peer = liblinear_iterations(X, y, loss)
            print_row(title, loss.replace("_", " "), *cells_of(found), "-" if peer is None else f"{peer:,}")
            title = ""


def print_free_table(folder, names=NAMES):
    """Print a row for each set and loss, of classes and of a simulated trait; `!` marks what the claim denies."""
    print("| data, n × d | target, loss | penalised intercept | free intercept | 13 free columns |")
    print("| --- | --- | --- | --- | --- |")
    for name in names:
        title = title_of(folder, name)
        for task, loss in [*(("classes", loss) for loss in LOSSES), *(("trait", loss) for loss in REGRESSION_LOSSES)]:
            found = free_steps(folder, name, loss, task)
            cells = [" / ".join(cells_of(getattr(found, kind))) for kind in ("penalised", "free", "covariates")]
            cells = [
                cells[0],
                *(f"{c} !" if k in found.exceeding else c for k, c in zip(found._fields[1:3], cells[1:], strict=True)),
            ]
            cells[2] += f", {found.n_components} PCs" * (found.n_components < COMPONENTS)
            print_row(title, f"{task}, {loss.replace('_', ' ')}", *cells)
            title = ""


def title_of(folder, name):
    n, d = row_scaled(folder, name)[0].shape
    return f"{name}, {n:,} × {d:,}"


def cells_of(found):
    return [f"{step[0]} ({step[1]})" if step else "-" for step in found]


def print_row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name", help="of data sets; all but dorothea by default")
    parser.add_argument("--free", action="store_true", help="print the table of free intercepts and covariates")
    options = parser.parse_args()
    chosen = options.names or [name for name in NAMES if name != "dorothea"]  # rows of norm 1 are what is asked for
    (print_free_table if options.free else print_table)(Path(os.environ["SLIMLINE_DATA"]), chosen)
