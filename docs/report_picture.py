"""Take the pictures of README.md and fit.md: the page that `slimline demo` writes, in headless Chromium.

`slimline demo && python docs/report_picture.py slimline-demo/cohort.html docs/images`, with the extra `test` and
Debian's package `chromium`.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH = 1000
#: How many columns the second picture shows.
COLUMNS = 14


def main(page: str, folder: str) -> None:
    """Take the first lines, and the beginning of the chart of the columns."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": WIDTH, "height": 800}, color_scheme="light")
        view.goto(Path(page).resolve().as_uri())
        end = view.locator("nav").bounding_box()
        _take(view, 0, end["y"] - 12, f"{folder}/report.png")
        view.locator("#k").fill("10")
        view.locator("#k").blur()
        view.evaluate("scrollTo(0, 0)")  # boxes are measured from the top of the window
        start = view.locator("#columns").bounding_box()
        end = view.locator("#features-list > li.feature").nth(COLUMNS).bounding_box()
        _take(view, start["y"], end["y"], f"{folder}/report_columns.png")
        browser.close()


def _take(view, top: float, bottom: float, path: str) -> None:
    view.screenshot(path=path, full_page=True, clip={"x": 0, "y": top, "width": WIDTH, "height": bottom - top})


if __name__ == "__main__":
    main(*sys.argv[1:3])
