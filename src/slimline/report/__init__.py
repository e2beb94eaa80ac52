"""Figures and pages as pure functions of result records; matplotlib is imported when a figure is drawn."""

from slimline.report.audit_figure import audit_figure
from slimline.report.figure_files import FIGURE_ENDINGS, check_figure_path, save_figure
from slimline.report.fit_record import FitReport
from slimline.report.page import PAGE_ENDINGS, check_page_path, fit_page, write_fit_page
from slimline.report.plan_figure import plan_figure

__all__ = [
    "FIGURE_ENDINGS",
    "PAGE_ENDINGS",
    "FitReport",
    "audit_figure",
    "check_figure_path",
    "check_page_path",
    "fit_page",
    "plan_figure",
    "save_figure",
    "write_fit_page",
]
