"""The page in a real browser: it loads without a complaint, fits its window, and does what it says."""

import pytest

from slimline.report import fit_page
from slimline.report._text import count_sentence, state_of
from tests.browser import BEYOND, opened
from tests.report.page.examples import EXAMPLES, many_classes, two_classes

pytestmark = pytest.mark.nightly

#: Whether the shapes of each chart lie in it, but for the width of a stroke.
INSIDE = """
() => [...document.querySelectorAll(".area")].map((area) => {
  const box = area.getBoundingClientRect();
  return [...area.querySelectorAll("svg > *")].map((shape) => shape.getBoundingClientRect()).every((s) =>
    s.left > box.left - 9 && s.right < box.right + 9 && s.top > box.top - 9 && s.bottom < box.bottom + 9);
})
"""
#: Contrast of each piece of text with what is behind it, by WCAG's formula, and the least that there is. Colours that
#: let something shine through are mixed with it; what has no size, and what only screen readers are told, is left out.
CONTRAST = """
() => {
  const parse = (text) => (text.match(/[\\d.]+(e-?\\d+)?/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const over = (top, under) => {
    const a = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map((k) => a * top[k] + (1 - a) * under[k]);
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement, box = element.getBoundingClientRect();
    if (!node.data.trim() || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    if (box.width < 2 || box.height < 2 || element.closest("option")) continue;
    const under = behind(element), ink = over(parse(getComputedStyle(element).color), under);
    const [a, b] = [light(under), light(ink)].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), element.className + ": " + node.data.trim().slice(0, 40)]);
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, make in EXAMPLES.items():
        made[name] = folder / f"{name.replace(' ', '-')}.html"
        made[name].write_text(fit_page(make()), encoding="utf-8")
    return made


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_everything_is_seen_and_nothing_sticks_out(chromium, files, name):
    with opened(chromium, files[name]) as page:
        for unfolded, width in ((False, 1400), (False, 400), (True, 400), (True, 1400)):
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("(open) => document.querySelectorAll('details').forEach((e) => { e.open = open; })", unfolded)
            wide, shown = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
            assert wide <= shown == width
            assert page.evaluate(BEYOND) == []
            assert all(page.evaluate(INSIDE))
        boxes = page.evaluate(
            "[...document.querySelectorAll('figure, svg, table, [role=img]')].map((e) => "
            "[e.tagName, e.getBoundingClientRect().width, e.getBoundingClientRect().height])"
        )
        assert len(boxes) > 5 and all(w > 20 and h > 5 for _, w, h in boxes)
        assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["two classes", "many classes", "nothing proved", "several targets", "cases"])
def test_words_can_be_told_from_what_is_behind(chromium, files, name, scheme):
    with opened(chromium, files[name], color_scheme=scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        found = page.evaluate(CONTRAST)
        assert len(found) > 400
        assert [(ratio, said) for ratio, said in found if ratio < 4.5] == []
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (dark == "rgb(255, 255, 255)") == (scheme == "light")


#: How the columns are marked, what is said of it, which is the last of the top k, and what the slider shows.
MARKED = """
() => {
  const rows = [...document.querySelectorAll(".feature")], slider = document.getElementById("k");
  return [
    rows.map((row) => ["proved", "possible", "out"].filter((state) => row.classList.contains(state)).join()),
    document.getElementById("k-count").innerText,
    rows.filter((row) => row.classList.contains("last")).map((row) => row.querySelector(".place").innerText),
    [document.getElementById("k-shown").innerText, slider.getAttribute("aria-valuetext")],
  ];
}
"""


@pytest.mark.parametrize("make", [two_classes, many_classes])
def test_the_slider_says_for_every_k_what_the_ranks_say(chromium, files, make):
    report = make()
    name = "two classes" if make is two_classes else "many classes"
    with opened(chromium, files[name]) as page:
        slider = page.locator("#k")
        assert slider.is_visible() and int(slider.input_value()) == 20
        found = page.evaluate(
            "(most) => Array.from({ length: most }, (_, place) => { const slider = document.getElementById('k'); "
            f"slider.value = place + 1; slider.dispatchEvent(new Event('input')); return ({MARKED})(); }})",
            len(report.features),
        )
        for k, (states, count, last, shown) in enumerate(found, 1):
            assert states == [state_of(feature, k) for feature in report.features]
            assert count == count_sentence(report.features, k) and last == [str(k)]
            assert shown == [str(k), f"top {k}, {states.count('proved')} proved"]
        assert len({tuple(states) for states, *_ in found}) > 5


def test_the_slider_follows_the_keyboard(chromium, files):
    features = two_classes().features
    with opened(chromium, files["two classes"]) as page:
        slider = page.locator("#k")
        slider.focus()
        for key, k in (("Home", 1), ("ArrowRight", 2), ("ArrowUp", 3), ("ArrowLeft", 2), ("End", len(features))):
            page.keyboard.press(key)
            states, count, _, shown = page.evaluate(MARKED)
            assert int(slider.input_value()) == k and shown[0] == str(k)
            assert states == [state_of(feature, k) for feature in features] and count == count_sentence(features, k)
        assert page.locator("#k-count").get_attribute("aria-live") == "polite"


def test_the_slider_follows_the_mouse(chromium, files):
    with opened(chromium, files["two classes"]) as page:
        slider = page.locator("#k")
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        before = page.evaluate(MARKED)
        page.mouse.click(box["x"] + 0.1 * box["width"], box["y"] + box["height"] / 2)
        k = int(slider.input_value())
        assert 1 <= k < 8
        after = page.evaluate(MARKED)
        assert after[0] == [state_of(feature, k) for feature in two_classes().features] != before[0]
        assert page.locator(".feature .badge").all_inner_texts()[-1] == "not in it"


def test_pointing_at_a_column_shows_its_numbers(chromium, files):
    with opened(chromium, files["two classes"]) as page:
        rows, tips = page.locator(".feature"), page.locator(".feature .tip")
        assert not any(tips.nth(k).is_visible() for k in range(tips.count()))
        rows.nth(3).hover()
        assert [k for k in range(tips.count()) if tips.nth(k).is_visible()] == [3]
        feature, said = two_classes().features[3], tips.nth(3).inner_text()
        assert feature.name in said and "exact weight" in said and "exact rank" in said and "of 1,200, proved" in said
        page.keyboard.press("Escape")
        assert not tips.nth(3).is_visible()
        page.mouse.move(5, 5)
        # by keyboard: one stop for the whole list, arrows within
        page.locator("#k").focus()
        page.keyboard.press("Tab")
        assert rows.nth(0).evaluate("e => e === document.activeElement") and tips.nth(0).is_visible()
        page.keyboard.press("ArrowDown")
        assert [k for k in range(tips.count()) if tips.nth(k).is_visible()] == [1]
        page.keyboard.press("End")
        last = tips.count() - 1
        assert [k for k in range(tips.count()) if tips.nth(k).is_visible()] == [last]
        box = tips.nth(last).bounding_box()
        assert box["width"] > 200 and box["x"] >= 0 and box["x"] + box["width"] <= 1400
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('.feature')") is None


def test_another_class_can_be_picked_out(chromium, files):
    with opened(chromium, files["many classes"]) as page:
        picker = page.locator("#curve-class")
        curves = many_classes().held_out.curves
        hardest = min(range(len(curves)), key=lambda k: curves[k].area)
        assert picker.is_visible() and picker.input_value() == str(hardest)
        other = str((hardest + 1) % len(curves))
        picker.select_option(other)
        picked = page.evaluate(
            "[...document.querySelectorAll('.curve.picked')].map("
            "(e) => [e.dataset.curve, e === e.parentElement.lastElementChild])"
        )
        assert picked == [[other, True]] * 2  # in both charts, uppermost
        names = page.locator(".picked-name:visible").all_inner_texts()
        assert len(names) == 2 and all(said.startswith(curves[int(other)].label) for said in names)


def test_without_its_script_the_page_still_speaks(chromium, files):
    with opened(chromium, files["many classes"], java_script_enabled=False) as page:
        assert not page.locator("#k").is_visible() and not page.locator("#curve-class").is_visible()
        assert page.locator("#k-count").inner_text() == count_sentence(many_classes().features, 20)
        assert page.locator(".feature").count() == 50
        assert page.locator(".curve.picked").count() == 2
        page.locator(".feature").nth(2).hover()
        assert page.locator(".feature .tip").nth(2).is_visible()
        page.locator("summary", has_text="The same as a table").click()
        assert page.locator(".feature-table table").is_visible()


def test_print_is_light_and_shows_what_is_folded(chromium, files):
    with opened(chromium, files["two classes"], 900, color_scheme="dark") as page:
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not page.locator("#k").is_visible() and not page.locator("nav").is_visible()
        assert page.locator("#k-count").is_visible()
        assert [said for ratio, said in page.evaluate(CONTRAST) if ratio < 4.5] == []
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("[...document.querySelectorAll('details')].every((part) => part.open)")
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert not page.evaluate("[...document.querySelectorAll('details')].some((part) => part.open)")
        printed = page.pdf(format="A4", prefer_css_page_size=True)
        assert printed.startswith(b"%PDF") and len(printed) > 50_000


def test_in_a_notebook_it_keeps_to_its_frame(chromium, files, tmp_path):
    notebook = tmp_path / "notebook.html"
    cell = "<!DOCTYPE html><link rel=icon href='data:,'><p id=mine>cell</p>"
    notebook.write_text(cell + two_classes()._repr_html_(), encoding="utf-8")
    context = chromium.new_context(viewport={"width": 1000, "height": 900})
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(notebook.as_uri())
    assert page.evaluate("getComputedStyle(document.getElementById('mine')).fontFamily").startswith('"Times')
    frame = page.frame_locator("iframe")
    frame.locator("#k").focus()
    page.keyboard.press("Home")
    assert frame.locator("#k-shown").inner_text() == "1"
    frame.locator("nav a").first.click()  # must not open the notebook's own address in the frame
    assert frame.locator("h1").inner_text() == two_classes().title
    inner = page.frames[1]
    assert inner.url == "about:srcdoc" and inner.evaluate("document.documentElement.scrollTop") > 100
    context.close()
    assert complaints == []
