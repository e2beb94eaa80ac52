"""Tests of the documents: code blocks, doctests, and the commands of the README."""

import doctest
import importlib
import re
import runpy
import sys
import tomllib
import types
from itertools import pairwise

import numpy as np
import pytest

from slimline.bounds import BOUNDS
from slimline.data import simulate_genotypes
from slimline.data._open import FORMATS
from tests.documents import ROOT, code_blocks, examples, modules, require_printed, run_page

DOCUMENTS = {"fard2012", "paul2013", "shi2012", "uml2014", "vaswani2013"}
#: Those of a companion are run by its own tests.
OWN_EXAMPLES = [path for path in examples() if "slimline_papers" not in path.read_text("utf-8")]


@pytest.mark.slow
def test_the_code_for_contributors_runs(monkeypatch, tmp_path):
    blocks = code_blocks("CONTRIBUTING.md", "python")
    assert len(blocks) == 2
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        module = types.ModuleType("document")
        monkeypatch.setitem(sys.modules, "document", module)  # classes of the block can be pickled
        exec(compile(block, "CONTRIBUTING.md", "exec"), module.__dict__)


@pytest.mark.parametrize(
    ("document", "at_least"),
    [
        ("docs/data.md", 16),
        ("docs/classifier.md", 12),
        ("docs/regression.md", 4),
        ("docs/bounds.md", 9),
        ("docs/margin_theorems.md", 4),
        ("docs/where_the_papers_do_not_hold.md", 25),
        ("docs/plan.md", 3),
        ("docs/covariates.md", 2),
        ("docs/dual_recovery.md", 1),
        ("docs/effective_dimension.md", 3),
        ("docs/geometry.md", 6),
        ("docs/audit.md", 4),
        ("docs/predict.md", 4),
        ("docs/projections.md", 2),
    ],
)
def test_tasks_of_a_page_run_one_after_the_other(document, at_least, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)  # empty, as the page says
    module = types.ModuleType("document")
    blocks = code_blocks(document, "python")
    assert len(blocks) >= at_least
    for block in blocks:
        exec(compile(block, f"{document}: {block[:60]}", "exec"), module.__dict__)
    require_printed("".join(blocks), capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "code", "commands"),
    [
        ("README.md", 1, 4),
        ("docs/quickstart.md", 2, 6),
        ("docs/fit.md", 2, 6),
        ("docs/how_do_i.md", 20, 4),
        ("docs/genetics.md", 5, 6),
    ],
)
def test_code_and_commands_of_a_page_run_one_after_the_other(document, code, commands, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)  # empty, as the page says
    said = run_page(document, code, commands, monkeypatch, capsys)
    if document == "docs/fit.md":
        said = " ".join(said.split())  # tables are as wide as the terminal
        for line in code_blocks(document, "text")[0].splitlines():
            if not line.startswith(("took", "certified error")):  # these belong to a machine
                assert " ".join(line.split()) in said


def _words(text: str) -> list[float | str]:
    """Return the words of a text, those that are numbers as numbers."""
    words: list[float | str] = []
    for word in re.findall(r"[^\s,%]+", text):
        try:
            words.append(float(word))
        except ValueError:
            words.append(word)
    return words


