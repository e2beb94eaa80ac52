"""Memory of a certified fit, counted array by array for the stage that holds most."""

from __future__ import annotations

from typing import Any

import numpy as np

from slimline.data import Matrix
from slimline.data._names import PackedStrings
from slimline.data._passes import BLOCK_BYTES
from slimline.learning.training_data import MOST_BESIDE
from slimline.planning._route import DataShape, by_gram, needs_interior_point

#: Blocks of a file that are there at the same time, or what threads read in their place; of data in memory, one.
_BLOCKS_OF_A_FILE, _BLOCKS = 4, 1
_GENOTYPES_OF_A_BYTE = 4
#: Steps whose dual points stay, to search their span; the newest one is beside them.
_RECENT = 4
#: Columns of a sketch that are widened at a time.
_WIDENED = 4096
#: Vectors as long as the data are wide that a pass holds which standardises on the way: sums, and what comes of them.
_LEARNED = 10
#: And that each class has in the end: best and dual point, proof, the four of the certificate, coefficients.
_CERTIFIED = 8
#: Matrices beside the Gram matrix that a step makes: what is factorised, and with a sketch the corrected one.
_FACTORISED = {"gram": 1, "sketch": 2, "direct": 0}
#: And that an interior point makes beside the Gram matrix.
_INTERIOR = 4
#: Copies of a sketch that rows are visited in: with the constant column, and without what is known exactly.
_WRITTEN_OUT = 2


def carried_bytes(matrix: Matrix | None) -> float:
    """Return the size of the names of the features, and of places and alleles of variants, which come with a file."""
    if matrix is None:
        return 0.0
    parts: list[Any] = [matrix.feature_names]
    if (variants := matrix.variants) is not None:
        parts += [*variants.packed.values(), variants.position, variants.cm]
    return float(sum(_bytes_of(part) for part in parts))


def _bytes_of(part: Any) -> int:
    if isinstance(part, PackedStrings):
        return sum(array.nbytes for array in part.arrays())
    return part.nbytes if isinstance(part, np.ndarray) and part.any() else 0


def fit_bytes(
    shape: DataShape,
    n_tasks: int,
    method: str,
    steps: int,
    n_components: int = 0,
    carried: float = 0.0,
    loss: str = "squared_hinge",
    n_free: int = 0,
) -> float:
    """Return the most that a fit holds at a time, beside data that are in memory already."""
    n, d = shape.shape
    vector, pairs = 8.0 * d, 8.0 * n * min(n, d)
    stored = shape.cells / _GENOTYPES_OF_A_BYTE if shape.packed else shape.nbytes
    blocks = min(float(BLOCK_BYTES * (_BLOCKS_OF_A_FILE if shape.from_file else _BLOCKS)), stored)
    always = carried + (2.0 * vector if shape.standardised else 0.0)  # means, factors
    learned = vector * (_LEARNED if shape.standardised and shape.normal_passes == 1 else 3)
    made = 0.0
    if method == "sketch":
        size = 8.0 if shape.dtype == np.float64 else 4.0
        sketch = size * n * n_components
        if by_gram(n, n_components):
            widened = 1.5 * pairs if size == 4.0 else 2.0 * pairs + 8.0 * n * min(n_components, _WIDENED)
            model, made = pairs, always + vector + sketch + widened
        else:
            model = sketch
        building = carried + learned + sketch + blocks
    elif method == "gram":
        model = pairs
        building = carried + learned + 2.0 * pairs + blocks + min(float(BLOCK_BYTES), 8.0 * n * d)
    else:
        model = 12.0 * shape.cells if shape.density is not None else 0.0
        building = carried + learned + model + blocks
    solving = _FACTORISED[method] * pairs
    if needs_interior_point(loss, n_free):
        solving = max(solving, _INTERIOR * pairs if method != "direct" else 0.0)
    if method == "sketch" and not by_gram(n, n_components):
        solving = _WRITTEN_OUT * model
    kept = min(max(steps, 1), _RECENT + 1)  # dual points of each class, the newest one too
    own = 1 if method == "direct" else 0
    before = n_tasks * (kept + 2)  # the best point and its proof, the highest dual point, those kept but the newest one
    span = kept + 2 + own  # what is searched is written out, for one class at a time
    step = vector * (1 + max(n_tasks * (kept + 3 + own) + (span if steps > 1 else 1), before + 2 * n_tasks))
    beside = 2 * n_free + 1 if 0 < n_free <= MOST_BESIDE else 0  # right-hand sides of the first step, and their squares
    first = vector * (2 + n_tasks * (4 + own) + beside)
    stepping = always + model + max(step + blocks, first + blocks, vector * (1 + before) + solving)
    certifying = always + model + vector * (2 + _CERTIFIED * n_tasks)
    return max(building, made, stepping, certifying)
