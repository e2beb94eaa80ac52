"""Records of the demonstration."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
LAYOUT = 1
#: A squared distance that changes by more than this counts as "beyond".
BEYOND = 0.10
#: How many variants the lists of top variants hold.
TOP = 20


@dataclass(frozen=True)
class DemoSettings:
    """Sizes of the demonstration.

    Parameters
    ----------
    people, variants, populations : int
        What is simulated.
    fst : float
        How far the populations drifted apart.
    components : int
        Columns of the sketch.
    seed : int
        For people and projections.
    peer : bool
        Whether to run scikit-learn's Gaussian projection, too.
    """

    people: int = 1000
    variants: int = 100_000
    populations: int = 5
    fst: float = 0.01
    components: int = 1024
    seed: int = 0
    peer: bool = False


@dataclass(frozen=True)
class Distortion:
    """Changes of squared distances between people.

    Parameters
    ----------
    typical : float
        Root mean square of the relative change.
    worst : float
        The largest over all pairs; for the law, where one pair is expected beyond it.
    beyond : float
        Part of the pairs that change by more than 10 %.
    """

    typical: float
    worst: float
    beyond: float


@dataclass(frozen=True)
class FamilyResult:
    """A family's sketch of all people.

    Parameters
    ----------
    family, title : str
        Name for `make_projection` (empty for a peer), and in words.
    seconds : float
        Fit and transform.
    extra_bytes : int, optional
        Peak memory above the data and the sketch.
    stored_bytes : int
        Size of R had it been stored, in float32 (and 32-bit column numbers if sparse).
    distortion : Distortion
        Of the distances between all people.
    accuracy : float
        Of a linear classifier that was trained on the sketch, on people that it has not seen.
    """

    family: str
    title: str
    seconds: float
    extra_bytes: int | None
    stored_bytes: int
    distortion: Distortion
    accuracy: float


@dataclass(frozen=True)
class WeightsResult:
    """Weights on the variants, beside those of training on everything.

    Parameters
    ----------
    title : str
        Where they come from.
    cosine : float
        Mean cosine to the exact weights over the classes.
    found : int
        How many of the exact top 20 are among their top 20.
    accuracy : float
        On people not seen in training, from the original variants.
    seconds : float
        Time to get them from the data (projecting and training included).
    """

    title: str
    cosine: float
    found: int
    accuracy: float
    seconds: float


@dataclass(frozen=True)
class TopVariant:
    """A variant that separates the populations.

    Parameters
    ----------
    variant : int
        Its column.
    weight : float
        Largest weight over the classes.
    exact_rank : int
        Place in the ranking of training on everything, from 1.
    lowest, highest : float
        Its true frequency in the populations where it is rarest and most common.
    """

    variant: int
    weight: float
    exact_rank: int
    lowest: float
    highest: float


@dataclass(frozen=True)
class DemoResult:
    """Everything that the demonstration shows.

    Parameters
    ----------
    settings : DemoSettings
        What was simulated.
    input_bytes : int
        Size of the genotypes.
    pairs : int
        Pairs of people.
    law : Distortion
        What the exact law of the norm says of a Gaussian R.
    families : tuple of FamilyResult
        Ours.
    chosen : str
        Title of the family that the weights stand on.
    peer : FamilyResult, optional
        scikit-learn's Gaussian projection; None where memory is short or nobody asked for it.
    full : WeightsResult
        Training on everything.
    full_extra_bytes : int, optional
        Peak memory of that.
    lifted, looked_back : WeightsResult
        Weights from the sketch alone, and after one more look at the data.
    same_predictions, tested : int
        People for whom lifted weights on the variants predict what the sketch predicts, and people asked.
    top : tuple of TopVariant
        Of the weights after looking back.
    seconds : float
        Of the whole demonstration.
    """

    settings: DemoSettings
    input_bytes: int
    pairs: int
    law: Distortion
    families: tuple[FamilyResult, ...]
    chosen: str
    peer: FamilyResult | None
    full: WeightsResult
    full_extra_bytes: int | None
    lifted: WeightsResult
    looked_back: WeightsResult
    same_predictions: int
    tested: int
    top: tuple[TopVariant, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"layout": LAYOUT, "demo": asdict(self)}
