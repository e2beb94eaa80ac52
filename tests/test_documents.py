"""What the documents show must run: code blocks, doctests, and the commands of the README."""

import doctest
import importlib
import pkgutil
import re
import sys
import types
from pathlib import Path

import pytest

import slimline

ROOT = Path(__file__).parents[1]


def _blocks(document: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_python_blocks_run(document, monkeypatch):
    blocks = _blocks(document, "python")
    assert blocks
    for block in blocks:
        module = types.ModuleType("document")
        monkeypatch.setitem(sys.modules, "document", module)  # classes of the block can be pickled
        exec(compile(block, document, "exec"), module.__dict__)


def test_readme_gives_two_commands():
    demo, tests = _blocks("README.md", "sh")
    assert demo.count("\n") == tests.count("\n") == 1
    assert demo.endswith("slimline demo\n")
    assert tests.endswith("pytest\n")


def _modules() -> list[str]:
    packages = pkgutil.walk_packages(slimline.__path__, "slimline.")
    return ["slimline", *(m.name for m in packages if "_native" not in m.name and not m.name.endswith("__main__"))]


@pytest.mark.parametrize("name", _modules())
def test_doctests(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/benchmarks.md"])
def test_links_lead_somewhere(document):
    path = ROOT / document
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target
