"""Names of the contenders, as the table shows them and the targets refer to them."""

SKETCH = "slimline sketch"
GRAM = "slimline gram"
DIRECT = "slimline direct"
AUTO = "slimline auto"
SOLVE_ROWS = "slimline solve_rows"
SOLVE_GRAM = "slimline solve_gram"

LINEAR_SVC_DUAL = "LinearSVC dual"
LINEAR_SVC_PRIMAL = "LinearSVC primal"
LBFGS = "LogisticRegression lbfgs"
SGD = "SGDClassifier"
SVC_GRAM = "SVC on X Xᵀ"
PIPELINE = "projection + LinearSVC"
PIPELINE_LBFGS = "projection + lbfgs"

#: Losses of the suite, in the order of its cases.
LOSSES = ("squared_hinge", "hinge", "logistic")


def in_case(loss: str) -> str:
    """Return a loss as it stands in the name of a case."""
    return loss.replace("_", "-")
