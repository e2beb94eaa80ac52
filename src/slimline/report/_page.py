"""The page of a fit: one HTML file, from a template."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from slimline._base.text import counted
from slimline.data._write import NewFiles
from slimline.errors import InvalidParameterError
from slimline.report import _charts as charts
from slimline.report import _text as text
from slimline.report._held_out_records import Calibration, Curve, HeldOutTarget
from slimline.report._records import EffectFacts, FitReport, Search, StepFacts

if TYPE_CHECKING:
    from slimline.auditing import Audit
    from slimline.auditing._records import Preservation, Promise

#: Endings of the file of a page.
PAGE_ENDINGS = (".html", ".htm")
#: What no page may hold: control characters other than tab and line feed, and halves of surrogate pairs.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
#: Most effects that are drawn.
_MOST_EFFECTS = 60
#: Ratios of an audit are drawn up to this.
_FARTHEST_RATIO = 3.0


def fit_page(report: FitReport) -> str:
    """Return the report of a fit as one HTML page that needs nothing else.

    The page loads nothing, and its security policy allows no script but its own. Names from data are escaped.

    Parameters
    ----------
    report : FitReport
        From `fit_report`.

    Returns
    -------
    page : str
        HTML.
    """
    measured = report.held_out_targets if report.held_out is None else (report.held_out,)
    facts: dict[str, Any] = {
        "data": report.data,
        "model": report.model,
        "cost": report.cost,
        "held": report.held_out,
        "audit": report.audit,
        "plan": report.plan,
        "search": report.search,
        "features": report.features,
        "labels": [label for label, _ in report.data.classes],
        "targets": report.data.targets,
        "tasks": [target.name for target in report.data.targets] or [label for label, _ in report.data.classes],
        "regression": bool(report.data.targets),
        "kind": "regression" if report.data.targets else "classifier",
        "held_targets": report.held_out_targets,
        "effect_labels": list(dict.fromkeys(effect.label for effect in report.effects)),
        "prevalence": report.prevalence,
        "last": report.history[-1] if report.history else None,
        "refitted": any(held.trained_rows < report.data.n_rows for held in measured),
        "text": text.weight_text(report.features),
        "top": min(20, len(report.features)),
    }
    return rendered("page.html.j2", script=page_part("page.js"), report=report, **facts)


def write_fit_page(report: FitReport, path: str | Path) -> None:
    """Write the page of a fit, whole or not at all; an existing file is replaced.

    Parameters
    ----------
    report : FitReport
        From `fit_report`.
    path : str or path
        The file, which ends in .html.
    """
    path = check_page_path(path)
    page = fit_page(report).encode()
    with NewFiles([path], overwrite=True) as new:
        new.create(path).write(page)


def check_page_path(path: str | Path) -> Path:
    """Refuse a file that a page cannot be written to, before the work that leads to one."""
    path = Path(path)
    if path.suffix.lower() not in PAGE_ENDINGS:
        raise InvalidParameterError(f"{path}: the name of a page must end in {' or '.join(PAGE_ENDINGS)}.")
    if path.is_dir():
        raise InvalidParameterError(f"{path} is a folder: give the name of a file.")
    if not path.absolute().parent.is_dir():
        raise InvalidParameterError(f"{path}: there is no folder {path.parent}; make it first.")
    return path


def notebook_frame(report: FitReport) -> str:
    """Return the page in a frame of its own, so that its style stays in it and the notebook's outside."""
    frame = Markup(
        '<iframe srcdoc="{}" sandbox="allow-scripts" title="{}" '
        'style="width:100%;height:44rem;border:0;border-radius:6px"></iframe>'
    )
    return str(frame.format(fit_page(report), _FORBIDDEN.sub("\ufffd", report.title)))


