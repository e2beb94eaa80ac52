"""The method: losses, the small problem and its surrogates, solvers, certificates, and the algorithm that joins them.

The modules are meant to be read in this order: `algorithm` for the loop; then `losses`, `problem`, `covariates`,
`surrogate`, `solve_gram`, `rows` and `solve_features`, `improve`, `certificate`, `score_bounds`, `leave_one_out`. The
rest of the library uses the names listed below.
"""

from slimline.learning.algorithm import Step, recover_certified
from slimline.learning.certificate import Certificate, TopFeatures, certificate_of, membership, rank_bounds
from slimline.learning.debiased import recover_debiased
from slimline.learning.losses import LOSSES, Loss, loss_named
from slimline.learning.problem import BinaryProblem, Solution, SolverState
from slimline.learning.published import recover_dual, recover_iterative, recover_naive
from slimline.learning.rows import ArrayRows, Rows, SparseRows
from slimline.learning.solve_features import solve_rows
from slimline.learning.solve_gram import solve_gram
from slimline.learning.surrogate import Surrogate, direct_surrogate, exact_surrogate, growing, sketch_surrogate
from slimline.learning.training_data import TrainingData

__all__ = [
    "LOSSES",
    "ArrayRows",
    "BinaryProblem",
    "Certificate",
    "Loss",
    "Rows",
    "Solution",
    "SolverState",
    "SparseRows",
    "Step",
    "Surrogate",
    "TopFeatures",
    "TrainingData",
    "certificate_of",
    "direct_surrogate",
    "exact_surrogate",
    "growing",
    "loss_named",
    "membership",
    "rank_bounds",
    "recover_certified",
    "recover_debiased",
    "recover_dual",
    "recover_iterative",
    "recover_naive",
    "sketch_surrogate",
    "solve_gram",
    "solve_rows",
]
