"""Section: what theorems and the plan promised, beside what was measured."""

from __future__ import annotations

import math

from slimline.auditing import Audit
from slimline.auditing.records import Frequency, Promise
from slimline.planning import Plan
from slimline.report.fit_record import FitReport
from slimline.report.page.html import Content, Html, element, joined
from slimline.report.page.proved import proved
from slimline.report.page.section import Column, Section, paragraph, table, unfolding
from slimline.report.page.words import at_most, counted, memory, number, percent, spread, tidy, time_taken


def promises_section(report: FitReport) -> Section | None:
    """Return what was promised beside what was measured.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    section : Section or None
        None where there is neither plan nor audit.
    """
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


def _of(found: Frequency | None) -> str:
    return "" if found is None else f"{found.held} of {found.draws}"


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