def rendered(
    template: str, *, style: str = "", script: str = "", templates: BaseLoader | None = None, **facts: Any
) -> str:
    """Return a page made from a template that extends base.html.j2; `templates` has those of other packages."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = (
        environment(templates)
        .get_template(template)
        .render(
            style=Markup(page_part("page.css") + style),
            script=Markup(script),
            script_source=Markup(f"'sha256-{digest}'" if script else "'none'"),
            **facts,
        )
    )
    return _FORBIDDEN.sub("\ufffd", page)


@cache
def page_part(name: str) -> str:
    """Return a style sheet or script of the package."""
    return (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")


@cache
def environment(templates: BaseLoader | None = None) -> Environment:
    """Return the templates with the functions that they use; everything is escaped unless it is markup."""
    own = PackageLoader("slimline.report", "page")
    found = Environment(
        loader=own if templates is None else ChoiceLoader([templates, own]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {
        "percent": text.percent,
        "at_most": text.at_most,
        "number": text.number,
        "time": text.time_taken,
        "memory": text.memory,
        "area": text.area,
        "correlation": text.correlation,
        "tidy": text.tidy,
        "number_up": text.number_up,
        "score": text.score,
        "score_of": score_of,
    }
    found.globals |= {"infinity": math.inf, "number_text": text.number, "min": min, "max": max}
    found.globals["counted"] = counted
    for module, names in (
        (text, "area at_most count_sentence interval_text memory number_up percent places"),
        (text, "spread state_of variant weight_text"),
        (charts, "count_axis effect_axis line linear_axis log_axis points rise share_axis small_share_axis"),
        (charts, "spans weight_axis"),
    ):
        found.globals |= {name: getattr(module, name) for name in names.split()}
    own_functions = (
        drawable, effect_rows, extremes, guarantees_of, hardest, largest, largest_share, mean, mistakes, odds_ratio,
        ratio_axis, residuals, score_axis, score_name, scores_of, worst_calibrated,
    )  # fmt: skip
    found.globals |= {function.__name__: function for function in own_functions}
    return found


# What the templates ask for ------------------------------------------------------------------------


def largest(amount: int) -> str:
    """Return a number of largest weights: "largest weight", "5 largest weights"."""
    return "largest weight" if amount == 1 else counted(amount, "largest weight")


def drawable(steps: Sequence[StepFacts], tol: float) -> list[float]:
    """Return certified errors for a logarithmic axis, which has no place for 0."""
    least = min((step.relative_error for step in steps if step.relative_error > 0.0), default=tol) / 10.0
    return [max(step.relative_error, least) for step in steps]


def hardest(curves: Sequence[Curve]) -> int:
    """Return the number of the curve with the smallest area."""
    return min(range(len(curves)), key=lambda place: curves[place].area)


def worst_calibrated(calibrations: Sequence[Calibration]) -> int:
    """Return the number of the class with the largest calibration error."""
    return max(range(len(calibrations)), key=lambda place: calibrations[place].error)


def largest_share(calibrations: Sequence[Calibration]) -> float:
    """Return the largest probability or share that a chart of calibrations shows."""
    alone = len(calibrations) == 1  # several are drawn without intervals
    return max(max(part.predicted, part.high if alone else part.observed) for one in calibrations for part in one.bins)


def effect_rows(effects: Sequence[EffectFacts]) -> list[EffectFacts]:
    """Return the effects for one standard deviation of each covariate; none if there are too many to draw."""
    rows = [
        replace(one, effect=one.effect * size, lower=one.lower * size, upper=one.upper * size)
        for one in effects
        if one.known and (size := one.deviation)
    ]
    return rows if len(rows) <= _MOST_EFFECTS else []


def odds_ratio(effect: EffectFacts) -> tuple[str, str]:
    """Return the ends of the interval of an odds ratio."""
    with np.errstate(over="ignore"):
        value, low, high = (float(np.exp(end)) for end in (effect.effect, effect.lower, effect.upper))
    return text.interval_text(value, low, high)[1:]


def residuals(held: HeldOutTarget) -> tuple[float, ...]:
    """Return observed minus predicted of the points of a chart."""
    return tuple(observed - predicted for observed, predicted in zip(held.observed, held.predicted, strict=True))


def score_of(held: HeldOutTarget) -> float:
    """Return R² of the model; NaN where the target is constant."""
    return math.nan if held.r2 is None else held.r2.value


def mistakes(labels: Sequence[str], confusion: Sequence[Sequence[int]]) -> list[tuple[int, str, str, float]]:
    """Return the mistakes, the most frequent first: samples, class, label given, share of the class."""
    found = [
        (count, labels[i], labels[j], count / sum(row))
        for i, row in enumerate(confusion)
        for j, count in enumerate(row)
        if i != j and count
    ]
    return sorted(found, key=lambda mistake: -mistake[0])


def scores_of(search: Search) -> list[tuple[float, float, float]]:
    """Return C, mean score and deviation of each value that was tried."""
    return list(zip(search.penalties, search.scores, search.deviations, strict=True))


def score_axis(search: Search) -> charts.Axis:
    """Return an axis for scores with their deviations."""
    ends = [end for _, score, deviation in scores_of(search) for end in (score - deviation, score + deviation)]
    shares = all(0.0 <= score <= 1.0 for score in search.scores)
    return charts.linear_axis(score_name(search), ends, room=0.08, within=(0.0, 1.0) if shares else None)


def score_name(search: Search) -> str:
    """Return what the values of C were compared by."""
    return f"mean {search.scoring}" if search.folds > 1 else search.scoring


def ratio_axis(audit: Audit, shown: Sequence[Preservation]) -> charts.Axis:
    """Return an axis for the ratios after to before of an audit."""
    ratios = [min(float(ratio), _FARTHEST_RATIO) for kept in shown for ratio in kept.ratios]
    return charts.linear_axis("after / before", [1.0 - audit.eps, 1.0 + audit.eps, *ratios], most=4, room=0.06)


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return float(np.mean(values))


def extremes(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the least, the median and the largest of those values that are known."""
    known = [float(value) for value in values if not math.isnan(value)] or [math.nan]
    return min(known), float(np.median(known)), max(known)


def guarantees_of(audit: Audit) -> list[tuple[str, Promise, str, str]]:
    """Return what theorems and laws say of an audit: subject, statement, measured, and the range ("" for none)."""
    measured = [(kept.name, kept.after, kept.promises) for kept in (*audit.margins, audit.ball, audit.embedding)]
    measured += [(f"largest change of {pairs.name}", pairs.largest, pairs.promises) for pairs in audit.pairs]
    return [
        (what, promise, text.spread(values), _range(promise))
        for what, values, promises in measured
        for promise in promises
    ]


def _range(promise: Promise) -> str:
    low, high = (None if end is None else text.number(end) for end in (promise.low, promise.high))
    if low is not None and high is not None:
        return f"{low} to {high}"
    return "" if low is high else f"at most {high}" if low is None else f"at least {low}"
