"""Validate the docstrings of every name in docs/api.md, as `help` shows them, against numpydoc's rules."""

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from numpydoc.validate import validate

API = Path(__file__).parents[1] / "docs" / "api.md"

#: Rules that are not asked for, beside those about the layout of the source, which `numpydoc lint` sees.
NOT_ASKED = {
    *("EX01", "ES01", "SA01"),  # sections that not everything needs
    *("GL01", "GL02", "YD01"),
    "PR03",  # parameters stand together by meaning
    *("PR08", "RT02"),  # descriptions that begin with a symbol; results have names
}


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield the names in the tables of docs/api.md, and the members that slimline gives to the classes among them."""
    module = ""
    for line in API.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. currentmodule:: (slimline\S*)", line):
            module = found[1]
        elif (found := re.match(r"   (\w+)$", line)) and not module.startswith("slimline_"):
            thing = getattr(import_module(module), found[1])
            yield f"{module}.{found[1]}", thing
            if isinstance(thing, type):
                yield from ((f"{module}.{found[1]}.{name}", member) for name, member in members(thing))


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the methods and properties of a class, except for those that show the docstring of a base."""
    for name in dir(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), object)
        if name.startswith("_") or not owner.__module__.startswith("slimline"):
            continue
        member = getattr(cls, name)
        if not (callable(member) or isinstance(member, property)):
            continue
        inherits = not member.__doc__ and any(getattr(getattr(base, name, None), "__doc__", "") for base in cls.__mro__)
        if not inherits:
            yield name, member


def main() -> int:
    """Print what is wrong; return 1 if anything is."""
    wrong = 0
    for name, thing in public_names():
        if not inspect.getdoc(thing):
            errors = [("GL08", "The object does not have a docstring")]
        else:
            errors = [error for error in validate(name)["errors"] if error[0] not in NOT_ASKED]
        for code, message in errors:
            print(f"{name}: {code} {message}")
        wrong += len(errors)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
