"""The picture of an audit: margins, ratios, distances and angles, before the projection and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slimline.auditing import Audit
from slimline.auditing.words import counted
from slimline.report.audit_panels import draw_angles, draw_distances, draw_margins
from slimline.report.audit_strips import draw_changes, draw_ratios
from slimline.report.colours import GREEN, INK, ORANGE, PURPLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Inches, and dots an inch: 1400 × 1120.
_SIZE, _DPI = (14.0, 11.2), 100
#: Left edges, bottom edges, width and height of the four panels.
_LEFT, _BOTTOM, _WIDTH, _HEIGHT = (0.105, 0.595), (0.52, 0.07), 0.335, 0.3
_FAMILIES = {"gaussian": "Gaussian", "very_sparse": "Very sparse", "srht": "SRHT", "cw": "CW", "osnap": "OSNAP"}
_OUTCOMES = {"kept": GREEN, "shrunk": PURPLE, "lost": ORANGE}
#: Letters of the data's name that are shown.
_NAME = 60


def audit_figure(audit: Audit) -> Figure:
    """Draw margins, ratios, distances and angles before and after the projection, beside what laws and theorems say.

    Parameters
    ----------
    audit : Audit
        From `slimline.audit`.

    Returns
    -------
    figure : matplotlib.figure.Figure
        1400 × 1120 dots, four axes: the margins of all points (without labels, or where nothing tells several classes
        apart, the largest changes of each draw), the ratios of margins and ball in each draw, squared distances, and
        cosines; `save_figure` writes it.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import audit
    >>> from slimline.report import audit_figure
    >>> X = np.random.default_rng(0).standard_normal((30, 2000))
    >>> figure = audit_figure(audit(X, n_components=300, repeats=3))
    >>> figure.axes[3].get_xlabel()
    'cosine before'
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, dpi=_DPI, facecolor="white")
    places = [(left, bottom, _WIDTH, _HEIGHT) for bottom in _BOTTOM for left in _LEFT]
    first, second, third, fourth = (figure.add_axes(place) for place in places)
    if audit.cosines_before.any():  # all 0: no vectors were found to look at the points with
        draw_margins(first, audit)
    else:
        draw_changes(first, audit)
    draw_ratios(second, audit)
    draw_distances(third, audit)
    draw_angles(fourth, audit)
    _write_title(figure, audit)
    return figure


def _write_title(figure: Figure, audit: Audit) -> None:
    left = 0.04
    family = _FAMILIES.get(audit.family, audit.family.capitalize())
    said = f"{family} projection to {counted(audit.n_components, 'dimension')}:"
    figure.text(left, 0.953, said, fontsize=20, weight="bold", color=INK, gid="title")
    figure.text(
        left + _width(said) + 0.014, 0.953, audit.outcome.upper(), fontsize=20, weight="bold",
        color=_OUTCOMES[audit.outcome], gid="outcome",
    )  # fmt: skip
    name = audit.data if len(audit.data) <= _NAME else f"{audit.data[: _NAME // 2]}…{audit.data[-_NAME // 2 :]}"
    rows = (f"{audit.n_rows:,} of " if audit.n_rows < audit.n_samples else "") + counted(audit.n_samples, "row")
    classes = f"{audit.n_classes} classes" if audit.n_classes else "no labels"
    sizes = f"{rows} × {counted(audit.n_features, 'feature')}, {classes}; {counted(audit.repeats, 'draw')}"
    sizes += f", asked about ε = {audit.eps:g}"
    figure.text(left, 0.918, f"{name}: {sizes}", fontsize=13, color=INK, gid="subtitle", parse_math=False)


def _width(words: str) -> float:
    """Return the width of the title's words as a part of the figure's."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    drawn = TextPath((0.0, 0.0), words, prop=FontProperties(size=20, weight="bold"))
    return float(drawn.get_extents().width) / (_SIZE[0] * 72.0)
