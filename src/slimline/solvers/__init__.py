"""Losses with their conjugates, and solvers of the small problem: primal, dual variables and gap."""

from slimline.solvers.array_features import ArrayRows
from slimline.solvers.gram_form import solve_gram
from slimline.solvers.losses import LOSSES, Loss, loss_named
from slimline.solvers.problem import SmallProblem, Solution
from slimline.solvers.rows_features import Rows
from slimline.solvers.rows_form import solve_rows
from slimline.solvers.sparse_features import SparseRows

__all__ = [
    "LOSSES",
    "ArrayRows",
    "Loss",
    "Rows",
    "SmallProblem",
    "Solution",
    "SparseRows",
    "loss_named",
    "solve_gram",
    "solve_rows",
]
