"""The picture of an audit, looked at as numbers: what is drawn, that words lie inside and apart."""

import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy import stats

from slimline import audit
from slimline.laws import cosine
from slimline.report import audit_figure
from slimline.report._audit_figure import _law_band
from slimline.report._figures import BLUE, GREEN, INK, ORANGE, PURPLE


def _classes(n, d, classes, apart, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.standard_normal((n, d)) + apart * rng.standard_normal((classes, d))[y], y


def _close():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.standard_normal((40, 3)) * 0.01 + np.outer(10.0 + 3.0 * y, [1.0, 0.0, 0.0]), y


AUDITS = {
    "kept": lambda: audit(*_classes(40, 400, 2, 1.0), n_components=300, repeats=20),
    "shrunk": lambda: audit(*_classes(40, 400, 2, 0.5), n_components=20, repeats=20),
    "lost": lambda: audit(*_classes(40, 60, 2, 0.3), n_components=4, repeats=10, projection="cw"),
    "several": lambda: audit(*_classes(100, 400, 4, 1.0), n_components=60, repeats=3, projection="osnap"),
    "not separable": lambda: audit(*_classes(120, 5, 2, 0.0), n_components=4, repeats=3, projection="srht"),
    "not separable, several": lambda: audit(*_classes(90, 5, 3, 0.0), n_components=4, repeats=3),
    "no labels": lambda: audit(_classes(40, 400, 2, 1.0)[0], n_components=350, repeats=5, projection="very_sparse"),
    "close together": lambda: audit(*_close(), n_components=2, repeats=6),
    "one dimension": lambda: audit(*_classes(30, 50, 2, 1.0), n_components=1, repeats=1, projection="sign"),
    "strict": lambda: audit(*_classes(30, 60, 2, 1.0), n_components=60, repeats=200, eps=0.001),
    "one point": lambda: audit(np.ones((1, 60)), n_components=20, repeats=2),
    "equal points": lambda: audit(np.ones((4, 60)), np.arange(4) % 2, n_components=20, repeats=2),
    "origin": lambda: audit(np.zeros((3, 60)), n_components=20, repeats=2),
}
LABELLED = ["kept", "shrunk", "lost", "not separable", "several", "strict"]


@pytest.fixture(scope="module")
def made():
    return {name: make() for name, make in AUDITS.items()}


@pytest.fixture(scope="module")
def pictures(made):
    return {name: audit_figure(found) for name, found in made.items()}


def _lines(axes, gid):
    return [line for line in axes.lines if line.get_gid() == gid]


def _collections(axes, gid):
    return [one for one in axes.collections if one.get_gid() == gid]


def _said(axes, gid):
    (text,) = [text.get_text() for text in axes.texts if text.get_gid() == gid]
    return text


def _key(axes):
    (box,) = [artist for artist in axes.artists if artist.get_gid() == "key"]
    return {area.get_text().removeprefix("■ "): area._text.get_color() for area in box.get_child().get_children()}


def _overlap(one, other):
    """Return how far two boxes overlap, in dots, the narrower way."""
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return min(wide, high)


@pytest.mark.slow
@pytest.mark.parametrize("name", AUDITS)
def test_every_word_lies_inside_and_no_two_overlap(pictures, name):
    figure = pictures[name]
    assert tuple(figure.get_size_inches() * figure.dpi) == (1400, 1120)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    words = {text.get_text(): text.get_window_extent(renderer) for text in figure.texts}
    for k, axes in enumerate(figure.axes):
        (key,) = [artist for artist in axes.artists if artist.get_gid() == "key"]
        words[f"{k} key"] = key.get_window_extent(renderer)
        low, high = sorted(axes.get_ylim())
        left, right = axes.get_xlim()
        ticks = [tick.label1 for tick in axes.yaxis.get_major_ticks() if low <= tick.get_loc() <= high]
        ticks += [tick.label1 for tick in axes.xaxis.get_major_ticks() if left <= tick.get_loc() <= right]
        for text in (*axes.texts, *ticks, axes.xaxis.label, axes.yaxis.label):
            if text.get_text():
                box = text.get_window_extent(renderer)
                words[f"{k} {text.get_text()} {box.x0:.0f} {box.y0:.0f}"] = box
    for said, box in words.items():
        assert box.x0 >= 0 and box.x1 <= 1400 and box.y0 >= 0 and box.y1 <= 1120, said
    every = list(words.items())
    for k, (said, box) in enumerate(every):
        for other, place in every[:k]:
            assert _overlap(box, place) <= 1.0, (said, other)


@pytest.mark.parametrize("name", AUDITS)
def test_titles_say_what_it_is_and_what_came_out(made, pictures, name):
    found, figure = made[name], pictures[name]
    said = {text.get_gid(): text.get_text() for text in figure.texts}
    components = "1 component:" if found.n_components == 1 else f"{found.n_components:,} components:"
    assert said["title"].endswith(f"projection to {components}") and said["outcome"] == found.outcome.upper()
    rows = "1 row" if found.n_samples == 1 else f"{found.n_samples} rows"
    classes = f"{found.n_classes} classes" if found.n_classes else "no labels"
    draws = "1 draw" if found.repeats == 1 else f"{found.repeats} draws"
    assert said["subtitle"] == (
        f"array: {rows} × {found.n_features} features, {classes}; {draws}, asked about ε = {found.eps:g}"
    )
    colours = {text.get_gid(): text.get_color() for text in figure.texts}
    assert colours["outcome"] == {"kept": GREEN, "shrunk": PURPLE, "lost": ORANGE}[found.outcome]
    assert [axes.get_legend() for axes in figure.axes] == [None] * 4


@pytest.mark.parametrize("name", LABELLED)
def test_margins_of_the_points_rise_from_0_to_1(made, pictures, name):
    found, axes = made[name], pictures[name].axes[0]
    for gid, values, colour in (("before", found.cosines_before, INK), ("after", found.cosines_after, BLUE)):
        (line,) = _lines(axes, gid)
        np.testing.assert_array_equal(line.get_xdata()[1:-1], np.sort(values))
        np.testing.assert_allclose(line.get_ydata()[1:-1], np.arange(1, found.n_rows + 1) / found.n_rows)
        assert line.get_color() == colour
    lost = int(np.sum(found.cosines_after <= 0))
    caption = _said(axes, "caption")
    assert f"{np.sum(found.cosines_before <= 0)} of {found.n_rows} before, {lost} after" in caption
    (filled,) = _collections(axes, "wrong side") or (None,)
    assert (filled is not None) == (lost > 0) == ("wrong side" in _key(axes))
    if filled is not None:
        assert filled.get_paths()[0].get_extents().y1 == pytest.approx(lost / found.n_rows)
    laws = _lines(axes, "law")
    assert len(laws) == (found.n_classes == 2)
    if laws:
        x, y = laws[0].get_data()
        share = np.mean(stats.t.cdf(-np.sqrt(found.n_components) * (c := found.cosines_before) / np.sqrt(1 - c**2),
                                    found.n_components))  # fmt: skip
        assert np.interp(0.0, x, y) == pytest.approx(share, abs=2e-3)  # between the places where it is drawn
        assert f"{found.wrong_side.predicted:.3g} by the law" in caption and (np.diff(y) >= 0).all()


@pytest.mark.parametrize("name", ["no labels", "not separable, several", "one point", "origin"])
def test_without_margins_the_largest_changes_are_drawn(made, pictures, name):
    found, axes = made[name], pictures[name].axes[0]
    assert _said(axes, "panel title") == "Largest change of a pair, embedding error"
    shown = [pairs for pairs in found.pairs if pairs.n_pairs]
    values = [*(pairs.largest for pairs in shown), found.embedding.after]
    for line, expected in zip(_lines(axes, "draws"), values, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), expected)
    names = [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()]
    assert names == [*(pairs.name for pairs in shown), "embedding error"]
    held = [text.get_text() for text in axes.texts if text.get_gid() == "within"]
    assert held == [f"{one.all_within.held}/{found.repeats}" for one in shown] + [
        f"{found.embedding.within.held}/{found.repeats}"
    ]


