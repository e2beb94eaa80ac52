"""All that there is to tell of a fit: what the page and the commands show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from slimline.auditing import Audit
from slimline.plain_values import plain
from slimline.planning import Plan
from slimline.report.fit_facts import (
    CostFacts,
    DataFacts,
    Feature,
    HeldOut,
    ModelFacts,
    Reproduction,
    Search,
    StepFacts,
)

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
LAYOUT = 1


@dataclass(frozen=True)
class FitReport:
    """All that there is to tell of a fit.

    Parameters
    ----------
    title : str
        Heading of the page.
    data : DataFacts
        What was trained on.
    model : ModelFacts
        What was fitted.
    history : tuple of StepFacts
        How the certified error fell.
    features : tuple of Feature
        The largest weights first.
    held_out : HeldOut or None
        None where no rows were held out.
    search : Search or None
        None where C was given.
    audit : Audit or None
        Margins and distances before and after the projection; None where that was not measured.
    plan : Plan or None
        What theorems and cost model said before; None where nobody asked.
    cost : CostFacts
        Time, passes and memory.
    reproduction : Reproduction
        How to get the same again.
    notes : tuple of str
        What else is to be known, such as warnings of the fit.
    """

    title: str
    data: DataFacts
    model: ModelFacts
    history: tuple[StepFacts, ...]
    features: tuple[Feature, ...]
    held_out: HeldOut | None
    search: Search | None
    audit: Audit | None
    plan: Plan | None
    cost: CostFacts
    reproduction: Reproduction
    notes: tuple[str, ...] = ()

    @property
    def relative_error(self) -> float:
        """Return the certified relative error of the worst class."""
        return max(self.model.relative_error)

    def proved_among(self, k: int) -> tuple[Feature, ...]:
        """Return the features that are proved to be among the k largest of the exact model.

        Parameters
        ----------
        k : int
            How many.

        Returns
        -------
        features : tuple of Feature
            The largest weights first.
        """
        return tuple(feature for feature in self.features if feature.worst_rank <= k)

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, for notebooks."""
        from slimline.report.page import notebook_frame

        return notebook_frame(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON.

        Returns
        -------
        record : dict
            Numbers, texts, lists and dicts; what is infinite or not known is None.
        """
        own = {name: value for name, value in self.__dict__.items() if name not in ("audit", "plan")}
        record = {name: _plain(value) for name, value in own.items()}
        record["audit"] = None if self.audit is None else self.audit.to_dict()
        record["plan"] = None if self.plan is None else self.plan.to_dict()
        return {"layout": LAYOUT, **record}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return plain(asdict(value) if hasattr(value, "__dataclass_fields__") else value)
