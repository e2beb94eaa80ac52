"""`slimline features`: the columns that a model stands on, and what is proved of their weights and places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from slimline.estimators.ranking import Ranking
    from slimline.model_files import StoredModel

EXAMPLES = """[bold]Examples[/bold]

slimline features cohort.slim

slimline features cohort.slim --top 50 --label POP2 --csv top.csv

slimline features cohort.slim --top all --csv every_variant.tsv"""

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1
#: `--top` for every column, and how many are shown then.
_ALL, _SHOWN = "all", 20


def features(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that `slimline fit` or `save` wrote.")],
    top: Annotated[str, typer.Option(metavar="K|all", help="How many, by absolute weight.")] = str(_SHOWN),
    label: Annotated[
        str | None, typer.Option(metavar="CLASS", help="Class whose weights are meant, where there are several.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write them to a .csv or .tsv file.")] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write them as JSON; - for stdout.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace --csv if it exists.")] = False,
) -> None:
    """List the features of the largest weights, each with the interval of its exact weight and of its place."""
    from json import dumps

    from slimline.cli.data_file import explained_errors
    from slimline.cli.features_view import features_view
    from slimline.cli.output import check_json_path, require_not_read, tables, write_json
    from slimline.cli.table_file import check_table_path, write_table
    from slimline.estimators.ranking import ranking_of
    from slimline.estimators.saving import restored_model
    from slimline.model_files import StoredModel
    from slimline.plain_values import plain

    check_json_path(json)
    check_table_path("--csv", csv, force)
    require_not_read({"--csv": csv, "--json": json}, (model,))
    if top == _ALL and csv is None and json is None:
        raise InvalidParameterError("--top all: add --csv FILE (or --json FILE), every column is too much to show.")
    with explained_errors():
        stored = StoredModel.read(model)
        fitted = restored_model(stored, str(model))
    count = _count(top, stored.n_features)
    ranking = ranking_of(fitted.certificate_, fitted.classes_, _class(label, stored))
    head, lines = table_of(stored, ranking, count, proved=top != _ALL)
    if csv is not None:
        write_table(csv, head, lines())
    shown = min(count, _SHOWN) if top == _ALL else count
    console = tables(json if csv != Path("-") else Path("-"))
    console.print(features_view(stored, ranking, shown, label))
    if csv not in (None, Path("-")):
        console.print(f"\nWritten: {csv}", markup=False, soft_wrap=True)
    if json is not None:
        record = {
            "layout": _LAYOUT,
            "model": str(model),
            "n_features": stored.n_features,
            "label": label,
            "top": count,
            "features": [dict(zip(head, line, strict=True)) for line in lines()],
        }
        write_json(json, dumps(plain(record), indent=1, allow_nan=False))


def table_of(stored: StoredModel, ranking: Ranking, count: int, proved: bool) -> tuple[list[str], Any]:
    """Return the names of the columns of a table of features, and a function that makes its lines.

    Parameters
    ----------
    stored : StoredModel
        The model.
    ranking : Ranking
        Its features in order.
    count : int
        How many are wanted.
    proved : bool
        Whether to say which are proved to be among so many.

    Returns
    -------
    head : list of str
        Names of the columns.
    lines : callable
        Returns an iterator of lists of plain values.
    """
    several, whose = len(stored.weights) > 1, [str(label) for label in stored.classes]
    variants = {
        name: part
        for name in ("chromosome", "position", "allele1", "allele2")
        if (part := getattr(stored, name)) is not None
    }
    head = ["place", "name", *variants, *(["class"] if several else []), "weight", "lower", "upper", "coefficient"]
    head += ["best_place", "worst_place", *(["proved_in_top"] if proved else [])]

    def lines() -> Iterator[list[Any]]:
        for place in range(count):
            j, weight = int(ranking.index[place]), float(ranking.weight[place])
            line: list[Any] = [place + 1, feature_name(stored, j)]
            line += [int(part[j]) if name == "position" else str(part[j]) for name, part in variants.items()]
            line += [whose[ranking.task[place]]] if several else []
            factor = 1.0 if stored.factor is None else float(stored.factor[j])
            line += [weight, float(ranking.lower[place]), float(ranking.upper[place]), weight * factor]
            line += [int(ranking.best[place]), int(ranking.worst[place])]
            yield [*line, bool(ranking.worst[place] <= count)] if proved else line

    return head, lines


def feature_name(stored: StoredModel, column: int) -> str:
    """Return the name of a column, x and its number where it has none.

    Parameters
    ----------
    stored : StoredModel
        The model.
    column : int
        Number of the column.

    Returns
    -------
    name : str
        As in `top_features`.
    """
    return f"x{column}" if stored.feature_names is None else stored.feature_names[column]


def _count(text: str, n_features: int) -> int:
    if text == _ALL:
        return n_features
    if not text.isdecimal() or int(text) < 1:
        raise InvalidParameterError(f"--top {text}: give a number, 1 or more, or {_ALL}.")
    return min(int(text), n_features)


def _class(label: str | None, stored: StoredModel) -> Any:
    """Return the class that a text names."""
    if label is None:
        return None
    from slimline.cli.prediction_summary import class_numbers

    number = int(class_numbers([label], stored.classes)[0])
    if number < 0:
        raise InvalidParameterError(f"--label {label}: the classes are {', '.join(map(str, stored.classes))}.")
    return stored.classes[number]
