"""Print the table of docs/benchmarks.md on accuracy: nested cross-validation on public data sets, beside scikit-learn.

The outer folds measure, the inner folds choose C. All models see the same folds. Everything that is learned from the
data, standardising included, is learned from the training rows of the outer fold.

    SLIMLINE_DATA=... python docs/nested_cross_validation.py [data set ...]
"""

import bz2
import gzip
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.svm import LinearSVC

from slimline import CertifiedClassifierCV, open_matrix
from slimline.data._arrays import to_dense

DATA = Path(os.environ["SLIMLINE_DATA"])
#: Larger sets are cut down to this many rows, every class in proportion: models are compared, not their speed.
MOST_ROWS = 600
#: The certified search, whose answers are those of the search on the sketch, is left out beyond this many values.
MOST_VALUES = 3_000_000
#: The values of C that the peers try, for rows whose root mean square norm is 1.
GRID = np.logspace(-4, 4, 10)


def arcene() -> tuple[Any, Any]:
    """Mass spectra of cancer patients and others."""
    parts = [
        [np.loadtxt(DATA / f"arcene/arcene_{p}.{kind}") for p in ("train", "valid")] for kind in ("data", "labels")
    ]
    return np.vstack(parts[0]), np.concatenate(parts[1])


def dorothea() -> tuple[Any, Any]:
    """Molecules that bind to thrombin or not."""
    X = sp.vstack([sp.load_npz(DATA / f"dorothea/dorothea_{part}.npz") for part in ("train", "valid")])
    return X.astype(np.float32), np.concatenate(
        [np.loadtxt(DATA / f"dorothea/dorothea_{part}.labels") for part in ("train", "valid")]
    )


def expression(name: str) -> tuple[Any, Any]:
    """Gene expression, two kinds of tissue."""
    stored = np.load(DATA / f"gene_expression/{name}.npz")
    return stored["X"].astype(np.float64), stored["y"]


def genotypes(name: str, column: str, label: str | None = None) -> tuple[Any, Any]:
    """Genotypes: regions, or one population against the rest; missing calls imputed with the mean."""
    matrix = open_matrix(DATA / f"hapmap3_1kg/{name}.bed")
    head, *rows = (row.split("\t") for row in (DATA / f"hapmap3_1kg/{name}.labels.tsv").read_text().splitlines())
    labels = {row[head.index("IID")]: row[head.index(column)] for row in rows}
    y = np.array([labels[person] for person in matrix.sample_ids])
    kept = np.flatnonzero(y != "NA")
    X = to_dense(matrix.rows(kept).standardised(None, None, "mean")).astype(np.float32)
    return X, y[kept] if label is None else np.where(y[kept] == label, label, "rest")


def geuvadis() -> tuple[Any, Any]:
    """Dosages of chromosome 22, four European populations."""
    with gzip.open(DATA / "geuvadis/genotypes.vcf.gz", "rt") as file:
        lines = (line for line in file if not line.startswith("##"))
        people = next(lines).split()[9:]
        X = np.array([np.array(line.split("\t")[9:], dtype=np.float32) for line in lines]).T
    labels = dict(line.split("\t")[:2] for line in (DATA / "geuvadis/labels.tsv").read_text().splitlines()[1:])
    y = np.array([labels.get(person, "NA").strip() for person in people])
    return X[y != "NA"], y[y != "NA"]


def faces(name: str) -> tuple[Any, Any]:
    """Ten people, ten pictures each."""
    stored = scipy.io.loadmat(DATA / f"faces10k/{name}.mat")
    return stored["X"].astype(np.float64), stored["Y"].ravel()


def mnist() -> tuple[Any, Any]:
    """Digits."""
    images = gzip.decompress((DATA / "mnist/train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((DATA / "mnist/train-labels-idx1-ubyte.gz").read_bytes())
    return np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784).astype(np.float32), np.frombuffer(
        labels, np.uint8, offset=8
    )


def newsgroups() -> tuple[Any, Any]:
    """Words of twenty newsgroups."""
    X = sp.load_npz(DATA / "newsgroups20/counts_train.npz").astype(np.float32)
    return X, np.load(DATA / "newsgroups20/labels_train.npy")


def pair() -> tuple[Any, Any]:
    """Words of two newsgroups."""
    X, _ = newsgroups()
    pairs = json.loads(gzip.decompress((DATA / "newsgroups20/pairs.json.gz").read_bytes()))[0]
    rows = [*pairs["rows_pos"], *pairs["rows_neg"]]
    return X.tocsr()[rows], np.repeat([1, -1], [len(pairs["rows_pos"]), len(pairs["rows_neg"])])


def farm_ads() -> tuple[Any, Any]:
    """Words of advertisements."""
    return sp.load_npz(DATA / "farm_ads/farm_ads.npz").astype(np.float32), np.load(DATA / "farm_ads/labels.npy")


def svmlight(name: str, n_features: int) -> tuple[Any, Any]:
    """Weights of words."""
    return load_svmlight_file(bz2.open(DATA / name), n_features=n_features)


SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "alon": lambda: expression("alon"),
    "golub": lambda: expression("golub"),
    "singh": lambda: expression("singh"),
    "gordon": lambda: expression("gordon"),
    "arcene": arcene,
    "dorothea": dorothea,
    "hapmap3, CEU": lambda: genotypes("hapmap3", "population", "CEU"),
    "hapmap3, region": lambda: genotypes("hapmap3", "region"),
    "1000 Genomes, GBR": lambda: genotypes("1kg_phase1_overlap", "population", "GBR"),
    "1000 Genomes, population": lambda: genotypes("1kg_phase1_overlap", "population"),
    "geuvadis": geuvadis,
    "orlraws10P": lambda: faces("orlraws10P"),
    "pixraw10P": lambda: faces("pixraw10P"),
    "mnist": mnist,
    "newsgroups20": newsgroups,
    "newsgroups20, pair 0": pair,
    "farm_ads": farm_ads,
    "reuters_moneyfx": lambda: svmlight("reuters_moneyfx/reuters_moneyfx.trn.svmlight.bz2", 8315),
    "rcv1_small": lambda: svmlight("rcv1_small/rcv1_small.train.svmlight.bz2", 47152),
}


