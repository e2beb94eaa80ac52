"""Code that measures is told from other code, wherever it stands."""

import sys
from dataclasses import replace
from importlib import import_module

import pytest

from slimline_papers import Experiment, find_items, printed
from slimline_papers.fingerprint import fingerprint, measuring_code

FILES = {
    "__init__.py": "from measured import judging\n",
    "things.py": """
import measured.far
from measured import near
from measured.sizes import SIZE

def measure(study, part):
    yield SIZE, near.VALUE, measured.far.VALUE
""",
    "near.py": "VALUE = 1\n",
    "far.py": "VALUE = 2\n",
    "sizes.py": "from measured.units import UNIT\n\nSIZE = 3 * UNIT\n",
    "units.py": "UNIT = 1\n",
    "judging.py": "LIMIT = 1e-6\n",
}


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """A function that makes an experiment of files, in a folder that no other has been in."""

    def experiment(**changed):
        folder = tmp_path / str(len(list(tmp_path.iterdir()))) / "measured"
        folder.mkdir(parents=True)
        for name, text in FILES.items():
            (folder / name).write_text(changed.get(name.removesuffix(".py"), text))
        for name in [name for name in sys.modules if name.partition(".")[0] == "measured"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.syspath_prepend(str(folder.parent))
        measure = import_module("measured.things").measure
        return Experiment("shi2012.measured", "Things.", ("size", "near", "far"), lambda study: [], measure)

    yield experiment
    for name in [name for name in sys.modules if name.partition(".")[0] == "measured"]:
        monkeypatch.delitem(sys.modules, name)


def test_the_same_code_is_the_same(packaged):
    assert fingerprint(packaged()) == fingerprint(packaged())


@pytest.mark.parametrize("module", ["things", "near", "far", "sizes", "units"])
def test_a_change_of_what_measures_is_noticed(packaged, module):
    before = fingerprint(packaged())
    assert fingerprint(packaged(**{module: FILES[f"{module}.py"] + "OTHER = 0\n"})) != before


def test_a_change_of_what_does_not_measure_is_none(packaged):
    before = fingerprint(packaged())
    assert fingerprint(packaged(judging="LIMIT = 1e-9\n")) == before


@pytest.mark.parametrize(
    "item, modules",
    [
        ("paul2013.theorem1", {"paul2013.theorem1", "paul2013.clouds"}),
        ("vaswani2013.probes", {"vaswani2013.probes", "vaswani2013.recovered_weights"}),
        ("shi2012.fig2", {"shi2012.angles", "printed"}),
        ("uml2014.lemma23_3", {"uml2014.lemma23_3", "projected_norms"}),
    ],
)
def test_modules_of_items(item, modules):
    (found,) = find_items([item])
    code = measuring_code(found.experiment.measure.__module__)
    assert {f"slimline_papers.{name}" for name in modules} <= set(code)


def test_a_change_of_printed_numbers_is_noticed_where_they_are_used(monkeypatch):
    (angles,), (spread,) = find_items(["shi2012.fig2"]), find_items(["shi2012.fig1"])
    numbers = printed._all()
    before = [fingerprint(replace(item.experiment, about="before")) for item in (angles, spread)]
    monkeypatch.setattr(printed, "_all", lambda: {**numbers, "paul2013": {}})
    assert [fingerprint(replace(item.experiment, about="of others")) for item in (angles, spread)] == before
    monkeypatch.setattr(printed, "_all", lambda: {**numbers, "shi2012": {**numbers["shi2012"], "more": 1}})
    after = [fingerprint(replace(item.experiment, about="after")) for item in (angles, spread)]
    assert after[0] != before[0] and after[1] == before[1]
