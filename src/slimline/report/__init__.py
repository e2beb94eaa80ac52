"""Figures as pure functions of result records; matplotlib is imported when one is drawn."""

from slimline.report.audit_figure import audit_figure
from slimline.report.figure_files import FIGURE_ENDINGS, check_figure_path, save_figure
from slimline.report.plan_figure import plan_figure

__all__ = ["FIGURE_ENDINGS", "audit_figure", "check_figure_path", "plan_figure", "save_figure"]
