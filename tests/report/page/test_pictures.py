"""The pictures of the README and of the guide are taken by a script that knows the page."""

import runpy
from pathlib import Path

import pytest
from matplotlib.image import imread

from slimline.report import fit_page
from tests.report.page.examples import two_classes

pytestmark = pytest.mark.nightly

DOCS = Path(__file__).parents[3] / "docs"


def test_the_script_takes_both_pictures(chromium, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(fit_page(two_classes()), encoding="utf-8")
    script = runpy.run_path(str(DOCS / "report_picture.py"))
    script["take_pictures"](chromium, str(page), str(tmp_path))
    for name in ("report.png", "report_columns.png"):
        taken, shown = imread(tmp_path / name), imread(DOCS / "images" / name)
        assert taken.shape[1] == shown.shape[1] == script["WIDTH"]
        assert taken.std() > 0.05  # something is to be seen
        assert 0.5 < taken.shape[0] / shown.shape[0] < 2  # the same part of the page
        assert (DOCS / "images" / name).stat().st_size < 300_000
