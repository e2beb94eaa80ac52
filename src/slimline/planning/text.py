"""A plan as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from slimline.planning.advice import duration, size
from slimline.planning.records import Plan


def plan_text(plan: Plan) -> str:
    """Return a plan as text of at most 100 columns.

    Parameters
    ----------
    plan : Plan
        What to show.

    Returns
    -------
    text : str
        Several lines.
    """
    dense = "dense" if plan.density is None else f"{plan.density:.2g} of the values stored"
    errors = ", ".join(f"{error:.1g} after {steps}" for steps, error in plan.errors.items())
    margin = "not known" if plan.margin is None else f"{plan.margin:.3g}"
    if plan.margin_dimension is not None and plan.most_dimension is not None:
        margin += (
            f"; Gaussian dimensions that keep it positive (exact law): {_kept(plan, plan.margin_dimension)}, "
            f"for 99 % of the rows {_kept(plan, plan.most_dimension)}"
        )
    lines = [
        f"{plan.n_samples:,} samples × {plan.n_features:,} features, {plan.n_classes} classes, {dense}",
        f"loss {plan.loss}, C = {plan.C:g}, tol = {plan.tol:g}; made from {plan.source}",
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
