"""Fits whose every bit is kept, run in a process of its own whose numbers do not depend on the machine.

`python -m tests.frozen.fits` prints them as JSON; `pinned` says what the environment of that process is.

One thread, the kernels of the oldest instruction set, and the oldest ones of OpenBLAS, NumPy and the C library, which
choose theirs by the CPU otherwise. With the same builds of NumPy, SciPy and the C library the results are then the same
to the last bit on any x86-64 machine. Other builds add in another order.
"""

import base64
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from tests.frozen.data import genotypes, samples

ROOT = Path(__file__).parents[2]
LOSSES = ("squared_hinge", "logistic", "hinge", "squared")
METHODS: dict[str, dict[str, Any]] = {
    "sketch": {"method": "sketch", "n_components": 40},
    "gram": {"method": "gram"},
    "direct": {"method": "direct"},
}


def pinned() -> dict[str, str]:
    """Return the environment of the process that fits."""
    from numpy._core import _multiarray_umath as numpy_core  # which features NumPy would choose by

    chosen = [name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__.get(name)]
    settings = {
        "SLIMLINE_ISA": "baseline",
        "SLIMLINE_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONWARNINGS": "ignore",
    }
    if platform.machine() == "x86_64":
        settings |= {
            "OPENBLAS_CORETYPE": "Nehalem",
            "NPY_DISABLE_CPU_FEATURES": " ".join(chosen),
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F",
        }
    return {name: value for name, value in os.environ.items() if name != "SLIMLINE_ISA"} | settings


def builds() -> list[str]:
    """Return what bits may depend on beside slimline: with these the same, so are the bits."""
    from threadpoolctl import threadpool_info

    libraries = [f"{one['internal_api']} {one['version']} {one.get('architecture')}" for one in threadpool_info()]
    names = [platform.machine(), " ".join(platform.libc_ver()), f"numpy {np.__version__}", f"scipy {scipy.__version__}"]
    return [*names, *sorted(libraries)]


def fitted() -> dict[str, dict[str, Any]]:
    """Return all fits."""
    found = {}
    for loss in LOSSES:
        for name, options in METHODS.items():
            for classes in (2, 3):
                X, y = samples(classes)
                found[f"{loss}, {name}, {classes} classes"] = _fit(X, y, loss=loss, **options)
    X, y = samples(2)
    sketch = METHODS["sketch"]
    for recovery in ("dual", "iterative", "naive"):
        found[f"recovery {recovery}"] = _fit(X, y, recovery=recovery, n_components=80)
    for family in ("gaussian", "sign", "achlioptas", "srht", "cw", "osnap"):
        found[f"projection {family}"] = _fit(X, y, projection=family, **sketch)
    weight = 1.0 + np.arange(len(y)) % 3
    found["float32"] = _fit(X.astype(np.float32), y, **sketch)
    found["int8"] = _fit((16 * X).astype(np.int8), y, C=1e-4, **sketch)
    found["sparse, sketch"] = _fit(sp.csr_array(np.where(X > 0.5, X, 0.0)), y, **sketch)
    found["sparse, direct"] = _fit(sp.csr_array(np.where(X > 0.5, X, 0.0)), y, method="direct")
    found["weights of samples and classes"] = _fit(X, y, weight, class_weight={0: 2.0, 1: 0.5}, **sketch)
    found["no intercept, standardised"] = _fit(X, y, fit_intercept=False, standardize=True, C=1e-3, **sketch)
    found["cross-validation"] = _cross_validation(X, y)
    found["genotypes, sketch"] = _genotypes(**sketch)
    found["genotypes, gram"] = _genotypes(method="gram")
    found["one parameter"] = _one_parameter()
    return found


def _fit(X: Any, y: Any, weight: Any = None, **options: Any) -> dict[str, Any]:
    from slimline import CertifiedClassifier

    model = CertifiedClassifier(**{"C": 0.02, "tol": 1e-4, "random_state": 3, "max_passes": 40} | options)
    return _record(model.fit(X, y, weight), X)


def _cross_validation(X: Any, y: Any) -> dict[str, Any]:
    from slimline import CertifiedClassifierCV

    model = CertifiedClassifierCV([1e-3, 1e-2, 1e-1], cv=3, method="sketch", n_components=40, random_state=3).fit(X, y)
    return _record(model, X) | {"C": model.C_, "scores": _digest(model.scores_)}


def _genotypes(**options: Any) -> dict[str, Any]:
    from slimline import open_matrix
    from tests.data.plink_files import write_plink

    G, y = genotypes()
    with tempfile.TemporaryDirectory() as folder:
        matrix = open_matrix(write_plink(Path(folder) / "cohort", G))
        return _fit(matrix, y, standardize=True, C=1e-3, **options)


def _one_parameter() -> dict[str, Any]:
    from slimline import OneParameterClassifier

    X, y = samples(3)
    model = OneParameterClassifier(n_components=128, random_state=3).fit(X, y)
    return {
        "weights": _text(model.vector_[None]),
        "radius": [float(model.gap_)],
        "objective": float(model.objective_),
        "decisions": _digest(model.decision_function(X)),
    }


def _record(model: Any, X: Any) -> dict[str, Any]:
    """Return the weights as they are, and digests of what follows from them."""
    claim, decided = model.certificate_, model.decide(X)
    return {
        "weights": _text(claim.weights),
        "radius": claim.radius.tolist(),
        "gap": claim.gap.tolist(),
        "relative_error": claim.relative_error.tolist(),
        "intervals": _digest(claim.interval_centre, claim.interval_radius, claim.coordinate_radius),
        "coefficients": _digest(model.coef_, model.intercept_),
        "history": _digest([[step.primal, step.dual, step.gap, step.radius] for step in model.history_]),
        "decisions": _digest(decided.scores, decided.proved),
        "projections": model.projections_,
        "method": model.route_.method,
        "passes": [model.n_passes_, claim.passes, len(model.history_)],
    }


def _text(values: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def numbers(text: str) -> np.ndarray:
    """Return the numbers of a text."""
    return np.frombuffer(base64.b64decode(text), dtype="<f8")


def _digest(*values: Any) -> str:
    digest = hashlib.sha256()
    for one in values:
        digest.update(np.ascontiguousarray(one, dtype="<f8").tobytes())
    return digest.hexdigest()[:16]


def fits() -> dict[str, Any]:
    """Return builds and fits, from a process of its own."""
    command = [sys.executable, "-m", "tests.frozen.fits"]
    done = subprocess.run(command, capture_output=True, text=True, env=pinned(), cwd=ROOT, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    made = fitted()  # before the libraries are listed, so that all of them are loaded
    print(json.dumps({"builds": builds(), "fits": made}))
