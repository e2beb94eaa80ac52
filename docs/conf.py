"""The site: guides in Markdown as they are, the reference from docstrings, the gallery from examples/.

`python -m sphinx -W --keep-going docs docs/_build`, with `pip install ".[docs]"`.
"""

import re
from pathlib import Path

import slimline

ROOT = Path(__file__).parents[1]

project = "slimline"
author = "The slimline developers"
copyright = author  # noqa: A001
version = release = slimline.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "auto_examples/*.ipynb"]
templates_path = ["_templates"]

default_role = "literal"  # `X` in a docstring is code
smartquotes = False  # quotes are those of strings
toc_object_entries_show_parents = "hide"
myst_heading_anchors = 3  # as on a code host

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings name the types
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False  # the template of classes lists them

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "copyfile_regex": "",
}

html_theme = "pydata_sphinx_theme"
html_title = f"slimline {version}"
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 7,
}
html_sidebars = {"index": [], "quickstart": [], "how_do_i": [], "contributing": []}
html_show_sourcelink = False

#: Where a file that is not in this folder is found on the site.
ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    **{
        f"benchmarks/results/{name}.md": f"benchmark_{name}.md"
        for name in ("projections", "matrix", "learn", "fit_memory", "plan", "geometry", "accuracy")
    },
}


def _link(match: re.Match[str]) -> str:
    """Return a link as the site has it: pages are in one folder there, and examples in the gallery."""
    target = re.sub(r"^(\.\./)+", "", match[1]).removeprefix("docs/")
    target = re.sub(r"^examples/(\w+)\.py$", r"auto_examples/\1.rst", target)
    return f"]({ELSEWHERE.get(target, target)}{match[2] or ''})"


def _on_the_site(app: object, name: str, source: list[str]) -> None:
    """Fill the pages that stand for a file outside this folder, and turn links into those of the site."""
    for file, page in ELSEWHERE.items():
        if f"{name}.md" == page:
            source[0] = (ROOT / file).read_text(encoding="utf-8") + source[0]
    if (Path(__file__).parent / f"{name}.md").exists():
        source[0] = re.sub(r"\]\(([\w./]+)(#[^)]+)?\)", _link, source[0])


def _not_ours(app: object, what: str, name: str, thing: object, skip: bool, options: object) -> bool | None:
    """Leave out what scikit-learn gives to every estimator: its own pages say what that is."""
    module = getattr(thing, "__module__", None) or ""
    return True if module.startswith("sklearn.") or re.fullmatch(r"set_\w+_request", name) else None


def setup(app: object) -> None:
    """Look at every page when it is read, and at every member of a class."""
    app.connect("source-read", _on_the_site)  # type: ignore[attr-defined]
    app.connect("autodoc-skip-member", _not_ours)  # type: ignore[attr-defined]