def test_the_readme_prints_what_it_says(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    block = next(block for block in code_blocks("README.md", "python") if "CertifiedClassifier" in block)
    exec(compile(block, "README.md", "exec"), {"__name__": "document"})
    said, shown = _words(capsys.readouterr().out), _words(code_blocks("README.md", "text")[0])
    assert len(said) == len(shown)
    assert 0.0 < said[shown.index("most") + 1] <= 1e-3  # how far below tol it ends, and in how many passes, may change
    first = shown.index("passes")
    for was, should in zip(said[first:], shown[first:], strict=True):  # weights may differ by what tol allows
        assert was == (pytest.approx(should, rel=0.01) if isinstance(should, float) else should)


@pytest.mark.slow
@pytest.mark.parametrize("example", OWN_EXAMPLES, ids=lambda path: path.name)
def test_examples_run(example, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
    assert not any(tmp_path.iterdir())  # nothing is left behind


def test_the_genotypes_example_finds_variants_that_differ(capsys):
    runpy.run_path(str(ROOT / "examples" / "genotypes_out_of_core.py"), run_name="__main__")
    said = capsys.readouterr().out
    frequencies = simulate_genotypes(300, 20_000, n_populations=3, fst=0.1, missing_rate=0.01, seed=0).frequencies
    spread = np.ptp(frequencies, axis=0) / np.sqrt(frequencies.mean(axis=0) * (1 - frequencies.mean(axis=0)))
    named = [int(number) - 1 for number in re.findall(r"snp(\d+)", said)]
    assert len(named) == 5
    assert (spread[named] > np.quantile(spread, 0.9)).all()
    assert "3 passes over the genotypes" in said


def test_the_genomes_example_proves_more_with_a_smaller_tolerance(capsys):
    runpy.run_path(str(ROOT / "examples" / "certified_genomes.py"), run_name="__main__")
    said = capsys.readouterr().out
    passes = [int(number) for number in re.findall(r"(\d+) passes, of which", said)]
    proved = [int(number) for number in re.findall(r"(\d+) of its top 10 variants", said)]
    errors = [float(number) for number in re.findall(r"the weights are within (\S+) of", said)]
    assert passes[0] < passes[1] and proved[0] <= proved[1] == 10
    assert max(errors[:3]) <= 1e-2 and max(errors[3:]) <= 1e-4
    assert said.count("  proved\n") == 10


def test_the_published_iteration_diverges_and_the_certified_one_does_not(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)  # the simulated set
    figure = tmp_path / "figure.png"
    monkeypatch.setattr(sys, "argv", ["published_iteration.py", str(figure)])
    runpy.run_path(str(ROOT / "examples" / "published_iteration.py"), run_name="__main__")
    published, certified = capsys.readouterr().out.split("published iteration")[1].split("certified (")
    rows = re.findall(r"^ +(\d+) +(\d+) +(\S+)$", published, flags=re.MULTILINE)
    assert [int(steps) for _, steps, _ in rows] == [1, 2, 3, 4, 8]
    assert all(float(b) > 100 * float(a) for (*_, a), (*_, b) in pairwise(rows))
    rows = re.findall(r"^ +(\d+) +\d+ +\d+ +(\S+) +(\S+)$", certified, flags=re.MULTILINE)
    assert all(float(true) <= float(proved) for _, true, proved in rows)
    assert float(rows[-1][2]) <= 1e-2
    assert figure.stat().st_size > 10_000


def test_the_formats_of_the_guide_are_those_that_open():
    text = (ROOT / "docs" / "data.md").read_text(encoding="utf-8").split("## Which files?")[1].split("\n## ")[0]
    table = re.findall(r"^\| (`\..+?) \|.*\| (.*)\|$", text, flags=re.MULTILINE)
    shown = {ending for endings, _ in table for ending in re.findall(r"`(\.\w+)`", endings.split("(")[0])}
    assert shown == {ending for _, _, endings in FORMATS.values() for ending in endings}
    extras = set(re.findall(r"slimline\[(\w+)\]", "".join(extra for _, extra in table)))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extras == {"parquet", "hdf5", "zarr"} <= set(project["optional-dependencies"])


@pytest.mark.parametrize(
    ("room", "apart"),
    [
        ("slimline", {"bounds", "geometry", "laws"}),
        ("slimline.bounds", {"BOUNDS"}),
        ("slimline.laws", {"cosine", "inner_product", "norm"}),  # values of the class `Law`
        ("slimline.geometry", set()),
        ("slimline.model_files", set()),
    ],
)
def test_the_reference_has_every_public_name(room, apart):
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    part = re.search(rf"currentmodule:: {room}\n(.*?)(currentmodule|\Z)", text, flags=re.DOTALL)
    listed = re.findall(r"^   (\w+)$", part[1], flags=re.MULTILINE)
    assert set(listed) == set(importlib.import_module(room).__all__) - apart


def test_the_table_of_bounds_has_all_of_them():
    text = (ROOT / "docs" / "bounds.md").read_text(encoding="utf-8")
    section = text.split("## All bounds")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)`( \*)? \|(.*)\|$", section, flags=re.MULTILINE)
    assert [name for name, _, _ in rows] == list(BOUNDS)
    for name, star, rest in rows:
        bound, cells = BOUNDS[name], re.split(r"(?<!\\)\|", rest)  # |Q| is written \|Q\|
        needs, exact = (re.findall(r"`(\w+)`", cell) for cell in cells[-2:])
        assert bool(star) == (bound.erratum is not None), name
        assert tuple(needs) == bound.needs, name
        assert tuple(exact) == bound.exact_needs, name
        assert bool(cells[-1].strip()) == (bound.exact is not None), name


def test_every_erratum_is_on_the_page_of_errata():
    text = (ROOT / "docs" / "where_the_papers_do_not_hold.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:balcan|fard|paul|shi|uml|vaswani)\d{4}\.?[\w.]*)`", text)) - DOCUMENTS
    assert {name for name, bound in BOUNDS.items() if bound.erratum} <= named <= set(BOUNDS)


def test_the_picture_of_dimensions_is_drawn(monkeypatch, tmp_path):
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", ["margin_dimensions.py", str(picture)])
    script = runpy.run_path(str(ROOT / "docs" / "margin_dimensions.py"), run_name="__main__")
    asked = script["dimensions"]()
    assert (asked["exact"] < asked["shi2012.6.sharp"]).all()
    assert (asked["shi2012.6.sharp"] < asked["shi2012.6"]).all()
    assert picture.stat().st_size > 10_000


def test_readme_gives_two_commands():
    demo, tests = code_blocks("README.md", "sh")
    assert demo.count("\n") == tests.count("\n") == 1
    assert demo.endswith("slimline demo\n")
    assert tests.endswith("pytest -n auto\n")


@pytest.mark.parametrize("name", [name for name in modules("slimline") if name != "slimline.papers"])
def test_doctests(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize(
    "document",
    sorted(
        str(path.relative_to(ROOT))
        for path in [
            *ROOT.glob("*.md"),
            *(
                path
                for folder in ("docs", "papers", "benchmarks", "benchmarks/results")
                for path in ROOT.glob(f"{folder}/*.md")
            ),
        ]
    ),
)
def test_links_lead_somewhere(document):
    path = ROOT / document
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= _anchors(text)
    for target, anchor in re.findall(r"\]\(([^)#:]+)(?:#([^)]+))?\)", text):
        assert (path.parent / target).exists(), target
        assert not anchor or anchor in _anchors((path.parent / target).read_text(encoding="utf-8")), (target, anchor)


def _anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
