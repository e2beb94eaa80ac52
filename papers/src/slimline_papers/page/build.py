"""The page as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slimline.bounds._bound import FULL_NAMES
from slimline.report._figures import versions
from slimline.report.page._html import Html, element, joined, page_part, whole_page
from slimline_papers.page.overview import overview
from slimline_papers.page.result_section import result_section
from slimline_papers.result import Result

_TITLE = "Five documents, replayed"


def replay_page(results: Sequence[Result], pictures: Mapping[str, bytes]) -> str:
    """Return what came out of a replay as one HTML page that needs nothing else.

    Parameters
    ----------
    results : sequence of Result
        In the order in which they are shown, document by document.
    pictures : mapping of str to bytes
        Figures as PNG, by item.

    Returns
    -------
    page : str
        HTML.
    """
    documents = list(dict.fromkeys(result.item.document for result in results))
    links = [element("li", element("a", document, href=f"#{document}")) for document in documents]
    body = element(
        "body",
        element("a", "Skip to the first lines", href="#main", class_="skip"),
        element(
            "header",
            element("p", "slimline · reproduce", class_="brand"),
            element("h1", _TITLE),
            element(
                "p",
                "Every figure, table and theorem of five documents on random projections for linear classifiers, run "
                "from slimline’s public functions, beside what is printed. Every verdict is computed from the CSV "
                "files and the printed numbers.",
                class_="subtitle",
            ),
        ),
        element(
            "main",
            overview(results),
            element("nav", element("ul", links), aria_label="Documents"),
            [_document(document, results, pictures) for document in documents],
            id="main",
        ),
        element("footer", element("p", _made_with())),
    )
    return whole_page(_TITLE, body, style=page_part("replay.css", "slimline_papers.page"))


def _document(document: str, results: Sequence[Result], pictures: Mapping[str, bytes]) -> Html:
    own = [result for result in results if result.item.document == document]
    return element(
        "section",
        element("h2", document),
        element("p", FULL_NAMES[document], class_="subtitle"),
        joined([result_section(result, pictures.get(result.item.name)) for result in own]),
        id=document,
    )


def _made_with() -> str:
    programs = ", ".join(f"{name} {version}" for name, version in versions())
    return f"Made by {programs}. This page loads nothing and sends nothing."
