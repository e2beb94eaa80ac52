"""The open question: whether a projection can be fast and its sketch friendly to SVM solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import binom
from sklearn.svm import SVC

from slimline import CertifiedClassifier
from slimline_papers.drawing import canvas, connected, finish
from slimline_papers.finding import Finding, times_finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.paul2013.contenders import BESIDE_CW, CHOSEN, FAMILIES, best_seconds, projection
from slimline_papers.paul2013.documents import DIMENSIONS, C, document_pairs
from slimline_papers.printed import printed
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_NAME = "paul2013.friendly"
_OTHERS = ("RS", "FHT")
#: Trainings that a projection serves: those of a ten-fold cross-validation.
_TRAININGS = 10
#: Factor up to which costs count as alike; where the spread of the measurements hides a larger one nothing is said.
_ALIKE = 1.25
#: Chance that a cost which is no higher is found to be.
_CHANCE = 1e-3


def zeros_kept(Z: Floats) -> csr_array:
    """Return the rows as pairs of index and value with no value left out, not even a zero.

    Parameters
    ----------
    Z : array
        Any.

    Returns
    -------
    rows : csr_array
        The same numbers.
    """
    n, r = Z.shape
    indices, starts = np.tile(np.arange(r, dtype=np.int32), n), np.arange(0, n * r + 1, r, dtype=np.int32)
    return csr_array((Z.ravel(), indices, starts), shape=Z.shape)


def _libsvm(rows: Callable[[Any], Any], Z: Floats, y: NDArray[np.int64]) -> int:
    return int(SVC(kernel="linear", C=C).fit(rows(Z), y).n_iter_.sum())


def _slimline(Z: Floats, y: NDArray[np.int64]) -> int:
    return CertifiedClassifier(C=C, loss="hinge").fit(Z, y).n_iter_


#: Each trains on a sketch and returns how many iterations it took. LIBSVM's interface to MATLAB leaves out the zeros of
#: full matrices too, so that the first is how the paper's sketches reached it.
_SOLVERS: dict[str, Callable[[Floats, NDArray[np.int64]], int]] = {
    "LIBSVM, zeros left out": partial(_libsvm, csr_array),
    "LIBSVM, zeros kept": partial(_libsvm, zeros_kept),
    "LIBSVM, arrays": partial(_libsvm, np.asarray),
    "slimline": _slimline,
}
_THEIRS, _KEPT, _ARRAYS, _OURS = _SOLVERS


def _parts(study: Study) -> Sequence[Part]:
    return [(number,) for number in range(study.pick(3, 8, 40))]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    source, pairs = document_pairs(study)
    number = int(part[0])
    if number >= len(pairs):
        return
    X, y = pairs[number].X, pairs[number].y
    for r in DIMENSIONS:
        sketches, facts = {}, {}
        for draw in range(study.pick(2, 3, 10)):
            for family in FAMILIES:
                transformer = projection(family, r, study.seed_of(_NAME, number, family, r, draw))
                Z, projecting = best_seconds(partial(transformer.fit_transform, X))
                sketches[family] = Z
                facts[family] = projecting, np.mean(Z != 0), _condition(Z)
            for solver, train in _SOLVERS.items():
                for family, Z in sketches.items():
                    iterations, training = best_seconds(partial(train, Z, y))
                    yield source, number, len(y), r, family, solver, draw, *facts[family], training, iterations


def _condition(Z: Floats) -> float:
    """Return the ratio of the largest and the smallest eigenvalue of ZZᵀ that is not zero."""
    values = np.linalg.svd(Z, compute_uv=False)
    values = values[values > values[0] * max(Z.shape) * np.finfo(float).eps]
    return float((values[0] / values[-1]) ** 2)


def _logs(table: Table, solver: str, family: str, column: str) -> Floats:
    """Return the logarithms of a cost: pairs × dimensions × sketches."""
    rows = table.where(solver=solver, family=family)
    cells = [[rows.where(pair=pair, r=r) for r in DIMENSIONS] for pair in table.distinct("pair")]
    return np.log([[_total(cell) if column == "total" else cell[column] for cell in row] for row in cells])


def _total(rows: Table) -> Floats:
    return rows["t_rp"] + _TRAININGS * rows["t_train"]


def _log_ratios(table: Table, solver: str, other: str, column: str) -> Floats:
    """Return the logarithms of CW's cost over the other family's."""
    return _logs(table, solver, "CW", column) - _logs(table, solver, other, column)


def _of_dimensions(logs: Floats) -> Floats:
    """Return what is typical at each r: the median, as a training now and then takes many times as long as others."""
    return np.asarray(np.exp(np.median(logs, axis=(0, 2))))


def _at_least(logs: Floats) -> float:
    """Return what the typical ratio is not below, but by a chance of `_CHANCE`, whatever the law of the costs is."""
    values = np.sort(logs, axis=None)
    place = int(binom.ppf(_CHANCE, values.size, 0.5))
    return float(np.exp(values[place - 1])) if place else 0.0


def _ratios(table: Table, solver: str, column: str) -> list[float]:
    return [float(np.exp(np.median(_log_ratios(table, solver, other, column)))) for other in _OTHERS]


def _told(ratios: Sequence[float]) -> str:
    return ", ".join(f"{ratio:.2f} times {other}" for ratio, other in zip(ratios, _OTHERS, strict=True))


def _draw(table: Table) -> Figure:
    figure, panels = canvas(columns=3, rows=2, width=4.0, height=3.2)
    axes: dict[str, Any] = {"xscale": "log", "xticks": DIMENSIONS, "xticklabels": [str(r) for r in DIMENSIONS]}
    shown: list[tuple[str, str, str, str, float]] = [
        (solver, "total", solver, "projecting, ten trainings (CPU s)", 1) for solver in _SOLVERS
    ]
    shown.append((_THEIRS, "iterations", "Iterations of LIBSVM", "iterations", 1))
    shown.append((_THEIRS, "density", "What is not zero in a sketch", "percent", 100))
    for panel, (solver, column, title, label, factor) in zip(panels, shown, strict=True):
        for family in FAMILIES:
            connected(panel, DIMENSIONS, factor * _of_dimensions(_logs(table, solver, family, column)), family)
        finish(panel, title, "components r", label, ylim=(0, None), **axes)
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    return [_lost(table), _harder(table), _answer(table)]


def _lost(table: Table) -> Finding:
    facts = printed("paul2013", "table3_techtc300")["t_run_seconds"]
    theirs = [np.exp(np.log(np.divide(facts["CW"][:3], facts[other][:3])).mean()) for other in _OTHERS]
    ratios = _ratios(table, _THEIRS, "total")
    return times_finding(
        "With LIBSVM projecting and ten trainings take longer with CW than with RS and FHT.",
        _told(theirs),
        _told(ratios),
        here=min(ratios) > 1,
        why="CW is not slower with LIBSVM",
    )


def _harder(table: Table) -> Finding:
    iterations = _ratios(table, _THEIRS, "iterations")
    left_out, kept = (np.divide(_ratios(table, way, "t_train"), iterations).tolist() for way in (_THEIRS, _KEPT))
    conditions = {f: np.median(table.where(family=f, solver=_THEIRS)["condition"]) for f in FAMILIES}
    same = np.array_equal(table.where(solver=_KEPT)["iterations"], table.where(solver=_THEIRS)["iterations"])
    return Finding(
        claim="The sketches of CW make the optimisation problem a harder one for an SVM solver.",
        printed="supposed: instances that are not well structured",
        ours=(
            f"LIBSVM's iterations {_told(iterations)}, the time of one {_told(left_out)}; median condition "
            f"numbers of the kernel {', '.join(f'{family} {value:.2g}' for family, value in conditions.items())}"
        ),
        holds=np.log(iterations).mean() > np.log(_ALIKE),
        reason=(
            f"it takes less than {_ALIKE:g} times the iterations, and more time for each: LIBSVM multiplies two rows "
            "by walking along both lists of indices, and where entries are left out here and there it has to find out "
            "at each one which list is behind"
        ),
        corrected=(
            "It is how LIBSVM stores the sketch, part of which is zero. With zeros left out an iteration takes "
            f"{_told(left_out)}, and training {_by_density(table)}; with the same numbers and iterations, but every "
            f"zero written out, one takes {_told(kept)}."
        ),
        corrected_holds=same and np.log(left_out).mean() > max(0.0, 2 * np.log(kept).mean()),  # most of it goes
    )


def _by_density(table: Table) -> str:
    """Return how CW compares with RS if more or less of its sketch is zero."""
    words = []
    for r, ratio in zip(DIMENSIONS, _of_dimensions(_log_ratios(table, _THEIRS, "RS", "t_train")), strict=True):
        full = 100 * table.where(family="CW", r=r, solver=_THEIRS).mean("density")
        words.append(f"{ratio:.1f} times RS at r = {r}, where {full:.0f} % are not zero")
    return ", ".join(words)


def _answer(table: Table) -> Finding:
    ratios, least, words = _ratios(table, _OURS, "total"), [], []
    for ratio, other in zip(ratios, _OTHERS, strict=True):
        logs = _log_ratios(table, _OURS, other, "total")
        least.append(_at_least(logs))
        each = ", ".join(f"{value:.2f}" for value in _of_dimensions(logs))
        at = ", ".join(map(str, DIMENSIONS))
        words.append(f"{ratio:.2f} times {other} (at least {least[-1]:.2f}; {each} at r = {at})")
    slower, told = max(least) > 1, bool(np.all(np.divide(least, ratios) >= 1 / _ALIKE))
    arrays = _ratios(table, _ARRAYS, "total")
    beside = ", ".join(
        f"{other} {np.exp(-np.median(_log_ratios(table, _OURS, other, 'total'))):.2f} times CW" for other in BESIDE_CW
    )
    cost = np.median(_logs(table, _OURS, "CW", "t_train") - _logs(table, _ARRAYS, "CW", "t_train"))
    return Finding(
        claim="Is there a projection that is fast on sparse data and whose sketch is friendly to a solver?",
        printed="open",
        beyond=True,
        ours=(
            "CW, where a solver takes the sketch as an array: with slimline's, projecting and ten trainings typically "
            f"take {' and '.join(words)}; {beside}; with LIBSVM on arrays {_told(arrays)}. On so few documents "
            f"slimline's, which proves what it finds, takes {np.exp(cost):.0f} times as long as that"
        ),
        holds=False if slower else True if told else None,
        reason="with CW the total is longer, beyond the spread of the measurements"
        if slower
        else f"the measurements are too far apart to tell a factor of {_ALIKE:g}",
    )


_COLUMNS = (
    "source", "pair", "documents", "r", "family", "solver", "draw", "t_rp", "density", "condition", "t_train",
    "iterations",
)  # fmt: skip
FRIENDLY = Item(
    name="paul2013.friendly",
    title="Fast projections that are friendly to SVM solvers",
    experiment=Experiment(
        name=_NAME,
        about=(
            "Pairs of document categories, each family of projections drawn several times; CPU seconds of projecting "
            "and of training once on the sketch, C = 500: LIBSVM with zeros left out (as it was used), with zeros "
            "kept, on arrays, and slimline's solver; LIBSVM's iterations and the kernel's condition number."
        ),
        columns=_COLUMNS,
        parts=_parts,
        measure=_measure,
        sources=("newsgroups",),
        own_source="techtc300",
        timed=True,
    ),
    draw=_draw,
    judge=_judge,
    chosen=CHOSEN,
)
