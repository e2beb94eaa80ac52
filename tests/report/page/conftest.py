"""A browser without a window."""

import os
import shutil
from importlib.util import find_spec

import pytest


@pytest.fixture(scope="module")
def chromium():
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
