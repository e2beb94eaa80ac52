"""Tests of every item, in miniature."""

import pytest

from papers.tests.replayed import replayed
from slimline.bounds._bound import FULL_NAMES
from slimline_papers import ITEMS, Study
from slimline_papers.sources import SOURCES

MADE_UP = [item for item in ITEMS if not item.experiment.sources]
OF_DATA = [item for item in ITEMS if item.experiment.sources]


def _is_whole(item):
    table, findings = replayed(item.name)
    assert len(table) > 0 and findings
    figure = item.draw(table)
    assert figure.axes and all(
        panel.get_xlabel() or panel.get_title(loc="left") or not panel.axison for panel in figure.axes
    )


@pytest.mark.parametrize("item", MADE_UP, ids=lambda item: item.name)
def test_runs_in_miniature(item):
    _is_whole(item)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("item", OF_DATA, ids=lambda item: item.name)
def test_runs_in_miniature_on_data(item, data_dir):
    _is_whole(item)


def test_names_are_unique_and_belong_to_a_document():
    names = [item.name for item in ITEMS]
    assert len(set(names)) == len(names)
    assert {item.document for item in ITEMS} == set(FULL_NAMES)
    experiments = {item.experiment for item in ITEMS}
    assert len({experiment.name for experiment in experiments}) == len(experiments)
    assert all(source in SOURCES for experiment in experiments for source in experiment.sources)


def test_every_figure_and_table_is_there():
    wanted = {
        *(f"shi2012.fig{number}" for number in (1, 2, 3, 4)),
        "uml2014.lemma23_3", "uml2014.lemma23_4", "fard2012.theorem1", "fard2012.theorem2",
        *(f"paul2013.table{number}" for number in (1, 2, 3)), *(f"paul2013.fig{number}" for number in (1, 2, 3)),
        "paul2013.theorem2", "paul2013.friendly",
        *(f"vaswani2013.fig{name}" for name in ("1", "2", "3", "4", "5a", "5b", "6")),
        "vaswani2013.svm_losses", "vaswani2013.feature_order", "vaswani2013.sparsity",
    }  # fmt: skip
    assert wanted <= {item.name for item in ITEMS}


def test_every_correction_has_an_item():
    # the sections of docs/where_the_papers_do_not_hold.md
    shown = {number for item in ITEMS for number in item.correction.split(", ")}
    assert {str(number) for number in range(1, 14)} <= shown


@pytest.mark.parametrize("item", MADE_UP, ids=lambda item: item.name)
def test_full_size_is_not_smaller(item):
    sizes = [len(item.experiment.parts(Study(size))) for size in ("miniature", "default", "full")]
    assert sizes[0] <= sizes[1] <= sizes[2]
