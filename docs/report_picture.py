"""Take the pictures of README.md and fit.md: the page that `slimline demo` writes, in headless Chromium.

`slimline demo && python docs/report_picture.py slimline-demo/cohort.html docs/images`, with the extra `test` and
Debian's package `chromium`.
"""

import shutil
import sys
from pathlib import Path
from typing import Any

WIDTH = 1000
#: How many features the second picture shows, and how far the slider is.
FEATURES, TOP = 14, 10


def take_pictures(browser: Any, page: str, folder: str) -> None:
    """Take the first lines, and the beginning of the chart of the features."""
    view = browser.new_page(viewport={"width": WIDTH, "height": 800}, color_scheme="light")
    view.goto(Path(page).resolve().as_uri())
    _take(view, 0, _top(view, "nav") - 12, f"{folder}/report.png")
    view.locator("#k").fill(str(TOP))
    view.locator("#k").blur()
    view.evaluate("scrollTo(0, 0)")  # boxes are measured from the top of the window
    after = _top(view, f"#features-list > li.feature >> nth={FEATURES}")
    _take(view, _top(view, "#features") - 20, after, f"{folder}/report_columns.png")
    view.close()


def _top(view: Any, selector: str) -> float:
    return float(view.locator(selector).bounding_box()["y"])


def _take(view: Any, top: float, bottom: float, path: str) -> None:
    view.screenshot(path=path, full_page=True, clip={"x": 0, "y": top, "width": WIDTH, "height": bottom - top})


if __name__ == "__main__":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        take_pictures(chromium, *sys.argv[1:3])
        chromium.close()
