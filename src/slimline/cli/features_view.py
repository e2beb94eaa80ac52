"""The largest weights of a model, for the terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from slimline.cli.features import feature_name
from slimline.estimators.ranking import Ranking
from slimline.model_files import StoredModel


def features_view(stored: StoredModel, ranking: Ranking, count: int, label: str | None) -> RenderableType:
    """Return a table of the largest weights, and what "proved" means.

    Parameters
    ----------
    stored : StoredModel
        The model.
    ranking : Ranking
        Its features in order.
    count : int
        How many are shown.
    label : str, optional
        The class that was asked for.

    Returns
    -------
    view : renderable
        For `rich`.
    """
    several, genotypes = len(stored.weights) > 1, stored.chromosome is not None and stored.position is not None
    alleles = stored.allele1 is not None and stored.allele2 is not None
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right")
    table.add_column("feature", overflow="fold")
    for name, wanted in (("place", genotypes), ("alleles", alleles), ("class", several)):
        if wanted:
            table.add_column(name)
    for name in ("weight", "exact weight from", "to", "exact place"):
        table.add_column(name, justify="right")
    table.add_column(f"top {count}")
    for place in range(count):
        j = int(ranking.index[place])
        cells = [f"{place + 1:,}", escape(feature_name(stored, j))]
        if stored.chromosome is not None and stored.position is not None:
            cells.append(f"{stored.chromosome[j]}:{int(stored.position[j]):,}")
        if stored.allele1 is not None and stored.allele2 is not None:
            cells.append(escape(f"{stored.allele1[j]}/{stored.allele2[j]}"))
        if several:
            cells.append(escape(str(stored.classes[ranking.task[place]])))
        cells += [f"{value[place]:.4g}" for value in (ranking.weight, ranking.lower, ranking.upper)]
        best, worst = int(ranking.best[place]), int(ranking.worst[place])
        cells.append(f"{best:,}" if best == worst else f"{best:,}–{worst:,}")
        cells.append("[green]proved[/green]" if worst <= count else "open")
        table.add_row(*cells)
    return Group(table, Text(_sentences(stored, count, label)))


def _sentences(stored: StoredModel, count: int, label: str | None) -> str:
    if len(stored.weights) > 1:
        whose = f"Weights above 0 speak for {label}. " if label is not None else "Weights above 0 speak for the class. "
    else:
        whose = f"Weights above 0 speak for {label if label is not None else stored.classes[1]}. "
    if stored.factor is not None:
        whose += "They are weights of standardised columns. "
    if stored.allele1 is not None:
        whose += "A column counts copies of the first allele. "
    return (
        f"{whose}Proved: the exact model of the training data has the feature among its {count:,} largest, too. That "
        "is a fact about the model, not about causes."
    )
