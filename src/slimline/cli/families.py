"""Families of projections, as options name them."""

from __future__ import annotations

from enum import StrEnum


class Family(StrEnum):
    """Families of projections."""

    gaussian = "gaussian"
    sign = "sign"
    achlioptas = "achlioptas"
    very_sparse = "very_sparse"
    srht = "srht"
    cw = "cw"
    osnap = "osnap"
