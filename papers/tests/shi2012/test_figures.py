"""Every figure can be drawn, and says what its axes are."""

import pytest

from papers.tests.replayed import replayed
from slimline_papers import find_items

_ITEMS = find_items(["shi2012"])


@pytest.mark.parametrize("item", [item for item in _ITEMS if not item.experiment.sources], ids=lambda item: item.name)
def test_figures_name_their_axes(item):
    table, _ = replayed(item.name)
    panels = item.draw(table).axes
    assert panels and all(panel.get_xlabel() and panel.get_ylabel() for panel in panels)
