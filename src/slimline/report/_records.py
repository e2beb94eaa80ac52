"""The record of a fit that page, terminal and JSON are made from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from slimline._base.plain import plain
from slimline.auditing import Audit
from slimline.planning import Plan

#: Name of the phase in which the model was fitted.
FIT = "fit"


@dataclass(frozen=True)
class DataFacts:
    """What was trained on.

    Parameters
    ----------
    name : str
        Name of the data.
    n_rows, n_features : int
        Rows that were trained on, and columns.
    classes : tuple of (str, int)
        Labels, and rows of each among them.
    left_out : int
        Rows without a label, which were left out.
    labels : str
        Where the labels come from and how rows were matched, in words; empty where nobody said.
    standardised : bool
        Whether columns were centred and scaled.
    fingerprint : str
        Digest of the data.
    nbytes : int or None
        Size of the data as they are stored; None where that is not known.
    """

    name: str
    n_rows: int
    n_features: int
    classes: tuple[tuple[str, int], ...]
    left_out: int
    labels: str
    standardised: bool
    fingerprint: str
    nbytes: int | None


@dataclass(frozen=True)
class Curve:
    """How well a class is told from the others on rows that were held out.

    Parameters
    ----------
    label : str
        The class.
    share : float
        Its share of these rows.
    false_positive, true_positive : tuple of float
        ROC curve, from (0, 0) to (1, 1); thinned out where it has many points.
    area : float
        Under it.
    recall, precision : tuple of float
        Precision-recall curve, recall falling from 1 to 0.
    average_precision : float
        Its mean precision.
    """

    label: str
    share: float
    false_positive: tuple[float, ...]
    true_positive: tuple[float, ...]
    area: float
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    average_precision: float


@dataclass(frozen=True)
class HeldOut:
    """How the model does on rows that it did not see.

    Parameters
    ----------
    source : str
        Which rows these are, in words.
    n_rows : int
        How many.
    trained_rows : int
        Rows that the model was trained on which was tried on these. Where the final model was trained on these, too,
        it has more.
    accuracy, low, high : float
        Share of right labels, and Clopper and Pearson's 95 % interval.
    balanced_accuracy : float
        Mean over the classes.
    majority_label : str
        The commonest class of training,
    majority_rate : float
        and the share of these rows that always naming it would get right.
    scoring : str
        The score that is compared with that of naming one class: "accuracy" or "balanced_accuracy".
    worse_than_majority : bool
        Whether this score is not above that of always naming the commonest class.
    proved : float
        Share of these rows whose label is proved equal to the exact model's.
    confusion : tuple of tuple of int
        Rows by class (outer) and by label given (inner), in the order of the classes.
    curves : tuple of Curve
        One for two classes (of the second), else one a class that is there.
    """

    source: str
    n_rows: int
    trained_rows: int
    accuracy: float
    low: float
    high: float
    balanced_accuracy: float
    majority_label: str
    majority_rate: float
    scoring: str
    worse_than_majority: bool
    proved: float
    confusion: tuple[tuple[int, ...], ...]
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Neighbour:
    """A column that is nearly the same as another.

    Parameters
    ----------
    name : str
        What it is called.
    correlation : float
        Pearson's, over the training rows.
    """

    name: str
    correlation: float


@dataclass(frozen=True)
class Feature:
    """A column with a large weight.

    Parameters
    ----------
    index : int
        Number of the column, from 0.
    name : str
        What it is called.
    label : str
        The class that a weight above 0 speaks for.
    weight, lower, upper : float
        Its weight (of the standardised column, where columns are), and what the exact one lies between.
    best_rank, worst_rank : int
        By absolute weight, its place in the exact model is proved to lie between them; it is proved to be among the
        first k where `worst_rank` is at most k.
    chromosome, allele1, allele2 : str or None
        Of a genetic variant.
    position : int or None
        Of a genetic variant, in base pairs.
    n_neighbours : int or None
        How many other columns are nearly the same (None: it was not looked for any),
    neighbours : tuple of Neighbour
        and the nearest of them.
    """

    index: int
    name: str
    label: str
    weight: float
    lower: float
    upper: float
    best_rank: int
    worst_rank: int
    chromosome: str | None = None
    position: int | None = None
    allele1: str | None = None
    allele2: str | None = None
    n_neighbours: int | None = None
    neighbours: tuple[Neighbour, ...] = ()


@dataclass(frozen=True)
class Search:
    """How the penalty was chosen.

    Parameters
    ----------
    penalties : tuple of float
        Values of C that were tried, rising.
    scores : tuple of float
        Mean score of each over the folds,
    deviations : tuple of float
        and its standard deviation over them.
    folds : int
        How many.
    scoring : str
        What was compared.
    """

    penalties: tuple[float, ...]
    scores: tuple[float, ...]
    deviations: tuple[float, ...]
    folds: int
    scoring: str


@dataclass(frozen=True)
class StepFacts:
    """What was reached after a step.

    Parameters
    ----------
    passes : int
        Passes over the data so far.
    seconds : float
        Time so far.
    relative_error : float
        Certified, of the worst class; infinite where nothing is proved yet.
    """

    passes: int
    seconds: float
    relative_error: float


@dataclass(frozen=True)
class ModelFacts:
    """What was fitted, and what is proved of it.

    Parameters
    ----------
    loss : str
        Its name.
    C, tol : float
        Penalty, and the certified relative error that was asked for.
    method, reason : str
        Route that was taken, and why.
    projection : str
        The projection in words; empty where none was used.
    n_components : int
        Columns of the sketch; 0 where none was used.
    relative_error : tuple of float
        Certified, of each class (one for two classes),
    radius : tuple of float
        and the distance from the exact weights that it stands for.
    intercept : bool
        Whether there is one.
    class_weight : str
        In words; empty for none.
    """

    loss: str
    C: float
    tol: float
    method: str
    reason: str
    projection: str
    n_components: int
    relative_error: tuple[float, ...]
    radius: tuple[float, ...]
    intercept: bool
    class_weight: str


@dataclass(frozen=True)
class Phase:
    """What one part of the work took.

    Parameters
    ----------
    name : str
        What was done.
    passes : int
        Passes over the data.
    seconds : float
        Time.
    """

    name: str
    passes: int
    seconds: float


@dataclass(frozen=True)
class CostFacts:
    """What all of it took.

    Parameters
    ----------
    phases : tuple of Phase
        In their order.
    peak_bytes : int or None
        Most memory that it took above what the process had before, mapped files not counted; None where the system
        does not tell.
    threads : int
        Threads.
    resumed : bool
        Whether it went on from where an earlier run was stopped, so that times are those of the rest.
    """

    phases: tuple[Phase, ...]
    peak_bytes: int | None
    threads: int
    resumed: bool = False

    @property
    def fit(self) -> Phase | None:
        """Return the phase of the fit itself, where it is told apart."""
        return next((phase for phase in self.phases if phase.name == FIT), None)

    @property
    def seconds(self) -> float:
        """Return the time of all phases."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def passes(self) -> int:
        """Return the passes of all phases."""
        return sum(phase.passes for phase in self.phases)


@dataclass(frozen=True)
class Reproduction:
    """How to get the same again.

    Parameters
    ----------
    command : str
        Command line; empty where it was not one.
    python : str
        The same in Python; empty where nobody knows.
    seed : int or None
        Of projection and held-out rows.
    versions : tuple of (str, str)
        Programs and their versions.
    made : str
        When, as ISO 8601 has it.
    """

    command: str
    python: str
    seed: int | None
    versions: tuple[tuple[str, str], ...]
    made: str


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
        from slimline.report.page._page import notebook_frame

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
