"""An item on the page: its figure, its claims, its numbers, its code."""

from __future__ import annotations

import base64
import inspect
import math
import struct

from slimline._base.text import counted
from slimline.report.page._html import Column, Content, Html, element, joined, paragraph, scrolling, table, unfolding
from slimline.report.page._words import time_taken
from slimline_papers.drawing import DPI
from slimline_papers.finding import Cell, Finding
from slimline_papers.page.overview import verdict_mark
from slimline_papers.result import Measured, Result
from slimline_papers.sources import SOURCES

#: Figures are drawn with more dots than they are shown with.
_SCALE = 110 / DPI
_SMALL_SIZES = {
    "miniature": "a miniature, too small to conclude from",
    "default": "the default size, smaller than the document’s",
}


def result_section(result: Result, picture: bytes | None) -> Html:
    """Return an item as markup.

    Parameters
    ----------
    result : Result
        What came out.
    picture : bytes or None
        Its figure as PNG.

    Returns
    -------
    markup : Html
        An `article` element.
    """
    item = result.item
    heading = element("h3", element("code", item.name), " ", item.title)
    if result.measured is None:
        said: Content = paragraph(element("span", "Not run. ", class_="warning"), result.missing)
    else:
        said = [
            paragraph(item.experiment.about),
            _picture(result, picture),
            _claims(result),
            [_numbers(finding) for finding in result.findings if finding.cells],
            _section(result),
            _code(result),
            element("p", _made(result, result.measured), class_="aside small"),
        ]
    return element("article", heading, said, id=item.name)


def _picture(result: Result, picture: bytes | None) -> Html | None:
    if picture is None:
        return None
    width, height = struct.unpack(">II", picture[16:24])  # of the PNG's header
    image = element(
        "img", src=f"data:image/png;base64,{base64.b64encode(picture).decode()}", alt=result.item.title,
        class_="replayed", width=round(width * _SCALE), height=round(height * _SCALE),
    )  # fmt: skip
    return scrolling(image, f"Figure: {result.item.title}")


def _claims(result: Result) -> Html:
    columns = [
        Column("claim", wide=True), Column("printed", wide=True), Column("measured", wide=True),
        Column("verdict"),
    ]  # fmt: skip
    rows: list[list[Content]] = []
    for finding in result.findings:
        said: list[Content] = [verdict_mark(finding.verdict)]
        claim: list[Content] = [finding.claim]
        if finding.beyond:
            claim.insert(0, element("span", "ours ", class_="aside"))
        if finding.reason:
            claim.append(element("small", _sentence(finding.reason)))
        if finding.corrected:
            claim.append(element("small", element("strong", "Corrected: "), _full_stop(finding.corrected)))
            if finding.correction:
                said += [element("br"), verdict_mark(finding.correction)]
        rows.append([claim, finding.printed, finding.ours, said])
    return table(f"Claims of {result.item.name}", columns, rows)


def _sentence(text: str) -> str:
    """Begin with a capital, unless it is a symbol that comes first, and end with a full stop."""
    first = text.split(maxsplit=1)[0]
    plain = first.isascii() and first.isalpha() and (len(first) > 1 or first == "a")
    return _full_stop(text[0].upper() + text[1:] if plain else text)


def _full_stop(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _numbers(finding: Finding) -> Html:
    columns = [
        Column("where"), Column("printed", True), Column("± printed", True), Column("measured", True),
        Column("± measured", True), Column("within the printed spread"),
    ]  # fmt: skip
    rows = [[cell.where, *_cell(cell), {True: "yes", False: "no", None: "–"}[cell.agrees]] for cell in finding.cells]
    return unfolding(
        f"{counted(len(rows), 'number')}, one by one: {finding.claim}", table(finding.claim, columns, rows)
    )


def _cell(cell: Cell) -> list[str]:
    numbers = (cell.printed, cell.spread, cell.ours, cell.our_spread)
    return ["" if math.isnan(value) else f"{value:.4g}" for value in numbers]


def _section(result: Result) -> Html | None:
    if not result.item.correction:
        return None
    said = f"More: section {result.item.correction} of slimline’s guide “Where the papers do not hold”."
    return element("p", said, class_="aside small")


def _code(result: Result) -> Html:
    measure = inspect.getmodule(result.item.experiment.measure)
    judge = inspect.getmodule(result.item.judge)
    modules = dict.fromkeys(module for module in (measure, judge) if module is not None)
    return unfolding(
        "The code that measures and judges",
        [element("pre", element("code", inspect.getsource(module))) for module in modules],
    )


def _made(result: Result, measured: Measured) -> Html:
    experiment = result.item.experiment
    document, _, name = experiment.name.partition(".")
    size = _SMALL_SIZES.get(measured.size, experiment.full_size)
    return joined(
        f"{size[:1].upper()}{size[1:]}; seed {measured.seed}; {counted(len(measured.table), 'row')} in ",
        element("a", f"{name}.csv", href=f"{document}/{name}.csv"),
        ", figure as ",
        element("a", "SVG", href=f"{document}/{result.item.name.partition('.')[2]}.svg"),
        f", measured in {time_taken(measured.seconds)}",
        f" on {measured.machine}" if experiment.timed else None,
        f". {_data(result)}.",
    )


def _data(result: Result) -> str:
    used = [SOURCES[source] for source in result.sources]
    if used:
        return f"Data: {'; '.join(f'{one.about}, a stand-in' if one.stand_in_for else one.about for one in used)}"
    replaced = result.item.experiment.stand_in_for
    return f"Made-up data, a stand-in for {replaced}" if replaced else "Made-up data"
