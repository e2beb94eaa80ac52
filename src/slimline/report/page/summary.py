"""The first lines: how good, which columns, how sure, how long."""

from __future__ import annotations

import math

from slimline.report.fit_facts import HeldOut
from slimline.report.fit_record import FitReport
from slimline.report.page.drawing import SIDE, box, dot, drawn, path
from slimline.report.page.feature_words import default_top, variant
from slimline.report.page.html import Content, Html, element, joined, named
from slimline.report.page.proved import proved, standing_note
from slimline.report.page.words import NARROW, at_most, counted, largest, memory, percent, time_taken

#: Columns that are named.
_NAMED = 5
#: Height of the strip that shows the share of right labels, and its middle.
_HEIGHT, _MIDDLE = 24.0, 12.0


def summary(report: FitReport) -> Html:
    """Return the first lines of the page, below its heading.

    Parameters
    ----------
    report : FitReport
        What is told.

    Returns
    -------
    markup : Html
        Four answers, what "proved" means, and what else is to be known.
    """
    answers = [_how_good(report), _which_columns(report), _how_sure(report), _how_long(report)]
    notes = element(
        "aside",
        element("h2", "Worth knowing"),
        element("ul", [element("li", note) for note in report.notes]),
        class_="notes",
    )
    return joined(element("div", answers, class_="answers"), standing_note(), notes if report.notes else None)


def accuracy_words(held_out: HeldOut) -> Html:
    """Return how good the model is beside always naming one class.

    Parameters
    ----------
    held_out : HeldOut
        What was measured.

    Returns
    -------
    markup : Html
        One sentence.
    """
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
