"""Names of the contenders, as the table shows them and the targets refer to them."""

SKETCH = "slimline sketch"
GRAM = "slimline gram"
DIRECT = "slimline direct"
AUTO = "slimline auto"
AUTO_FILE = "slimline auto, PLINK file"
SOLVE_ROWS = "slimline solve_rows"
SOLVE_GRAM = "slimline solve_gram"

LINEAR_SVC_DUAL = "LinearSVC dual"
LINEAR_SVC_PRIMAL = "LinearSVC primal"
LBFGS = "LogisticRegression lbfgs"
SGD = "SGDClassifier"
SVC_GRAM = "SVC on X Xᵀ"
PIPELINE = "projection + LinearSVC"
PIPELINE_LBFGS = "projection + lbfgs"

RIDGE = {"cholesky": "Ridge cholesky", "svd": "Ridge svd", "sag": "Ridge sag"}
SNAP = {True: "Snap ML dual", False: "Snap ML primal"}
KERNEL_RIDGE = "NumPy, ridge on X Xᵀ"
LINEAR_SVR = "LinearSVR dual"
SVR_GRAM = "SVR on X Xᵀ"

#: Losses of classification, in the order of its cases.
LOSSES = ("squared_hinge", "hinge", "logistic")


#: Losses of regression: of the dense data, and of the genotypes.
REGRESSION = {"dense-trait": ("squared", "epsilon_insensitive"), "genotypes-trait": ("squared",)}


def in_case(loss: str) -> str:
    """Return a loss as it stands in the name of a case."""
    return loss.replace("_", "-")
