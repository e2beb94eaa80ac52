"""Fig. 1: time of projection and support vector machine together, beside that of the machine on all features."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from sklearn.model_selection import KFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from slimline import CertifiedClassifier
from slimline_papers.drawing import COLOURS, as_printed, band, canvas, connected, finish
from slimline_papers.finding import Cell, Finding, cells_finding, times_finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.paul2013.contenders import CHOSEN, THEIRS, best_seconds, projection
from slimline_papers.paul2013.synthetic import (
    DIMENSIONS,
    FAMILIES,
    FULL,
    IMPLIED,
    METHODS,
    C,
    Floats,
    Labels,
    gaussian_points,
)
from slimline_papers.printed import printed
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_T = TypeVar("_T")

#: Ours, trained on all features, with a proof.
_OURS = "certified"
_FOLDS = 10
#: Times that one is called nearly the same as another, or very small beside it.
_ALIKE, _SMALL = 1.5, 0.25


def _parts(study: Study) -> Sequence[Part]:
    families = study.pick(("D1",), tuple(FAMILIES), tuple(FAMILIES))
    datasets = range(study.pick(1, 2, 10))
    return [(family, k, method) for family in families for k in datasets for method in (FULL, *METHODS, _OURS)]


def _cross_validation(X: Floats, y: Labels, folds: KFold) -> float:
    """Return the error of LIBSVM, which gets the rows themselves, in per cent."""
    wrong = np.empty(len(y))
    # inner products of more than 10,000 numbers would be shared out among threads, which mostly wait
    with threadpool_limits(1, "blas"):
        for train, test in folds.split(X):
            wrong[test] = SVC(kernel="linear", C=C).fit(X[train], y[train]).predict(X[test]) != y[test]
    return 100 * float(wrong.mean())


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    family, dataset, method = str(part[0]), int(part[1]), str(part[2])
    X, labels = gaussian_points(study, family, dataset)
    y, d = labels[IMPLIED], X.shape[1]
    folds = KFold(_FOLDS, shuffle=True, random_state=study.seed_of("paul2013.fig1", family, dataset))
    if method == _OURS:
        yield family, dataset, method, d, 0.0, *_certified(X, y, folds)
        return
    for r in (d,) if method == FULL else DIMENSIONS:
        t_rp, Z = 0.0, X
        if method != FULL:
            sketch = projection(method, r, study.seed_of("paul2013.fig1", *part, r))
            Z, t_rp = best_seconds(partial(sketch.fit_transform, X))
        error, t_svm = best_seconds(partial(_cross_validation, Z, y, folds))
        yield family, dataset, method, r, t_rp, t_svm, error, math.nan, math.nan


def _certified(X: Floats, y: Labels, folds: KFold) -> tuple[float, float, float, float]:
    """Return ten times the seconds of the first fold, its error, the certificate, and agreement with LIBSVM."""
    train, test = next(iter(folds.split(X)))
    model = CertifiedClassifier(C, loss="hinge", random_state=0)  # with a free intercept, like LIBSVM's
    _, seconds = best_seconds(partial(model.fit, X[train], y[train]))
    said = model.predict(X[test])
    same = SVC(kernel="linear", C=C).fit(X[train], y[train]).predict(X[test]) == said
    certified = float(model.certificate_.relative_error[0])
    return _FOLDS * seconds, 100 * float(np.mean(said != y[test])), certified, 100 * float(same.mean())


def _totals(table: Table, family: str, method: str, r: int) -> Floats:
    """Return the total time for each data set."""
    rows = table.where(family=family, method=method, r=r)
    return np.asarray(rows["t_rp"] + rows["t_svm"])


def _best(table: Table, family: str, method: str, r: int) -> float:
    """Return the total time, the best over data sets."""
    return float(_totals(table, family, method, r).min())


def _families(table: Table) -> list[str]:
    return [str(family) for family in table.distinct("family")]


def _draw(table: Table) -> Figure:
    families = _families(table)
    theirs = printed("paul2013", "section4_1_speedup_at_r1024_over_full")
    figure, panels = canvas(columns=len(families), width=4.5)
    for panel, family in zip(panels, families, strict=True):
        for method in METHODS:
            times = [_totals(table, family, method, r) for r in DIMENSIONS]
            best = [each.min() for each in times]
            band(panel, DIMENSIONS, best, [each.max() for each in times], COLOURS[method])
            connected(panel, DIMENSIONS, best, method)
        d = FAMILIES[family].d
        full = _best(table, family, FULL, d)
        as_printed(panel, [DIMENSIONS[-1]], [full / theirs[family]], "printed speed-up on our full time")
        connected(panel, [d], [full], "full data, LIBSVM", COLOURS[FULL])
        connected(panel, [d], [_best(table, family, _OURS, d)], "full data, certified", COLOURS["Gaussian"])
        finish(
            panel, f"{family}: projection and ten-fold cross-validation", "dimension r (d at the right)",
            "processor seconds", xscale="log", yscale="log", xticks=[*DIMENSIONS, d],
            xticklabels=[*map(str, DIMENSIONS), f"{d:,}"], legend="upper left" if family == families[0] else False,
        )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    families, largest = _families(table), DIMENSIONS[-1]
    full = {family: _best(table, family, FULL, FAMILIES[family].d) for family in families}
    total = {(f, m, r): _best(table, f, m, r) for f in families for m in METHODS for r in DIMENSIONS}
    slowest = max(seconds / full[key[0]] for key, seconds in total.items())
    gains = {f: float(full[f] / np.mean([total[f, m, largest] for m in THEIRS])) for f in families}
    theirs = printed("paul2013", "section4_1_speedup_at_r1024_over_full")
    wider = np.diff(list(gains.values()))
    return [
        times_finding(
            "Projection and machine together take much less time than the machine on all features.",
            f"{_listed(theirs.values())} times less at r = {largest}",
            f"at most {slowest:.2f} of it, for every family, projection and r",
            here=slowest < 0.5,
            why="a projection costs as much as it saves",
        ),
        times_finding(
            "The wider the data, the more a projection to the same r saves.",
            ", ".join(f"{family}: {value:g} times" for family, value in theirs.items()),
            ", ".join(f"{family}: {value:.1f} times" for family, value in gains.items()),
            here=len(wider) > 0 and np.all(wider > 0),
            why="the gain does not grow with d" if len(wider) else "a single width was measured",
        ),
        cells_finding(
            f"Speed-ups at r = {largest} are {_listed(theirs.values())}.",
            [Cell(f"{family}, r = {largest}", theirs[family], math.nan, gains[family]) for family in families],
            "other machines and other builds of LIBSVM",
            unit=" times",
            comparable=False,
        ),
        _small_finding(table),
        _alike_finding(table),
        _certified_finding(table, full),
    ]


def _small_finding(table: Table) -> Finding:
    sketched = [table.where(method=method) for method in METHODS]
    share = {m: float((rows["t_rp"] / rows["t_svm"]).max()) for m, rows in zip(METHODS, sketched, strict=True)}
    return times_finding(
        "The time of the projection is very small beside that of the machine on its sketch.",
        "very small",
        "at most " + ", ".join(f"{value:.2f} ({method})" for method, value in share.items()) + " of it",
        here=max(share.values()) < _SMALL,
        why="signs take n·d·r additions, and a LIBSVM that multiplies dense rows is done with a sketch sooner",
    )


def _alike_finding(table: Table) -> Finding:
    ratios = dict.fromkeys(METHODS, 1.0)
    for family in _families(table):
        seconds = {method: sum(_best(table, family, method, r) for r in DIMENSIONS) for method in METHODS}
        for method in METHODS:
            ratios[method] = max(ratios[method], seconds[method] / min(seconds.values()))
    return times_finding(
        "Projection and machine together take nearly the same time for all three projections.",
        "nearly the same",
        "up to " + ", ".join(f"{value:.1f} ({method})" for method, value in ratios.items()) + " times the fastest",
        here=max(ratios.values()) < _ALIKE,
        why="the projection itself is no longer small beside the machine, and its cost differs between them",
    )


def _certified_finding(table: Table, full: dict[str, float]) -> Finding:
    ours = table.where(method=_OURS)
    costs = ", ".join(
        f"{f}: {_best(table, f, _OURS, FAMILIES[f].d):.1f} s (LIBSVM {seconds:.1f} s)" for f, seconds in full.items()
    )
    return Finding(
        claim="All features and no projection, by CertifiedClassifier at the same C.",
        printed="not there",
        beyond=True,
        ours=(
            f"{costs}; weights proved to {ours['certified'].max():.0e} of their norm; "
            f"as LIBSVM says for {ours['same'].min():.0f} to {ours['same'].max():.0f} % of the points held out"
        ),
        holds=None,
        reason="the document has no such method",
    )


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


FIG1 = Item(
    name="paul2013.fig1",
    title="Time of projection and support vector machine together",
    experiment=Experiment(
        name="paul2013.fig1",
        about=(
            "Processor seconds of a projection and of ten-fold cross-validation by LIBSVM on its sketch, and on all "
            "features, on one thread; labels as the printed numbers imply. Of CertifiedClassifier one fold is timed, "
            "and counted ten times."
        ),
        columns=("family", "dataset", "method", "r", "t_rp", "t_svm", "eps_out", "certified", "same"),
        parts=_parts,
        measure=_measure,
        timed=True,
        full_size="as many data sets as in the document, ten, with one cross-validation and one projection of each, "
        "where it has ten",
    ),
    draw=_draw,
    judge=_judge,
    chosen=f"the labels, as the printed numbers of Tables 1 and 2 imply; {CHOSEN}",
)
