"""The words of a page, a line for each element that begins one, with # for numbers, which depend on the machine."""

import re
from dataclasses import replace

from slimline.report import fit_page
from slimline.report._records import Phase, StepFacts
from tests.report.page.reading import read

#: Elements that begin a line.
_LINES = {"h1", "h2", "h3", "p", "li", "tr", "dt", "figcaption", "summary", "caption", "div", "section", "pre"}
_NUMBER = re.compile(
    r"[−-]?(?:\d(?:[\d,.]*\d)?|∞)(?:\s×\s10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(?:st|nd|rd|th)?…?(?:\s(?:ms|s|minutes|hours|KB|MB|GB)\b)?"
)


def plain_words(report):
    """Return the words of the page of a report."""
    page = read(fit_page(_steady(report)))
    lines = [_NUMBER.sub("#", line).strip() for line in _lines(next(page.all("body")))]
    kept = [line for place, line in enumerate(lines) if line and line != (lines[place - 1] if place else "")]
    return "\n".join(dict.fromkeys(kept)) + "\n"


def _steady(report):
    """Replace what depends on the speed and the rounding of the machine."""
    certified = report.relative_error
    history = tuple(StepFacts(k, 0.1 * k, certified * 10.0 ** (4 - k)) for k in (1, 2, 3, 4))
    features = tuple(replace(feature, n_neighbours=7) for feature in report.features[:3])
    report = replace(
        report, features=features, history=history, cost=replace(report.cost, phases=(Phase("fit", 4, 0.4),))
    )
    plan, audit = report.plan, report.audit
    if plan is not None:  # what other subpackages say is approved elsewhere
        guarantees = tuple(replace(row, about="about", note="note") for row in plan.guarantees[:2])
        plan = replace(
            plan,
            advice="Advice.",
            source="source",
            choice=plan.costs[0],
            errors={2: 0.1, 9: 0.01},
            guarantees=guarantees,
        )
    if audit is not None:
        audit = replace(
            audit,
            margins=tuple(_brief(kept) for kept in audit.margins[:1]),
            ball=_brief(audit.ball),
            embedding=_brief(audit.embedding),
            pairs=tuple(_brief(pairs) for pairs in audit.pairs[:1]),
            brackets=tuple(replace(check, about="about") for check in audit.brackets[:1]),
            verdict=("Verdict.",) * 4,
            notes=("Note.",),
        )
    return replace(report, plan=plan, audit=audit)


def _brief(measured):
    promises = tuple(replace(promise, statement="statement", note="note") for promise in measured.promises[:2])
    return replace(measured, about="about", promises=promises)


def _lines(element):
    words = ""
    for child in element.children:
        if isinstance(child, str):
            words += re.sub(r"\s+", " ", child)
        elif child.tag in _LINES:
            yield words
            words = ""
            yield from _lines(child)
        elif child.tag not in ("svg", "script"):
            inner = list(_lines(child))
            words += inner[0]
            if len(inner) > 1:
                yield words
                yield from inner[1:-1]
                words = inner[-1]
            words += " | " if child.tag in ("td", "th") else ""
    yield words
