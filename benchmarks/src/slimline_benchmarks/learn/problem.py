"""A training problem, as ours and the peers are given it, and what a contender returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix
from slimline.learning import BinaryProblem, loss_named
from slimline.learning.covariates import Covariates
from slimline.learning.regression_losses import REGRESSION_LOSSES
from slimline_benchmarks.labelled import Labelled

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem(Labelled):
    """minimise ½‖w‖² + C Σ ℓ(yᵢ wᵀxᵢ), without an intercept.

    Parameters
    ----------
    X, labels, matrix : array, array, Matrix
        As in `Labelled`.
    C : float
        Inverse strength of the penalty.
    standardise : bool
        Whether the columns are to be standardised and missing calls filled: X is int8 then.
    """

    C: float = 1.0
    standardise: bool = False

    @cached_property
    def trained_on(self) -> Matrix:
        """Return the view that everyone's weights belong to."""
        return self.matrix.standardised("mean", "std", "mean") if self.standardise else self.matrix

    def task(self, loss: str) -> BinaryProblem:
        """Return what is to be minimised.

        Parameters
        ----------
        loss : str
            Which.

        Returns
        -------
        task : BinaryProblem
            Without an offset.
        """
        return BinaryProblem(loss_named(loss), self.labels, np.ones(self.shape[0]), 1.0 / self.C)


@dataclass(frozen=True)
class Regression(Problem):
    """minimise ½‖w‖² + C Σ ψ(yᵢ - wᵀxᵢ - b): the intercept has no penalty, and the labels are numbers.

    Parameters
    ----------
    X, labels, matrix, C, standardise : array, array, Matrix, float, bool
        As in `Problem`.
    bed : Path, optional
        PLINK file with the same genotypes.
    """

    bed: Path | None = None

    def task(self, loss: str) -> BinaryProblem:
        """Return what is to be minimised.

        Parameters
        ----------
        loss : str
            Which; ε is 0.1.

        Returns
        -------
        task : BinaryProblem
            A constant is its only covariate.
        """
        ones = np.ones(self.shape[0])
        constant = Covariates(ones[:, None], ones)
        return BinaryProblem(REGRESSION_LOSSES[loss], ones, ones, 1.0 / self.C, -self.labels, constant)


@dataclass(frozen=True)
class Fit:
    """Answer of a contender.

    Parameters
    ----------
    weights : array of shape (n_features,)
        w, of the columns as they are trained on.
    dual : array of shape (n_samples,), optional
        y α, where the contender has dual variables: w = Xᵀ(yα).
    intercept : float
        Constant of a contender that cannot do without; it is judged by the problem that has one.
    passes : int, optional
        Passes over the data, where they are counted.
    certified : float
        Relative error that the contender itself has proved, by the same gap of another pair of points: for ours.
    """

    weights: NDArray[Any]
    dual: Floats | None = None
    intercept: float = 0.0
    passes: int | None = None
    certified: float = float("inf")
