"""Write golden.json: `python -m tests.projections.make_golden`, by hand, and only when R is meant to change.

A change of R breaks every model and every JSON line that was written before: raise `PROTOCOL` in
slimline/projections/base.py along with it once a version has been released.
"""

import hashlib
import json
from pathlib import Path

import numpy as np

from slimline.projections import Projection
from slimline.testing._moments import as_dense
from tests.families import FAMILIES, far_place

PATH = Path(__file__).with_name("golden.json")
SEED = 0x0123456789ABCDEF
FEATURES, COMPONENTS = 3000, 64
#: Where a Hadamard projection ends.
HADAMARD_END = 2**32


def projections() -> dict[str, tuple[Projection, list[tuple[int, int]]]]:
    """Return each family's projection with the ranges of features that are pinned."""
    out = {}
    for name, make in FAMILIES.items():
        out[name] = (make(FEATURES, COMPONENTS, SEED), [(0, FEATURES)])
        if name.startswith("srht"):
            out[f"{name}_far"] = (make(HADAMARD_END, COMPONENTS, SEED), [(HADAMARD_END - 500, HADAMARD_END - 1)])
        elif name != "very_sparse":  # its density depends on the number of features
            projection = make(2**40, COMPONENTS, SEED)
            far = far_place(projection)
            out[f"{name}_far"] = (projection, [(far - 250, far + 250)])
    return out


def describe(projection: Projection, start: int, stop: int) -> dict[str, object]:
    """Return the digest of R[start:stop] and its first and last row's entries as hexadecimal floats."""
    R = np.ascontiguousarray(as_dense(projection.rows(start, stop)), dtype="<f8")
    shown = {}
    for row in (0, len(R) - 1):
        for column in np.flatnonzero(R[row])[:3]:
            shown[f"{start + row},{column}"] = float(R[row, column]).hex()
    return {"start": start, "stop": stop, "sha256": hashlib.sha256(R.tobytes()).hexdigest(), "entries": shown}


def main() -> None:
    """Write the file."""
    golden = {
        name: {"projection": projection.to_json(), "blocks": [describe(projection, *block) for block in blocks]}
        for name, (projection, blocks) in projections().items()
    }
    PATH.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
