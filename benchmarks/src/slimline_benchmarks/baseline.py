"""A dozen figures of slimline alone, before and after a change: `python -m slimline_benchmarks.baseline`.

They are whole fits, passes, the import and, in a clone, the build. Each is the shortest of several runs. The JSON and a
table in Markdown go to the folder of `--out`; `--against` puts the figures of an earlier JSON beside them, which say
something only if they are from the same machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline._base.files import write_text_whole
from slimline._base.system import describe_machine, run_with_peak
from slimline._base.text import format_bytes, format_ratio, format_seconds
from slimline._kernels import thread_count

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
LAYOUT = 1
#: Rows and columns of the dense data, of the genotypes and of the sparse data.
SIZES = {"dense": (2000, 50_000), "genotypes": (1000, 200_000), "sparse": (20_000, 200_000)}
QUICK = {"dense": (200, 4000), "genotypes": (100, 5000), "sparse": (500, 5000)}
#: Stored values of a sparse row.
_STORED = 50


@dataclass(frozen=True)
class Figure:
    """One figure.

    Parameters
    ----------
    name : str
        What was done.
    seconds : float
        Shortest run.
    extra_bytes : int or None
        Peak memory above data and result in the first run; None where it cannot be told.
    """

    name: str
    seconds: float
    extra_bytes: int | None = None


def measure(name: str, call: Callable[[], Any], repeats: int) -> Figure:
    """Return the shortest time of a call, and the memory of its first run."""
    begin = time.perf_counter()
    _, extra = run_with_peak(call)
    seconds = [time.perf_counter() - begin]
    for _ in range(repeats - 1):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return Figure(name, min(seconds), extra)


def figures(sizes: Mapping[str, tuple[int, int]], repeats: int, clone: Path | None = None) -> Iterator[Figure]:
    """Measure one figure after the other.

    Parameters
    ----------
    sizes : mapping
        As `SIZES`.
    repeats : int
        Runs of each.
    clone : Path, optional
        Where the library is built; not built unless given.

    Yields
    ------
    figure : Figure
        As soon as it is measured.
    """
    for name, words in (
        ("import slimline", ["-c", "import slimline"]),
        ("slimline --help", ["-m", "slimline.cli", "-h"]),
    ):
        command = [sys.executable, *words]
        yield _of_a_process(name, command, repeats)
    if clone is not None:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, str(clone)]
            yield _of_a_process("build of the wheel", command, 1)
    yield from _dense(sizes["dense"], repeats)
    yield from _sparse(sizes["sparse"], repeats)
    yield from _genotypes(sizes["genotypes"], repeats)


def _of_a_process(name: str, command: list[str], repeats: int) -> Figure:
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - begin)
    return Figure(name, min(seconds))


def _dense(size: tuple[int, int], repeats: int) -> Iterator[Figure]:
    from slimline import CertifiedClassifier, CertifiedClassifierCV, HadamardProjection, SparseEmbedding, open_matrix

    rng = np.random.default_rng(0)
    y = np.arange(size[0]) % 2
    X = rng.standard_normal(size, dtype=np.float32)
    X[y == 1, : size[1] // 100] += 0.5
    X /= np.linalg.norm(X, axis=1)[:, None]
    matrix, components = open_matrix(X), min(1024, size[1] // 4)
    sketch = CertifiedClassifier(method="sketch", random_state=0)
    yield measure("fit, sketch, float32", lambda: sketch.fit(X, y), repeats)
    yield measure("fit, gram, float32", lambda: CertifiedClassifier(method="gram").fit(X, y), repeats)
    yield measure("fit, direct, float32", lambda: CertifiedClassifier(method="direct").fit(X, y), repeats)
    several = CertifiedClassifierCV([0.1, 1.0, 10.0], cv=3, search="sketch", random_state=0)
    yield measure("fit, C chosen, float32", lambda: several.fit(X, y), repeats)
    yield measure("decide, float32", lambda: sketch.decide(X), repeats)
    embedding, hadamard = SparseEmbedding(components, random_state=0), HadamardProjection(components, random_state=0)
    yield measure("sparse embedding, float32", lambda: embedding.fit_transform(X), repeats)
    yield measure("Hadamard, float32", lambda: hadamard.fit_transform(X), repeats)
    a = rng.standard_normal((size[0], 1))
    yield measure("normal, float32", lambda: matrix.normal(a), repeats)


def _sparse(size: tuple[int, int], repeats: int) -> Iterator[Figure]:
    from slimline import CertifiedClassifier

    rng = np.random.default_rng(1)
    rows, d = size
    places = np.sort(rng.integers(0, d, (rows, _STORED)), axis=1)
    X = sp.csr_array((np.ones(rows * _STORED), places.ravel(), np.arange(0, rows * _STORED + 1, _STORED)), shape=size)
    X.sum_duplicates()
    y = (X[:, ::7].sum(axis=1) > _STORED / 7).astype(int)
    yield measure("fit, sparse", lambda: CertifiedClassifier(C=0.01, random_state=0).fit(X, y), repeats)


def _genotypes(size: tuple[int, int], repeats: int) -> Iterator[Figure]:
    from slimline import CertifiedClassifier, open_matrix
    from slimline.data import write_genotypes

    with tempfile.TemporaryDirectory() as folder:
        stem = Path(folder) / "cohort"
        write_genotypes(stem, *size, n_populations=2, fst=0.02, missing_rate=0.002, seed=0)
        y = np.loadtxt(stem.with_suffix(".labels.tsv"), dtype=str, delimiter="\t", skiprows=1, usecols=2)
        matrix = open_matrix(stem.with_suffix(".bed"))
        model = CertifiedClassifier(1e-3, standardize=True, random_state=0)
        yield measure("fit, PLINK file", lambda: model.fit(matrix, y), repeats)
        standard = matrix.standardised("mean", "std", "mean")
        w = np.random.default_rng(2).standard_normal((size[1], 1))
        yield measure("dot, PLINK file", lambda: standard.dot(w), repeats)
        yield measure("gram, PLINK file", lambda: standard.gram(), repeats)


def table(record: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> str:
    """Return the figures as a table in Markdown.

    Parameters
    ----------
    record : mapping
        What `main` writes as JSON.
    before : mapping, optional
        An earlier record.

    Returns
    -------
    table : str
        With the time of each figure over that of the earlier record, where that has it.
    """
    machine = record["machine"]
    old = {one["name"]: one["seconds"] for one in (before or {}).get("figures", ())}
    lines = [
        f"{machine['cpu']}, {machine['threads']} threads, {machine['time']}",
        "",
        "| what | time | memory | over the earlier time |",
        "| --- | ---: | ---: | ---: |",
    ]
    for one in record["figures"]:
        ratio = format_ratio(one["seconds"] / old[one["name"]] if one["name"] in old else None)
        memory = format_bytes(one["extra_bytes"])
        lines.append(f"| {one['name']} | {format_seconds(one['seconds'])} | {memory} | {ratio} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the table, and write it and the JSON."""
    parser = argparse.ArgumentParser(prog="python -m slimline_benchmarks.baseline", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that it runs")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="runs of each figure")
    parser.add_argument("--build", type=Path, metavar="CLONE", help="time the build of the wheel, too: minutes")
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER", help="of baseline.json and baseline.md")
    parser.add_argument("--against", type=Path, metavar="FILE", help="an earlier baseline.json")
    given = parser.parse_args(arguments)
    if given.repeats < 1 or not given.out.is_dir():
        parser.error("--repeats must be 1 or more, and --out a folder that exists")
    before = None if given.against is None else json.loads(given.against.read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [asdict(one) for one in figures(QUICK if given.quick else SIZES, given.repeats, given.build)]
    settings = {"quick": given.quick, "repeats": given.repeats}
    record = {"layout": LAYOUT, "settings": settings, "machine": describe_machine(thread_count()), "figures": found}
    text = table(record, before)
    write_text_whole(given.out / "baseline.json", json.dumps(record, indent=1))
    write_text_whole(given.out / "baseline.md", text)
    print(text)


if __name__ == "__main__":
    main()
