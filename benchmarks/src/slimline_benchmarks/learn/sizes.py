"""Sizes of the data of the suite."""

from __future__ import annotations

from dataclasses import dataclass

from slimline_benchmarks.data_sets import Size


@dataclass(frozen=True)
class LearnSizes:
    """Rows and columns of everything that the suite makes or reads.

    Parameters
    ----------
    dense, genotypes, square : (int, int)
        Samples and features.
    solver : tuple of (int, int)
        Samples and components of the small problems.
    documents : int, optional
        At most so many documents of each text set; None is all.
    """

    dense: Size = (2000, 131_072)
    genotypes: Size = (2250, 492_516)
    square: Size = (20_000, 20_000)
    solver: tuple[Size, ...] = ((2000, 512), (2000, 1024), (20_000, 1024))
    documents: int | None = None


#: About a minute in all.
QUICK = LearnSizes((160, 4096), (160, 4096), (500, 500), ((300, 64),), 200)
