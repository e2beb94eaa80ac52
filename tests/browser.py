"""A browser without a window, for pages."""

import os
import shutil
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

#: Elements that reach beyond the window; boxes that scroll by themselves may.
BEYOND = """
() => [...document.querySelectorAll("main *")]
  .filter((e) => !e.closest(".scroll, pre, svg, .names, .who") && e.getBoundingClientRect().right > innerWidth + 1)
  .map((e) => e.outerHTML.slice(0, 80))
"""


@contextmanager
def launched():
    """Debian's Chromium; where it is absent the tests are skipped, unless SLIMLINE_REQUIRE_CHROMIUM is set."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    missing = "" if path else "there is no chromium: apt install chromium"
    if find_spec("playwright") is None:
        missing = "there is no playwright to drive a browser: pip install playwright"
    if missing:
        pytest.fail(missing) if os.environ.get("SLIMLINE_REQUIRE_CHROMIUM") else pytest.skip(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(browser, path, width=1400, **options):
    """A page in a window; whatever it complains of, or asks the network for, fails the test."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.on("request", lambda request: complaints.append(request.url) if request.url != path.as_uri() else None)
    page.goto(path.as_uri())
    yield page
    context.close()
    assert [said for said in complaints if not said.startswith("data:")] == []
