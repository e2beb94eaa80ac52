"""The families of projections, LIBSVM as it was used in the paper, and a clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from slimline import make_projection
from slimline.projections._transformer import RandomProjection

#: Stacks a of the generalised sparse embedding, and components v of each in a bucket; there are r/(a·v) buckets.
STACKS, STACK_WIDTH = 4, 4
#: Projections by name, and what `make_projection` calls them. CW, RS and FHT are the paper's names.
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "CW": ("cw", {"n_stacks": STACKS, "bucket_width": STACK_WIDTH, "hash": "independent"}),
    "CountSketch": ("cw", {"hash": "independent"}),
    "grouped": ("cw", {"hash": "grouped"}),
    "RS": ("sign", {}),
    "FHT": ("srht", {"replace": True}),
}
#: Families of the paper, and ours, whose numbers stand beside those of its CW.
THEIRS, BESIDE_CW = ("CW", "RS", "FHT"), ("CountSketch", "grouped")
#: What was chosen of CW, and what stands beside it in figures and tables of all families.
FACTORS = (
    f"the factors of CW, the generalised sparse embedding: a = {STACKS} stacks of v = {STACK_WIDTH} components in q = "
    f"r/{STACKS * STACK_WIDTH} buckets"
)
CHOSEN = (
    f"{FACTORS}. Beside it are CountSketch (a = v = 1, each feature hashed by itself) and slimline’s grouped "
    "CountSketch (16 consecutive features hashed together)"
)


def projection(family: str, n_components: int, seed: int) -> RandomProjection:
    """Return a projection of one of the families.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    n_components : int
        Its r.
    seed : int
        Of its random numbers.

    Returns
    -------
    projection : RandomProjection
        Not fitted.
    """
    name, parameters = FAMILIES[family]
    return make_projection(name, n_components, random_state=seed, **parameters)


def printed_name(family: str) -> str:
    """Return the family whose printed numbers stand beside ours.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.

    Returns
    -------
    name : {"CW", "RS", "FHT"}
        CW for all three sparse embeddings.
    """
    return family if family in THEIRS else "CW"


def best_seconds(call: Callable[[], Any], repeats: int = 1) -> tuple[Any, float]:
    """Run something and tell how long it took.

    Parameters
    ----------
    call : callable
        Takes nothing.
    repeats : int
        How often; the shortest time counts.

    Returns
    -------
    result : object
        What the call returned last.
    seconds : float
        Of all cores together: other work on the machine disturbs this less than the time that passes.
    """
    shortest, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        shortest = min(shortest, time.process_time() - start)
    return result, float(shortest)


@dataclass(frozen=True)
class CrossValidated:
    """Result of a cross-validation by LIBSVM.

    Parameters
    ----------
    error_out, error_in : float
        Percent of the samples left out, and of those trained on, that are predicted wrongly.
    margin : float
        Mean of 1/‖w‖ over the folds.
    seconds : float
        For training and predicting in all folds.
    """

    error_out: float
    error_in: float
    margin: float
    seconds: float


def cross_validate(
    X: csr_array, y: NDArray[Any], folds: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]], C: float
) -> CrossValidated:
    """Train LIBSVM's linear machine on all folds but one, and try it on that one, for each in turn.

    Parameters
    ----------
    X : csr_array
        Rows as LIBSVM keeps them: pairs of index and value, zeros left out.
    y : array
        Two labels.
    folds : sequence of (training rows, rows left out)
        All of them.
    C : float
        Of the machine.

    Returns
    -------
    outcome : CrossValidated
        Errors, margin, time.
    """
    from sklearn.svm import SVC

    wrong_in, wrong_out, margins, seconds = 0.0, 0.0, [], 0.0
    for train, test in folds:
        some, others = X[train], X[test]
        model, training = best_seconds(partial(SVC(kernel="linear", C=C).fit, some, y[train]))
        predicted, predicting = best_seconds(partial(model.predict, others))
        seconds += training + predicting
        wrong_out += float(np.sum(predicted != y[test]))
        wrong_in += float(np.mean(model.predict(some) != y[train]))
        margins.append(1 / np.linalg.norm(model.coef_.toarray()))
    return CrossValidated(100 * wrong_out / len(y), 100 * wrong_in / len(folds), float(np.mean(margins)), seconds)
