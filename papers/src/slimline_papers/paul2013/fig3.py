"""Fig. 3: time and memory of projecting half a million variants, and of training on what comes of it."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from slimline import open_matrix
from slimline._base.system import MemoryMeter
from slimline.data import write_genotypes
from slimline_papers.drawing import COLOURS, band, bound, canvas, connected, finish
from slimline_papers.finding import Finding, times_finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.paul2013.contenders import BESIDE_CW, CHOSEN, FAMILIES, THEIRS, best_seconds, projection
from slimline_papers.printed import printed
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TASKS = ("regions", "populations")
_C = 1000
_NAME = "paul2013.width"
#: How far the simulated populations differ.
_FST = 0.01
#: Bytes of a number as LIBSVM keeps it, with its index, and as a plain float64.
_PAIR, _NUMBER = 16, 8
#: Trainings that a projection serves: those of a ten-fold cross-validation.
_TRAININGS = 10
#: Totals that differ by less than this factor count as nearly identical.
_NEARLY = 1.25


def _parts(study: Study) -> Sequence[Part]:
    return [(r,) for r in study.pick((64, 256), (256, 512, 1024, 2048), (256, 512, 1024, 2048))]


@cache
def _cohort(people: int, variants: int, populations: int, seed: int) -> tempfile.TemporaryDirectory[str]:
    """Return a folder with simulated people, which is there until the program ends: every r projects the same."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "people"
    write_genotypes(path, people, variants, n_regions=5, n_populations=populations, fst=_FST, seed=seed)
    return folder


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    r = int(part[0])
    whole: tuple[int, int] = tuple(printed("paul2013", "section4_3_hapmap_hgdp")["shape"])
    people, variants = study.pick((500, 20_000), whole, whole)
    path = Path(_cohort(people, variants, study.pick(10, 50, 50), study.seed_of(_NAME)).name) / "people"
    labels = _labels(path.with_suffix(".labels.tsv"))
    # two copies of an allele are 1, one is 0, none is -1
    X = open_matrix(path.with_suffix(".bed")).standardised(centre=np.ones(variants), scale=None)
    about, sketches = (people, variants, r), {}
    for repeat in range(study.pick(2, 1, 10)):
        for family in FAMILIES:
            R = projection(family, r, study.seed_of(_NAME, family, r, repeat)).projection_for(X.shape)
            meter = MemoryMeter()
            sketches[family], seconds = best_seconds(partial(X.sketch, R))
            peak = meter.peak()
            yield *about, family, "projecting", repeat, seconds, np.nan if peak is None else peak / 1e6
    for task in _TASKS:
        for family, Z in sketches.items():
            machine = SVC(kernel="linear", C=_C)
            _, seconds = best_seconds(partial(machine.fit, Z.astype(np.float64), labels[task]))
            yield *about, family, task, 0, seconds, np.nan


def _labels(path: Path) -> dict[str, NDArray[np.str_]]:
    with path.open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file, delimiter="\t"))
    return {task: np.array([person[task.removesuffix("s")] for person in people]) for task in _TASKS}


def _best(table: Table, family: str, r: int, work: str) -> float:
    return float(table.where(family=family, r=r, work=work)["seconds"].min())


def _total(table: Table, family: str, r: int, task: str) -> float:
    """Return the seconds for the paper's number of variants, which projecting takes in proportion to."""
    wider = float(printed("paul2013", "section4_3_hapmap_hgdp")["shape"][1] / table["variants"][0])
    return wider * _best(table, family, r, "projecting") + _TRAININGS * _best(table, family, r, task)


def _dimensions(table: Table) -> list[int]:
    return [int(r) for r in table.distinct("r")]


def _draw(table: Table) -> Figure:
    figure, panels = canvas(columns=2, rows=2, height=3.3)
    dimensions = _dimensions(table)
    people, variants = int(table["people"][0]), int(table["variants"][0])
    axes = {"xscale": "log", "yscale": "log", "xticks": dimensions, "xticklabels": [str(r) for r in dimensions]}
    for family in FAMILIES:
        seconds = [table.where(family=family, r=r, work="projecting")["seconds"] for r in dimensions]
        best = [each.min() for each in seconds]
        band(panels[0], dimensions, best, [each.max() for each in seconds], COLOURS[family])
        connected(panels[0], dimensions, best, family)
        for panel, task in zip(panels[1:3], _TASKS, strict=True):
            connected(panel, dimensions, [_total(table, family, r, task) for r in dimensions], family)
        peaks = [table.where(family=family, r=r, work="projecting")["peak_mb"].max() for r in dimensions]
        connected(panels[3], dimensions, peaks, family)
    size = people * variants * _NUMBER / 1e6
    bound(panels[3], [dimensions[0], dimensions[-1]], [size, size], "X as float64")
    finish(panels[0], f"Projecting {people:,} × {variants:,}", "components r", "CPU seconds", legend=False, **axes)
    for panel, task in zip(panels[1:3], _TASKS, strict=True):
        finish(panel, f"Projecting and ten trainings: {task}", "components r", _label(table), **axes)
    finish(panels[3], "Memory while projecting", "components r", "peak (MB)", **axes)
    return figure


