"""One self-contained HTML page of a replay: what every document claims, and what came out."""

from slimline_papers.page.build import replay_page

__all__ = ["replay_page"]
