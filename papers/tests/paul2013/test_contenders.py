"""The families, the clock, and LIBSVM over folds."""

import time

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import SVC

from slimline import HadamardProjection, SignProjection, SparseEmbedding
from slimline_papers.paul2013.contenders import (
    BESIDE_CW,
    FAMILIES,
    STACKS,
    THEIRS,
    best_seconds,
    cross_validate,
    printed_name,
    projection,
)


def test_the_families_are_those_of_the_paper():
    kinds = [type(projection(family, 32, 0)) for family in THEIRS]
    assert kinds == [SparseEmbedding, SignProjection, HadamardProjection]
    assert projection("FHT", 32, 0).replace  # its columns are drawn with replacement


def test_the_sparse_embeddings_are_three():
    """Entries of R: a in each row of the generalised embedding, one in each row of either CountSketch."""
    X = np.eye(64)
    entries = {family: projection(family, 32, 0).fit_transform(X) for family in ("CW", *BESIDE_CW)}
    counts = {family: set(np.count_nonzero(R, axis=1)) for family, R in entries.items()}
    assert counts == {"CW": {STACKS}, "CountSketch": {1}, "grouped": {1}}
    places = {family: np.nonzero(entries[family])[1].reshape(4, 16) for family in BESIDE_CW}
    # features that are hashed together never meet; hashed by themselves, four groups of 16 in 32 components all keep
    # apart less than once in ten million times
    assert all(len(set(group)) == 16 for group in places["grouped"])
    assert not all(len(set(group)) == 16 for group in places["CountSketch"])
    assert [printed_name(family) for family in FAMILIES] == ["CW", "CW", "CW", "RS", "FHT"]


def test_errors_and_margins_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 8)), np.repeat([-1, 1], 30)
    X[y == 1] += 0.5
    folds = list(KFold(10, shuffle=True, random_state=0).split(y))
    found = cross_validate(csr_array(X), y, folds, 10)
    machine = SVC(kernel="linear", C=10)
    assert found.error_out == pytest.approx(100 * (1 - cross_val_score(machine, X, y, cv=folds).mean()))
    fitted = [SVC(kernel="linear", C=10).fit(X[train], y[train]) for train, _ in folds]
    inside = [np.mean(m.predict(X[train]) != y[train]) for m, (train, _) in zip(fitted, folds, strict=True)]
    assert found.error_in == pytest.approx(100 * np.mean(inside))
    assert found.margin == pytest.approx(np.mean([1 / np.linalg.norm(m.coef_) for m in fitted]), rel=1e-6)
    assert found.seconds > 0


def test_the_best_of_several_rounds_counts():
    waits = iter([0.05, 0.0])

    def busy():
        until = time.process_time() + next(waits)
        while time.process_time() < until:
            pass
        return "done"

    result, seconds = best_seconds(busy, 2)
    assert result == "done"
    assert seconds < 0.05
