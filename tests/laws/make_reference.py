"""Make reference.json, the table that the laws are held to: `python -m tests.laws.make_reference`, a few minutes.

Each row is (value, r, c, log P(at most the value)) with value ≤ c; the upper tails follow by symmetry. The values are
chosen with the library, so that the probabilities go from about one half down to 1e-300; the logarithms are not.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from slimline import laws
from tests.laws import references

TABLE = Path(__file__).with_name("reference.json")
DIMENSIONS = (1, 2, 3, 5, 10, 30, 100, 1000, 10**4, 10**5, 10**6)
NEAR_ONE = (0.3, 0.9, 1 - 1e-3, 1 - 1e-6, 1 - 1e-12)
COSINES = (*(-c for c in reversed(NEAR_ONE)), 0.0, *NEAR_ONE)
LOGARITHMS = (-1.0, -3.0, -12.0, -46.0, -200.0, -690.0)


def value_at(log_tail: Callable[[float], float], near: float, far: float, wanted: float) -> float:
    """Return where the tail has the wanted logarithm, or `far` if it is not that deep there."""
    if log_tail(far) > wanted:
        return far
    for _ in range(100):
        middle = near + 0.5 * (far - near)
        near, far = (middle, far) if log_tail(middle) > wanted else (near, middle)
    return far


def values_of(law: laws.Law, r: int, c: float, far: float) -> list[float]:
    """Return c and the values below it with the wanted probabilities."""
    found = [value_at(lambda x: law.logcdf(x, r, c), c, far, wanted) for wanted in LOGARITHMS]
    return list(dict.fromkeys([c, *found]))


def two_sided() -> dict[str, list[list[float]]]:
    """Return the rows of the cosine and of the inner product."""
    cosines, products = [], []
    for r in DIMENSIONS:
        for c in COSINES:
            nearly = float(np.nextafter(-1, 0))
            values = values_of(laws.cosine, r, c, nearly) if r > 1 else [c]  # one column: the same for all
            cosines += [[t, r, c, float(references.log_cosine(t, r, c))] for t in values]
            values = values_of(laws.inner_product, r, c, -1e4)
            products += [[s, r, c, float(references.log_inner_product(s, r, c))] for s in values]
    return {"cosine": cosines, "inner_product": products}


def norms() -> dict[str, list[list[float]]]:
    """Return the rows of the norm: (value, r, 1, logarithm), for each tail."""
    below, above = [], []
    for r in DIMENSIONS:
        values = values_of(laws.norm, r, 1.0, 1e-300)
        below += [[q, r, 1.0, float(references.log_norm(q, r))] for q in values]
        values = [value_at(lambda x, r=r: laws.norm.logsf(x, r), 1.0, 1e4, wanted) for wanted in LOGARITHMS]
        above += [[q, r, 1.0, float(references.log_norm_upper(q, r))] for q in dict.fromkeys(values)]
    return {"norm_below": below, "norm_above": above}


def main() -> None:
    """Write the table, a row a line."""
    parts = (
        json.dumps(name) + ": [\n" + ",\n".join(map(json.dumps, rows)) + "\n]"
        for name, rows in (two_sided() | norms()).items()
    )
    TABLE.write_text("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    main()
