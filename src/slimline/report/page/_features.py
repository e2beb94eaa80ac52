"""Sections on features and weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from slimline.report._records import Feature, FitReport
from slimline.report.page._charts import SIDE, Axis, box, dot, drawn, linear_axis, path
from slimline.report.page._html import (
    MEANING,
    Column,
    Content,
    Html,
    Section,
    element,
    joined,
    named,
    paragraph,
    proved,
    table,
    unfolding,
)
from slimline.report.page._words import NARROW, counted, largest, places, power_of_ten


def default_top(report: FitReport) -> int:
    """Return how many of the largest weights the page speaks of unless it is asked about others."""
    return min(20, len(report.features))


def is_genetic(report: FitReport) -> bool:
    """Return whether columns are variants with a place in the genome."""
    return any(feature.chromosome is not None or feature.position is not None for feature in report.features)


def variant(feature: Feature) -> str:
    """Return where a variant lies and what its alleles are."""
    place = []
    if feature.chromosome is not None:
        place.append(f"chr{NARROW}{feature.chromosome}")
    if feature.position is not None:
        place.append(f"{feature.position:,}")
    said = [" : ".join(place)] if place else []
    if feature.allele1 is not None or feature.allele2 is not None:
        said.append(f"{feature.allele1 or '?'}/{feature.allele2 or '?'}")
    return " · ".join(said)


def speaks_for(report: FitReport, feature: Feature) -> Html:
    """Return which class more of a column speaks for."""
    labels = [label for label, _ in report.data.classes]
    if feature.weight >= 0.0:
        return joined("for ", named(feature.label))
    others = [label for label in labels if label != feature.label]
    if len(labels) == 2 and len(others) == 1:
        return joined("for ", named(others[0]))
    return joined("against ", named(feature.label))


def near_duplicates(feature: Feature, most: int | None = None) -> Html | None:
    """Return which columns are nearly the same, the nearest by name."""
    if not feature.n_neighbours:
        return None
    shown = [
        joined(
            ", " if place else "",
            named(one.name),
            element("small", f"{NARROW}(r{NARROW}={NARROW}{_r(one.correlation)})"),
        )
        for place, one in enumerate(feature.neighbours[:most])
    ]
    rest = feature.n_neighbours - len(shown)
    if not shown:
        return joined(counted(rest, "other column"))
    return joined(shown, f" and {counted(rest, 'other')}" if rest > 0 else None)


def _r(correlation: float) -> str:
    """Return a correlation; 1 only where it is."""
    text = f"{correlation:.3f}"
    if abs(correlation) < 1.0 and text.endswith("1.000"):
        text = "0.999…" if correlation > 0 else "-0.999…"
    return text.replace("-", "−")


#: Height of a row's drawing, and its middle.
_HEIGHT, _MIDDLE = 20.0, 10.0
#: Intervals are drawn up to so many times the largest weight; what goes on is cut off there.
_FARTHEST = 2.5
#: What a place among the k largest can be.
STATES = {
    "proved": "proved",
    "possible": "possible",
    "out": "not in it",
}


def state_of(feature: Feature, k: int) -> str:
    """Return what is known of a column's place among the k largest weights of the exact model."""
    if feature.worst_rank <= k:
        return "proved"
    return "possible" if feature.best_rank <= k else "out"


def count_sentence(features: Sequence[Feature], k: int) -> str:
    """Return how many of the k largest are proved; the script of the page says the same."""
    states = [state_of(feature, k) for feature in features]
    sure, maybe = states.count("proved"), states.count("possible")
    said = f"{sure} of the top {k} {'is' if sure == 1 else 'are'} proved"
    return (
        f"{said}; {maybe} more of the columns shown {'is' if maybe == 1 else 'are'} possible." if maybe else f"{said}."
    )


def feature_chart(report: FitReport) -> Html:
    """Return the chart of the largest weights with its slider."""
    features, k = report.features, default_top(report)
    text = weight_text(features)
    axis = _axis(features, text)
    rows = [_row(report, feature, place, k, axis, text) for place, feature in enumerate(features, 1)]
    return element(
        "figure",
        _slider(report, k),
        _key(),
        element(
            "div",
            element("span", "column", class_="head-who"),
            _ticks(axis),
            element("span", f"weight{text.unit}", class_="head-weight"),
            element("span", "top k?", class_="head-badge"),
            class_="ticks-row",
            aria_hidden="true",
        ),
        element("ol", rows, class_="features", id="features-list"),
        element("div", _ticks(axis), class_="ticks-row", aria_hidden="true"),
        element(
            "figcaption",
            "Dot: weight. Line: the interval that the exact weight is ",
            proved("proved"),
            " to lie in; where it is hardly wider than the dot you see only the dot. Point at a column, or move to it "
            "with the tab and arrow keys, for its numbers.",
        ),
        class_="feature-chart",
        aria_label=f"The {counted(len(features), 'column')} of largest weight, with their intervals",
    )


