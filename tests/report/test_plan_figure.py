"""The picture of a plan, looked at as numbers: what is drawn, that words lie inside and apart."""

import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from slimline import plan
from slimline.planning import Curve
from slimline.report import plan_figure
from slimline.report._plan_figure import _LETTERS, _STYLES, _spoken, curve_labels

PLANS = {
    "wide": {"n_samples": 2000, "n_features": 500_000, "dtype": "int8", "margin": 0.3, "method": "sketch"},
    "ten classes": {"n_samples": 400, "n_features": 100_000, "n_classes": 10, "margin": 0.2, "density": 0.01},
    "tiny": {"n_samples": 50, "n_features": 50},
    "one feature": {"n_samples": 2, "n_features": 1},
    "huge": {"n_samples": 10**9, "n_features": 10**10, "density": 1e-9, "eps": 0.3},
    "strict": {"n_samples": 300, "n_features": 60_000, "eps": 0.001, "margin": 0.5},
    "loose": {"n_samples": 300, "n_features": 60_000, "eps": 0.97},
}


@pytest.fixture(scope="module", params=PLANS)
def drawn(request):
    """A plan and its picture."""
    made = plan(**PLANS[request.param])
    return made, plan_figure(made)


def _lines(figure, gid=None):
    return [line for line in figure.axes[0].lines if line.get_gid() == gid]


def _boxes(figure, texts):
    renderer = FigureCanvasAgg(figure).get_renderer()
    return [text.get_window_extent(renderer) for text in texts]


def _all_texts(figure):
    """Every text that is seen, ticks included."""
    (axes,) = figure.axes
    FigureCanvasAgg(figure).draw()
    low, high = sorted(axes.get_ylim())
    ticks = [tick.label1 for tick in axes.yaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [*figure.texts, *axes.texts, *axes.get_xticklabels(), *ticks, axes.xaxis.label, axes.yaxis.label]


def test_one_line_a_curve_with_its_numbers_and_the_look_of_its_kind(drawn):
    made, figure = drawn
    lines = [line for line in _lines(figure) if not line.get_label().startswith("_")]
    assert [line.get_label() for line in lines] == [curve.name for curve in made.curves]
    for line, curve in zip(lines, made.curves, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), curve.eps)
        np.testing.assert_array_equal(line.get_ydata(), curve.dimension)
        assert line.get_color() == _STYLES[curve.kind]["color"]
    assert {"exact", "theorem", "printed", "order", "limit"} == {curve.kind for curve in made.curves}
    looks = {kind: (style["color"], style["linestyle"]) for kind, style in _STYLES.items()}
    assert looks["order"] == looks["limit"] and len(set(looks.values())) == 4
    exact, theorem = (_STYLES[kind]["linewidth"] for kind in ("exact", "theorem"))
    assert exact >= 2 * theorem


def test_sizes_and_wishes_are_marked(drawn):
    made, figure = drawn
    (axes,) = figure.axes
    (features,), (eps,) = _lines(figure, "features"), _lines(figure, "eps")
    assert set(features.get_ydata()) == {made.n_features} and set(eps.get_xdata()) == {made.eps}
    said = " ".join(text.get_text() for text in [*figure.texts, *axes.texts])
    assert f"{made.n_samples:,} samples × {made.n_features:,} features" in said
    assert f"δ = {made.delta:g}" in said and f"ε = {made.eps:g}" in said
    assert f"d = {made.n_features:,} features: above it a guarantee saves nothing" in said
    chosen = _lines(figure, "choice")
    if made.choice.method == "sketch":
        assert chosen[0].get_xydata().tolist() == [[made.eps, made.choice.n_components]]
        assert f"advised: {made.choice.n_components:,} components, {made.choice.projection}" in said
    else:
        assert not chosen and f"no projection, method {made.choice.method}" in said
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert "ε" in axes.get_xlabel() and axes.get_ylabel() == "dimensions asked for"
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    assert left > right and axes.get_legend() is None
    for curve in made.curves:
        assert low < min(curve.dimension) and max(curve.dimension) < high
        assert right <= curve.eps[0] and curve.eps[-1] < left
    assert right <= made.eps < left and low < made.n_features < high


