"""The record of a fit that page, terminal and JSON are made from."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from slimline._base.plain import plain
from slimline.report._held_out_records import HeldOut, HeldOutTarget

if TYPE_CHECKING:
    from slimline.auditing import Audit
    from slimline.data import Matrix
    from slimline.planning import Plan

#: Name of the phase in which the model was fitted.
FIT = "fit"


@dataclass(frozen=True)
class TargetFacts:
    """A target of a regression, over the training rows."""

    #: What it is called; empty: it has no name.
    name: str
    mean: float
    deviation: float
    #: Least, quartiles and largest.
    quantiles: tuple[float, ...]


@dataclass(frozen=True)
class DataFacts:
    """Training data."""

    #: Name of the data.
    name: str
    #: Rows that were trained on, and columns.
    n_rows: int
    n_features: int
    #: Labels, and rows of each among them; empty for a regression.
    classes: tuple[tuple[str, int], ...]
    #: Rows without a label or covariates, which were left out.
    left_out: int
    #: Where the labels come from and how rows were matched, in words; empty where nobody said.
    labels: str
    #: Whether columns were centred and scaled.
    standardised: bool
    #: Digest of the data.
    fingerprint: str
    #: Size of the data as they are stored; None where that is not known.
    nbytes: int | None
    #: Targets of a regression; empty for classes.
    targets: tuple[TargetFacts, ...] = ()


@dataclass(frozen=True)
class Neighbour:
    """A column that is nearly the same as another."""

    #: What it is called.
    name: str
    #: Pearson's, over the training rows.
    correlation: float


@dataclass(frozen=True)
class Feature:
    """A column with a large weight."""

    #: Number of the column, from 0.
    index: int
    #: What it is called.
    name: str
    #: The class that a weight above 0 speaks for; of a regression, the target, if it has a name.
    label: str
    #: Its weight (of the standardised column, where columns are), and what the exact one lies between.
    weight: float
    lower: float
    upper: float
    #: By absolute weight, its place in the exact model is proved to lie between them; it is proved to be among
    #: the first k where `worst_rank` is at most k.
    best_rank: int
    worst_rank: int
    #: Of a genetic variant.
    chromosome: str | None = None
    #: Of a genetic variant, in base pairs.
    position: int | None = None
    allele1: str | None = None
    allele2: str | None = None
    #: How many other columns are nearly the same (None: it was not looked for any),
    n_neighbours: int | None = None
    #: and the nearest of them.
    neighbours: tuple[Neighbour, ...] = ()


@dataclass(frozen=True)
class Search:
    """Search for the penalty."""

    #: Values of C that were tried, rising.
    penalties: tuple[float, ...]
    #: Mean score of each over the folds,
    scores: tuple[float, ...]
    #: and its standard deviation over them.
    deviations: tuple[float, ...]
    #: How many.
    folds: int
    #: What was compared.
    scoring: str
    #: Whether each sample was left out in turn, its prediction being scored with those of all others.
    leave_one_out: bool = False


@dataclass(frozen=True)
class StepFacts:
    """Certified error after a step."""

    #: Passes over the data so far.
    passes: int
    #: Time so far.
    seconds: float
    #: Certified, of the worst class; infinite where nothing is proved yet.
    relative_error: float


@dataclass(frozen=True)
class ModelFacts:
    """The fitted model and its certified error."""

    #: Its name.
    loss: str
    #: Penalty, and the certified relative error that was asked for.
    C: float
    tol: float
    #: Route that was taken, and why.
    method: str
    reason: str
    #: The projection in words; empty where none was used.
    projection: str
    #: Columns of the sketch; 0 where none was used.
    n_components: int
    #: Certified, of each class (one for two classes),
    relative_error: tuple[float, ...]
    #: and the distance from the exact weights that it stands for.
    radius: tuple[float, ...]
    #: Whether there is one.
    intercept: bool
    #: In words; empty for none.
    class_weight: str
    #: Whether the intercept has no penalty.
    free_intercept: bool = False
    #: Parameters of the loss in words, such as δ of each target; empty for none.
    loss_parameters: str = ""


@dataclass(frozen=True)
class EffectFacts:
    """Effect of the intercept or of a covariate, which has no penalty."""

    #: What it is called: "intercept", or the name of the covariate.
    name: str
    #: The effect, and what the exact one lies between; NaN: left out, since it depends on others.
    effect: float
    lower: float
    upper: float
    #: The class that an effect above 0 speaks for, or the target; empty: it has no name.
    label: str
    #: Whether it is that of a covariate; else of the intercept.
    of_covariate: bool
    #: Standard deviation of the covariate over the training rows; None for the intercept, and where it is not known.
    deviation: float | None = None

    @property
    def known(self) -> bool:
        """Return whether it was not left out."""
        return not math.isnan(self.effect)


@dataclass(frozen=True)
class PrevalenceFacts:
    """Share of the cases in the population, where it is not that of the training rows."""

    #: Share of the second class in the population, and in the training rows.
    prevalence: float
    training_share: float
    #: What is added to log-odds, so that they are those of the population.
    shift: float


@dataclass(frozen=True)
class Phase:
    """Time and passes of one part of the work."""

    #: What was done.
    name: str
    #: Passes over the data.
    passes: int
    #: Time.
    seconds: float


class Phases:
    """Phases of a job: the time and the passes of each, as they are done."""

    def __init__(self, announce: Callable[[str], None] | None = None, done: Sequence[Phase] = ()) -> None:
        self._announce = announce
        self.done = list(done)
        #: Data whose passes are counted, once they are open.
        self.matrices: list[Matrix] = []

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Announce a phase, and measure it."""
        from slimline.data._passes import give_back

        if self._announce is not None:
            self._announce(name)
        start, before = time.perf_counter(), self._passes()
        yield
        give_back()  # vectors as long as the data are wide, which the next phase might not find room in
        self.done.append(Phase(name, self._passes() - before, time.perf_counter() - start))

    def _passes(self) -> int:
        return sum(matrix.passes for matrix in self.matrices)