def cut(X: Any, y: Any) -> tuple[Any, Any]:
    """Return at most MOST_ROWS rows, and no constant feature."""
    if len(y) > MOST_ROWS:
        rows = train_test_split(np.arange(len(y)), train_size=MOST_ROWS, stratify=y, random_state=0)[0]
        X, y = (X.tocsr() if sp.issparse(X) else X)[np.sort(rows)], np.asarray(y)[np.sort(rows)]
    return X, np.asarray(y)


def reduced(X: Any, train: Any, test: Any, standardise: bool) -> tuple[Any, Any]:
    """Return training and test rows in the coordinates of the training rows, their root mean square norm being 1.

    A linear model with an L2 penalty is the same after this rotation, and the peers take seconds instead of hours.
    """
    dense = (X.toarray() if sp.issparse(X) else X).astype(np.float32)
    A, B = dense[train], dense[test]
    if standardise:
        mean, std = A.mean(axis=0, dtype=np.float64), A.std(axis=0, dtype=np.float64)
        varies = std > 1e-6 * (np.abs(mean) + 1e-30)
        A, B = ((part[:, varies] - mean[varies]) / std[varies] for part in (A, B))
    K, L = A.astype(np.float64) @ A.astype(np.float64).T, B.astype(np.float64) @ A.astype(np.float64).T
    unit = np.trace(K) / len(K)
    values, vectors = np.linalg.eigh(K / unit)
    used = values > 1e-12 * values[-1]
    roots = np.sqrt(values[used])
    return vectors[:, used] * roots, (L / unit) @ vectors[:, used] / roots


def ours(X: Any, y: Any, train: Any, test: Any, **settings: Any) -> Any:
    """Return which test rows CertifiedClassifierCV gets right."""
    X = X.tocsr() if sp.issparse(X) else X
    return CertifiedClassifierCV(random_state=0, **settings).fit(X[train], y[train]).predict(X[test]) == y[test]


def theirs(make: Callable[[Any], BaseEstimator], X: Any, y: Any, train: Any, test: Any, standardise: bool) -> Any:
    """Return which test rows a model of scikit-learn gets right."""
    A, B = reduced(X, train, test, standardise)
    return make(y).fit(A, y[train]).predict(B) == y[test]


def logistic(y: Any) -> BaseEstimator:
    """Return LogisticRegressionCV on the grid; Newton's method is the faster one for two classes."""
    solver = "newton-cholesky" if len(np.unique(y)) == 2 else "lbfgs"
    return LogisticRegressionCV(Cs=GRID, cv=5, max_iter=1000, solver=solver)


def linear_svc(y: Any) -> BaseEstimator:
    """Return LinearSVC with C searched on the grid."""
    return GridSearchCV(LinearSVC(random_state=0, max_iter=3000), {"C": GRID}, cv=5)


def cell(right: Any) -> str:
    """Return accuracy and its standard error."""
    if right is None:
        return ""
    return f"{right.mean():.3f} ± {np.sqrt(right.mean() * (1 - right.mean()) / right.size):.3f}"


def line(name: str) -> None:
    """Print the lines of a data set: raw and standardised."""
    X, y = cut(*SETS[name]())
    outer = list(StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(y)), y))
    majority = np.unique(y, return_counts=True)[1].max() / len(y)
    for standardise in (False, True):
        columns = {}
        for title, predict in {
            "certified": lambda *a, s=standardise: ours(*a, standardize=s),
            "sketch": lambda *a, s=standardise: ours(*a, standardize=s, search="sketch"),
            "LogisticRegressionCV": lambda *a, s=standardise: theirs(logistic, *a, s),
            "LinearSVC": lambda *a, s=standardise: theirs(linear_svc, *a, s),
        }.items():
            start = time.perf_counter()
            if title == "certified" and X.shape[0] * X.shape[1] > MOST_VALUES:
                columns[title] = None
                continue
            right = np.zeros(len(y))
            for train, test in outer:
                right[test] = predict(X, y, train, test)
            columns[title] = right
            print(f"  {name}, {title}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        best = max((columns["LogisticRegressionCV"], columns["LinearSVC"]), key=lambda right: right.mean())
        behind = []
        for own in [own for own in ("certified", "sketch") if columns[own] is not None]:
            difference = best - columns[own]
            error = difference.std() / np.sqrt(len(y))
            behind.append(f"{difference.mean() / error:+.1f}" if error > 0 else "0")
        kind = "standardised" if standardise else "raw"
        print(
            f"| {name} | {kind} | {X.shape[0]:,} × {X.shape[1]:,} | {majority:.3f} | "
            + " | ".join(cell(right) for right in columns.values())
            + f" | {', '.join(behind)} |",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(
        "| data | | rows × features | commonest class | certified search | search on the sketch | "
        "LogisticRegressionCV | LinearSVC | behind the better peer, standard errors |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in sys.argv[1:] or SETS:
        line(name)
