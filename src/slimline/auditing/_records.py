"""Records of an audit."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.plain import plain

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Frequency:
    """Frequency with which something held in independent draws."""

    #: Times, of how many.
    held: int
    draws: int
    #: Clopper and Pearson's interval of the chance that it holds, at 95 %.
    low: float
    high: float


@dataclass(frozen=True)
class Promise:
    """Guarantee of a theorem or prediction of a law for a measured number, and how often it held."""

    #: Name in `slimline.bounds`, or of a law.
    bound: str
    #: "theorem" or "law".
    kind: str
    #: What holds, in one sentence.
    statement: str
    #: Distortion that the theorem allows at this dimension (balcan2006: share of the points); None where none of
    #: its domain will do, and for a law.
    eps: float | None
    #: Failure probability that theorems are asked with.
    delta: float
    #: What the number is promised to lie between; None on a side that is not spoken of, both where nothing is
    #: promised.
    low: float | None
    high: float | None
    #: Chance that it does not lie there, by the exact law of a Gaussian R (a union over points or pairs: an upper
    #: bound).
    predicted: float | None
    #: How often it did; None where nothing is promised.
    frequency: Frequency | None
    #: What is to be known of it.
    note: str = ""
    #: Dimensions that a theorem which guarantees nothing, or no margin above 0, would take: for that margin, or for
    #: the distortion asked about.
    needed: int | None = None


@dataclass(frozen=True)
class Preservation:
    """One number of the data, before the projection and after each draw."""

    #: What it is called, and what it is.
    name: str
    about: str
    #: Value and proved bracket.
    before: float
    before_lower: float
    before_upper: float
    #: The same for each draw.
    after: tuple[float, ...]
    after_lower: tuple[float, ...]
    after_upper: tuple[float, ...]
    #: How often a margin stayed above 0; None for what is no margin.
    positive: Frequency | None
    #: How often the number stayed within 1 ± eps of what it was; None where it was 0. For the embedding error:
    #: how often it was at most eps, so that all squared lengths in the span stayed within 1 ± eps.
    within: Frequency | None
    #: Theorems and laws about it.
    promises: tuple[Promise, ...] = ()
    #: Whether a margin that was 0 before is proved to be 0; True where it was above 0, and for what is no margin.
    decided: bool = True
    #: Numbers of the draws, from 0 on, in which a margin above 0 was neither found nor ruled out: it counts as 0.
    undecided: tuple[int, ...] = ()

    @property
    def ratios(self) -> Floats:
        """Return after / before for each draw; NaN where it was 0 before."""
        return np.asarray(self.after) / self.before if self.before > 0.0 else np.full(len(self.after), np.nan)


@dataclass(frozen=True)
class PairsKept:
    """Changes of distances, angles or inner products."""

    #: What they are called, and what their distortion is.
    name: str
    about: str
    #: Pairs of points that were looked at.
    n_pairs: int
    #: Largest distortion of each draw.
    largest: tuple[float, ...]
    #: Share of pairs with a distortion of at most eps, for each draw.
    share_within: tuple[float, ...]
    #: That share by the exact law of a Gaussian R; for angles and inner products the mean over some thousands of
    #: the pairs at random.
    predicted: float | None
    #: How often it was all of them.
    all_within: Frequency
    #: Theorems about all pairs.
    promises: tuple[Promise, ...]
    #: Of the distortions of the first draw, at `quantile_levels`.
    quantiles: tuple[float, ...]
    #: From 0 to 1.
    quantile_levels: tuple[float, ...]
    #: Some pairs of the first draw, for pictures.
    sample_before: Floats = field(repr=False, compare=False)
    sample_after: Floats = field(repr=False, compare=False)


@dataclass(frozen=True)
class BracketCheck:
    """A statement that is certain once the embedding error of a draw is known, held against every draw."""

    #: Name in `slimline.bounds`, and what it is about.
    bound: str
    about: str
    #: Draws in which it held.
    held: int
    #: All draws.
    draws: int
    #: Draws with an embedding error below 1, where the lower end says something.
    ends_used: int
    #: How far from 1 the squared ratio is for sure, as a part of the embedding error: 1 is at an end of the
    #: bracket, above 1 beyond it.
    nearest: float


@dataclass(frozen=True)
class WrongSide:
    """Points on the wrong side of a plane that was chosen before the projection, and is projected with them."""

    #: Points on the wrong side before.
    before: int
    #: After each draw.
    after: tuple[int, ...]
    #: Number expected by the exact law.
    predicted: float


@dataclass(frozen=True)
class Audit:
    """Measurements of data before a projection and after each of its draws.

    Parameters
    ----------
    data : str
        Name of the data.
    n_samples, n_features, n_classes : int
        Sizes; 0 classes without labels.
    n_rows : int
        Number of rows that were measured.
    rank : int
        Dimension of their span; if rounding blurs it, the number of dimensions that are resolved.
    family : str
        Family of the projection, as `make_projection` calls it.
    n_components : int
        Number of components, r.
    repeats : int
        Number of draws.
    eps, delta, errors : float
        Distortion of the statements, failure probability of the theorems, share of the points that may fall short.
    margins : tuple of Preservation
        Margins, none without labels.
    ball : Preservation
        Radius of the smallest ball.
    embedding : Preservation
        Embedding error: 0 before.
    pairs : tuple of PairsKept
        Distances, angles, inner products.
    brackets : tuple of BracketCheck
        Statements of paul2013, draw by draw.
    wrong_side : WrongSide or None
        Points that change to the wrong side of a fixed plane.
    needed_dimension : int or None
        Dimensions that keep the margin of the fixed separator above 0 with probability 1 - delta, by the exact law.
    outcome : str
        "kept", "shrunk" or "lost".
    verdict : tuple of str
        The outcome in words.
    notes : tuple of str
        Remarks for the reader.
    cosines_before, cosines_after : arrays
        Margins of all points about the fixed separator, before and after the first draw, for pictures.
    projections : tuple of str
        The draws, one JSON line each.
    passes, seconds : int, float
        Passes over the data, and time.

    See Also
    --------
    slimline.audit : Makes an audit, with the mathematics.
    """

    data: str
    n_samples: int
    n_features: int
    n_classes: int
    n_rows: int
    rank: int
    family: str
    n_components: int
    repeats: int
    eps: float
    delta: float
    errors: float
    margins: tuple[Preservation, ...]
    ball: Preservation
    embedding: Preservation
    pairs: tuple[PairsKept, ...]
    brackets: tuple[BracketCheck, ...]
    wrong_side: WrongSide | None
    needed_dimension: int | None
    outcome: str
    verdict: tuple[str, ...]
    notes: tuple[str, ...]
    cosines_before: Floats = field(repr=False, compare=False)
    cosines_after: Floats = field(repr=False, compare=False)
    projections: tuple[str, ...] = field(repr=False)
    passes: int = 0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the samples for pictures, ready for JSON.

        Returns
        -------
        record : dict
            Numbers, texts, lists and dicts; what is infinite or not known is None.
        """
        record = asdict(self)
        for name in ("cosines_before", "cosines_after"):
            del record[name]
        for pairs in record["pairs"]:
            del pairs["sample_before"], pairs["sample_after"]
        return dict(plain(record))

    def __str__(self) -> str:
        from slimline.auditing._words import audit_text

        return audit_text(self)
