"""`slimline features`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from slimline._base.text import rounded_up
from slimline.cli import _options as options
from slimline.cli._output import UNBROKEN
from slimline.errors import InvalidParameterError
from slimline.estimators._decisions import CovariateEffects, Ranking
from slimline.model_files import StoredModel

#: Letters of the name of a feature that are shown.
_LONGEST = 200


def features_view(
    stored: StoredModel, ranking: Ranking, count: int, label: str | None, effects: CovariateEffects | None = None
) -> RenderableType:
    """Return a table of the largest weights, what "proved" means, and a table of the effects of covariates."""
    several, alleles = len(stored.weights) > 1, stored.allele1 is not None and stored.allele2 is not None
    genotypes = stored.chromosome is not None and stored.position is not None
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", justify="right")
    longest = max(len(feature_name(stored, int(j))) for j in ranking.index[:count])
    table.add_column("feature", min_width=max(min(longest, UNBROKEN), 7))
    for name, wanted in (("position", genotypes), ("alleles", alleles), (_whose(stored), several)):
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
            cells.append(escape(str(_tasks(stored)[ranking.task[place]])))
        weight = ranking.weight[place]
        best, worst = int(ranking.best[place]), int(ranking.worst[place])
        around = _distance(weight, ranking.lower[place], ranking.upper[place])
        cells += [f"{weight:.4g}", around, f"{best:,}" if best == worst else f"{best:,}–{worst:,}"]
        cells.append("[green]proved[/green]" if worst <= count else "open")
        table.add_row(*cells)
    parts: list[RenderableType] = [table, Text(_sentences(stored, count, label))]
    if effects is not None and (stored.covariates or {}).get("count"):
        speak = "" if len(stored.classes) != 2 else f"Effects above 0 speak for {stored.classes[1]}. "
        parts += [Text(), _effects_view(stored, effects), Text(speak + _EFFECTS)]
    return Group(*parts)


def _distance(value: float, lower: float, upper: float) -> str:
    """Return how far the exact value can be from the one that is shown."""
    return rounded_up(max(upper - value, value - lower), 2)


def _effects_view(stored: StoredModel, effects: CovariateEffects) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("covariate")
    if len(effects.effect) > 1:
        table.add_column(_whose(stored), no_wrap=True)
    for name in ("effect", "exact ±"):
        table.add_column(name, justify="right", no_wrap=True)
    for entry in effect_lines(stored, effects):
        name, *whose, effect, lower, upper = entry.values()
        cells = ["left out", ""] if np.isnan(effect) else [f"{effect:.4g}", _distance(effect, lower, upper)]
        table.add_row(_short(name), *(escape(str(one)) for one in whose), *cells)
    return table


def effect_lines(stored: StoredModel, effects: CovariateEffects | None) -> Iterator[dict[str, Any]]:
    """Yield what is known of each effect without a penalty."""
    if effects is None:
        return
    for j, name in enumerate(effects.name.tolist()):
        for task, whose in enumerate(_tasks(stored)):
            entry = {"name": name} | ({_whose(stored): str(whose)} if len(effects.effect) > 1 else {})
            yield entry | {part: float(getattr(effects, part)[task, j]) for part in ("effect", "lower", "upper")}


def _tasks(stored: StoredModel) -> list[Any]:
    """Return what each vector of weights is for: the classes, or the numbers of the targets."""
    if stored.is_regression:
        return list(range(len(stored.weights)))
    return [*stored.classes.tolist()][-len(stored.weights) :]  # of two classes, the second


def _whose(stored: StoredModel) -> str:
    return "target" if stored.is_regression else "class"


def _sentences(stored: StoredModel, count: int, label: str | None) -> str:
    if stored.is_regression:
        of = f" of target {label}" if label is not None else " of the target beside them"
        whose = f"Weights above 0 raise the prediction{of if len(stored.weights) > 1 else ''}. "
    elif len(stored.weights) > 1:
        whose = (
            f"Weights above 0 speak for {label}. "
            if label is not None
            else "Weights above 0 speak for the class beside them. "
        )
    else:
        whose = f"Weights above 0 speak for {label if label is not None else stored.classes[1]}. "
    if stored.centre is not None:
        whose += "They are weights of standardised columns. "
    if stored.penalty_factor is not None:
        whose += "They are multiplied by the root of the penalty factor of the column. "
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
    whose = "target " if stored.is_regression else ""
    return " of " + ", ".join(f"{whose}{label}" for label, one in zip(_tasks(stored), chosen, strict=True) if one)


def _short(text: str) -> str:
    return escape(_cut(text, _LONGEST))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


EXAMPLES = """[bold]Examples[/bold]

slimline features cohort.slim

slimline features cohort.slim --top 50 --label POP2 --csv top.csv

