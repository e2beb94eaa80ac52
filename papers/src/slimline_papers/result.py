"""Results of a replay of an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from slimline_papers.finding import Finding
from slimline_papers.item import Item
from slimline_papers.study import Size
from slimline_papers.table import Table


@dataclass(frozen=True)
class Measured:
    """Table of an experiment, and the settings of the measurement.

    Parameters
    ----------
    table : Table
        What was measured.
    size : {"miniature", "default", "full"}
        How much was measured.
    seed : int
        What all randomness followed from.
    seconds : float
        Time that it took, over all runs that it was spread over.
    machine : str
        What it was measured on.
    sources : tuple of str
        Data sets that it was measured on.
    """

    table: Table
    size: Size
    seed: int
    seconds: float
    machine: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """An item, and what came out.

    Parameters
    ----------
    item : Item
        Which.
    measured : Measured or None
        What its experiment gave; None where it could not be run.
    findings : tuple of Finding
        Its claims.
    missing : str
        Why it could not be run; empty where it was.
    """

    item: Item
    measured: Measured | None
    findings: tuple[Finding, ...] = ()
    missing: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Data sets that it was measured on, or would be."""
        return self.item.experiment.sources if self.measured is None else self.measured.sources


@dataclass(frozen=True)
class Count:
    """Number of claims that held.

    Parameters
    ----------
    hold, fail, open : int
        Claims of documents that hold, that do not, and that cannot be compared.
    borne_out, corrections : int
        Corrections that were borne out, of how many that could be.
    own_hold, own : int
        Claims of ours, beyond the documents, that hold, of how many that could be judged.
    """

    hold: int = 0
    fail: int = 0
    open: int = 0
    borne_out: int = 0
    corrections: int = 0
    own_hold: int = 0
    own: int = 0


def count(findings: Iterable[Finding]) -> Count:
    """Count the claims that hold.

    Parameters
    ----------
    findings : iterable of Finding
        Claims.

    Returns
    -------
    count : Count
        Of these.
    """
    findings = list(findings)
    said = Counter(finding.verdict for finding in findings if not finding.beyond)
    own = Counter(finding.verdict for finding in findings if finding.beyond)
    corrections = Counter(finding.correction for finding in findings if finding.correction)
    return Count(
        said["holds"], said["does not hold"], said["not comparable"],
        corrections["borne out"], corrections.total(),
        own["holds"], own["holds"] + own["does not hold"],
    )  # fmt: skip
