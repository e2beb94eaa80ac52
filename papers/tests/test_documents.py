"""The guide to the replays, the example in the gallery, and the examples in docstrings."""

import doctest
import importlib
import runpy
import sys

import pytest

from tests.documents import examples, modules, run_page


@pytest.mark.slow
def test_code_and_commands_of_the_guide_run_one_after_the_other(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)  # empty, as the page says
    run_page("docs/reproduce.md", 1, 2, monkeypatch, capsys)


@pytest.mark.parametrize(
    "example", [path for path in examples() if "slimline_papers" in path.read_text("utf-8")], ids=lambda path: path.name
)
def test_examples_run(example, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
    assert not any(tmp_path.iterdir())  # nothing is left behind


@pytest.mark.parametrize("name", modules("slimline_papers"))
def test_doctests(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
