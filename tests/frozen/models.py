"""Model files as today's version writes them, one for each route, and the rows that they answer for."""

import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline import CertifiedClassifier, CertifiedClassifierCV, HadamardProjection, open_matrix
from slimline.estimators import aligned_decisions
from slimline.model_files import StoredModel
from tests.data.plink_files import write_plink
from tests.frozen.data import genotypes, samples

FOLDER = Path(__file__).parent / "models"
N, D = 24, 20


def rows(name: str, folder: Path) -> tuple[Any, Any]:
    """Return training data and labels of a model; it is asked about the same rows."""
    if name == "genotypes":
        G, y = genotypes(N, D)
        return open_matrix(write_plink(folder / "cohort", G)), np.where(y == 1, "ill", "well")
    X, y = samples(3 if name in ("sketch", "search") else 2, N, D, stream=9)
    if name == "direct":
        return sp.csr_array(np.where(X > 0.5, X, 0.0)), y.astype(bool)
    if name == "table":
        table = [",".join(["person", "status", *(f"gène {j}" for j in range(D))])]
        table += [",".join([f"p{i}", ("well", "ill")[y[i]], *map(str, X[i])]) for i in range(N)]
        (folder / "table.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
        return open_matrix(folder / "table.csv", id="person", label="status"), None
    return X, y


def _classifier(**options: Any) -> CertifiedClassifier:
    return CertifiedClassifier(**{"C": 0.05, "random_state": 0} | options)


MODELS: dict[str, Callable[[], Any]] = {
    "sketch": lambda: _classifier(method="sketch", projection=HadamardProjection(), n_components=12, tol=0.1),
    "gram": lambda: _classifier(method="gram", loss="hinge", class_weight={0: 2.0, 1: 1.0}),
    "direct": lambda: _classifier(method="direct", loss="logistic"),
    "table": lambda: _classifier(standardize=True, loss="squared"),
    "genotypes": lambda: _classifier(standardize=True, C=0.01),
    "published": lambda: _classifier(recovery="dual", n_components=12),
    "search": lambda: CertifiedClassifierCV([0.01, 0.1], cv=2, random_state=0),
}


def write(name: str, folder: Path) -> None:
    """Fit a model and write its file."""
    X, y = rows(name, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name]().fit(X, y)
    trained_on = X if name in ("genotypes", "table") else None
    model.save(FOLDER / f"{name}.slim", overwrite=True, trained_on=trained_on)


def answers(name: str, folder: Path) -> dict[str, Any]:
    """Return what a stored model holds, to the bit, and what it says of the rows."""
    path = FOLDER / f"{name}.slim"
    stored, model = StoredModel.read(path), CertifiedClassifier.load(path)
    X, _ = rows(name, folder)
    decided = aligned_decisions(stored, X)[0] if name in ("genotypes", "table") else model.decide(X)
    top = model.top_features(5, None if len(model.classes_) == 2 else model.classes_[-1])
    return {
        "holds": _digests(stored),
        "class": type(model).__name__,
        "parameters": {key: repr(value) for key, value in sorted(model.get_params(deep=False).items())},
        "classes": model.classes_.tolist(),
        "fitted": [model.n_passes_, model.n_iter_, model.route_.method, model.projections_],
        "top": [list(map(str, top.name)), top.weight.tolist()],
        "labels": decided.labels.tolist(),
        "scores": decided.scores.tolist(),
        "proved": decided.proved.tolist(),
    }


def _digests(stored: StoredModel) -> dict[str, str]:
    found = {}
    for name, value in vars(stored).items():
        if isinstance(value, np.ndarray):
            found[name] = str(value.tolist()) if value.dtype.kind in "UO" else value.tobytes().hex()
        elif hasattr(value, "arrays"):
            found[name] = str(list(value))
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in found.items()}
