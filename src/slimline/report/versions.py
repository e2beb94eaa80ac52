"""What a result was made with."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version


def versions() -> tuple[tuple[str, str], ...]:
    """Return programs and their versions, and the kind of machine.

    Returns
    -------
    versions : tuple of (str, str)
        Names and versions.
    """
    from slimline import __version__
    from slimline._kernels import instruction_set

    found = [("slimline", __version__), ("Python", platform.python_version())]
    for name in ("numpy", "scipy", "scikit-learn"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # pragma: no cover - put together by hand
            continue
    return (*found, ("system", f"{platform.system()} {platform.machine()}, {instruction_set()}"))
