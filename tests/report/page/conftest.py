"""A browser without a window."""

import pytest

from tests.browser import launched


@pytest.fixture(scope="module")
def chromium():
    with launched() as browser:
        yield browser