@pytest.mark.parametrize("name", AUDITS)
def test_ratios_have_a_dot_a_draw_and_an_arrow_beyond_the_edge(made, pictures, name):
    found, axes = made[name], pictures[name].axes[1]
    shown = [kept for kept in (*found.margins, found.ball) if kept.before > 0.0]
    names = [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()]
    assert names == [kept.name for kept in shown]
    low, high = axes.get_xlim()
    for place, kept in enumerate(shown):
        dots = [x for line in _lines(axes, "draws") for x, y in line.get_xydata() if abs(y - place) < 0.25]
        arrows = [x for line in _lines(axes, "beyond") for x, y in line.get_xydata() if abs(y - place) < 0.25]
        inside = (kept.ratios >= low) & (kept.ratios <= high)
        np.testing.assert_array_equal(np.sort(dots), np.sort(kept.ratios[inside]))
        assert len(arrows) == np.sum(~inside) and all(low <= x <= high for x in arrows)
        medians = [
            line.get_xdata()[0] for line in _lines(axes, "median") if abs(np.mean(line.get_ydata()) - place) < 0.1
        ]
        middle = np.median(kept.ratios)
        assert medians == ([middle] if low <= middle <= high else [])
        if not inside.all():
            notes = [text.get_text() for text in axes.texts if text.get_gid() == "beyond"]
            assert any(f"{kept.ratios[~inside].min():.2g}" in note for note in notes)
    drawn = [
        axes.transData.transform(line.get_xydata())
        for gid in ("draws", "beyond", "median")
        for line in _lines(axes, gid)
    ]
    for text in axes.texts:
        if text.get_gid() == "beyond":
            box = text.get_window_extent()
            assert not any(box.contains(*point) for points in drawn for point in points)
    theorems = [end for kept in shown for one in kept.promises if one.kind == "theorem" for end in (one.low, one.high)]
    assert (len(_lines(axes, "promise")) > 0) <= any(end is not None and end > 0 for end in theorems)
    said = _said(axes, "caption")
    if not shown:
        assert said == "there is nothing above 0 to compare with"
    elif found.margins and len(shown) == 1:
        assert said.startswith("not separable, so no margins")
    held = [text.get_text() for text in axes.texts if text.get_gid() == "within"]
    assert held == [f"{kept.within.held}/{kept.within.draws}" for kept in shown]


