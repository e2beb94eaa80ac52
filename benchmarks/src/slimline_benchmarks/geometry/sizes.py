"""Sizes of the data of the suite."""

from __future__ import annotations

from dataclasses import dataclass

from slimline_benchmarks.data_sets import Size

#: Parts of the suite, for `--only`.
PARTS = ("margin", "ball", "embedding", "distortions")


@dataclass(frozen=True)
class GeometrySizes:
    """Rows and columns of everything that the suite makes or reads.

    Parameters
    ----------
    dense, sparse : (int, int)
        Samples and features of the dense data, and of both kinds of sparse data.
    per_row : int
        Non-zeros that are drawn for a row of the sparse data.
    embedded : (int, int)
        Samples and features of the dense data whose embedding error is measured: the peers need a full decomposition.
    components : int
        Columns of the projection.
    pairs : int
        Rows whose pairs are looked at.
    documents : int, optional
        At most so many rows of each real set; None is all.
    """

    dense: Size = (2000, 100_000)
    sparse: Size = (10_000, 1_000_000)
    per_row: int = 100
    embedded: Size = (1000, 50_000)
    components: int = 4096
    pairs: int = 2000
    documents: int | None = None


#: About a minute in all.
QUICK = GeometrySizes((80, 1000), (150, 3000), 20, (60, 800), 256, 80, 120)
