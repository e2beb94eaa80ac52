"""Figures and pages as pure functions of result records; matplotlib is imported when a figure is drawn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from slimline.report._audit_figure import audit_figure
from slimline.report._figures import FIGURE_ENDINGS, check_figure_path, save_figure
from slimline.report._plan_figure import plan_figure
from slimline.report._records import FitReport, Phase

if TYPE_CHECKING:
    from slimline.report._build import Told, fit_report
    from slimline.report._page import PAGE_ENDINGS, check_page_path, fit_page, write_fit_page

#: Names whose modules need the classifiers or jinja2; they are imported on first use.
_LATER = {
    **dict.fromkeys(("Told", "fit_report"), "slimline.report._build"),
    **dict.fromkeys(("PAGE_ENDINGS", "check_page_path", "fit_page", "write_fit_page"), "slimline.report._page"),
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "FIGURE_ENDINGS",
    "PAGE_ENDINGS",
    "FitReport",
    "Phase",
    "Told",
    "audit_figure",
    "check_figure_path",
    "check_page_path",
    "fit_page",
    "fit_report",
    "plan_figure",
    "save_figure",
    "write_fit_page",
]