@pytest.mark.parametrize("name", AUDITS)
def test_distances_and_angles_with_their_laws(made, pictures, name):
    found = made[name]
    third, fourth = pictures[name].axes[2:]
    r, eps = found.n_components, found.eps
    (law,) = _lines(third, "law")
    x, y = law.get_data()
    assert law.get_color() == PURPLE and np.sum(y) * (x[1] - x[0]) == pytest.approx(
        stats.chi2.cdf(r * third.get_xlim()[1], r) - stats.chi2.cdf(r * third.get_xlim()[0], r), rel=1e-6
    )
    word = "exact law" if found.family == "gaussian" else "Gaussian law"
    assert f"{word}, each pair" in _key(third) and f"95 %, {word}" in _key(fourth)
    bars = [patch for patch in third.patches if patch.get_gid() == "after"]
    assert bool(bars) == (found.pairs[0].n_pairs > 0)
    (after,) = _collections(fourth, "after")
    before, projected = found.pairs[1].sample_before, found.pairs[1].sample_after
    if len(before) > 3000:
        assert after.get_array().sum() > 0
    else:
        np.testing.assert_array_equal(after.get_offsets(), np.c_[before, projected])
    low, high = fourth.get_ylim()
    assert all(low <= value <= high for value in projected)
    assert bool(_lines(fourth, "eps")) == (f"± {eps:g}" in _key(fourth))
    if found.pairs[1].n_pairs == 0:
        assert _said(fourth, "caption") == "there is no pair of points with an angle"
        assert _said(third, "caption") == "there is no pair of different points"


@pytest.mark.parametrize("r", [1, 2, 3, 30, 5000])
def test_the_band_of_the_law_holds_what_it_says(r):
    c = np.array([-1.0, -0.99999, -0.6, 0.0, 0.3, 0.9999999, 1.0])
    low, high = _law_band(c, r)
    if r == 1:  # nothing but -1 and 1, each more often than one in forty where the angle is not small
        assert low[2:5] == pytest.approx([-1.0, -1.0, -1.0], abs=1e-4)
        assert high[2:5] == pytest.approx([1.0, 1.0, 1.0], abs=1e-4)
        return
    assert (low <= c + 1e-9).all() and (c - 1e-9 <= high).all()
    inner = slice(1, 6)
    np.testing.assert_allclose(cosine.cdf(low[inner], r, c[inner]), 0.025, rtol=0.05)
    np.testing.assert_allclose(cosine.sf(high[inner], r, c[inner]), 0.025, rtol=0.05)


def test_long_names_and_signs_of_mathematics_are_shown_as_they_are(made):
    found = replace(made["no labels"], data="a_$x^2$_" + "very_long_" * 20 + "end.npy", n_samples=123_456)
    figure = audit_figure(found)
    FigureCanvasAgg(figure).draw()
    (said,) = [text for text in figure.texts if text.get_gid() == "subtitle"]
    assert (
        said.get_text().startswith("a_$x^2$_very")
        and "…" in said.get_text()
        and "40 of 123,456 rows" in said.get_text()
    )
    assert said.get_window_extent().x1 <= 1400


@pytest.mark.slow
def test_the_same_audit_gives_the_same_picture_and_nothing_global_is_touched():
    before = dict(mpl.rcParams)
    X, _ = _classes(300, 20, 2, 0.0)  # more pairs than are kept for a picture
    one, two = (audit(X, n_components=10, repeats=1) for _ in range(2))
    for first, second in zip(one.pairs, two.pairs, strict=True):
        np.testing.assert_array_equal(first.sample_before, second.sample_before)
        assert first.predicted == second.predicted
    drawn = [audit_figure(found) for found in (one, two)]
    pictures = []
    for figure in drawn:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba()))
    np.testing.assert_array_equal(*pictures)
    assert isinstance(drawn[0], Figure) and dict(mpl.rcParams) == before
    code = (
        "import sys; import numpy as np; from slimline import audit; from slimline.report import audit_figure\n"
        "found = audit(np.eye(4), n_components=2, repeats=1); assert 'matplotlib' not in sys.modules\n"
        "audit_figure(found); assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