@dataclass(frozen=True)
class CostFacts:
    """Time, passes and memory of the whole job."""

    #: In their order.
    phases: tuple[Phase, ...]
    #: Most memory that it took above what the process had before, mapped files not counted; None where the system
    #: does not tell.
    peak_bytes: int | None
    #: Threads.
    threads: int
    #: Whether it went on from where an earlier run was stopped, so that times are those of the rest.
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
    """Everything that reproduces the result."""

    #: Command line; empty where it was not one.
    command: str
    #: The same in Python; empty where nobody knows.
    python: str
    #: Of projection and held-out rows.
    seed: int | None
    #: Programs and their versions.
    versions: tuple[tuple[str, str], ...]
    #: When, as ISO 8601 has it.
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
        None where no rows were held out, and for a regression.
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
    effects : tuple of EffectFacts
        Intercept and covariates without a penalty: all effects of the first class or target, then of the next.
    held_out_targets : tuple of HeldOutTarget
        Predictions of a regression, one for each target; empty where no rows were held out.
    prevalence : PrevalenceFacts or None
        Share of the cases in the population; None where nobody said.
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
    effects: tuple[EffectFacts, ...] = ()
    held_out_targets: tuple[HeldOutTarget, ...] = ()
    prevalence: PrevalenceFacts | None = None

    @property
    def relative_error(self) -> float:
        """Return the certified relative error of the worst class."""
        return max(self.model.relative_error)

    @property
    def covariate_effects(self) -> tuple[EffectFacts, ...]:
        """Return the effects of covariates, without intercepts."""
        return tuple(effect for effect in self.effects if effect.of_covariate)

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
        from slimline.report._page import notebook_frame

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
