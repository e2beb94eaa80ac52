"""The records of a plan, and their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from slimline._base.plain import plain
from slimline._base.text import duration, size
from slimline.learning.training_data import AUTO


def advise(plan: Plan) -> str:
    """Return the recommendation."""
    parts = [_what(plan, plan.choice), _why(plan), _theory(plan)]
    return " ".join(part for part in parts if part)


def _what(plan: Plan, choice: Cost) -> str:
    cost = f"about {duration(choice.seconds)}, {choice.passes} passes and {size(choice.nbytes)} of memory"
    if choice.method == "sketch":
        return (
            f"Project to {choice.n_components:,} with {choice.projection}: {choice.steps} steps to a certified error "
            f"of {plan.tol:g}, {cost}."
        )
    if choice.method == "gram":
        few = "n is small, the" if plan.n_samples <= 2000 else "the"
        return f"Do not project: {few} Gram route is exact and faster, {cost}."
    return f'Do not project: go through the rows themselves (method="direct"), {cost}.'


def _why(plan: Plan) -> str:
    sketch = min((cost for cost in plan.costs if cost.method == "sketch"), key=lambda cost: cost.seconds)
    other = min((cost for cost in plan.costs if cost.method != "sketch"), key=lambda cost: cost.seconds)
    if plan.choice.method == "sketch":
        if other.seconds == float("inf"):
            return "Nothing else can be done with data of this size."
        return f"The {other.method} route would take {duration(other.seconds)}."
    if sketch.seconds == float("inf"):
        return "A sketch would have no fewer columns than there are features."
    return f"A sketch ({sketch.projection}, {sketch.n_components:,}) would take {duration(sketch.seconds)}."


def _theory(plan: Plan) -> str:
    spoken = [row for row in plan.guarantees if row.dimension is not None]
    below = sum(row.below_features for row in spoken)
    asks = f"{below} asks" if below == 1 else f"{below or 'none'} ask"
    said = (
        f"Of {len(spoken)} guarantees at ε = {plan.eps:g}, δ = {plan.delta:g}, {asks} for fewer dimensions than "
        f"the {plan.n_features:,} there are. The certificate needs none of them: it is proved after the fit."
    )
    if plan.most_dimension is not None and plan.most_dimension < plan.n_features:
        said += f" {plan.most_dimension:,} Gaussian dimensions keep 99 % of the rows on their side."
    return said


def what_is_predicted(plan: Plan) -> str:
    """Return the number of classes or targets in words."""
    if plan.task == "classification":
        return f"{plan.n_classes} classes"
    return "1 target" if plan.n_targets == 1 else f"{plan.n_targets} targets"


def beside(plan: Plan) -> str:
    """Return the columns beside the features in words, with a comma before them; nothing for a free intercept alone."""
    parts = "" if plan.fit_intercept else ", no intercept"
    if plan.fit_intercept and plan.intercept != "free":
        parts = f", {plan.intercept} intercept"
    if plan.n_covariates:
        parts += ", 1 covariate" if plan.n_covariates == 1 else f", {plan.n_covariates} covariates"
    return parts


def plan_text(plan: Plan) -> str:
    """Return a plan as text of at most 100 columns."""
    dense = "dense" if plan.density is None else f"{plan.density:.2g} of the values stored"
    errors = ", ".join(f"{error:.1g} after {steps}" for steps, error in plan.errors.items())
    margin = "none" if plan.task == "regression" else "not known" if plan.margin is None else f"{plan.margin:.3g}"
    if plan.margin_dimension is not None and plan.most_dimension is not None:
        margin += (
            f"; Gaussian dimensions that keep it positive (exact law): {_kept(plan, plan.margin_dimension)}, "
            f"for 99 % of the rows {_kept(plan, plan.most_dimension)}"
        )
    lines = [
        f"{plan.n_samples:,} samples × {plan.n_features:,} features, {what_is_predicted(plan)}, {dense}",
        f"loss {plan.loss}, C = {plan.C:g}, tol = {plan.tol:g}{beside(plan)}; made from {plan.source}",
        "",
        plan.advice,
        "",
        f"effective dimension  {plan.effective_dimension:.0f}",
        f"certified error      {errors} steps, expected",
        f"margin               {margin}",
        f"                     {plan.margin_note}",
        "",
        f"What each guarantee asks for at ε = {plan.eps:g}, δ = {plan.delta:g}",
        *_table(
            ("bound", "keeps", "dimension", "below d", "printed", "exact law"),
            [
                (
                    row.name,
                    row.about,
                    row.note if row.dimension is None else f"{row.dimension:,}",
                    "" if row.dimension is None else "yes" if row.below_features else "no",
                    "" if row.printed is None else f"{row.printed:,}",
                    "" if row.exact is None else f"{row.exact:,}",
                )
                for row in plan.guarantees
            ],
        ),
        "",
        "What each way costs",
        *_table(
            ("way", "components", "steps", "passes", "seconds", "memory"),
            [
                (
                    cost.label,
                    f"{cost.n_components:,}" if cost.n_components else "",
                    str(cost.steps),
                    str(cost.passes),
                    cost.note if cost.seconds == float("inf") else duration(cost.seconds),
                    size(cost.nbytes),
                )
                for cost in plan.costs
            ],
        ),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _kept(plan: Plan, dimension: int) -> str:
    return f"{dimension:,}" if dimension < plan.n_features else "more than there are features"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    left = 2  # the first columns are words

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  " + "  ".join(parts)

    return [line(head), *(line(row) for row in rows)]


@dataclass(frozen=True)
class Guarantee:
    """Dimension that one theorem requires for these data.

    Parameters
    ----------
    name : str
        Name of the bound, such as "shi2012.6".
    about : str
        The quantity that is kept, and for which objects.
    dimension : int or None
        Dimensions that it requires; None if it says nothing about this eps.
    below_features : bool
        Whether that is fewer than there are features: otherwise it guarantees no more than not projecting does.
    printed : int or None
        Dimensions that the document prints, if that number differs or does not hold.
    exact : int or None
        Dimensions that the exact law of a Gaussian projection requires, for the same claim.
    kind : str
        "theorem"; "limit": for large sizes only; "order": up to a constant.
    note : str
        Why a number is missing, or what was assumed.

    See Also
    --------
    slimline.bounds.get : The theorem of this name, with its statement and source.
    """

    name: str
    about: str
    dimension: int | None
    below_features: bool
    printed: int | None = None
    exact: int | None = None
    kind: str = "theorem"
    note: str = ""


@dataclass(frozen=True)
class Curve:
    """Dimensions that one statement asks for, against eps; for a picture."""

    #: Of the bound, or "exact law: …".
    name: str
    #: "theorem", "limit", "order", "printed" (a statement that does not hold) or "exact".
    kind: str
    #: Where the statement speaks.
    eps: tuple[float, ...]
    #: What it asks for.
    dimension: tuple[float, ...]


@dataclass(frozen=True)
class Cost:
    """Expected cost of one route to the certified weights.

    Parameters
    ----------
    method : str
        "sketch", "gram" or "direct".
    projection : str
        Name of the family, for a sketch; else empty.
    n_components : int
        Components of the sketch; else 0.
    steps : int
        Steps to the certified error `tol`.
    passes : int
        Passes over the data.
    seconds : float
        Time; infinity if the route is not possible.
    nbytes : float
        Memory beside the data.
    note : str
        Why the route is not possible, or how certain the numbers are.
    """

    method: str
    projection: str
    n_components: int
    steps: int
    passes: int
    seconds: float
    nbytes: float
    note: str = ""

    @property
    def label(self) -> str:
        """Return its name in a table."""
        return f"sketch, {self.projection}" if self.method == "sketch" else self.method


@dataclass(frozen=True)
class Plan:
    """Dimensions by guarantee, costs by route, and a recommendation.

    Parameters
    ----------
    n_samples, n_features, n_classes : int
        Sizes; a regression has 0 classes.
    density : float or None
        Share of values that are stored; None: dense.
    source : str
        Origin of the plan: "sizes", or the data and the part of them that was read.
    C, loss, tol : float, str, float
        As for the estimator.
    eps, delta : float
        Distortion and failure probability of the guarantees.
    guarantees : tuple of Guarantee
        All guarantees that the known quantities allow; of a regression, those that need classes have no dimension.
    margin : float or None
        Normalised margin of the data, or as given; not positive if no separator was found.
    margin_dimension : int or None
        Dimensions that keep a positive margin, by the exact laws of the cosines of these data.
    most_dimension : int or None
        Dimensions that keep it for all samples but one in a hundred.
    margin_note : str
        Basis of these dimensions.
    effective_dimension : float
        d_λ = tr K(K + λI)⁻¹, K = XXᵀ, λ = 1/C; beside columns without a penalty, what they leave of K.
    errors : dict of int to float
        Certified relative error expected after 1, 2 and 4 steps with the recommended sketch.
    costs : tuple of Cost
        Every projection and route.
    choice : Cost
        The recommended one.
    advice : str
        The recommendation in words.
    curves : tuple of Curve
        Dimensions against ε, for the picture.
    passes, seconds : int, float
        Passes and time that the plan itself took.
    fit_intercept, intercept, intercept_scaling, standardize : bool, str, float or "auto", bool
        As for the estimator.
    task : str
        "classification" or "regression".
    n_targets, n_covariates : int
        Number of targets of a regression, else 0; and of covariates.
    huber_delta, epsilon, quantile, standardize_target : float or "auto", float, float, bool
        As for `CertifiedRegressor`, where the first is called `delta`.

    See Also
    --------
    slimline.plan : Makes a plan, with the mathematics.
    """

    n_samples: int
    n_features: int
    n_classes: int
    density: float | None
    source: str
    C: float
    loss: str
    tol: float
    eps: float
    delta: float
    guarantees: tuple[Guarantee, ...]
    margin: float | None
    margin_dimension: int | None
    most_dimension: int | None
    margin_note: str
    effective_dimension: float
    errors: dict[int, float]
    costs: tuple[Cost, ...]
    choice: Cost
    advice: str
    curves: tuple[Curve, ...] = field(repr=False)
    passes: int = 0
    seconds: float = 0.0
    fit_intercept: bool = True
    intercept: str = "free"
    intercept_scaling: float | str = AUTO
    standardize: bool = False
    task: str = "classification"
    n_targets: int = 0
    n_covariates: int = 0
    huber_delta: float | str = AUTO
    epsilon: float = 0.1
    quantile: float = 0.5
    standardize_target: bool = False

    @property
    def estimator(self) -> str:
        """Return the name of the estimator that `parameters` are for."""
        return "CertifiedRegressor" if self.task == "regression" else "CertifiedClassifier"

    @property
    def parameters(self) -> dict[str, Any]:
        """Return what to pass to the `estimator` to do what is advised."""
        chosen: dict[str, Any] = {"C": self.C, "loss": self.loss, "tol": self.tol, "method": self.choice.method}
        if self.choice.method == "sketch":
            chosen |= {"projection": self.choice.projection, "n_components": self.choice.n_components}
        defaults = {"fit_intercept": True, "intercept": "free", "intercept_scaling": AUTO, "standardize": False}
        if self.task == "regression":
            if self.loss == "huber" and self.huber_delta != AUTO:
                chosen["delta"] = self.huber_delta
            defaults |= {"epsilon": 0.1, "quantile": 0.5, "standardize_target": False}
        # only those that differ from the default
        return chosen | {name: getattr(self, name) for name, usual in defaults.items() if getattr(self, name) != usual}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the curves, ready for JSON.

        Returns
        -------
        record : dict
            Numbers, texts, lists and dicts; what is infinite or not known is None.
        """
        record = asdict(self) | {"estimator": self.estimator, "parameters": self.parameters}
        del record["curves"]
        return dict(plain(record))

    def __str__(self) -> str:

        return plan_text(self)
