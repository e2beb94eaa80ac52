"""What we would do, in words."""

from __future__ import annotations

from slimline.planning.records import Cost, Plan


def advise(plan: Plan) -> str:
    """Return the recommendation.

    Parameters
    ----------
    plan : Plan
        Everything but the advice.

    Returns
    -------
    advice : str
        A few sentences.
    """
    parts = [_what(plan, plan.choice), _why(plan), _theory(plan)]
    return " ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """Return seconds as people say them."""
    if seconds < 1.0:
        return f"{1e3 * seconds:.0f} ms" if seconds >= 1e-3 else "less than 1 ms"
    if seconds < 120.0:
        return f"{seconds:.1f} s" if seconds < 10.0 else f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} minutes" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} hours"


def size(nbytes: float) -> str:
    """Return bytes as people say them."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if nbytes >= step:
            return f"{nbytes / step:.3g} {unit}"
    return f"{nbytes:.0f} bytes"


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
