"""The page as a document: well formed, accessible, safe, self-contained, and not large."""

import base64
import errno
import hashlib
import html
import itertools
import os
import re

import pytest

from slimline.errors import FileWriteError, InvalidParameterError
from slimline.report import check_page_path, fit_page, write_fit_page
from tests.report.page.examples import EXAMPLES, HOSTILE, many_classes, two_classes
from tests.report.page.reading import read


@pytest.fixture(scope="module", params=sorted(EXAMPLES))
def page(request):
    return fit_page(EXAMPLES[request.param]())


@pytest.mark.slow
def test_it_is_well_formed(page):
    root = read(page)
    ids = [e.attributes["id"] for e in root.all() if "id" in e.attributes]
    assert len(ids) == len(set(ids)) and len(ids) > 15
    targets = [e.attributes["href"] for e in root.all("a")]
    assert targets and all(target.startswith("#") and target[1:] in ids for target in targets)
    for e in root.all():
        for name in ("aria-labelledby", "aria-describedby", "for"):
            assert e.attributes.get(name, ids[0]) in ids
    assert next(root.all("html")).attributes["lang"] == "en" and page.startswith("<!DOCTYPE html>\n")


def test_headings_are_in_order(page):
    levels = [int(e.tag[1]) for e in read(page).all() if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_pictures_and_tables_speak(page):
    root = read(page)
    for drawing in root.all("svg"):
        assert drawing.attributes["aria-hidden"] == "true"  # what stands around it says it
    plots = list(root.all(role="img"))
    assert plots and all(len(plot.attributes["aria-label"]) > 30 for plot in plots)
    for table in root.all("table"):
        assert len(list(table.all("caption"))) == 1
        assert all(head.attributes.get("scope") in ("row", "col") for head in table.all("th"))
        widths = {sum(not isinstance(cell, str) for cell in row.children) for row in table.all("tr")}
        assert len(widths) == 1
    for box in root.all(class_="scroll"):
        assert box.attributes["tabindex"] == "0" and box.attributes["aria-label"]
    first = next(e for e in root.all("a"))
    assert first.attributes["class"] == "skip" and first.attributes["href"] == "#main"
    assert next(root.all("input")).attributes["id"] == next(e for e in root.all("label")).attributes["for"]


def test_it_needs_nothing_else(page):
    root = read(page)
    assert not [e for e in root.all() if {"src", "srcset", "action", "data"} & set(e.attributes)]
    assert [e.attributes["href"] for e in root.all("link")] == ["data:,"]
    ours = "".join(e.children[0] for tag in ("style", "script") for e in root.all(tag))
    assert not re.search(r"https?:|@import|url\(|fetch|XMLHttp", ours)
    policy = next(e for e in root.all("meta") if e.attributes.get("http-equiv")).attributes["content"]
    (script,) = root.all("script")
    digest = base64.b64encode(hashlib.sha256(script.children[0].encode()).digest()).decode()
    assert policy.startswith("default-src 'none';") and f"script-src 'sha256-{digest}';" in policy


def test_it_is_not_large(page):
    assert len(page.encode()) < 300_000


def test_where_proved_is_said_its_meaning_is_at_hand(page):
    root = read(page)
    for section in next(root.all("main")).all("section"):
        if "proved" in section.words and section.attributes["id"] != "what-proved-means":
            links = list(section.all("a", class_="proved"))
            assert links and all("Not a cause, and not true of the world" in e.attributes["title"] for e in links)
    for words in ("does not mean that a feature causes anything", "A proof is not about causes"):
        assert root.words.count(words) == 1


@pytest.mark.parametrize("name", ["hostile", "hostile regression"])
def test_texts_from_data_stay_texts(name):
    page = fit_page(EXAMPLES[name]())
    root = read(page)
    tags = [e.tag for e in root.all()]
    assert tags.count("script") == tags.count("style") == 1 and "img" not in tags
    assert not [name for e in root.all() for name in e.attributes if name.startswith("on")]
    (script,) = root.all("script")
    assert script.children == next(iter(read(fit_page(two_classes())).all("script"))).children  # no data in it
    shown = HOSTILE.replace("\x00", "\ufffd").replace("\ud800", "\ufffd")
    said = root.words.count(shown)
    assert said > 100
    assert all("<img" not in line for line in page.split("\n"))
    page.encode()  # halves of surrogate pairs are gone


def test_the_same_record_has_the_same_page():
    assert fit_page(many_classes()) == fit_page(many_classes())


def test_written_whole_and_replaced(tmp_path):
    path = tmp_path / "out.html"
    path.write_text("old")
    write_fit_page(two_classes(), str(path))
    assert path.read_text(encoding="utf-8") == fit_page(two_classes())
    assert [file.name for file in tmp_path.iterdir()] == ["out.html"]


def test_a_full_disk_leaves_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "out.html"
    path.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(FileWriteError, match="disk is full"):
        write_fit_page(two_classes(), path)
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_paths_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "folder.html").mkdir()
    for name, said in (("out.pdf", "must end in .html"), ("no/out.html", "no folder"), ("folder.html", "is a folder")):
        with pytest.raises(InvalidParameterError, match=said):
            check_page_path(tmp_path / name)
    assert check_page_path(str(tmp_path / "OUT.HTM")) == tmp_path / "OUT.HTM"


def test_notebooks_have_it_in_a_frame():
    report = EXAMPLES["hostile"]()
    shown = report._repr_html_()
    (frame,) = list(read(shown).children)
    assert frame.tag == "iframe" and frame.attributes["sandbox"] == "allow-scripts"
    assert frame.attributes["srcdoc"] == fit_page(report)
    assert html.unescape(frame.attributes["title"])
