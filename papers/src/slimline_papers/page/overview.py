"""The first lines of a replay's page: how many claims hold, item by item."""

from __future__ import annotations

from collections.abc import Sequence

from slimline._base.text import counted
from slimline.report.page._html import Column, Content, Html, element, joined, table
from slimline.report.page._words import time_taken
from slimline_papers.result import Count, Result, count
from slimline_papers.sources import SOURCES


def overview(results: Sequence[Result]) -> Html:
    """Return how many claims hold, and a row for each item.

    Parameters
    ----------
    results : sequence of Result
        All that is shown.

    Returns
    -------
    markup : Html
        Three figures, a table and the stand-ins.
    """
    return joined(_figures(results), _rows(results), _stand_ins(results))


def verdict_mark(verdict: str) -> Html:
    """Return a verdict as a coloured word.

    Parameters
    ----------
    verdict : str
        "holds", "does not hold", "not comparable", "borne out", "not borne out".

    Returns
    -------
    markup : Html
        A `span` element.
    """
    kind = {"holds": "yes", "borne out": "yes", "does not hold": "no", "not borne out": "no"}.get(verdict, "open")
    return element("span", verdict, class_=f"mark-{kind}")


def _figures(results: Sequence[Result]) -> Html:
    total = count(finding for result in results for finding in result.findings)
    answers = [
        _answer("Claims that hold as printed", f"{total.hold} of {total.hold + total.fail}", _open(total.open)),
        _answer("Claims that do not", str(total.fail), "Each with its reason and, where it is known, with what holds."),
    ]
    if total.corrections:
        said = "As printed, as corrected and as measured, side by side."
        answers.append(_answer("Corrections borne out", f"{total.borne_out} of {total.corrections}", said))
    if total.own:
        said = "Laws, certificates and answers to open questions that the documents do not have."
        answers.append(_answer("Claims of ours that hold", f"{total.own_hold} of {total.own}", said))
    return element("div", answers, class_="answers four")


def _open(number: int) -> str:
    if not number:
        return "All claims could be compared."
    return f"{counted(number, 'more claim')} cannot be compared: other data, or times of another machine."


def _answer(title: str, figure: str, said: str) -> Html:
    return element(
        "section", element("h2", title), element("p", figure, class_="figure"), element("p", said), class_="answer"
    )


def _rows(results: Sequence[Result]) -> Html:
    columns = [
        Column("item"), Column("what it shows", wide=True), Column("hold", True), Column("do not", True),
        Column("not comparable", True), Column("corrections borne out", True), Column("ours hold", True),
        Column("size"),
        Column("measured in", True),
    ]  # fmt: skip
    rows: list[list[Content]] = []
    seen: set[str] = set()
    for result in results:
        item, told = result.item, count(result.findings)
        link = element("a", item.name, href=f"#{item.name}")
        if result.measured is None:
            rows.append([link, item.title, "", "", "", "", "", "not run", ""])
            continue
        time = "" if item.experiment.name in seen else time_taken(result.measured.seconds)
        seen.add(item.experiment.name)
        rows.append([link, item.title, *_counts(told), result.measured.size, time])
    spent = {result.item.experiment.name: result.measured.seconds for result in results if result.measured is not None}
    total = count(finding for result in results for finding in result.findings)
    rows.append(["all", counted(len(results), "item"), *_counts(total), "", time_taken(sum(spent.values()))])
    return table(
        "Several items can be read off one experiment; its time stands beside the first of them.",
        columns,
        rows,
        total=True,
    )


def _counts(told: Count) -> list[str]:
    corrections = f"{told.borne_out} of {told.corrections}" if told.corrections else ""
    own = f"{told.own_hold} of {told.own}" if told.own else ""
    return [str(told.hold), str(told.fail), str(told.open), corrections, own]


def _stand_ins(results: Sequence[Result]) -> Html | None:
    used = [SOURCES[name] for name in dict.fromkeys(name for result in results for name in result.sources)]
    pairs = [(source.stand_in_for, source.about) for source in used]
    pairs += [(result.item.experiment.stand_in_for, f"made-up data ({result.item.name})") for result in results]
    lines = [
        element("li", element("strong", replaced), " is not to be had; in its place: ", taken, ".")
        for replaced, taken in pairs
        if replaced
    ]
    if not lines:
        return None
    return element("aside", element("h2", "Stand-ins"), element("ul", lines), class_="notes")
