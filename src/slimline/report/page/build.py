"""The page as a whole."""

from __future__ import annotations

from slimline.report.fit_record import FitReport
from slimline.report.page.convergence import convergence_section
from slimline.report.page.cost import cost_section
from slimline.report.page.features import features_section
from slimline.report.page.held_out import held_out_section
from slimline.report.page.html import Html, element, joined, named
from slimline.report.page.made import left_out, reproduce_section, trained_section
from slimline.report.page.margins import margins_section
from slimline.report.page.promises import promises_section
from slimline.report.page.proved import ANCHOR, explanation
from slimline.report.page.search import search_section
from slimline.report.page.section import Section
from slimline.report.page.shell import page_part, whole_page
from slimline.report.page.summary import summary
from slimline.report.page.words import counted

_SECTIONS = (
    convergence_section,
    features_section,
    held_out_section,
    margins_section,
    promises_section,
    search_section,
    cost_section,
    trained_section,
    reproduce_section,
)


def fit_page(report: FitReport) -> str:
    """Return all that there is to tell of a fit as one HTML page that needs nothing else.

    The page loads nothing, and its security policy lets no script run but its own. What comes from data is escaped.

    Parameters
    ----------
    report : FitReport
        What there is to tell.

    Returns
    -------
    page : str
        HTML.
    """
    made = [section for section in (make(report) for make in _SECTIONS) if section is not None]
    made.append(Section(ANCHOR, "What “proved” means", "“Proved”", explanation()))
    links = [element("li", element("a", section.short, href=f"#{section.name}")) for section in made]
    body = element(
        "body",
        element("a", "Skip to the first lines", href="#main", class_="skip"),
        element("header", element("p", "slimline · certified linear classifier", class_="brand"), _heading(report)),
        element(
            "main",
            summary(report),
            element("nav", element("ul", links), aria_label="Contents"),
            [section.render() for section in made],
            left_out(report),
            id="main",
        ),
        element("footer", element("p", "Made by slimline. This page loads nothing and sends nothing.")),
    )
    return whole_page(report.title, body, script=page_part("page.js"))


def _heading(report: FitReport) -> Html:
    data = report.data
    about = (
        f"Trained on {counted(data.n_rows, 'row')} × {counted(data.n_features, 'column')}, "
        f"{counted(len(data.classes), 'class', 'classes')}"
    )
    return joined(
        element("h1", named(report.title)),
        element("p", about, "; data: ", named(data.name), class_="subtitle"),
    )
