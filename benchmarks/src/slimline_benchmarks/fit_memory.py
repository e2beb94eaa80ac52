"""Peak memory of whole fits of simulated genotypes beside what `plan` says: `python -m slimline_benchmarks.fit_memory`.

Each fit has a process of its own, whose start has imported everything and fitted a small model: libraries keep work
space, which does not grow with the data.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import slimline.estimators._persistence  # noqa: F401 - imported before the start
from slimline._base.system import MemoryMeter
from slimline.data import open_matrix, write_genotypes
from slimline.estimators import CertifiedClassifier
from slimline.planning import plan

#: Samples, variants and populations.
SHAPES = ((300, 100_000, 2), (300, 1_000_000, 2), (1000, 300_000, 5), (1500, 1_200_000, 2))
METHODS = ("sketch", "gram")


def measured(path: Path, method: str) -> dict[str, Any]:
    """Return what a fit takes, in bytes, measured in this process; best called in a fresh one.

    Parameters
    ----------
    path : Path
        A .bed file that `write_genotypes` wrote.
    method : str
        "sketch" or "gram".

    Returns
    -------
    peaks : dict
        "fit", "save", "load" (None where the system does not tell), "file", "planned"; "steps" and "features".
    """
    labels = np.loadtxt(path.with_suffix(".labels.tsv"), dtype=str, delimiter="\t", skiprows=1, usecols=2)
    small = np.random.default_rng(0).standard_normal((60, 3000))
    CertifiedClassifier(method=method).fit(small, np.arange(60) % 2)
    settings: dict[str, Any] = {"standardize": True, "method": method, "random_state": 0}
    meter = MemoryMeter()
    data = open_matrix(path)
    settings["C"] = 1.0 / data.shape[1]
    model = CertifiedClassifier(**settings).fit(data, labels)
    peaks: dict[str, Any] = {"fit": meter.peak(), "steps": model.n_iter_}
    peaks["planned"] = plan(data, labels, **settings).choice.nbytes
    stored = path.with_suffix(".slim")
    meter = MemoryMeter()
    model.save(stored, overwrite=True)
    peaks |= {"save": meter.peak(), "file": stored.stat().st_size}
    del model, data
    meter = MemoryMeter()
    loaded = CertifiedClassifier.load(stored)
    return peaks | {"load": meter.peak(), "features": loaded.n_features_in_}


def rows(folder: Path, shapes: tuple[tuple[int, int, int], ...]) -> Iterator[str]:
    """Yield the lines of a table: megabytes measured and planned, and how the first is to the second."""
    yield "| samples × variants, classes | method | steps | fit | planned | fit / planned | save | model | load |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for n, d, classes in shapes:
        write_genotypes(folder / "wide", n, d, n_populations=classes, overwrite=True)
        for method in METHODS:
            command = [sys.executable, "-W", "ignore", "-m", "slimline_benchmarks.fit_memory", "--one"]
            done = subprocess.run([*command, str(folder / "wide.bed"), method], stdout=subprocess.PIPE, check=True)
            peaks = json.loads(done.stdout)
            if peaks["fit"] is None:
                raise SystemExit("the peak of memory can only be reset on Linux")
            fit, planned, save, file, load = (
                f"{peaks[name] / 1e6:,.0f} MB" for name in ("fit", "planned", "save", "file", "load")
            )
            ratio = f"{peaks['fit'] / peaks['planned']:.2f}"
            cells = (f"{n:,} × {d:,}, {classes}", method, peaks["steps"], fit, planned, ratio, save, file, load)
            yield "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    """Print the table; `--one FILE METHOD` measures one fit, in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, metavar=("FILE", "METHOD"))
    parser.add_argument("--shape", nargs=3, type=int, action="append", metavar=("SAMPLES", "VARIANTS", "CLASSES"))
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(Path(given.one[0]), given.one[1])))
        return
    shapes = tuple(tuple(shape) for shape in given.shape) if given.shape else SHAPES
    with TemporaryDirectory() as folder:
        for line in rows(Path(folder), shapes):
            print(line, flush=True)


if __name__ == "__main__":
    main()
