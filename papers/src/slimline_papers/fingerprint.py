"""Fingerprint of an experiment: the code that measures, and the printed numbers that it uses."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from slimline_papers import printed
from slimline_papers.item import Experiment

#: What documents measure with in common. The rest that they share holds, draws and judges.
_SHARED = (printed.__name__, "slimline_papers.projected_norms")


@cache
def fingerprint(experiment: Experiment) -> str:
    """Return a digest of the library's version and of all that an experiment is measured by.

    Parameters
    ----------
    experiment : Experiment
        Which.

    Returns
    -------
    digest : str
        Hexadecimal.
    """
    from slimline import __version__

    sources = measuring_code(experiment.measure.__module__)
    text = [__version__, *(sources[name] for name in sorted(sources))]
    if printed.__name__ in sources:
        text.append(json.dumps(printed.all_printed(experiment.document), sort_keys=True))
    return hashlib.sha256("\n".join(text).encode()).hexdigest()


def measuring_code(module: str) -> dict[str, str]:
    """Return the code of a module, of its neighbours that it imports, and of those that these import.

    Imports are read off the text: a constant does not say which module it comes from.

    Parameters
    ----------
    module : str
        Its name.

    Returns
    -------
    sources : dict of str to str
        Text by name of module: those of the same folder, and what documents measure with in common.
    """
    package = module.rpartition(".")[0]
    sources: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        sources[name] = inspect.getsource(import_module(name))
        near = {other for other in _imported(sources[name]) if other.startswith(f"{package}.") or other in _SHARED}
        waiting += filter(_is_module, near)
    return sources


def _imported(source: str) -> set[str]:
    """Return what a text imports: modules, and names that may be modules too."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # it is something in a module
        return False
