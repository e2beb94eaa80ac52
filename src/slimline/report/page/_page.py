"""The whole page of a fit, and its file."""

from __future__ import annotations

from pathlib import Path

from slimline.data._write import NewFiles
from slimline.errors import InvalidParameterError
from slimline.report._records import FitReport
from slimline.report.page._curves import convergence_section, held_out_section
from slimline.report.page._features import features_section
from slimline.report.page._html import ANCHOR, Html, Section, element, explanation, joined, named, page_part, whole_page
from slimline.report.page._margins import margins_section, promises_section
from slimline.report.page._summary import (
    cost_section,
    left_out,
    reproduce_section,
    search_section,
    summary,
    trained_section,
)
from slimline.report.page._words import counted

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


#: What a page's file may be called.
PAGE_ENDINGS = (".html", ".htm")


def check_page_path(path: str | Path) -> Path:
    """Refuse a file that a page cannot be written to; to be called before the work that leads to one."""
    path = Path(path)
    if path.suffix.lower() not in PAGE_ENDINGS:
        raise InvalidParameterError(f"{path}: the name of a page must end in {' or '.join(PAGE_ENDINGS)}.")
    if path.is_dir():
        raise InvalidParameterError(f"{path} is a folder: give the name of a file.")
    if not path.absolute().parent.is_dir():
        raise InvalidParameterError(f"{path}: there is no folder {path.parent}; make it first.")
    return path


def write_fit_page(report: FitReport, path: str | Path) -> None:
    """Write the page of a fit, whole or not at all; a file of that name is replaced.

    Parameters
    ----------
    report : FitReport
        What there is to tell.
    path : str or path
        Where to; it ends in .html.
    """
    path = check_page_path(path)
    page = fit_page(report).encode()
    with NewFiles([path], overwrite=True) as new:
        new.create(path).write(page)


def notebook_frame(report: FitReport) -> str:
    """Return the page in a frame of its own, so that its style stays in it and the notebook's outside."""
    return element(
        "iframe",
        srcdoc=fit_page(report),
        sandbox="allow-scripts",
        title=report.title,
        style="width:100%;height:44rem;border:0;border-radius:6px",
    )
