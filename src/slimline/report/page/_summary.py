"""Sections on the summary, the search over C, the cost, and how the fit was made."""

from __future__ import annotations

import math

from slimline.report._records import FitReport, HeldOut, Search
from slimline.report.page._charts import SIDE, Key, Mark, box, chart, dot, drawn, linear_axis, log_axis, path
from slimline.report.page._features import default_top, variant
from slimline.report.page._html import (
    Column,
    Content,
    Html,
    Section,
    element,
    facts,
    joined,
    named,
    paragraph,
    proved,
    standing_note,
    table,
    unfolding,
)
from slimline.report.page._words import NARROW, at_most, counted, largest, memory, number, penalty, percent, time_taken

#: Columns that are named.
_NAMED = 5
#: Height of the strip that shows the share of right labels, and its middle.
_HEIGHT, _MIDDLE = 24.0, 12.0


def summary(report: FitReport) -> Html:
    """Return the first lines of the page, below its heading."""
    answers = [_how_good(report), _which_columns(report), _how_sure(report), _how_long(report)]
    notes = element(
        "aside",
        element("h2", "Worth knowing"),
        element("ul", [element("li", note) for note in report.notes]),
        class_="notes",
    )
    return joined(element("div", answers, class_="answers"), standing_note(), notes if report.notes else None)


def accuracy_words(held_out: HeldOut) -> Html:
    """Return how good the model is beside always naming one class."""
    return joined(
        f"{percent(held_out.accuracy)} right on {counted(held_out.n_rows, 'row')} it never saw; always naming ‘",
        named(held_out.majority_label),
        f"’ gets {percent(held_out.majority_rate)}.",
    )


def _answer(name: str, title: str, figure: Content, *said: Content) -> Html:
    return element(
        "section",
        element("h2", title),
        None if figure is None else element("p", figure, class_="figure"),
        said,
        class_="answer",
        id=name,
    )


def _how_good(report: FitReport) -> Html:
    title = "How good is it?"
    held_out = report.held_out
    if held_out is None:
        return _answer(
            "how-good",
            title,
            "Not measured",
            element("p", "No rows were held out, so nothing here says how the model does on rows it has not seen."),
        )
    sure = f"{percent(held_out.low)} to {percent(held_out.high)}"
    comparison = None
    if held_out.high < held_out.majority_rate:
        comparison = "It is worse than always naming that class."
    elif held_out.worse_than_majority and held_out.scoring == "balanced_accuracy":
        comparison = "Averaged over the classes, it is no better than always naming one of them."
    elif held_out.worse_than_majority:
        comparison = "It is no better than always naming that class."
    elif held_out.low <= held_out.majority_rate:
        comparison = f"{counted(held_out.n_rows, 'row')} cannot tell it from always naming that class."
    return _answer(
        "how-good",
        title,
        percent(held_out.accuracy),
        element("p", accuracy_words(held_out)),
        _strip(held_out),
        element("p", f"With 95{NARROW}% confidence: {sure}.", class_="aside"),
        element(
            "p",
            f"Measured after training on the other {held_out.trained_rows:,} rows; then trained on all "
            f"{report.data.n_rows:,}.",
            class_="aside",
        )
        if held_out.trained_rows < report.data.n_rows
        else None,
        None if comparison is None else element("p", comparison, class_="warning"),
    )


def _strip(held_out: HeldOut) -> Html:
    """Return the share of right labels on a line from 0 to 100 %, with its interval and the majority's share."""
    at, low, high = (SIDE * share for share in (held_out.accuracy, held_out.low, held_out.high))
    major = SIDE * held_out.majority_rate
    shapes = [
        box(0.0, _MIDDLE - 1.5, SIDE, _MIDDLE + 1.5, "rail"),
        box(low, _MIDDLE - 5.0, high, _MIDDLE + 5.0, "fill blue"),
        path([(major, 1.0), (major, _HEIGHT - 1.0)], "line ink thick"),
        dot(at, _MIDDLE, "big blue"),
    ]
    words = element("div", element("span", f"0{NARROW}%"), element("span", f"100{NARROW}%"), class_="ends")
    says = (
        f"On a line from 0 to 100 percent: right labels {percent(held_out.accuracy)}, 95 percent interval "
        f"{percent(held_out.low)} to {percent(held_out.high)}; always naming one class "
        f"{percent(held_out.majority_rate)}."
    )
    legend = element("p", "dot: this model, with its interval; bar: always naming one class", class_="aside small")
    return joined(
        element("div", drawn(shapes, height=_HEIGHT), words, class_="strip", role="img", aria_label=says), legend
    )


