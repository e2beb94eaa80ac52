"""What a plan says: records without behaviour, that reports and commands show."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from slimline.plain_values import plain
from slimline.recovery.training_data import AUTO


@dataclass(frozen=True)
class Guarantee:
    """What one theorem asks for, with these data.

    Parameters
    ----------
    name : str
        Of the bound, such as "shi2012.6".
    about : str
        What is kept, and for what.
    dimension : int or None
        Dimensions that it asks for; None where it does not speak of this eps.
    below_features : bool
        Whether that is fewer than there are features: else it promises nothing that not projecting does not.
    printed : int or None
        Dimensions that the document prints, where that differs or does not hold.
    exact : int or None
        Dimensions that the exact law of a Gaussian projection asks for, for the same claim.
    kind : str
        "theorem"; "limit": for large sizes only; "order": up to a constant.
    note : str
        Why something is missing, or what was assumed.
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
    """Dimensions that one statement asks for, against eps; for a picture.

    Parameters
    ----------
    name : str
        Of the bound, or "exact law: …".
    kind : str
        "theorem", "limit", "order", "printed" (a statement that does not hold) or "exact".
    eps : tuple of float
        Where the statement speaks.
    dimension : tuple of float
        What it asks for.
    """

    name: str
    kind: str
    eps: tuple[float, ...]
    dimension: tuple[float, ...]


@dataclass(frozen=True)
class Cost:
    """What one way to the certified weights is expected to cost.

    Parameters
    ----------
    method : str
        "sketch", "gram" or "direct".
    projection : str
        Name of the family, for a sketch; else empty.
    n_components : int
        Columns of the sketch; else 0.
    steps : int
        Steps to the certified error asked for.
    passes : int
        Passes over the data.
    seconds : float
        Time; infinity where it cannot be done.
    nbytes : float
        Memory beside the data.
    note : str
        Why it cannot be done, or how sure this is.
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
    """How many dimensions, for which guarantee, at what cost; and what we would do.

    Parameters
    ----------
    n_samples, n_features, n_classes : int
        Sizes.
    density : float or None
        Share of values that are stored; None: dense.
    source : str
        What it was made from: "sizes", or the data and how much of them was looked at.
    C, loss, tol : float, str, float
        As for the classifier.
    eps, delta : float
        Distortion and failure probability of the guarantees.
    guarantees : tuple of Guarantee
        All that can be asked with what is known.
    margin : float or None
        Normalised margin of the data, or as given; not positive where no separator was found.
    margin_dimension : int or None
        Dimensions that keep a positive margin, by the exact laws of the cosines of these data,
    most_dimension : int or None
        and those that keep it for all rows but one in a hundred.
    margin_note : str
        What that stands on.
    effective_dimension : float
        d_λ, λ = 1/C.
    errors : dict of int to float
        Certified relative error expected after 1, 2 and 4 steps with the recommended sketch.
    costs : tuple of Cost
        Every projection and route.
    choice : Cost
        The one that we would take.
    advice : str
        In words.
    curves : tuple of Curve
        For the picture.
    passes, seconds : int, float
        What making the plan took.
    fit_intercept, intercept_scaling, standardize : bool, float or "auto", bool
        As for the classifier.
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
    intercept_scaling: float | str = AUTO
    standardize: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """Return what to pass to `CertifiedClassifier` to do what is advised."""
        chosen: dict[str, Any] = {"C": self.C, "loss": self.loss, "tol": self.tol, "method": self.choice.method}
        if self.choice.method == "sketch":
            chosen |= {"projection": self.choice.projection, "n_components": self.choice.n_components}
        told = {"fit_intercept": True, "intercept_scaling": AUTO, "standardize": False}  # what they are unless told
        return chosen | {name: getattr(self, name) for name, usual in told.items() if getattr(self, name) != usual}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the curves, ready for JSON.

        Returns
        -------
        record : dict
            Numbers, texts, lists and dicts; what is infinite or not known is None.
        """
        record = asdict(self) | {"parameters": self.parameters}
        del record["curves"]
        return dict(plain(record))

    def __str__(self) -> str:
        from slimline.planning.text import plan_text

        return plan_text(self)