def _label(table: Table) -> str:
    wanted = printed("paul2013", "section4_3_hapmap_hgdp")["shape"][1]
    return f"CPU s{'' if table['variants'][0] == wanted else f', scaled to {wanted:,} variants'}"


def _judge(table: Table) -> Sequence[Finding]:
    return [_order(table), _nearly_identical(table), _memory(table)]


def _order(table: Table) -> Finding:
    largest = max(_dimensions(table))
    seconds = {family: _best(table, family, largest, "projecting") for family in FAMILIES}
    order = sorted(seconds, key=seconds.__getitem__)
    theirs = [family for family in order if family in THEIRS]
    slowest = [family for family in ("CW", *BESIDE_CW) if seconds[family] > max(seconds["RS"], seconds["FHT"])]
    repeats = [table.where(family=family, r=largest, work="projecting")["seconds"] for family in FAMILIES]
    spread = max(float(times.max() / times.min()) for times in repeats)
    return times_finding(
        "On dense data FHT projects fastest, then RS, and CW is the slowest.",
        "FHT, RS, CW",
        f"{', '.join(f'{family} {seconds[family]:.3g} s' for family in order)} at r = {largest} (best of "
        f"{len(repeats[0])}{f', within a factor of {spread:.1f}' if len(repeats[0]) > 1 else ''}); slowest "
        f"of three with {' and '.join(slowest) or 'none of CW, CountSketch and grouped'} as the sparse embedding",
        here=theirs == ["FHT", "RS", "CW"],
        why=(
            "the work is a·n·d for CW (a = 1 for CountSketch), n·d·log r for FHT and n·d·r for RS, dense or not; the "
            "printed order is that of MATLAB code, where what an operation costs beside another is different"
        ),
    )


def _scaled(table: Table) -> str:
    if _label(table) == "CPU s":
        return ""
    return f"; projecting was timed with {table['variants'][0]:,.0f} variants, in proportion to which its time grows"


def _nearly_identical(table: Table) -> Finding:
    ratios, without = [], []
    for task in _TASKS:
        for r in _dimensions(table):
            totals = {family: _total(table, family, r, task) for family in THEIRS}
            trained = [_best(table, family, r, task) for family in THEIRS]
            ratios.append(max(totals.values()) / min(totals.values()))
            without.append(max(trained) / min(trained))
    return times_finding(
        "Projecting 492,516 variants and ten trainings take nearly the same time for the three families.",
        "nearly identical",
        f"slowest {max(ratios):.1f} times the fastest (training alone: {max(without):.1f} times){_scaled(table)}",
        here=max(ratios) < _NEARLY,
        why=(
            "training takes about as long on each sketch, and so little here that the time of projecting shows in "
            "the sum, above all the n·d·r of random signs"
        ),
    )


def _memory(table: Table) -> Finding:
    people, variants = int(table["people"][0]), int(table["variants"][0])
    whole, rows = people * variants * _NUMBER / 1e6, people * variants * _PAIR / 1e9
    peak = table.where(work="projecting")["peak_mb"].max()
    told = bool(np.isfinite(peak))
    return Finding(
        claim="Projecting makes training possible where X is too large for the memory that a solver needs.",
        printed="X does not fit",
        ours=(
            f"at most {peak:.0f} MB for a file of {people:,} × {variants:,} genotypes, which are {whole:,.0f} MB as "
            f"float64 and up to {rows:.1f} GB as LIBSVM's rows"
        ),
        holds=peak < whole / 2 if told else None,
        reason="projecting takes more than half of what X would"
        if told
        else "the system does not tell peaks of memory",
    )


FIG3 = Item(
    name="paul2013.fig3",
    title="Time and memory of projecting genotypes",
    experiment=Experiment(
        name=_NAME,
        about=(
            "Simulated genotypes of 50 populations in five regions, in a PLINK file: CPU seconds and memory of "
            "projecting, and CPU seconds of training LIBSVM once on each sketch, C = 1000. They stand in for "
            "HapMap-HGDP, 2,250 × 492,516, and are as many."
        ),
        columns=("people", "variants", "r", "family", "work", "repeat", "seconds", "peak_mb"),
        parts=_parts,
        measure=_measure,
        timed=True,
        full_size="as many projections as in the document, ten, and one training on the last sketch of each family, "
        "where it has ten cross-validations of each",
        stand_in_for="HapMap-HGDP, 2,250 people × 492,516 variants",
    ),
    draw=_draw,
    judge=_judge,
    chosen=f"how far the populations differ, F_ST = {_FST:g}; {CHOSEN}",
)
