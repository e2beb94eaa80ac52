"""The page as a file, and in a notebook."""

from __future__ import annotations

from pathlib import Path

from slimline.data.write.new_files import NewFiles
from slimline.errors import InvalidParameterError
from slimline.report.fit_record import FitReport
from slimline.report.page.build import fit_page
from slimline.report.page.html import element

#: What a page's file may be called.
PAGE_ENDINGS = (".html", ".htm")


def check_page_path(path: str | Path) -> Path:
    """Refuse a file that a page cannot be written to; to be called before the work that leads to one.

    Parameters
    ----------
    path : str or path
        Where the page will go.

    Returns
    -------
    path : Path
        The same.
    """
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
    """Return the page in a frame of its own, so that its style stays in it and the notebook's outside.

    Parameters
    ----------
    report : FitReport
        What there is to tell.

    Returns
    -------
    markup : str
        An `iframe` element that holds the page.
    """
    return element(
        "iframe",
        srcdoc=fit_page(report),
        sandbox="allow-scripts",
        title=report.title,
        style="width:100%;height:44rem;border:0;border-radius:6px",
    )