def _slider(report: FitReport, k: int) -> Html:
    most = len(report.features)
    control = element(
        "div",
        element("label", "How many of the largest weights? Top ", element("output", str(k), id="k-shown"), for_="k"),
        element("input", type="range", id="k", min=1, max=most, value=k, step=1, aria_describedby="k-count"),
        class_="slider",
        hidden=True,
    )
    said = element("p", count_sentence(report.features, k), id="k-count", class_="count", aria_live="polite")
    return element("div", control, said, class_="slider-box")


def _key() -> Html:
    words = (
        ("proved", "proved to be among the top k of the exact model"),
        ("possible", "may be among them"),
        ("out", "proved not to be"),
    )
    items = [element("li", element("span", class_=f"state {state}", aria_hidden="true"), said) for state, said in words]
    return element("ul", items, class_="key", title=MEANING)


def _axis(features: Sequence[Feature], text: WeightText) -> Axis:
    largest = max((abs(feature.weight) for feature in features if math.isfinite(feature.weight)), default=0.0)
    limit = _FARTHEST * largest if largest > 0.0 else 1.0
    ends = [end for feature in features for end in (feature.lower, feature.upper, feature.weight)]
    # numbers are written in the unit of the weights
    shown = [min(max(end, -limit), limit) / 10.0**text.power for end in ends if not math.isnan(end)]
    return linear_axis("weight", [0.0, *shown], most=4, room=0.03)


def _ticks(axis: Axis) -> Html:
    spans = [element("span", said, style=f"left:{100 * axis.share(at):.2f}%") for at, said in axis.ticks]
    return element("div", spans, class_="x-ticks")


def _row(report: FitReport, feature: Feature, place: int, k: int, axis: Axis, text: WeightText) -> Html:
    state = state_of(feature, k)
    where = variant(feature)
    same = near_duplicates(feature, most=1)
    under = [
        element("span", where, class_="where") if where else None,
        element("span", speaks_for(report, feature), class_="for"),
        element("span", "nearly the same: ", same, class_="same") if same is not None else None,
    ]
    return element(
        "li",
        element("span", f"{place}", class_="place"),
        element(
            "div",
            element("div", named(feature.name), class_="name"),
            element("div", under, class_="under"),
            class_="who",
        ),
        element("div", _track(feature, axis, text), class_="track"),
        element("span", text.weight(feature.weight), class_="weight"),
        element("span", STATES[state], class_="badge"),
        _tip(report, feature, text),
        class_=f"feature {state}{' last' if place == k else ''}",
        data_best=feature.best_rank,
        data_worst=feature.worst_rank,
    )


def _track(feature: Feature, axis: Axis, text: WeightText) -> Html:
    def at(value: float) -> float:
        return axis.along(value / 10.0**text.power)

    zero, weight, low, high = at(0.0), at(feature.weight), at(feature.lower), at(feature.upper)
    shapes = [path([(axis.along(tick), 0.0), (axis.along(tick), _HEIGHT)], "grid") for tick, _ in axis.ticks if tick]
    shapes.append(path([(zero, 0.0), (zero, _HEIGHT)], "zero"))
    shapes.append(box(min(zero, weight), _MIDDLE - 2.5, max(zero, weight), _MIDDLE + 2.5, "bar"))
    shapes.append(path([(low, _MIDDLE), (high, _MIDDLE)], "interval"))
    for end, open_end in ((low, low <= 0.0), (high, high >= SIDE)):
        if not open_end:
            shapes.append(path([(end, _MIDDLE - 4.5), (end, _MIDDLE + 4.5)], "interval"))
    shapes += [dot(weight, _MIDDLE, "weight-dot"), dot(weight, _MIDDLE, "hole")]
    return drawn(shapes, height=_HEIGHT)


def _tip(report: FitReport, feature: Feature, text: WeightText) -> Html:
    where = variant(feature)
    same = near_duplicates(feature)
    lines: list[tuple[str, Html | str]] = [
        ("weight", joined(f"{text.weight(feature.weight)}{text.unit}, ", speaks_for(report, feature))),
        ("exact weight", f"{text.lower(feature.lower)} to {text.upper(feature.upper)}{text.unit}, proved"),
        ("exact place", f"{places(feature.best_rank, feature.worst_rank)} of {report.data.n_features:,}, proved"),
        ("column", f"number {feature.index:,}, counted from 0"),
    ]
    if where:
        lines.insert(0, ("variant", where))
    if same is not None:
        lines.append(("nearly the same", same))
    pairs = [element("div", element("dt", name), element("dd", said)) for name, said in lines]
    return element(
        "div", element("p", named(feature.name), class_="tip-name"), element("dl", pairs), class_="tip", role="tooltip"
    )


