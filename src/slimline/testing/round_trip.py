"""A projection is a small value: one JSON line, or a short pickle, is all of it."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np

from slimline.projections import Projection
from slimline.testing.rounding import dense_rows, require_same_bits

#: Bytes of a pickle. A stored tile of R, or a table of samples, would be far above.
_LARGEST_PICKLE = 1000


def check_round_trip(projection: Projection) -> None:
    """Check that JSON, pickle and copy give the same projection again, and that nothing of R travels along.

    Parameters
    ----------
    projection : Projection
        What is checked; small enough for R to be written out.

    Raises
    ------
    AssertionError
        If a copy is not equal, its R differs in a single bit, or the pickle holds more than the parameters.

    Examples
    --------
    >>> from slimline.projections import Gaussian
    >>> from slimline.testing import check_round_trip
    >>> check_round_trip(Gaussian(n_features=100, n_components=16, seed=0))
    """
    R = dense_rows(projection)
    projection.apply(np.ones((1, projection.n_features)))  # used, so that what is made on first use exists
    line = projection.to_json()
    if "\n" in line or not isinstance(json.loads(line), dict):
        raise AssertionError(f"to_json must give one line with one object; got {line!r}.")
    stored = pickle.dumps(projection)
    if len(stored) > _LARGEST_PICKLE:
        raise AssertionError(f"the pickle has {len(stored)} bytes: more than parameters are stored.")
    copies = {
        "from_json(to_json())": Projection.from_json(line),
        "pickle": pickle.loads(stored),
        "deepcopy": copy.deepcopy(projection),
    }
    for what, again in copies.items():
        if again != projection or hash(again) != hash(projection) or type(again) is not type(projection):
            raise AssertionError(f"{what} gives {again!r} instead of {projection!r}.")
        require_same_bits(dense_rows(again), R, f"R after {what}")