slimline features cohort.slim --top all --csv every_variant.tsv"""

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1
#: What the table of effects means.
_EFFECTS = (
    "Effects of covariates have no penalty. Those of the exact model of the training data are proved to be this near; "
    "that is no standard error."
)
#: `--top` for every column, and how many are shown then.
_ALL, _SHOWN = "all", 20


def features(
    model: options.ModelPath,
    top: Annotated[str, typer.Option(metavar="K|all", help="Number of features, by absolute weight.")] = str(_SHOWN),
    label: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="Class or target whose weights are listed, if there are several."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write them to a .csv or .tsv file.")] = None,
    json: options.JsonFile = None,
    force: options.Force = False,
) -> None:
    """List the features with the largest weights, each with certified bounds of its exact weight and rank."""
    from json import dumps

    from slimline._base.plain import plain
    from slimline.cli._output import (
        check_json_path,
        check_table_path,
        require_different,
        require_not_read,
        tables,
        write_json,
        write_table,
    )
    from slimline.estimators._decisions import ranking_of
    from slimline.estimators._persistence import restored_model
    from slimline.model_files import StoredModel

    check_json_path(json)
    check_table_path("--csv", csv, force)
    require_different(written := {"--csv": csv, "--json": json})
    require_not_read(written, (model,))
    if top == _ALL and csv is None and json is None:
        raise InvalidParameterError("all is too much to show: add --csv FILE or --json FILE.", "--top")
    stored = StoredModel.read(model)
    fitted = restored_model(stored, str(model))
    count = _count(top, stored.n_features)
    effects = None if fitted._free is None else fitted.covariate_effects()
    known = np.arange(len(stored.weights)) if stored.is_regression else stored.classes
    ranking = ranking_of(fitted.certificate_, known, _label(label, stored, known))
    head, lines = table_of(stored, ranking, count, proved=top != _ALL)
    if csv is not None:
        write_table(csv, head, lines())
    shown = min(count, _SHOWN) if top == _ALL else count
    console = tables(json if csv != Path("-") else Path("-"))
    console.print(features_view(stored, ranking, shown, label, effects))
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
            "effects": list(effect_lines(stored, effects)),
        }
        write_json(json, dumps(plain(record), indent=1, allow_nan=False))


def table_of(stored: StoredModel, ranking: Ranking, count: int, proved: bool) -> tuple[list[str], Any]:
    """Return the names of the columns of a table of features, and a function that makes its lines."""
    several, whose = len(stored.weights) > 1, [str(label) for label in _tasks(stored)]
    variants = {
        name: part
        for name in ("chromosome", "position", "allele1", "allele2")
        if (part := getattr(stored, name)) is not None
    }
    head = [
        "place",
        "name",
        *variants,
        *([_whose(stored)] if several else []),
        "weight",
        "lower",
        "upper",
        "coefficient",
    ]
    head += ["best_place", "worst_place", *(["proved_in_top"] if proved else [])]

    def lines() -> Iterator[list[Any]]:
        for place in range(count):
            j, weight = int(ranking.index[place]), float(ranking.weight[place])
            line: list[Any] = [place + 1, feature_name(stored, j)]
            line += [int(part[j]) if name == "position" else str(part[j]) for name, part in variants.items()]
            line += [whose[ranking.task[place]]] if several else []
            factor = 1.0 if stored.factor is None else float(stored.factor[j])
            if stored.penalty_factor is not None and stored.penalty_factor[j] == 0.0:
                factor = float("nan")  # an effect without a penalty, and no multiple of a weight
            line += [weight, float(ranking.lower[place]), float(ranking.upper[place]), weight * factor]
            line += [int(ranking.best[place]), int(ranking.worst[place])]
            yield [*line, bool(ranking.worst[place] <= count)] if proved else line

    return head, lines


def feature_name(stored: StoredModel, column: int) -> str:
    """Return the name of a column, x and its number where it has none."""
    return f"x{column}" if stored.feature_names is None else stored.feature_names[column]


def _count(text: str, n_features: int) -> int:
    if text == _ALL:
        return n_features
    if not text.isdecimal() or int(text) < 1:
        raise InvalidParameterError(f"must be a whole number, at least 1, or {_ALL}; got {text}.", "--top", text)
    return min(int(text), n_features)


def _label(text: str | None, stored: StoredModel, known: NDArray[Any]) -> Any:
    """Return the class, or the number of the target, that a text names."""
    if text is None:
        return None
    from slimline.cli._prediction_summary import class_numbers

    if stored.is_regression and len(known) == 1:
        raise InvalidParameterError("does not apply to a regression of one target.", "--label", text)
    number = int(class_numbers([text], known)[0])
    if number < 0:
        kind = "targets" if stored.is_regression else "classes"
        raise InvalidParameterError(
            f"must be one of the {kind} {', '.join(map(str, known))}; got {text}.", "--label", text
        )
    return known[number]