def _which_columns(report: FitReport) -> Html:
    title = "Which columns matter?"
    if not report.features:
        return _answer("which-columns", title, None, element("p", "No weights were told."))
    items = []
    for feature in report.features[:_NAMED]:
        where = variant(feature)
        items.append(
            element(
                "li", element("span", named(feature.name), class_="name"), element("small", where) if where else None
            )
        )
    shown = len(items)
    return _answer(
        "which-columns",
        title,
        None,
        element("ol", items, class_="names"),
        element(
            "p",
            f"The {largest(shown)}, of {counted(report.data.n_features, 'column')}. ",
            element("a", f"See {len(report.features)} with their intervals", href="#columns")
            if len(report.features) > shown
            else None,
        ),
    )


def _how_sure(report: FitReport) -> Html:
    title = "How sure is that?"
    error, k = report.relative_error, default_top(report)
    lines: list[Html] = []
    if math.isfinite(error):
        figure: Content = joined(element("small", "at most "), at_most(error))
        worst = ", whatever the class" if len(report.model.relative_error) > 1 else ""
        lines.append(
            element(
                "li",
                "This is how far the weights, taken together, can be from the exact model’s",
                worst,
                ": ",
                proved(),
                ".",
            )
        )
    else:
        figure = "No bound"
        lines.append(
            element(
                "li",
                "Nothing is ",
                proved(),
                " of the weights taken together: the bound on their error is larger than they are. A smaller C, scaled "
                "columns or more passes would help.",
            )
        )
    if k:
        sure = len(report.proved_among(k))
        if k == 1:
            said = f"The top column is {'' if sure else 'not '}", " to be the exact model’s."
        else:
            there = "All" if sure == k else f"{sure:,}" if sure else "None"
            said = (
                f"{there} of the top {k} columns {'is' if sure == 1 else 'are'} ",
                f" to be in the exact model’s top {k}.",
            )
        lines.append(element("li", said[0], proved(), said[1]))
    if report.held_out is not None:
        lines.append(
            element(
                "li",
                f"{percent(report.held_out.proved)} of the held-out labels are ",
                proved(),
                " to be the exact model’s.",
            )
        )
    return _answer("how-sure", title, figure, element("ul", lines, class_="plain"))


def _how_long(report: FitReport) -> Html:
    cost = report.cost
    fit, passes = cost.fit, counted(cost.passes, "pass", "passes")
    lines = [f"{passes} over the data, {counted(cost.threads, 'thread')}"]
    if fit is not None:
        own = counted(fit.passes, "pass", "passes")
        lines[0] = f"the fit: {own} over the data, {counted(cost.threads, 'thread')}"
        lines.append(f"with everything on this page {time_taken(cost.seconds)}, {passes}")
    if cost.peak_bytes is not None:
        lines.append(f"{memory(cost.peak_bytes)} of memory at most")
    if report.data.nbytes is not None:
        lines.append(f"data of {memory(report.data.nbytes)}")
    if cost.resumed:
        lines.append("continued after a stop: this is the time of the rest")
    return _answer(
        "how-long", "How long did it take?", time_taken(cost.seconds if fit is None else fit.seconds),
        element("ul", [element("li", line) for line in lines], class_="plain"),
    )  # fmt: skip


