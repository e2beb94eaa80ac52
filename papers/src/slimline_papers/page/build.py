"""One self-contained HTML page of a replay, from a template."""

from __future__ import annotations

import base64
import inspect
import math
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader

from slimline.bounds._bound import FULL_NAMES
from slimline.report._figures import versions
from slimline.report._page import rendered
from slimline_papers.drawing import DPI
from slimline_papers.finding import Cell
from slimline_papers.result import Result, count
from slimline_papers.sources import SOURCES

_HERE = Path(__file__).parent
#: Figures are drawn with more dots than they are shown with.
_SCALE = 110 / DPI
_SMALL_SIZES = {
    "miniature": "a miniature, too small to conclude from",
    "default": "the default size, smaller than the document’s",
}
#: Classes of the style sheet, by verdict.
_MARKS = {"holds": "yes", "borne out": "yes", "does not hold": "no", "not borne out": "no"}


def replay_page(results: Sequence[Result], pictures: Mapping[str, bytes]) -> str:
    """Return the results of a replay as one HTML page that needs nothing else.

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
    first: dict[str, Result] = {}  # several items can be read off one experiment: its time stands beside one of them
    for result in results:
        if result.measured is not None:
            first.setdefault(result.item.experiment.name, result)
    seconds = {name: result.measured.seconds for name, result in first.items() if result.measured is not None}
    return rendered(
        "replay.html.j2",
        style=(_HERE / "replay.css").read_text(encoding="utf-8"),
        templates=_templates(),
        results=results,
        documents=list(dict.fromkeys(result.item.document for result in results)),
        full_names=FULL_NAMES,
        pictures={name: _picture(picture) for name, picture in pictures.items()},
        first=first,
        seconds=sum(seconds.values()),
        total=count(finding for result in results for finding in result.findings),
        stand_ins=_stand_ins(results),
        marks=_MARKS,
        count=count,
        code_of=_code,
        cells_of=_cells,
        sentence=sentence,
        full_stop=_full_stop,
        data_of=_data,
        size_of=_size,
        programs=", ".join(f"{name} {version}" for name, version in versions()),
    )


@cache
def _templates() -> FileSystemLoader:
    return FileSystemLoader(_HERE)


def _picture(picture: bytes) -> dict[str, Any]:
    """Return the attributes of the element that shows a PNG."""
    width, height = struct.unpack(">II", picture[16:24])  # of the PNG's header
    source = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    return {"src": source, "width": round(width * _SCALE), "height": round(height * _SCALE)}


def _stand_ins(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Return the data that the documents used and that are not available, with what was used in their place."""
    used = [SOURCES[name] for name in dict.fromkeys(name for result in results for name in result.sources)]
    pairs = [(source.stand_in_for, source.about) for source in used]
    pairs += [(result.item.experiment.stand_in_for, f"made-up data ({result.item.name})") for result in results]
    return [(replaced, taken) for replaced, taken in pairs if replaced]


def sentence(text: str) -> str:
    """Begin with a capital, unless it is a symbol that comes first, and end with a full stop."""
    first = text.split(maxsplit=1)[0]
    plain = first.isascii() and first.isalpha() and (len(first) > 1 or first == "a")
    return _full_stop(text[0].upper() + text[1:] if plain else text)


def _full_stop(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _cells(cell: Cell) -> list[str]:
    off = (cell.ours - cell.printed) / cell.error if cell.error > 0 else math.nan
    numbers = (cell.printed, cell.spread, cell.ours, cell.our_spread, off, cell.noticed)
    return ["" if math.isnan(value) else f"{value:.4g}" for value in numbers]


def _code(result: Result) -> list[str]:
    """Return the modules that measure and judge."""
    modules = (inspect.getmodule(function) for function in (result.item.experiment.measure, result.item.judge))
    return [inspect.getsource(module) for module in dict.fromkeys(modules) if module is not None]


def _size(result: Result) -> str:
    size = "" if result.measured is None else result.measured.size
    words = _SMALL_SIZES.get(size, result.item.experiment.full_size)
    return f"{words[:1].upper()}{words[1:]}"


def _data(result: Result) -> str:
    used = [SOURCES[source] for source in result.sources]
    if used:
        return f"Data: {'; '.join(f'{one.about}, a stand-in' if one.stand_in_for else one.about for one in used)}"
    replaced = result.item.experiment.stand_in_for
    return f"Made-up data, a stand-in for {replaced}" if replaced else "Made-up data"
