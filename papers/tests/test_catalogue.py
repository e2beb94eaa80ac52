"""All items, and how they are found."""

import pytest

from slimline.bounds._bound import FULL_NAMES
from slimline.errors import InvalidParameterError
from slimline_papers import ITEMS, Study, find_items
from slimline_papers.sources import SOURCES

SIZES = ("miniature", "default", "full")


def names(*wanted):
    return [item.name for item in find_items(wanted)]


def test_everything():
    assert names("all") == [item.name for item in ITEMS]
    assert find_items() == ITEMS


def test_a_document_and_an_item():
    assert names("uml2014") == ["uml2014.lemma23_3", "uml2014.lemma23_4"]
    assert names("uml2014.lemma23_4") == ["uml2014.lemma23_4"]


def test_each_once_in_the_order_of_the_documents():
    assert names("fard2012.theorem1", "shi2012.fig1", "uml2014", "uml2014.lemma23_4") == [
        "shi2012.fig1", "uml2014.lemma23_3", "uml2014.lemma23_4", "fard2012.theorem1",
    ]  # fmt: skip


def test_what_is_not_there():
    with pytest.raises(
        InvalidParameterError, match=r"nothing called 'uml2014\.fig9'.*uml2014\.lemma23_3, uml2014\.lemma23_4"
    ):
        find_items(["uml2014.fig9"])
    with pytest.raises(InvalidParameterError, match=r"nothing called 'knuth1997'.*there are all, shi2012, uml2014"):
        find_items(["knuth1997"])


def test_names_are_unique_and_of_a_document():
    assert len({item.name for item in ITEMS}) == len(ITEMS)
    assert all(item.document in FULL_NAMES and item.title for item in ITEMS)
    experiments = {item.experiment.name: item.experiment for item in ITEMS}
    assert all(item.experiment is experiments[item.experiment.name] for item in ITEMS)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_an_item_is_well_formed(item):
    experiment = item.experiment
    assert experiment.about and len(set(experiment.columns)) == len(experiment.columns)
    assert set(experiment.sources) <= set(SOURCES)
    if not item.correction:
        return
    assert item.correction.isdecimal() and 1 <= int(item.correction) <= 13


@pytest.mark.parametrize("item", [item for item in ITEMS if not item.experiment.sources], ids=lambda item: item.name)
def test_pieces_differ(item):
    for size in SIZES:
        parts = item.experiment.parts(Study(size=size))
        assert parts and len(set(parts)) == len(parts)
