"""Items in miniature: measured once a run, through CSV, as the command does it."""

import os
from functools import cache
from pathlib import Path

from slimline_papers import Finding, Study, Table, find_items
from slimline_papers.item import Experiment
from slimline_papers.table import table_of

#: Folder in which the workers of a test run leave what they have measured, if there are several.
shared: Path | None = None


@cache
def _measured(experiment: Experiment, size: str) -> Table:
    if shared is None:
        return Table.from_csv(_measure(experiment, size))
    path = shared / f"{experiment.name}-{size}.csv"
    if not path.is_file():
        own = path.with_suffix(f".{os.getpid()}")
        own.write_text(_measure(experiment, size), encoding="utf-8")
        own.replace(path)
    return Table.from_csv(path.read_text(encoding="utf-8"))


def _measure(experiment: Experiment, size: str) -> str:
    study = Study(size=size)
    rows = [row for part in experiment.parts(study) for row in experiment.measure(study, part)]
    return table_of(experiment.columns, rows).to_csv()


def replayed(name: str, size: str = "miniature") -> tuple[Table, list[Finding]]:
    """Table of an item, and its findings."""
    (item,) = find_items([name])
    table = _measured(item.experiment, size)
    return table, list(item.judge(table))
