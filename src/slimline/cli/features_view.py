"""The largest weights of a model, for the terminal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from slimline.cli.features import feature_name
from slimline.cli.narrow import UNBROKEN
from slimline.cli.rounding import rounded_up
from slimline.estimators.ranking import Ranking
from slimline.model_files import StoredModel

#: Letters of the name of a feature that are shown.
_LONGEST = 200


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
    several, alleles = len(stored.weights) > 1, stored.allele1 is not None and stored.allele2 is not None
    genotypes = stored.chromosome is not None and stored.position is not None
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", justify="right")
    longest = max(len(feature_name(stored, int(j))) for j in ranking.index[:count])
    table.add_column("feature", min_width=max(min(longest, UNBROKEN), 7))
    for name, wanted in (("position", genotypes), ("alleles", alleles), ("class", several)):
        if wanted:
            table.add_column(name, min_width=len(name), no_wrap=name == "position")
    for name in ("weight", "exact ±", "exact\nplace"):  # in two lines: names of variants have room in 80 letters
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(f"top {count}", no_wrap=True)
    for place in range(count):
        j = int(ranking.index[place])
        cells = [f"{place + 1:,}", _short(feature_name(stored, j))]
        if stored.chromosome is not None and stored.position is not None:
            cells.append(_short(f"{stored.chromosome[j]}:{int(stored.position[j])}"))
        if stored.allele1 is not None and stored.allele2 is not None:
            cells.append(_short(f"{_cut(stored.allele1[j], 6)}/{_cut(stored.allele2[j], 6)}"))
        if several:
            cells.append(escape(str(stored.classes[ranking.task[place]])))
        weight = ranking.weight[place]
        around = max(ranking.upper[place] - weight, weight - ranking.lower[place])
        best, worst = int(ranking.best[place]), int(ranking.worst[place])
        cells += [f"{weight:.4g}", rounded_up(around, 2), f"{best:,}" if best == worst else f"{best:,}–{worst:,}"]
        cells.append("[green]proved[/green]" if worst <= count else "open")
        table.add_row(*cells)
    return Group(table, Text(_sentences(stored, count, label)))


def _sentences(stored: StoredModel, count: int, label: str | None) -> str:
    if len(stored.weights) > 1:
        whose = (
            f"Weights above 0 speak for {label}. "
            if label is not None
            else "Weights above 0 speak for the class beside them. "
        )
    else:
        whose = f"Weights above 0 speak for {label if label is not None else stored.classes[1]}. "
    if stored.factor is not None:
        whose += "They are weights of standardised columns. "
    if stored.allele1 is not None:
        whose += "A column counts copies of the first allele. "
    if (open_ends := ~np.isfinite(stored.radius)).any():
        whose += f"Nothing is proved about the weights{_of_classes(stored, open_ends)}: their certificate is infinite. "
    return (
        f"{whose}Proved: the exact model of the training data has the feature among its {count:,} largest, too. That "
        "is a fact about the model, not about causes."
    )


def _of_classes(stored: StoredModel, chosen: NDArray[np.bool_]) -> str:
    """Return whose weights are meant, unless it is those of all."""
    if chosen.all():
        return ""
    return " of " + ", ".join(str(label) for label, one in zip(stored.classes, chosen, strict=True) if one)


def _short(text: str) -> str:
    return escape(_cut(text, _LONGEST))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
