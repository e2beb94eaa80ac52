"""The page of a folder of results, while they come in."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from slimline.report._figures import save_figure
from slimline_papers.folder import ResultFolder
from slimline_papers.item import Item
from slimline_papers.kept import write_files
from slimline_papers.page import replay_page
from slimline_papers.result import Measured, Result
from slimline_papers.table import Table, table_of


class ResultPage:
    """Figures, page and findings of a folder: what earlier runs left, and what a run adds.

    Parameters
    ----------
    folder : ResultFolder
        Where they are.
    items : sequence of Item
        All that can be on the page, in this order; what is added beside them comes last.
    """

    def __init__(self, folder: ResultFolder, items: Sequence[Item]) -> None:
        self._folder = folder
        self._order = {item.name: number for number, item in enumerate(items)}
        self._results: dict[str, Result] = {}
        self._pictures: dict[str, bytes] = {}
        for item in items:
            measured = folder.read(item.experiment)
            if measured is not None and folder.figure(item, ".png").is_file():
                self._results[item.name] = _result(item, measured)

    def add(self, item: Item, measured: Measured | str) -> Result:
        """Judge and draw an item; it takes the place of an earlier result.

        Parameters
        ----------
        item : Item
            Which.
        measured : Measured or str
            What its experiment gave, or why it could not be run.

        Returns
        -------
        result : Result
            What came out.
        """
        result = _result(item, measured)
        self._pictures.pop(item.name, None)
        if result.measured is not None:
            self._draw(result)
        self._results[item.name] = result
        return result

    def write(self) -> None:
        """Write page and findings."""
        shown = sorted(self._results.values(), key=lambda one: self._order.get(one.item.name, len(self._order)))
        pictures = {result.item.name: self._picture(result) for result in shown if result.measured is not None}
        write_files(
            {
                self._folder.page: replay_page(shown, pictures).encode(),
                self._folder.findings: findings_table(shown).to_csv().encode(),
            }
        )

    def _draw(self, result: Result) -> None:
        assert result.measured is not None
        figure = result.item.draw(result.measured.table)
        for ending in (".png", ".svg"):
            save_figure(figure, self._folder.figure(result.item, ending))

    def _picture(self, result: Result) -> bytes:
        if result.item.name not in self._pictures:
            path = self._folder.figure(result.item, ".png")
            try:
                picture = _for_the_page(path)
            except (OSError, SyntaxError):  # what Pillow says of a damaged file of an earlier run
                self._draw(result)
                picture = _for_the_page(path)
            self._pictures[result.item.name] = picture
        return self._pictures[result.item.name]


def findings_table(results: Sequence[Result]) -> Table:
    """Return all findings as a table.

    Parameters
    ----------
    results : sequence of Result
        From `reproduce`.

    Returns
    -------
    table : Table
        A row for each claim.
    """
    return table_of(
        ("item", "size", "whose", "claim", "printed", "measured", "verdict", "reason", "corrected", "correction"),
        [
            (
                result.item.name, result.measured.size, "ours" if found.beyond else "the document's", found.claim,
                found.printed, found.ours, found.verdict, found.reason, found.corrected, found.correction,
            )
            for result in results if result.measured is not None
            for found in result.findings
        ],
    )  # fmt: skip


def _result(item: Item, measured: Measured | str) -> Result:
    if isinstance(measured, str):
        return Result(item, None, missing=measured)
    return Result(item, measured, tuple(item.judge(measured.table)))


def _for_the_page(path: Path) -> bytes:
    """Return a figure in 64 colours, which lines and letters do with: a third of its size."""
    from PIL import Image

    smaller = BytesIO()
    with Image.open(path) as image:
        image.quantize(64, dither=Image.Dither.NONE).save(smaller, format="png", optimize=True)
    return smaller.getvalue()
