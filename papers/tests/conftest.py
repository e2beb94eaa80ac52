"""Fixtures that the workers of a test run share."""

import os

import pytest

from papers.tests import replayed
from slimline.bounds._bound import FULL_NAMES


def pytest_itemcollected(item):
    """The replays of a document, which measure before they compare, are no part of the fast tier."""
    if item.path.parent.name in FULL_NAMES:
        item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True, scope="session")
def _one_measurement_for_all_workers(tmp_path_factory):
    if "PYTEST_XDIST_WORKER" in os.environ:
        replayed.shared = tmp_path_factory.getbasetemp().parent / "replayed"
        replayed.shared.mkdir(exist_ok=True)
