"""The public data sets as matrices and labels of ±1, and the exact optimum on them, each held once."""

import bz2
import gzip
import json
from functools import cache

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from slimline import open_matrix
from slimline.learning import LOSSES, BinaryProblem, solve_gram
from tests.learning.direct import derivative

NAMES = [
    "arcene",
    "dorothea",
    "dorothea scaled",
    "golub",
    "alon",
    "singh",
    "gordon",
    "newsgroups",
    "farm ads",
    "rcv1",
    "hapmap3",
]


@cache
def real_set(folder, name):
    """Return all rows and the labels."""
    if name == "arcene":
        return np.loadtxt(folder / "arcene/arcene_train.data"), np.loadtxt(folder / "arcene/arcene_train.labels")
    if name.startswith("dorothea"):
        X = sp.load_npz(folder / "dorothea/dorothea_train.npz")
        y = np.loadtxt(folder / "dorothea/dorothea_train.labels")
        return (rows_of_norm_one(X) if name.endswith("scaled") else X), y
    if name in ("golub", "alon", "singh", "gordon"):
        stored = np.load(folder / f"gene_expression/{name}.npz")
        return stored["X"], np.where(stored["y"] == np.unique(stored["y"])[0], 1.0, -1.0)
    if name == "newsgroups":
        pair = json.loads(gzip.decompress((folder / "newsgroups20/pairs.json.gz").read_bytes()))[0]
        X = sp.load_npz(folder / "newsgroups20/counts_train.npz")[pair["rows_pos"] + pair["rows_neg"]]
        y = np.repeat([1.0, -1.0], [len(pair["rows_pos"]), len(pair["rows_neg"])])
        return X[:, np.unique(X.indices)].astype(np.int16), y
    if name == "farm ads":
        return sp.load_npz(folder / "farm_ads/farm_ads.npz"), np.load(folder / "farm_ads/labels.npy").astype(float)
    if name == "rcv1":
        with bz2.open(folder / "rcv1_small/rcv1_small.train.svmlight.bz2") as file:
            X, y = load_svmlight_file(file, n_features=47152)
        return sp.csr_array(X), np.where(y > 0, 1.0, -1.0)
    lines = (folder / "hapmap3_1kg/hapmap3.labels.tsv").read_text().splitlines()[1:]
    region = [line.split("\t")[3].strip() for line in lines]
    return open_matrix(folder / "hapmap3_1kg/hapmap3.bed"), np.where(np.array(region) == "AFR", 1.0, -1.0)


def rows_of_norm_one(X):
    """Return rows scaled to norm 1, in the storage that they have."""
    X = X.astype(np.float64)
    if sp.issparse(X):
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(1.0 / np.maximum(norms, 1e-300)) @ X)
    return X / np.maximum(np.linalg.norm(X, axis=1), 1e-300)[:, None]


def some_rows(y, most, seed=0):
    """Return row numbers of a sample that keeps the shares of the classes."""
    rng = np.random.default_rng(seed)
    if len(y) <= most:
        return np.arange(len(y))
    parts = []
    for label in (-1.0, 1.0):
        found = np.flatnonzero(y == label)
        parts.append(rng.choice(found, max(2, most * len(found) // len(y)), replace=False))
    return np.sort(np.concatenate(parts))


def as_dense(folder, name, rows):
    """Return rows as float64, missing genotypes as NaN; read without the library."""
    if name == "hapmap3":
        from bed_reader import open_bed

        with open_bed(folder / "hapmap3_1kg/hapmap3.bed") as bed:
            return bed.read(index=(rows, slice(None)), dtype="float64")
    X = real_set(folder, name)[0][rows]
    return (X.toarray() if sp.issparse(X) else X).astype(np.float64)


def filled(X):
    """Return the mean of a column for each value that is missing."""
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def standardised(X):
    """Return centred columns of deviation 1, by the values that are there; constant ones stay zero."""
    mean = np.nanmean(X.astype(np.longdouble), axis=0).astype(np.float64)
    deviation = np.nanstd(X, axis=0)
    return np.nan_to_num((X - mean) / np.where(deviation > 1e-12 * np.abs(mean), deviation, 1.0))


def exact_on(loss, X, K, y, penalty):
    """Return weights and a bound of their distance to the optimum, from the gradient or the gap on X itself."""
    n = len(y)
    alpha = solve_gram(K, BinaryProblem(LOSSES[loss], y, np.ones(n), penalty, np.zeros(n))).dual
    if loss == "hinge":
        w = X.T @ (y * alpha) / penalty
        short = 1.0 - y * (X @ w)
        gap = float(np.sum(np.where(short > 0, (1.0 - alpha) * short, -alpha * short)))
        return w, np.sqrt(gap / penalty) + 1e-13 * np.linalg.norm(w)
    beta = y * alpha
    best = None
    for _ in range(8):  # Newton in the span of the rows; the residual is that of the data, not of K
        w = X.T @ beta / penalty
        a, curvature = derivative(loss, y * (X @ w))
        residual = y * a - beta
        error = float(np.linalg.norm(X.T @ residual)) / penalty
        if best is not None and not error < 0.9 * best[1]:
            break
        best = w, error
        root = np.sqrt(curvature)
        inner = penalty * np.eye(n) + root[:, None] * K * root[None, :]
        beta = beta + residual - root * np.linalg.solve(inner, root * (K @ residual))
    return best[0], best[1] + 1e-13 * np.linalg.norm(best[0])