def cost_section(report: FitReport) -> Section:
    """Return time, passes and memory."""
    cost = report.cost
    columns = [
        Column("what was done"),
        Column("passes", numeric=True),
        Column("time", numeric=True),
        Column("share of the time"),
    ]
    whole = cost.seconds
    rows: list[list[Content]] = [
        [
            phase.name,
            f"{phase.passes:,}",
            time_taken(phase.seconds),
            _bar(phase.seconds / whole if whole > 0.0 else 0.0),
        ]
        for phase in cost.phases
    ]
    rows.append(["all", f"{cost.passes:,}", time_taken(whole), ""])
    room = (
        "The system did not tell how much memory that took"
        if cost.peak_bytes is None
        else f"At most {memory(cost.peak_bytes)} of memory"
    )
    beside = "" if report.data.nbytes is None else f", for data of {memory(report.data.nbytes)}"
    said = f"{room}{beside}; {counted(cost.threads, 'thread')}."
    if cost.resumed:
        said += " The run went on from where an earlier one had stopped: times and passes are those of the rest."
    body = joined(table("Passes over the data and time", columns, rows, total=True), paragraph(said))
    return Section("cost", "What it cost", "Cost", body)


def _bar(share: float) -> Html:
    return element(
        "span",
        drawn(box(0.0, 0.0, SIDE * share, 10.0, "fill blue solid"), height=10.0),
        element("span", percent(share), class_="visually-hidden"),
        class_="share-bar",
    )


#: Classes that are named in a line; of more there is a table.
_NAMED_PARAMETERS = 6


def trained_section(report: FitReport) -> Section:
    """Return what was trained, and on what."""
    data, model = report.data, report.model
    known: list[tuple[str, Content]] = [
        ("data", named(data.name)),
        ("rows and columns", f"{data.n_rows:,} × {data.n_features:,}"),
        ("classes", _classes(data.classes)),
        ("labels", data.labels or "as given"),
        ("rows left out", f"{data.left_out:,}, which had no label" if data.left_out else "none"),
        ("columns centred and scaled", "yes" if data.standardised else "no"),
        ("size as stored", "not known" if data.nbytes is None else memory(data.nbytes)),
        ("fingerprint", element("code", data.fingerprint)),
    ]
    fitted: list[tuple[str, Content]] = [
        ("loss", model.loss.replace("_", " ")),
        ("C", number(model.C, 4)),
        ("certified error", f"at most {at_most(report.relative_error, exactly=True)}; asked for {at_most(model.tol)}"),
        ("distance from the exact weights", f"at most {number(max(model.radius))}"),
        ("way", joined(model.method, f", because {model.reason}" if model.reason else None)),
        (
            "projection",
            f"{model.projection}, to {counted(model.n_components, 'column')}" if model.projection else "none",
        ),
        ("intercept", "yes" if model.intercept else "no"),
        ("weights of the classes", model.class_weight or "none"),
    ]
    body = element(
        "div",
        element("div", element("h3", "The data"), facts(known)),
        element("div", element("h3", "The model"), facts(fitted)),
        class_="pair",
    )
    return Section("trained", "What was trained, and on what", "Data and model", joined(body, _class_table(report)))


def _classes(classes: tuple[tuple[str, int], ...]) -> Html:
    if len(classes) > _NAMED_PARAMETERS:
        return joined(f"{len(classes)}, listed below")
    return joined(
        [joined(", " if place else "", named(label), f" ({rows:,})") for place, (label, rows) in enumerate(classes)]
    )


def _class_table(report: FitReport) -> Html | None:
    if len(report.data.classes) <= _NAMED_PARAMETERS:
        return None
    columns = [Column("class"), Column("training rows", numeric=True), Column("share", numeric=True)]
    total = max(1, sum(rows for _, rows in report.data.classes))
    rows: list[list[Content]] = [[named(label), f"{n:,}", percent(n / total)] for label, n in report.data.classes]
    return unfolding(f"The {len(rows)} classes", table("Training rows of each class", columns, rows))


def reproduce_section(report: FitReport) -> Section:
    """Return how to get the same again."""
    made = report.reproduction
    parts: list[Content] = []
    for title, text in (("On the command line", made.command), ("In Python", made.python)):
        if text:
            code = element("pre", element("code", text), tabindex=0, role="region", aria_label=title)
            parts += [element("h3", title), code]
    if not parts:
        parts.append(paragraph("How it was called was not recorded."))
    seed = "none was set: another run draws other random numbers" if made.seed is None else str(made.seed)
    pairs: list[tuple[str, Content]] = [("seed", seed), ("made", _moment(made.made))]
    pairs += [(name, version) for name, version in made.versions]
    return Section("reproduce", "How to get the same again", "Reproduce", joined(parts, facts(pairs)))


