"""What there is to say of a column with a large weight."""

from __future__ import annotations

from slimline.report.fit_facts import Feature
from slimline.report.fit_record import FitReport
from slimline.report.page.html import Html, element, joined, named
from slimline.report.page.words import NARROW, counted


def default_top(report: FitReport) -> int:
    """Return how many of the largest weights the page speaks of unless it is asked about others.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    k : int
        20, or as many as there are.
    """
    return min(20, len(report.features))


def is_genetic(report: FitReport) -> bool:
    """Return whether columns are variants with a place in the genome.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    genetic : bool
        True where at least one is.
    """
    return any(feature.chromosome is not None or feature.position is not None for feature in report.features)


def variant(feature: Feature) -> str:
    """Return where a variant lies and what its alleles are.

    Parameters
    ----------
    feature : Feature
        Any column.

    Returns
    -------
    text : str
        Such as "chr 2 : 136,608,646 · A/G"; empty for what is no variant.
    """
    place = []
    if feature.chromosome is not None:
        place.append(f"chr{NARROW}{feature.chromosome}")
    if feature.position is not None:
        place.append(f"{feature.position:,}")
    said = [" : ".join(place)] if place else []
    if feature.allele1 is not None or feature.allele2 is not None:
        said.append(f"{feature.allele1 or '?'}/{feature.allele2 or '?'}")
    return " · ".join(said)


def speaks_for(report: FitReport, feature: Feature) -> Html:
    """Return which class more of a column speaks for.

    Parameters
    ----------
    report : FitReport
        What is told.
    feature : Feature
        One of its columns.

    Returns
    -------
    markup : Html
        Such as "for CEU", "against CEU".
    """
    labels = [label for label, _ in report.data.classes]
    if feature.weight >= 0.0:
        return joined("for ", named(feature.label))
    others = [label for label in labels if label != feature.label]
    if len(labels) == 2 and len(others) == 1:
        return joined("for ", named(others[0]))
    return joined("against ", named(feature.label))


def near_duplicates(feature: Feature, most: int | None = None) -> Html | None:
    """Return which columns are nearly the same, the nearest by name.

    Parameters
    ----------
    feature : Feature
        Any column.
    most : int, optional
        How many are named; all that are known unless given.

    Returns
    -------
    markup : Html or None
        None where there is none.
    """
    if not feature.n_neighbours:
        return None
    shown = [
        joined(
            ", " if place else "",
            named(one.name),
            element("small", f"{NARROW}(r{NARROW}={NARROW}{_r(one.correlation)})"),
        )
        for place, one in enumerate(feature.neighbours[:most])
    ]
    rest = feature.n_neighbours - len(shown)
    if not shown:
        return joined(counted(rest, "other column"))
    return joined(shown, f" and {counted(rest, 'other')}" if rest > 0 else None)


def _r(correlation: float) -> str:
    """Return a correlation; 1 only where it is."""
    text = f"{correlation:.3f}"
    if abs(correlation) < 1.0 and text.endswith("1.000"):
        text = "0.999…" if correlation > 0 else "-0.999…"
    return text.replace("-", "−")
