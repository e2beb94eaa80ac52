"""The data sets of the documents, or what stands in for them: one file each, checked before they are used."""

from slimline_papers.sources.catalogue import SOURCES, load

__all__ = ["SOURCES", "load"]
