"""Dual recovery on low-rank approximations of the data: what Figs. 5a and 5b are read off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from slimline import GaussianProjection
from slimline_papers.item import Experiment, Part
from slimline_papers.printed import printed
from slimline_papers.study import Study
from slimline_papers.vaswani2013.weight_laws import dual_error

Floats = NDArray[np.float64]

#: The document's: projections of Fig. 5a, error of Fig. 5b, λ.
PROJECTIONS = int(printed("vaswani2013", "fig5a_projections"))
TARGET = float(printed("vaswani2013", "fig5b_target_error"))
_PENALTY = float(printed("vaswani2013", "lambda"))
#: Projections over rank among which Fig. 5b looks for its error; 9 is what the printed bound asks for.
_RATIOS = (4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 9.0, 10.0, 12.0, 14.0)


def _parts(study: Study) -> Sequence[Part]:
    runs = {"arcene": study.pick(10, 10, 10), "dorothea": study.pick(4, 6, 10)}
    return [(name, run) for name, number in runs.items() for run in range(number)]


def _ranks(study: Study, name: str) -> tuple[int, ...]:
    beyond = study.pick((), (150, 200), (150, 200, 300)) if name == "dorothea" else ()
    return (5, 10, 20, 40, 60, 80, 100, *beyond)


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    name, run = str(part[0]), int(part[1])
    data, ranks = study.load(name), _ranks(study, str(name))
    most = max(PROJECTIONS, 10 * max(ranks))
    sketch = GaussianProjection(most, random_state=study.seed_of("vaswani2013.rank", name, run)).fit_transform(data.X)
    space = _RowSpace(data.X, data.y)
    for rank in ranks:
        for r in sorted({PROJECTIONS, *(round(ratio * rank) for ratio in _RATIOS)}):
            if r <= most:  # the first r columns of a Gaussian sketch are a Gaussian sketch
                yield name, rank, r, run, *space.errors(sketch[:, :r] * np.sqrt(most / r), rank)


class _RowSpace:
    """The singular vectors of X = USVᵀ, through XXᵀ: the approximation of rank ρ is UᵨUᵨᵀX, and its sketch UᵨUᵨᵀXR.

    In the coordinates β = Uᵨᵀα the dual problem of the squared loss is the linear system (S² + λI) β = Uᵨᵀy, and
    w = VᵨSβ, so that norms of differences of weights need no V.
    """

    def __init__(self, X: Any, y: Floats) -> None:
        K: Any = X @ X.T
        squares, U = np.linalg.eigh(K.toarray() if hasattr(K, "toarray") else K)
        self.U, self.singular_values, self.y = U[:, ::-1], np.sqrt(squares[::-1]), y

    def errors(self, sketch: Floats, rank: int) -> tuple[float, float]:
        """Return ‖w̃ - w*‖/‖w*‖ of dual recovery, and the embedding error, of an approximation of lower rank."""
        U, S, identity = self.U[:, :rank], self.singular_values[:rank], np.eye(rank)
        Z = U.T @ sketch
        exact = (U.T @ self.y) / (S**2 + _PENALTY)
        recovered = np.linalg.solve(Z @ Z.T + _PENALTY * identity, U.T @ self.y)
        kept = Z / S[:, None]  # VᵀR
        embedding = np.linalg.norm(kept @ kept.T - identity, 2)
        return float(np.linalg.norm(S * (recovered - exact)) / np.linalg.norm(S * exact)), float(embedding)


def recovery_error(rank: ArrayLike, r: ArrayLike) -> Floats:
    """Return the root of the mean square of the relative error of dual recovery.

    It is exact for a Gaussian R and the squared loss as λ goes to 0, which λ = 1 nearly is beside these data
    (`weight_laws`).

    Parameters
    ----------
    rank, r : array-like
        ρ and the number of projections, r > ρ + 3.

    Returns
    -------
    error : array
        About √(ρ/r) where ρ is far below r.
    """
    return np.asarray(np.sqrt(dual_error(r, rank).mean))


def projections_for(error: float, rank: float) -> float:
    """Return the number of projections at which `recovery_error` comes down to a value.

    Parameters
    ----------
    error : float
        Relative error of the weights.
    rank : float
        Rank ρ of the data.

    Returns
    -------
    r : float
        Real.
    """
    return float(brentq(lambda r: float(recovery_error(rank, r)) - error, rank + 3.5, 1e4 * (rank + 4)))


LOW_RANK = Experiment(
    name="vaswani2013.rank",
    about="Low-rank approximations of ARCENE and DOROTHEA as they come, Gaussian projections, squared loss, λ = 1: "
    "relative error of the weights that dual recovery brings back, and embedding error of the projection.",
    columns=("data", "rank", "r", "run", "error", "embedding"),
    parts=_parts,
    measure=_measure,
    sources=("arcene", "dorothea"),
)
