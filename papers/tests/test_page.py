"""The page of a replay: nothing typed, nothing unescaped, nothing loaded."""

import html
import re
from dataclasses import replace

import pytest

from papers.tests import made_up
from slimline_papers import Study, find_items, reproduce
from slimline_papers.page.build import sentence
from tests.browser import BEYOND, launched, opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("replayed")
    reproduce([made_up.item(), made_up.item("paul2013.second")], out, Study("miniature"))
    return out


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "index.html").read_text()


def test_claims_are_counted(page):
    # of four claims each: one holds, two do not, one cannot be compared; one correction is borne out; one is ours
    figures = re.findall(r'<p class="figure">([^<]*)</p>', page)
    assert figures == ["2 of 6", "4", "2 of 2", "2 of 2"]
    assert "2 more claims cannot be compared" in page


def test_verdicts_reasons_and_corrections_stand_beside_the_claims(page):
    assert page.count('<span class="mark-yes">holds</span>') == 4
    assert page.count('<span class="mark-no">does not hold</span>') == 4
    assert page.count('<span class="mark-open">not comparable</span>') == 2
    assert page.count('<span class="mark-yes">borne out</span>') == 2
    assert "another machine" in page and "above 0" in page


def test_numbers_are_listed_one_by_one(page):
    rows = re.findall(r"<tr><th[^>]*>second</th>(.*?)</tr>", page)
    cells = [re.sub("<[^>]*>", " ", row).split() for row in rows]
    assert cells == [["1", "0.5", "3", "0.25", "no"]] * 2


def test_text_is_escaped(page):
    assert "values are &lt;b&gt;negative&lt;/b&gt;" in page and "<b>negative</b>" not in page


def test_nothing_is_loaded(page):
    policy = html.unescape(re.search(r'Policy" content="([^"]*)"', page)[1])
    assert "default-src 'none'" in policy and "script-src 'none'" in policy and "<script" not in page
    assert all(address.startswith(("data:image/png", "data:,")) for address in re.findall(r'src="([^"]*)"', page))


def test_files_that_are_linked_are_there(folder, page):
    links = {link for link in re.findall(r'href="([^"]*)"', page) if not link.startswith(("#", "data:"))}
    assert len(links) == 4 and all((folder / link).is_file() for link in links)
    anchors = {link[1:] for link in re.findall(r'href="([^"]*)"', page) if link.startswith("#")}
    assert anchors <= set(re.findall(r'id="([^"]*)"', page))


@pytest.mark.slow
def test_nothing_sticks_out_of_a_window(folder):
    with launched() as browser, opened(browser, folder / "index.html") as window:
        for width in (1400, 400):
            window.set_viewport_size({"width": width, "height": 900})
            window.evaluate("() => document.querySelectorAll('details').forEach((e) => { e.open = true; })")
            assert window.evaluate("document.documentElement.scrollWidth") == width
            assert window.evaluate(BEYOND) == []
        sizes = window.evaluate("[...document.querySelectorAll('img')].map((e) => [e.naturalWidth, e.clientWidth])")
        assert len(sizes) == 2 and all(natural > shown > 200 for natural, shown in sizes)


def test_reasons_are_sentences_and_point_to_the_mathematics(page):
    assert "<small>They are not.</small>" in page and "above 0.</small>" in page
    assert page.count("section 1 of slimline’s guide “Where the papers do not hold”") == 2


def test_symbols_are_not_capitalised():
    assert sentence("r is too small") == "r is too small."
    assert sentence("(1 + √y)² is") == "(1 + √y)² is." and sentence("a bound fails.") == "A bound fails."


def test_a_small_page_says_so(page):
    assert "too small to conclude from" in page


def _page_of(out, size="miniature", **fields):
    item = made_up.item()
    reproduce([replace(item, experiment=replace(item.experiment, **fields))], out, Study(size))
    return (out / "index.html").read_text()


def test_a_full_size_is_what_the_experiment_says(tmp_path):
    assert "As many repetitions as in the document; seed 0" in _page_of(tmp_path / "alike", "full")
    fewer = _page_of(tmp_path / "fewer", "full", full_size="ten data sets, one CV each")
    assert "Ten data sets, one CV each; seed 0" in fewer and "As many repetitions" not in fewer
    assert "Ten data sets" not in _page_of(tmp_path / "small", full_size="ten data sets, one CV each")


def test_made_up_data_that_stand_in_for_others_are_named(tmp_path):
    assert "Stand-ins" not in _page_of(tmp_path / "own")
    page = _page_of(tmp_path / "other", stand_in_for="People & variants")
    assert "<strong>People &amp; variants</strong> is not available; in its place: made-up data (shi2012.m" in page
    assert "Made-up data, a stand-in for People &amp; variants." in page


def test_what_was_chosen_because_it_is_not_printed_is_named(tmp_path, page):
    reproduce([replace(made_up.item(), chosen="points & planes")], tmp_path, Study("miniature"))
    assert "Not printed, and chosen here:</em> points &amp; planes.</p>" in (tmp_path / "index.html").read_text()
    assert "Not printed" not in page


def test_simulated_genotypes_are_a_stand_in():
    (item,) = find_items(["paul2013.fig3"])
    assert item.experiment.stand_in_for.startswith("HapMap-HGDP")
