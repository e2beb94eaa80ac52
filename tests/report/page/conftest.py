"""A browser without a window."""

import os
import shutil

import pytest


@pytest.fixture(scope="module")
def chromium():
    """Debian's Chromium; where it is absent the tests are skipped, unless SLIMLINE_REQUIRE_CHROMIUM is set."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        said = "there is no chromium: apt install chromium"
        pytest.fail(said) if os.environ.get("SLIMLINE_REQUIRE_CHROMIUM") else pytest.skip(said)
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
