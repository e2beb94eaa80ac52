"""Figures in files: formats, colours, versions."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slimline.data._write import NewFiles
from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, GREY = "#1a1a1a", "0.4"
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#C84E00", "#00805E", "#9B2D7F"


def versions() -> tuple[tuple[str, str], ...]:
    """Return programs and their versions, and the kind of machine."""
    from slimline import __version__
    from slimline._kernels import instruction_set

    found = [("slimline", __version__), ("Python", platform.python_version())]
    for name in ("numpy", "scipy", "scikit-learn"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # pragma: no cover - put together by hand
            continue
    return (*found, ("system", f"{platform.system()} {platform.machine()}, {instruction_set()}"))


#: What a figure can be saved as.
FIGURE_ENDINGS = (".png", ".svg", ".pdf")


def check_figure_path(path: str | Path) -> Path:
    """Refuse a file that a figure cannot be saved to; to be called before the work that leads to one."""
    path = Path(path)
    if path.suffix.lower() not in FIGURE_ENDINGS:
        raise InvalidParameterError(f"{path}: the name of a figure must end in {', '.join(FIGURE_ENDINGS)}.")
    if path.is_dir():
        raise InvalidParameterError(f"{path} is a folder: give the name of a file.")
    if not path.absolute().parent.is_dir():
        raise InvalidParameterError(f"{path}: there is no folder {path.parent}; make it first.")
    return path


def save_figure(figure: Figure, path: str | Path) -> None:
    """Save a figure, whole or not at all; a file of that name is replaced.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to save.
    path : str or path
        Where to; the ending says as what: .png, .svg or .pdf.
    """
    path = check_figure_path(path)
    kind = path.suffix.lower()[1:]
    undated: dict[str, Any] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    drawn = BytesIO()
    figure.savefig(drawn, format=kind, metadata=undated)  # the same plan, the same picture
    if kind == "png":
        drawn = _opaque(drawn)
    with NewFiles([path], overwrite=True) as files:
        files.create(path).write(drawn.getvalue())


def _opaque(drawn: BytesIO) -> BytesIO:
    """Return a picture without transparency, which none of ours has: an eighth smaller."""
    from PIL import Image

    smaller = BytesIO()
    with Image.open(drawn) as image:
        image.convert("RGB").save(smaller, format="png", optimize=True)
    return smaller