def _moment(text: str) -> Html:
    return element("time", text.replace("T", " ", 1), datetime=text)


def left_out(report: FitReport) -> Html | None:
    """Return one sentence for each part that a reader might look for in vain."""
    missing = []
    if not report.features:
        missing.append("Weights of single columns were not recorded.")
    if not report.history:
        missing.append("How the certified error fell was not recorded.")
    if report.held_out is None:
        missing.append("There are no curves and no table of mistakes, because no rows were held out.")
    if report.audit is None:
        why = "have nothing to tell, because no projection was used"
        if report.model.n_components:
            why = "were not measured: slimline fit --audit does"
        missing.append(f"Margins before and after the projection {why}.")
    if report.plan is None:
        missing.append("There is no comparison with a plan, because none was made.")
    if report.search is None:
        missing.append(f"There was no search for a penalty: {penalty(report.model.C)} was given.")
    if not missing:
        return None
    return element("p", element("strong", "Not on this page. "), " ".join(missing), class_="left-out")


def search_section(report: FitReport) -> Section | None:
    """Return the score against C."""
    search = report.search
    if search is None or not search.penalties:
        return None
    chosen = report.model.C
    intro = paragraph(
        f"C says how closely the model follows the training rows: the larger, the closer. "
        f"{counted(len(search.penalties), 'value')} were tried by cross-validation in {counted(search.folds, 'fold')}, "
        f"compared by {search.scoring}. Chosen was {penalty(chosen)}.",
    )
    rows: list[list[Content]] = [
        [joined(number(C), " (chosen)" if chosen == C else None), number(score, 4), number(deviation, 2)]
        for C, score, deviation in zip(search.penalties, search.scores, search.deviations, strict=True)
    ]
    columns = [Column("C"), Column(f"mean {search.scoring}", numeric=True), Column("deviation", numeric=True)]
    whole = unfolding(
        "The scores as a table", table("Mean score over the folds, and its standard deviation", columns, rows)
    )
    return Section("penalty", "How the penalty was chosen", "Penalty", joined(intro, _figure(search, chosen), whole))


def _figure(search: Search, chosen: float) -> Html:
    tried = list(zip(search.penalties, search.scores, search.deviations, strict=True))
    ends = [end for _, score, deviation in tried for end in (score - deviation, score + deviation)]
    x = log_axis("C (log scale)", [*search.penalties, chosen])
    shares = all(0.0 <= score <= 1.0 for score in search.scores)  # as nearly all scores are
    y = linear_axis(f"mean {search.scoring}", ends, room=0.08, within=(0.0, 1.0) if shares else None)
    line = x.along(chosen)
    shapes = [path([(line, 0.0), (line, SIDE)], "line orange dashed")]
    finite = [(C, score, deviation) for C, score, deviation in tried if math.isfinite(score)]
    shapes += [
        path([(x.along(C), y.down(score - deviation)), (x.along(C), y.down(score + deviation))], "line blue faint wide")
        for C, score, deviation in finite
        if math.isfinite(deviation)
    ]
    if len(finite) > 1:
        shapes.append(path([(x.along(C), y.down(score)) for C, score, _ in finite], "line blue"))
    shapes += [dot(x.along(C), y.down(score), "blue") for C, score, _ in finite]
    best = max((score for _, score, _ in finite), default=math.nan)
    says = (
        f"Mean {search.scoring} against C, on a logarithmic scale from {number(search.penalties[0])} to "
        f"{number(search.penalties[-1])}. The best is {number(best)}; chosen was {penalty(chosen)}."
    )
    side = "left" if x.share(chosen) > 0.6 else "right"
    marks = [Mark(chosen, y.low, f"chosen: {number(chosen)}", f"{side} low", "orange strong")]
    key = [Key("line", "blue", "mean score"), Key("area", "blue faint", "± one standard deviation over the folds")]
    return chart(x, y, shapes, says, "Score against C", marks=marks, key=key)
