"""Fig. 4: one weight vector for all classes, beside the multiclass support vector machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.svm import LinearSVC

from slimline import OneParameterClassifier
from slimline_papers.chance import ONE_LIMIT
from slimline_papers.drawing import CYCLE, bound, canvas, finish, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ONE, _ALL = "one parameter", "Crammer-Singer"
_CLASSES = (3, 5, 10)
_FIXED = 512
#: Bytes of a number, and of the label that a class takes in any model.
_NUMBER = 8
_STAND_IN = "TiCC is not to be had, and MNIST stands in for it"


def _parts(study: Study) -> Sequence[Part]:
    dimensions = study.pick((64, 1024), (128, 512, 2048, 8192), (128, 512, 2048, 8192))
    costs: tuple[float, ...] = study.pick((0.01,), (0.01, 0.1), (0.01, 0.1))
    seeds = range(study.pick(2, 3, 5))
    return [
        *((_ALL, classes, costs[0], 0, 0) for classes in _CLASSES[:-1]),
        *((_ALL, _CLASSES[-1], C, 0, 0) for C in costs),
        *((_ONE, classes, costs[0], _FIXED, seed) for classes in _CLASSES[:-1] for seed in seeds),
        *((_ONE, _CLASSES[-1], C, r, seed) for C in costs for r in sorted({_FIXED, *dimensions}) for seed in seeds),
    ]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    name, classes, C, r, seed = str(part[0]), int(part[1]), float(part[2]), int(part[3]), int(part[4])
    digits, samples = study.load("mnist"), study.pick(500, 2_000, 10_000)
    own, test = digits.y[:samples] < classes, digits.y_test < classes
    X, y = digits.X[:samples][own] / np.float32(255), digits.y[:samples][own]
    X_test, y_test = digits.X_test[test] / np.float32(255), digits.y_test[test]
    if name == _ALL:
        model = LinearSVC(C=C, multi_class="crammer_singer", random_state=0, max_iter=10_000).fit(X, y)
    else:
        random_state = study.seed_of("shi2012.digits", classes, r, seed)
        model = OneParameterClassifier(r, C, random_state=random_state, max_iter=5_000).fit(X, y)
    stored = pickle.dumps(model)
    restored = pickle.loads(stored)  # what was stored is all that predicting takes
    yield (
        name, classes, C, r, seed, len(y), len(y_test), len(stored), model.score(X, y), restored.score(X_test, y_test),
    )  # fmt: skip


def _draw(table: Table) -> Figure:
    figure, (left, right) = canvas(columns=2, width=5.6, height=4.2)
    ten = table.where(classes=_CLASSES[-1])
    for place, (colour, C) in enumerate(zip(CYCLE, ten.distinct("C"), strict=False)):
        rows = ten.where(model=_ONE, C=C)
        r = np.unique(rows["r"])
        each = [rows.where(r=int(value)) for value in r]
        spread = [some.spread("test") for some in each]
        measured(left, r * 1.05**place, [some.mean("test") for some in each], f"one parameter, C = {C}", spread, colour)
        machine = ten.where(model=_ALL, C=C)
        bound(left, r[[0, -1]], 2 * [machine.mean("test")], f"Crammer-Singer, C = {C}", colour)
    as_large = machine["bytes"][0] / _NUMBER
    left.axvline(as_large, color="0.6", linewidth=0.8, linestyle=":")
    left.text(as_large * 0.93, 0.56, "as large as\nCrammer-Singer", ha="right", fontsize=8, color="0.4")
    finish(
        left, "MNIST in place of TiCC: accuracy", "dimensions r", "share of test digits right",
        xscale="log", ylim=(0.5, 0.95),
    )  # fmt: skip
    for name, settings in ((_ONE, {"r": _FIXED}), (_ALL, {"r": 0})):
        rows = table.where(model=name, C=min(table.values("C")), **settings)
        each = [rows.where(classes=classes) for classes in _CLASSES]
        measured(right, _CLASSES, [some.mean("bytes") for some in each], name)
        for classes, some in zip(_CLASSES, each, strict=True):
            accuracy = f"{some.mean('test'):.3f}"
            right.annotate(accuracy, (classes, some.mean("bytes")), (0, 8), textcoords="offset points", fontsize=8)
    finish(
        right, "memory, with the accuracy written beside", "classes", "bytes of the stored model", yscale="log",
        ylim=(2_000, 200_000), xlim=(2, 11.5),
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    return [_more_accurate(table), _capacity(table), _rises(table), _memory(table)]


def _more_accurate(table: Table) -> Finding:
    ten = table.where(classes=_CLASSES[-1])
    best = {name: _best(ten.where(model=name)) for name in (_ONE, _ALL)}
    lead = best[_ONE].mean("test") - best[_ALL].mean("test")
    error = np.sqrt(2) * _error(best[_ALL].mean("test"), ten["tested"][0])
    beyond = "beyond chance" if abs(lead) > ONE_LIMIT * error else "within what chance can do"
    return Finding(
        claim="The one-parameter method is more accurate than the multiclass support vector machine.",
        printed="higher test accuracy (TiCC)",
        ours=f"{best[_ONE].mean('test'):.4f} (r = {best[_ONE]['r'][0]:.0f}, C = {best[_ONE].values('C')[0]}) for "
        f"{best[_ALL].mean('test'):.4f} (C = {best[_ALL].values('C')[0]}), the best of each; {abs(lead):.4f} "
        f"{'higher' if lead > 0 else 'lower'}, {beyond}",
        holds=None,
        reason=_STAND_IN,
    )


def _capacity(table: Table) -> Finding:
    ten = table.where(classes=_CLASSES[-1], C=max(table.values("C")))
    smallest = ten.where(model=_ONE, r=int(min(ten.where(model=_ONE)["r"])))
    machine = ten.where(model=_ALL)
    gaps = [rows.mean("train") - rows.mean("test") for rows in (smallest, machine)]
    error = np.sqrt(0.5 / ten["trained"][0])  # two shares of the training samples, each with a variance below ¼
    return Finding(
        claim="Fewer dimensions reduce the model's capacity, so that test accuracy is nearer to training accuracy.",
        printed="conjectured",
        ours=f"C = {ten.values('C')[0]}: {gaps[0]:.3f} apart at r = {smallest['r'][0]:.0f}, {gaps[1]:.3f} for the "
        "multiclass machine",
        holds=gaps[1] - gaps[0] > 2 * error,
        reason=f"{_STAND_IN}; the difference is not beyond chance",
    )


def _rises(table: Table) -> Finding:
    rows = table.where(model=_ONE, classes=_CLASSES[-1], C=min(table.values("C")))
    r = np.unique(rows["r"])
    means = [rows.where(r=int(value)).mean("test") for value in r]
    return Finding(
        claim="With more dimensions more of the margin is kept, and accuracy with it (Theorem 9).",
        printed="margin kept up to γ/√(2L)",
        ours=", ".join(f"{mean:.3f} at r = {value:.0f}" for value, mean in zip(r, means, strict=True)),
        holds=means[-1] - means[0] > ONE_LIMIT * np.sqrt(2) * _error(means[0], rows["tested"][0]),
        reason=f"{_STAND_IN}; accuracy does not rise beyond chance",
    )


def _memory(table: Table) -> Finding:
    rows = table.where(model=_ONE, r=_FIXED, C=min(table.values("C")))
    sizes, several = (
        [some.where(classes=classes).mean("bytes") for classes in _CLASSES] for some in (rows, table.where(model=_ALL))
    )
    growth = (max(sizes) - min(sizes)) / (_CLASSES[-1] - _CLASSES[0])
    accuracies = [rows.where(classes=classes).mean("test") for classes in _CLASSES]
    return Finding(
        claim="The memory that the model needs does not depend on the number of classes (apart from a label a class).",
        printed="independent of the number of classes",
        ours=f"{_listed(sizes)} bytes stored for {', '.join(map(str, _CLASSES))} classes, {growth:.1f} more a class, "
        f"where the multiclass machine has {_listed(several)}; but accuracy falls to "
        f"{', '.join(f'{value:.3f}' for value in accuracies)}",
        holds=growth <= _NUMBER,
        reason="a class takes more than its label",
    )


def _listed(sizes: Sequence[float]) -> str:
    return ", ".join(f"{size:,.0f}" for size in sizes)


def _best(rows: Table) -> Table:
    """Return the rows of the setting with the highest mean accuracy."""
    settings = {(C, r) for C, r in zip(rows.values("C"), rows.values("r"), strict=True)}
    return max((rows.where(C=C, r=r) for C, r in sorted(settings)), key=lambda some: some.mean("test"))


def _error(share: float, samples: float) -> float:
    """Return the standard error of an accuracy that was found with so many test samples."""
    return float(np.sqrt(share * (1 - share) / samples))


FIG4 = Item(
    name="shi2012.fig4",
    title="One parameter for all classes, beside the multiclass support vector machine (MNIST in place of TiCC)",
    experiment=Experiment(
        name="shi2012.digits",
        about="Digits of MNIST, which stands in for TiCC: accuracy and size of OneParameterClassifier, with a "
        "projection of its own for every class, and of LIBLINEAR's Crammer-Singer machine.",
        columns=("model", "classes", "C", "r", "seed", "trained", "tested", "bytes", "train", "test"),
        parts=_parts,
        measure=_measure,
        sources=("mnist",),
    ),
    draw=_draw,
    judge=_judge,
)
