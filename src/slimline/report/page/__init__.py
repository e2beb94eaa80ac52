"""One self-contained HTML page of a fit: one file a section, charts drawn as SVG, nothing loaded from elsewhere."""

from slimline.report.page._page import PAGE_ENDINGS, check_page_path, fit_page, notebook_frame, write_fit_page

__all__ = ["PAGE_ENDINGS", "check_page_path", "fit_page", "notebook_frame", "write_fit_page"]
