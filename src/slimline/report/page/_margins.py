"""Sections on margins and on guarantees."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from slimline.auditing import Audit
from slimline.auditing._records import Frequency, PairsKept, Preservation, Promise
from slimline.planning import Plan
from slimline.report._records import FitReport
from slimline.report.page._charts import (
    SIDE,
    Axis,
    Key,
    Point,
    box,
    chart,
    dot,
    drawn,
    linear_axis,
    path,
    share_axis,
    thinned,
)
from slimline.report.page._html import (
    Column,
    Content,
    Html,
    Section,
    element,
    joined,
    paragraph,
    proved,
    table,
    unfolding,
)
from slimline.report.page._words import at_most, counted, memory, number, percent, spread, tidy, time_taken

_OUTCOMES = {
    "kept": ("kept", "The projection kept what tells the classes apart."),
    "shrunk": ("shrunk", "The projection kept the classes apart, with less room between them."),
    "lost": ("lost", "The projection lost some of what tells the classes apart."),
}
#: Height of a strip of dots, and its middle.
_HEIGHT, _MIDDLE = 20.0, 10.0
#: Ratios are drawn up to this.
_FARTHEST = 3.0
#: Sentences of the verdict that are shown at once.
_SAID = 3
#: Draws of which each has its dot.
_DOTS = 60


def margins_section(report: FitReport) -> Section | None:
    """Return what the projection did to margins and distances."""
    audit = report.audit
    if audit is None:
        return None
    name, said = _OUTCOMES.get(audit.outcome, (audit.outcome, ""))
    if not audit.n_classes:
        said = ""
    of = (
        f"{audit.n_rows:,} of {audit.n_samples:,} rows"
        if audit.n_rows < audit.n_samples
        else counted(audit.n_rows, "row")
    )
    intro = paragraph(
        element("span", name, class_=f"outcome {name}"),
        f" {said} Measured on {of}, with {counted(audit.repeats, 'independent draw')} of a projection "
        f"({audit.family}) from {counted(audit.n_features, 'column')} to {audit.n_components:,}. A margin is the room "
        "between a row and the plane that parts the classes; below 0 the row is on the wrong side. The certificate "
        "needs none of this: it is found after the fit, on all columns.",
    )
    verdict, more = (
        element("ul", [element("li", tidy(sentence)) for sentence in part], class_="verdict") if part else None
        for part in (audit.verdict[:_SAID], audit.verdict[_SAID:])
    )
    notes = [paragraph(tidy(note)) for note in audit.notes]
    curve = _curve(audit) if len(audit.cosines_before) and audit.cosines_before.any() else None
    parts = joined(
        intro, verdict, curve, _ratios(audit), unfolding("All that was measured", _table(audit), more, notes)
    )
    return Section("margins", "Margins before and after the projection", "Margins", parts)


def _curve(audit: Audit) -> Html:
    before, after = np.sort(audit.cosines_before), np.sort(audit.cosines_after)
    title = (
        "cosine with the separator of before" if audit.n_classes == 2 else "least lead over another class, in cosines"
    )
    x = linear_axis(f"{title}; left of 0 is the wrong side", [0.0, *before[[0, -1]], *after[[0, -1]]], room=0.04)
    y = share_axis("share of the rows that are at most there")
    lost = [int(np.sum(values <= 0.0)) for values in (before, after)]
    shapes = [
        box(0.0, 0.0, x.along(0.0), SIDE, "shade orange"),
        path([(x.along(0.0), 0.0), (x.along(0.0), SIDE)], "zero"),
        path(_rise(x, before), "line ink thick"),
        path(_rise(x, after), "line blue thick"),
    ]
    caption = f"On the wrong side: {lost[0]:,} of {len(before):,} rows before, {lost[1]:,} after the first draw"
    if audit.wrong_side is not None:
        caption += (
            f"; {number(float(np.mean(audit.wrong_side.after)))} on average over the draws, where the exact law of a "
            f"Gaussian projection expects {number(audit.wrong_side.predicted)}"
        )
    caption += ". The plane is the one chosen before; after the projection there is a better one, which a fit finds."
    says = (
        "Share of the rows against their margin, before and after the first draw. Wrong side: "
        f"{lost[0]} of {len(before)} rows before, {lost[1]} after. Median margin "
        f"{number(float(np.median(before)))} before, {number(float(np.median(after)))} after."
    )
    key = [
        Key("line", "ink", "before"),
        Key("line", "blue", "after, first draw"),
        Key("area", "orange", "wrong side"),
    ]
    return chart(x, y, shapes, says, "Margins of the rows, about the same separator", caption, key=key)


def _rise(x: Axis, values: Sequence[float] | np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[Point]:
    """Return how the share of values that are at most there rises from 0 to 1."""
    n = len(values)
    points = [(0.0, SIDE)]
    for place, value in enumerate(values):
        across = x.along(float(value))
        points += [(across, SIDE * (1 - place / n)), (across, SIDE * (1 - (place + 1) / n))]
    return thinned([*points, (SIDE, 0.0)])


def _ratios(audit: Audit) -> Html | None:
    shown = [kept for kept in (*audit.margins, audit.ball) if kept.before > 0.0]
    if not shown:
        return None
    ends = [1.0 - audit.eps, 1.0 + audit.eps, *(min(float(r), _FARTHEST) for kept in shown for r in kept.ratios)]
    axis = linear_axis("after / before", ends, most=4, room=0.06)
    rows = [
        element(
            "li",
            element("span", kept.name, class_="who", title=kept.about),
            element("div", _strip(kept, axis, audit.eps), class_="track"),
            element("span", _held(kept.within), class_="held"),
            class_="ratio",
        )
        for kept in shown
    ]
    ticks = [element("span", said, style=f"left:{100 * axis.share(at):.2f}%") for at, said in axis.ticks]
    least = "; ".join(f"{kept.name}: {spread([float(r) for r in kept.ratios])}" for kept in shown)
    within = f"1 ± {number(audit.eps)}"
    return element(
        "figure",
        element("h3", "How much of each is left after the projection"),
        element(
            "ul",
            element("li", element("span", class_="swatch dot blue", aria_hidden="true"), "one draw"),
            element("li", element("span", class_="swatch area grey", aria_hidden="true"), f"within {within}"),
            class_="key",
        ),
        element(
            "div",
            element("ul", rows, class_="ratios"),
            element("div", element("div", ticks, class_="x-ticks"), class_="ratio-ticks"),
            role="img",
            aria_label=f"Ratios after to before in {counted(audit.repeats, 'draw')}. {least}.",
        ),
        element("figcaption", f"After / before, and in how many draws that was within {within}. 1 is no change."),
        class_="chart ratio-chart",
    )


def _strip(kept: Preservation, axis: Axis, eps: float) -> Html:
    values = sorted(float(value) for value in kept.ratios)
    if len(values) > _DOTS:
        values = [values[round(k * (len(values) - 1) / (_DOTS - 1))] for k in range(_DOTS)]
    one = axis.along(1.0)
    return drawn(
        box(axis.along(1.0 - eps), 0.0, axis.along(1.0 + eps), _HEIGHT, "shade"),
        path([(one, 0.0), (one, _HEIGHT)], "zero"),
        [dot(axis.along(value), _MIDDLE, "blue faint") for value in values],
        height=_HEIGHT,
    )


def _held(found: Frequency | None) -> str:
    return "" if found is None else f"{found.held}/{found.draws}"


def _table(audit: Audit) -> Html:
    columns = [
        Column("what", wide=True),
        Column("before", numeric=True),
        Column("after, least", numeric=True),
        Column("median", numeric=True),
        Column("most", numeric=True),
        Column("stayed above 0", numeric=True),
        Column(f"within {number(audit.eps)}", numeric=True),
    ]
    rows: list[list[Content]] = [_kept_row(kept) for kept in (*audit.margins, audit.ball, audit.embedding)]
    rows += [_pairs_row(pairs) for pairs in audit.pairs]
    sentences = [
        f"Of all pairs, {percent(float(np.mean(pairs.share_within)))} had {pairs.name} within {number(audit.eps)}"
        + (f" ({percent(pairs.predicted)} by the exact law)." if pairs.predicted is not None else ".")
        for pairs in audit.pairs
        if pairs.n_pairs
    ]
    more = element("ul", [element("li", sentence) for sentence in sentences], class_="plain")
    return joined(table("Before the projection and after its draws", columns, rows), more if sentences else None)


def _kept_row(kept: Preservation) -> list[Content]:
    return [
        joined(kept.name, element("small", f" {kept.about}") if kept.about else None),
        number(kept.before),
        *_three(kept.after),
        _of(kept.positive),
        _of(kept.within),
    ]


def _pairs_row(pairs: PairsKept) -> list[Content]:
    name = joined(f"largest change of {pairs.name}", element("small", f" {pairs.about}") if pairs.about else None)
    return [name, "", *_three(pairs.largest), "", _of(pairs.all_within)]


def _three(values: Sequence[float]) -> list[str]:
    kept = [value for value in values if not math.isnan(value)] or [math.nan]
    return [number(min(kept)), number(float(np.median(kept))), number(max(kept))]


def _of(found: Frequency | None) -> str:
    return "" if found is None else f"{found.held} of {found.draws}"


def promises_section(report: FitReport) -> Section | None:
    """Return what was promised beside what was measured."""
    parts: list[Content] = []
    if report.audit is not None:
        parts += [_promises(report.audit), _certain(report.audit)]
    if report.plan is not None:
        parts += [_planned(report, report.plan), _guarantees(report.plan)]
    if not parts:
        return None
    intro = paragraph(
        "Theorems on random projections promise what holds for any data; the exact law says what a Gaussian projection "
        "does on average. Neither is needed for what this page calls ",
        proved(),
        ", which was calculated for these data.",
    )
    return Section("promises", "What theory promised, and what was measured", "Theory", joined(intro, parts))


def _promises(audit: Audit) -> Html | None:
    rows: list[list[Content]] = []
    silent: list[Content] = []
    for kept in (*audit.margins, audit.ball, audit.embedding):
        for promise in kept.promises:
            _sort_in(promise, kept.name, spread(kept.after), rows, silent)
    for pairs in audit.pairs:
        for promise in pairs.promises:
            _sort_in(promise, f"largest change of {pairs.name}", spread(pairs.largest), rows, silent)
    columns = [
        Column("what", wide=True),
        Column("who says so", wide=True),
        Column("promised", numeric=True),
        Column("measured", numeric=True),
        Column("held in", numeric=True),
        Column("chance to fail, at most", numeric=True),
    ]
    said = f"At {audit.n_components:,} dimensions: promised, and measured in {counted(audit.repeats, 'draw')}"
    if not rows and not silent:
        return None
    return joined(
        element("h3", "Promises about the projection"),
        table(said, columns, rows)
        if rows
        else paragraph("At this dimension no theorem promises anything of these data."),
        unfolding(
            f"{counted(len(silent), 'theorem')} that {'says' if len(silent) == 1 else 'say'} nothing at this dimension",
            element("ul", [element("li", line) for line in silent]),
        )
        if silent
        else None,
    )


def _sort_in(promise: Promise, what: str, measured: str, rows: list[list[Content]], silent: list[Content]) -> None:
    statement = tidy(promise.statement.rstrip("."))
    note = f"; {promise.note.rstrip('.')}" if promise.note else ""
    who = joined(f"{promise.kind} ", element("code", promise.bound), element("small", f"{statement}{note}."))
    if promise.low is None and promise.high is None:
        said_already = promise.needed is None or f"{promise.needed:,}" in promise.note
        needed = "" if said_already else f" It would take {promise.needed:,} dimensions."
        silent.append(joined(element("code", promise.bound), f" ({what}): {statement}{note}.{needed}"))
        return
    chance = percent(promise.delta) if promise.predicted is None else percent(min(1.0, promise.predicted))
    rows.append([what, who, _range(promise), measured, _of(promise.frequency), chance])


def _range(promise: Promise) -> str:
    if promise.low is not None and promise.high is not None:
        return f"{number(promise.low)} to {number(promise.high)}"
    return f"at least {number(promise.low)}" if promise.low is not None else f"at most {number(promise.high or 0.0)}"


def _certain(audit: Audit) -> Html | None:
    if not audit.brackets:
        return None
    columns = [
        Column("certain once the embedding error is known", wide=True),
        Column("held in", numeric=True),
        Column("how near to its end", numeric=True),
    ]
    rows: list[list[Content]] = [
        [
            joined(element("code", check.bound), f" {check.about}"),
            f"{check.held} of {check.draws}",
            percent(check.nearest) if math.isfinite(check.nearest) else "not known",
        ]
        for check in audit.brackets
    ]
    return unfolding(
        "Statements that are certain, draw by draw", table("These can only fail through a mistake", columns, rows)
    )


def _planned(report: FitReport, plan: Plan) -> Html:
    choice, last = plan.choice, report.history[-1] if report.history else None
    columns = [Column("the fit"), Column("planned", numeric=True), Column("measured", numeric=True)]
    model = report.model
    rows: list[list[Content]] = [
        ["way", choice.label, model.method],
        ["columns of the sketch", _or_none(choice.n_components), _or_none(model.n_components)],
        ["passes over the data", f"{choice.passes:,}", "" if last is None else f"{last.passes:,}"],
        ["time", time_taken(choice.seconds), "" if last is None else time_taken(last.seconds)],
        [
            "memory",
            memory(choice.nbytes),
            "" if report.cost.peak_bytes is None else f"{memory(report.cost.peak_bytes)}, whole process",
        ],
    ]
    for steps, error in plan.errors.items():
        reached = report.history[steps - 1].relative_error if 0 < steps <= len(report.history) else None
        said = "stopped before" if reached is None else at_most(reached)
        rows.append([f"certified error after {counted(steps, 'step')}", at_most(error), said])
    said = joined(
        element("h3", "The plan"),
        paragraph(tidy(plan.advice)),
        table(f"What the plan foretold, made from {plan.source}", columns, rows),
    )
    return said


def _or_none(amount: int) -> str:
    return f"{amount:,}" if amount else "none"


def _guarantees(plan: Plan) -> Html | None:
    if not plan.guarantees:
        return None
    columns = [
        Column("keeps", wide=True),
        Column("dimensions asked for", numeric=True),
        Column("fewer than columns?"),
        Column("as printed", numeric=True),
        Column("exact law asks for", numeric=True),
    ]
    rows: list[list[Content]] = [
        [
            joined(row.about, element("small", f" {row.kind} ", element("code", row.name), f" {row.note}".rstrip())),
            "does not speak of this" if row.dimension is None else f"{row.dimension:,}",
            "" if row.dimension is None else "yes" if row.below_features else "no",
            "" if row.printed is None else f"{row.printed:,}",
            "" if row.exact is None else f"{row.exact:,}",
        ]
        for row in plan.guarantees
    ]
    said = (
        f"What each guarantee asks for, at distortion {number(plan.eps)} and failure probability {number(plan.delta)}; "
        f"there are {plan.n_features:,} columns"
    )
    return unfolding("How many dimensions each theorem asks for", table(said, columns, rows))
