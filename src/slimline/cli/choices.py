"""What several commands let a user choose from."""

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


class Loss(StrEnum):
    """Losses."""

    squared_hinge = "squared_hinge"
    logistic = "logistic"
    hinge = "hinge"
    squared = "squared"


class Method(StrEnum):
    """Routes to the weights."""

    auto = "auto"
    sketch = "sketch"
    gram = "gram"
    direct = "direct"
