"""Sections: what was trained on what, how to get the same again, and what the page leaves out."""

from __future__ import annotations

from slimline.report.fit_record import FitReport
from slimline.report.page.html import Content, Html, element, joined, named
from slimline.report.page.section import Column, Section, facts, paragraph, table, unfolding
from slimline.report.page.words import at_most, counted, memory, number, penalty, percent

#: Classes that are named in a line; of more there is a table.
_NAMED = 6


def trained_section(report: FitReport) -> Section:
    """Return what was trained, and on what.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    section : Section
        With two lists.
    """
    data, model = report.data, report.model
    known: list[tuple[str, Content]] = [
        ("data", named(data.name)),
        ("rows and columns", f"{data.n_rows:,} × {data.n_features:,}"),
        ("classes", _classes(data.classes)),
        ("labels", data.labels or "as given"),
        ("rows left out", f"{data.left_out:,}, which had no label" if data.left_out else "none"),
        ("columns centred and scaled", "yes" if data.standardised else "no"),
        ("size as stored", "not known" if data.nbytes is None else memory(data.nbytes)),
        ("fingerprint", element("code", data.fingerprint)),
    ]
    fitted: list[tuple[str, Content]] = [
        ("loss", model.loss.replace("_", " ")),
        ("C", number(model.C, 4)),
        ("certified error", f"at most {at_most(report.relative_error, exactly=True)}; asked for {at_most(model.tol)}"),
        ("distance from the exact weights", f"at most {number(max(model.radius))}"),
        ("way", joined(model.method, f", because {model.reason}" if model.reason else None)),
        (
            "projection",
            f"{model.projection}, to {counted(model.n_components, 'column')}" if model.projection else "none",
        ),
        ("intercept", "yes" if model.intercept else "no"),
        ("weights of the classes", model.class_weight or "none"),
    ]
    body = element(
        "div",
        element("div", element("h3", "The data"), facts(known)),
        element("div", element("h3", "The model"), facts(fitted)),
        class_="pair",
    )
    return Section("trained", "What was trained, and on what", "Data and model", joined(body, _class_table(report)))


def _classes(classes: tuple[tuple[str, int], ...]) -> Html:
    if len(classes) > _NAMED:
        return joined(f"{len(classes)}, listed below")
    return joined(
        [joined(", " if place else "", named(label), f" ({rows:,})") for place, (label, rows) in enumerate(classes)]
    )


def _class_table(report: FitReport) -> Html | None:
    if len(report.data.classes) <= _NAMED:
        return None
    columns = [Column("class"), Column("training rows", numeric=True), Column("share", numeric=True)]
    total = max(1, sum(rows for _, rows in report.data.classes))
    rows: list[list[Content]] = [[named(label), f"{n:,}", percent(n / total)] for label, n in report.data.classes]
    return unfolding(f"The {len(rows)} classes", table("Training rows of each class", columns, rows))


def reproduce_section(report: FitReport) -> Section:
    """Return how to get the same again.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    section : Section
        Command, Python, seed and versions.
    """
    made = report.reproduction
    parts: list[Content] = []
    for title, text in (("On the command line", made.command), ("In Python", made.python)):
        if text:
            code = element("pre", element("code", text), tabindex=0, role="region", aria_label=title)
            parts += [element("h3", title), code]
    if not parts:
        parts.append(paragraph("How it was called was not recorded."))
    seed = "none was set: another run draws other random numbers" if made.seed is None else str(made.seed)
    pairs: list[tuple[str, Content]] = [("seed", seed), ("made", _moment(made.made))]
    pairs += [(name, version) for name, version in made.versions]
    return Section("reproduce", "How to get the same again", "Reproduce", joined(parts, facts(pairs)))


def _moment(text: str) -> Html:
    return element("time", text.replace("T", " ", 1), datetime=text)


def left_out(report: FitReport) -> Html | None:
    """Return one sentence for each part that a reader might look for in vain.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    markup : Html or None
        A paragraph; None where nothing is missing.
    """
    missing = []
    if not report.features:
        missing.append("Weights of single columns were not recorded.")
    if not report.history:
        missing.append("How the certified error fell was not recorded.")
    if report.held_out is None:
        missing.append("There are no curves and no table of mistakes, because no rows were held out.")
    if report.audit is None:
        why = "have nothing to tell, because no projection was used"
        if report.model.n_components:
            why = "were not measured: slimline fit --audit does"
        missing.append(f"Margins before and after the projection {why}.")
    if report.plan is None:
        missing.append("There is no comparison with a plan, because none was made.")
    if report.search is None:
        missing.append(f"There was no search for a penalty: {penalty(report.model.C)} was given.")
    if not missing:
        return None
    return element("p", element("strong", "Not on this page. "), " ".join(missing), class_="left-out")
