"""A replay in the terminal: a line for each item, and the claims that do not hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from slimline.report._text import time_taken
from slimline_papers import Item, Result
from slimline_papers.result import count
from slimline_papers.sources import SOURCES

#: Claims that are told in full; more of them are for the page.
_TOLD = 12


def list_view(items: Sequence[Item]) -> Table:
    """Return what there is to reproduce.

    Parameters
    ----------
    items : sequence of Item
        What is listed.

    Returns
    -------
    view : rich.table.Table
        A line for each.
    """
    view = Table(box=None, pad_edge=False)
    for title in ("item", "what it shows", "data"):
        view.add_column(title)
    for item in items:
        sources = [SOURCES[name] for name in item.experiment.sources]
        data = ", ".join(source.name + (" (stand-in)" if source.stand_in_for else "") for source in sources)
        if item.experiment.own_source:
            data = f"{item.experiment.own_source} or {data}"
        made_up = "made up (stand-in)" if item.experiment.stand_in_for else "made up"
        view.add_row(item.name, escape(item.title), data or f"[dim]{made_up}[/dim]")
    return view


def results_view(results: Sequence[Result]) -> RenderableType:
    """Return what came out.

    Parameters
    ----------
    results : sequence of Result
        From `slimline_papers.reproduce`.

    Returns
    -------
    view : renderable
        A table, the claims that do not hold, and what could not be run.
    """
    view = Table(box=None, pad_edge=False)
    view.add_column("item", no_wrap=True, min_width=max(len(result.item.name) for result in results))
    for title in ("hold", "do not", "open", "corrected", "ours", "time"):
        view.add_column(title, justify="right")
    seen: set[str] = set()
    for result in results:
        if result.measured is None:
            view.add_row(result.item.name, *[""] * 5, "not run")
            continue
        told = count(result.findings)
        time = "" if result.item.experiment.name in seen else time_taken(result.measured.seconds)
        seen.add(result.item.experiment.name)
        corrections = f"{told.borne_out} of {told.corrections}" if told.corrections else ""
        own = f"{told.own_hold} of {told.own}" if told.own else ""
        view.add_row(result.item.name, str(told.hold), str(told.fail), str(told.open), corrections, own, time)
    return Group(view, *_failing(results), *_missing(results))


def results_record(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return what came out as plain values.

    Parameters
    ----------
    results : sequence of Result
        From `slimline_papers.reproduce`.

    Returns
    -------
    record : list of dict
        One for each item, ready for JSON.
    """
    return [
        {
            "item": result.item.name,
            "title": result.item.title,
            "experiment": result.item.experiment.name,
            "missing": result.missing or None,
            "size": result.measured.size if result.measured else None,
            "seconds": result.measured.seconds if result.measured else None,
            "findings": [
                {
                    "ours": found.beyond, "claim": found.claim,
                    "printed": found.printed, "measured": found.ours, "verdict": found.verdict,
                    "reason": found.reason, "corrected": found.corrected, "correction": found.correction,
                }
                for found in result.findings
            ],
        }
        for result in results
    ]  # fmt: skip


def _failing(results: Sequence[Result]) -> list[str]:
    failing = [
        (result.item.name, found)
        for result in results
        for found in result.findings
        if found.holds is False and not found.beyond
    ]
    if not failing:
        return []
    head = "\n[bold]Printed, and not so:[/bold]"
    if len(failing) > _TOLD:
        return [f"{head} {len(failing)} claims, each with its reason on the page and in findings.csv."]
    return [
        head,
        *(
            f"  {name}: {escape(found.claim)}\n    [dim]printed[/dim] {escape(found.printed)}; "
            f"[dim]measured[/dim] {escape(found.ours)}; {escape(found.reason)}"
            for name, found in failing
        ),
    ]


def _missing(results: Sequence[Result]) -> list[str]:
    reasons = dict.fromkeys(result.missing for result in results if result.missing)
    return ["\n[bold]Not run:[/bold]", *(f"  {escape(reason)}" for reason in reasons)] if reasons else []
