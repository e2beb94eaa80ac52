"""Section: which columns matter."""

from __future__ import annotations

from slimline.report.fit_facts import Feature
from slimline.report.fit_record import FitReport
from slimline.report.page.feature_chart import feature_chart
from slimline.report.page.feature_words import is_genetic, near_duplicates, speaks_for
from slimline.report.page.html import Content, element, joined, named
from slimline.report.page.proved import proved
from slimline.report.page.section import Column, Section, paragraph, table, unfolding
from slimline.report.page.weights import WeightText, weight_text
from slimline.report.page.words import counted, largest, places


def features_section(report: FitReport) -> Section | None:
    """Return the weights with their intervals, as a chart and as a table.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    section : Section or None
        None where no features are told.
    """
    if not report.features:
        return None
    scaled = (
        ", each centred and scaled to the same spread, so that weights can be compared"
        if report.data.standardised
        else ""
    )
    several = " A column counts by its largest weight over the classes." if len(report.data.classes) > 2 else ""
    intro = paragraph(
        f"The {largest(len(report.features))} of {counted(report.data.n_features, 'column')}",
        f"{scaled}. ",
        f"A weight says what the model listens to.{several} What is marked ",
        proved(),
        " holds for the exact model too; a column that matters to the model need not be a cause.",
    )
    unlike = None
    if not report.data.standardised:
        unlike = paragraph(
            "Columns were taken as they are. Where they are measured in different units, a large weight may only mean "
            "a small unit.",
        )
    whole = unfolding("The same as a table", _table(report))
    return Section("columns", "Which columns matter", "Columns", joined(intro, unlike, feature_chart(report), whole))


def _table(report: FitReport) -> Content:
    text = weight_text(report.features)
    genetic = is_genetic(report)
    columns = [Column("column"), Column("place", numeric=True)]
    if genetic:
        columns += [Column("chromosome"), Column("position", numeric=True), Column("alleles")]
    columns += [
        Column(f"weight{text.unit}", numeric=True),
        Column("exact, from", numeric=True),
        Column("to", numeric=True),
        Column("speaks"),
        Column("exact place"),
        Column("nearly the same columns", wide=True),
    ]
    caption = "Largest weights. “Exact” is what the exact model’s weight and place are proved to lie between."
    rows = [_cells(report, feature, place, text, genetic) for place, feature in enumerate(report.features, 1)]
    return element("div", table(caption, columns, rows), class_="feature-table")


def _cells(report: FitReport, feature: Feature, place: int, text: WeightText, genetic: bool) -> list[Content]:
    cells: list[Content] = [named(feature.name), str(place)]
    if genetic:
        alleles = [feature.allele1, feature.allele2]
        cells += [
            feature.chromosome or "",
            "" if feature.position is None else f"{feature.position:,}",
            "/".join(allele or "?" for allele in alleles) if any(alleles) else "",
        ]
    return [
        *cells,
        text.weight(feature.weight),
        text.lower(feature.lower),
        text.upper(feature.upper),
        speaks_for(report, feature),
        places(feature.best_rank, feature.worst_rank),
        near_duplicates(feature) or ("not looked for" if feature.n_neighbours is None else "none found"),
    ]