def features_section(report: FitReport) -> Section | None:
    """Return the weights with their intervals, as a chart and as a table."""
    if not report.features:
        return None
    scaled = (
        ", each centred and scaled to the same spread, so that weights can be compared"
        if report.data.standardised
        else ""
    )
    several = " A column counts by its largest weight over the classes." if len(report.data.classes) > 2 else ""
    intro = paragraph(
        f"The {largest(len(report.features))} of {counted(report.data.n_features, 'column')}",
        f"{scaled}. ",
        f"A weight says what the model listens to.{several} What is marked ",
        proved(),
        " holds for the exact model too; a column that matters to the model need not be a cause.",
    )
    unlike = None
    if not report.data.standardised:
        unlike = paragraph(
            "Columns were taken as they are. Where they are measured in different units, a large weight may only mean "
            "a small unit.",
        )
    whole = unfolding("The same as a table", _table(report))
    return Section("columns", "Which columns matter", "Columns", joined(intro, unlike, feature_chart(report), whole))


def _table(report: FitReport) -> Content:
    text = weight_text(report.features)
    genetic = is_genetic(report)
    columns = [Column("column"), Column("place", numeric=True)]
    if genetic:
        columns += [Column("chromosome"), Column("position", numeric=True), Column("alleles")]
    columns += [
        Column(f"weight{text.unit}", numeric=True),
        Column("exact, from", numeric=True),
        Column("to", numeric=True),
        Column("speaks"),
        Column("exact place"),
        Column("nearly the same columns", wide=True),
    ]
    caption = "Largest weights. “Exact” is what the exact model’s weight and place are proved to lie between."
    rows = [_cells(report, feature, place, text, genetic) for place, feature in enumerate(report.features, 1)]
    return element("div", table(caption, columns, rows), class_="feature-table")


def _cells(report: FitReport, feature: Feature, place: int, text: WeightText, genetic: bool) -> list[Content]:
    cells: list[Content] = [named(feature.name), str(place)]
    if genetic:
        alleles = [feature.allele1, feature.allele2]
        cells += [
            feature.chromosome or "",
            "" if feature.position is None else f"{feature.position:,}",
            "/".join(allele or "?" for allele in alleles) if any(alleles) else "",
        ]
    return [
        *cells,
        text.weight(feature.weight),
        text.lower(feature.lower),
        text.upper(feature.upper),
        speaks_for(report, feature),
        places(feature.best_rank, feature.worst_rank),
        near_duplicates(feature) or ("not looked for" if feature.n_neighbours is None else "none found"),
    ]


#: Fewest and most digits of the largest weight.
_DIGITS = (3, 6)


@dataclass(frozen=True)
class WeightText:
    """How weights are written."""

    #: Power of ten that they are written in.
    power: int
    #: Digits behind the point.
    decimals: int

    @property
    def unit(self) -> str:
        """Return what a number is to be multiplied by, such as " × 10⁻⁵"; empty for 1."""
        return f"{NARROW}×{NARROW}{power_of_ten(self.power)}" if self.power else ""

    def weight(self, value: float) -> str:
        """Return a weight, rounded to the nearest."""
        return self._written(value, ROUND_HALF_EVEN)

    def lower(self, value: float) -> str:
        """Return the lower end of an interval, rounded down."""
        return self._written(value, ROUND_FLOOR)

    def upper(self, value: float) -> str:
        """Return the upper end of an interval, rounded up."""
        return self._written(value, ROUND_CEILING)

    def _written(self, value: float, rounding: str) -> str:
        if not math.isfinite(value):
            return "not known" if math.isnan(value) else "∞" if value > 0 else "−∞"
        exact = Decimal(value).scaleb(-self.power).quantize(Decimal(1).scaleb(-self.decimals), rounding)
        return f"{exact:,f}".replace("-", "−") if exact else f"{abs(exact):f}"


def weight_text(features: Sequence[Feature]) -> WeightText:
    """Return how the weights of some features are best written."""
    largest = max((abs(feature.weight) for feature in features if math.isfinite(feature.weight)), default=0.0)
    power = 0
    if largest > 0.0 and not 1e-3 <= largest < 1e5:
        power = math.floor(math.log10(largest))
    leading = math.floor(math.log10(largest)) - power if largest > 0.0 else 0
    fewest, most = (digits - 1 - leading for digits in _DIGITS)
    widths = sorted((f.upper - f.lower) / 2 for f in features if 0.0 < f.upper - f.lower < math.inf)
    wanted = fewest if not widths else math.ceil(-math.log10(widths[len(widths) // 2])) + power + 1
    return WeightText(power, max(0, min(max(wanted, fewest), most)))
