"""Findings of a replay: a claim of a document, and whether it held."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from slimline.errors import InvalidParameterError
from slimline_papers.chance import SURELY

#: Standard errors that two means may differ by.
STANDARD_ERRORS = 3.0
#: A difference is small beside a quantity if it is at most this share of it.
SMALL_SHARE = 0.1


@dataclass(frozen=True)
class Cell:
    """A printed number beside ours.

    Parameters
    ----------
    where : str
        Which one: "D1, CW, r = 256".
    printed : float
        As the document has it.
    spread : float
        Standard deviation that is printed with it; NaN where none is.
    ours : float
        As measured.
    our_spread : float
        Standard deviation as measured.
    error : float
        Standard error of the difference, if both numbers are means; NaN where it is not known.
    """

    where: str
    printed: float
    spread: float
    ours: float
    our_spread: float = math.nan
    error: float = math.nan

    @property
    def reach(self) -> float:
        """Largest difference that counts as agreement: the printed spread, or three standard errors if that is less."""
        return self.spread if math.isnan(self.error) else min(self.spread, STANDARD_ERRORS * self.error)

    @property
    def agrees(self) -> bool | None:
        """True if our number is within reach of the printed one; None if no spread is printed."""
        return None if math.isnan(self.spread) else abs(self.ours - self.printed) <= self.reach

    @property
    def noticed(self) -> float:
        """Difference of the true means that this comparison notices with a probability of 95 %; NaN if not known."""
        return self.reach + SURELY * self.error


@dataclass(frozen=True)
class Finding:
    """A claim of a document, what was measured, and whether the claim held.

    Parameters
    ----------
    claim : str
        What the document says, in a sentence of ours.
    printed : str
        The number or relation as printed.
    ours : str
        The same as measured.
    holds : bool or None
        Computed from what was measured; None where the two cannot be compared.
    reason : str
        Why it does not hold, or cannot be compared; empty where it holds.
    corrected : str
        What holds in its place, where the printed claim has been corrected.
    corrected_holds : bool or None
        Whether what was measured bears the correction out; None where nothing could be measured.
    cells : tuple of Cell
        Numbers one by one, where there are many.
    beyond : bool
        Whether the claim is one of ours that goes beyond the document; it is counted apart.
    """

    claim: str
    printed: str
    ours: str
    holds: bool | np.bool | None
    reason: str = ""
    corrected: str = ""
    corrected_holds: bool | np.bool | None = None
    cells: tuple[Cell, ...] = ()
    beyond: bool = False

    def __post_init__(self) -> None:
        # NumPy's truth values are not Python's: `is True` would miss them
        for name in ("holds", "corrected_holds"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else bool(value))
        if self.holds is not True and not self.reason:
            raise InvalidParameterError(f"“{self.claim}” does not hold or cannot be judged: say why.")
        if self.holds is True:
            object.__setattr__(self, "reason", "")
        if self.corrected_holds is not None and not self.corrected:
            raise InvalidParameterError(f"“{self.claim}”: there is no correction that could have been borne out.")

    @property
    def verdict(self) -> str:
        """Outcome of the claim, in words."""
        return "not comparable" if self.holds is None else "holds" if self.holds else "does not hold"

    @property
    def correction(self) -> str:
        """Outcome of the correction, in words; empty if there is none, or nothing to measure."""
        return "" if self.corrected_holds is None else "borne out" if self.corrected_holds else "not borne out"


def cells_finding(claim: str, cells: Sequence[Cell], reason: str, unit: str = "", comparable: bool = True) -> Finding:
    """Return a finding about a table of printed numbers: it holds if all of ours agree.

    They agree within the printed spread and, if standard errors are known, within three of them; then it is also told
    what disagreement would have been noticed. Numbers without a printed spread are shown, and not judged.

    Parameters
    ----------
    claim : str
        What the table shows.
    cells : sequence of Cell
        Its numbers.
    reason : str
        Why those that differ do, or why they cannot be compared.
    unit : str
        What the numbers are in.
    comparable : bool
        Whether ours come from the document's data; else nothing is judged, nor where no spread is printed.

    Returns
    -------
    finding : Finding
        With the cells.

    Examples
    --------
    >>> cells = [Cell("r = 256", 24.1, 4.5, 21.0), Cell("full", 15.1, 2.6, 44.0)]
    >>> cells_finding("errors of an SVM", cells, "other labels", unit=" %").ours
    '1 of 2 within the printed spread; furthest: full, 44 % for 15.1 %'
    >>> cells_finding("errors of an SVM", [Cell("r = 256", 24.1, 4.5, 21.0, 5.0, 2.0)], "", unit=" %").ours
    '1 of 1 within the printed spread, at most 1.6 standard errors off (95 % power at 7.79 %)'
    """
    if not cells:
        raise InvalidParameterError(f"“{claim}”: there are no numbers to compare.")
    judged = [cell for cell in cells if cell.agrees is not None]
    agree = sum(cell.agrees is True for cell in judged)
    worst = max(judged or cells, key=_distance)
    low, high = min(cell.printed for cell in cells), max(cell.printed for cell in cells)
    ours = f"{agree} of {len(judged)} within the printed spread" if judged else "no spread is printed"
    if comparable:
        ours += _power([cell for cell in judged if not math.isnan(cell.error)], unit)
    if not worst.agrees and worst.ours != worst.printed:
        ours += f"; furthest: {worst.where}, {worst.ours:.3g}{unit} for {worst.printed:.3g}{unit}"
    return Finding(
        claim=claim,
        printed=f"{low:.3g} to {high:.3g}{unit}",
        ours=ours,
        holds=agree == len(judged) if comparable and judged else None,
        reason=reason,
        cells=tuple(cells),
    )


def _power(cells: Sequence[Cell], unit: str) -> str:
    """Return how far off means are, and which disagreement would have been noticed with a probability of 95 %."""
    if not cells:
        return ""
    off = max(abs(cell.ours - cell.printed) / cell.error for cell in cells)
    low, high = (f"{of(cell.noticed for cell in cells):.3g}" for of in (min, max))
    span = low if low == high else f"{low} to {high}"
    return f", at most {off:.1f} standard errors off (95 % power at {span}{unit})"


def either_way(
    claim: str, printed: str, ways: Mapping[str, tuple[bool | np.bool, str]], left_open: str, reason: str
) -> Finding:
    """Return a finding about a claim whose setting the document leaves open: it is judged if all settings agree.

    Parameters
    ----------
    claim, printed : str
        As of a `Finding`.
    ways : mapping of str to (bool, str)
        By setting, whether the claim holds there and what was measured.
    left_open : str
        What the document does not say, as a sentence without its full stop.
    reason : str
        Why the claim does not hold, where it does not.

    Returns
    -------
    finding : Finding
        Not comparable if the settings disagree.

    Examples
    --------
    >>> ways = {"raw": (False, "3, 9, 27"), "scaled": (True, "3, 2, 1")}
    >>> finding = either_way("It falls.", "falls", ways, "How data are scaled is not said", "raw data are long")
    >>> finding.verdict, finding.ours
    ('not comparable', 'raw (does not hold): 3, 9, 27; scaled (holds): 3, 2, 1')
    """
    verdicts = [bool(holds) for holds, _ in ways.values()]
    alike = len(set(verdicts)) == 1
    return Finding(
        claim=claim,
        printed=printed,
        ours="; ".join(
            f"{way} ({'holds' if holds else 'does not hold'}): {ours}" for way, (holds, ours) in ways.items()
        ),
        holds=verdicts[0] if alike else None,
        reason=reason if alike else f"{left_open}, and the answer depends on it. {reason}",
    )


def times_finding(claim: str, printed: str, ours: str, *, here: bool | np.bool, why: str) -> Finding:
    """Return a finding about an order of running times: it is shown, and not judged, as the times are not.

    Parameters
    ----------
    claim, printed, ours : str
        As of a `Finding`.
    here : bool
        Whether the order is the same on this machine.
    why : str
        Why it is not, where it is not.

    Returns
    -------
    finding : Finding
        Not comparable.

    Examples
    --------
    >>> finding = times_finding("A is faster.", "A", "1 s and 2 s", here=True, why="")
    >>> finding.verdict, finding.ours
    ('not comparable', 'so it is here: 1 s and 2 s')
    """
    return Finding(
        claim=claim,
        printed=printed,
        ours=f"{'so it is here' if here else 'not so here'}: {ours}",
        holds=None,
        reason="times of other programs on a machine of another decade" + ("" if here else f"; here {why}"),
    )


def alike_finding(
    claim: str, printed: str, ours: str, *, alike: bool | np.bool, noticed: float, share: float, unit: str, reason: str
) -> Finding:
    """Return a finding about things that are said to be nearly the same: it holds if a difference would be noticed.

    Parameters
    ----------
    claim, printed, ours : str
        As of a `Finding`.
    alike : bool
        Whether the differences are within what chance can do.
    noticed : float
        Difference that is noticed with a probability of 95 %.
    share : float
        Largest share of what is compared that such a difference is.
    unit : str
        What the difference is in.
    reason : str
        Why they differ, where they do.

    Returns
    -------
    finding : Finding
        Not comparable if no difference was seen, and the one that would have been noticed is more than a tenth of what
        is compared.

    Examples
    --------
    >>> said = {"alike": True, "noticed": 1.5, "unit": " %", "reason": "one is better"}
    >>> finding = alike_finding("A and B are alike.", "alike", "0.2 % apart", share=0.3, **said)
    >>> finding.verdict, finding.ours
    ('not comparable', '0.2 % apart (95 % power at a gap of 1.5 %, up to 0.3 times the value itself)')
    >>> alike_finding("A and B are alike.", "alike", "0.2 % apart", share=0.05, **said).verdict
    'holds'
    """
    powerful = share <= SMALL_SHARE
    return Finding(
        claim=claim,
        printed=printed,
        ours=f"{ours} (95 % power at a gap of {noticed:.2g}{unit}, up to {share:.2g} times the value itself)",
        holds=False if not alike else True if powerful else None,
        reason=reason
        if not alike
        else f"no difference is seen, but one below {noticed:.2g}{unit} could pass unnoticed, and that is not small "
        "beside the value itself",
    )


def _distance(cell: Cell) -> float:
    """Return how many spreads a number is off, or by which ratio (its logarithm) where no spread is printed.

    What is no number is furthest off, and so is what differs where the printed spread is 0.
    """
    if math.isnan(cell.ours):
        return math.inf
    if cell.agrees is None:
        ratio = cell.ours / cell.printed if cell.printed else math.nan
        return abs(math.log(ratio)) if ratio > 0 else math.inf
    if cell.spread > 0:
        return abs(cell.ours - cell.printed) / cell.spread
    return 0.0 if cell.agrees else math.inf