def test_every_word_lies_inside_and_no_two_labels_overlap(drawn):
    _, figure = drawn
    assert tuple(figure.get_size_inches() * figure.dpi) == (1600, 1100)
    frame = figure.bbox
    texts = _all_texts(figure)
    for text, box in zip(texts, _boxes(figure, texts), strict=True):
        assert box.x0 >= 0 and box.x1 <= frame.x1 and box.y0 >= 0 and box.y1 <= frame.y1, text.get_text()
    outside = [*figure.texts, *figure.axes[0].texts]  # of the plot: all that is written but the ticks
    boxes = _boxes(figure, outside)
    for k, one in enumerate(boxes):
        for other in boxes[:k]:
            wide = min(one.x1, other.x1) - max(one.x0, other.x0)
            high = min(one.y1, other.y1) - max(one.y0, other.y0)
            apart = min(wide, high) <= 1e-6  # of a pixel: rounding
            assert apart
    plot = figure.axes[0].get_window_extent()
    labels = [text for text in figure.axes[0].texts if text.get_gid() == "label"]
    assert all(box.x0 > plot.x1 for box in _boxes(figure, labels))


def test_every_curve_is_named_and_led_to(drawn):
    made, figure = drawn
    (axes,) = figure.axes
    written = [text.get_text().replace("\n", " ") for text in axes.texts]
    for label in curve_labels(made, _LETTERS):
        assert " ".join(label.keeps) in written and (not label.names or " ".join(label.names) in written)
    leaders = _lines(figure, "leader")
    ends = {tuple(np.round(line.get_xydata()[0], 9)) for line in leaders}
    for curve in made.curves:
        place = axes.transAxes.inverted().transform(axes.transData.transform((curve.eps[0], curve.dimension[0])))
        assert min(np.hypot(*(np.array(end) - place)) for end in ends) < 0.02
    heights = [line.get_ydata()[-1] for line in leaders]
    assert [line.get_ydata()[0] for line in np.array(leaders)[np.argsort(heights)]] == sorted(
        line.get_ydata()[0] for line in leaders
    )  # no two cross


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_few_curves(kept):
    whole = plan(**PLANS["tiny"])
    figure = plan_figure(replace(whole, curves=whole.curves[:kept]))
    FigureCanvasAgg(figure).draw()
    assert len(_lines(figure, "leader")) == kept + 1  # and d
    key = " ".join(text.get_text() for text in figure.texts)
    assert ("theorems" in key) == (kept > 0) and "do not hold" not in key


def test_many_curves_still_fit():
    whole = plan(**PLANS["wide"])
    more = [
        Curve(f"{c.name}", c.kind, c.eps, tuple(1.1**k * r for r in c.dimension))
        for k in range(1, 3)
        for c in whole.curves
    ]
    figure = plan_figure(replace(whole, curves=(*whole.curves, *more)))
    plot = figure.axes[0].get_window_extent()
    labels = [text for text in figure.axes[0].texts if text.get_gid() == "label"]
    assert len(labels) > 60
    for box in _boxes(figure, labels):
        assert plot.y0 - 12 < box.y0 and box.y1 < plot.y1 + 12


@pytest.mark.slow
def test_nothing_global_is_touched():
    before = dict(mpl.rcParams)
    one, two = plan_figure(whole := plan(**PLANS["tiny"])), plan_figure(whole)
    assert isinstance(one, Figure) and one is not two and dict(mpl.rcParams) == before
    code = (
        "import sys; from slimline import plan; from slimline.report import plan_figure\n"
        "assert 'matplotlib' not in sys.modules\n"
        "plan_figure(plan(n_samples=20, n_features=30)); assert 'matplotlib' in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_powers_of_ten_as_people_say_them():
    said = [_spoken(10.0**k) for k in (0, 3, 5, 6, 8, 9, 13, 15)]
    assert said == ["1", "1,000", "100,000", "1 million", "100 million", "1 billion", "10 trillion", "$10^{15}$"]
