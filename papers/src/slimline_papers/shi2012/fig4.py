"""Fig. 4: one weight vector for all classes, beside the multiclass support vector machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.svm import LinearSVC

from slimline import OneParameterClassifier
from slimline.report._figures import BLUE, INK
from slimline_papers.chance import ONE_LIMIT
from slimline_papers.drawing import bound, canvas, finish, measured
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ONE, _ALL = "one parameter", "Crammer-Singer"
_CLASSES = (3, 5, 10)
#: As many numbers as ten vectors of 784 weights and an intercept, nearly.
_AS_LARGE = 8192
#: Settings of both: one is chosen on validation samples.
_COSTS = (0.003, 0.03, 0.3)
_VALIDATION, _TEST = "validation", "test"
#: Bytes of a number, and of the label that a class takes in any model.
_NUMBER = 8
_STAND_IN = "TiCC is not available, and MNIST stands in for it"


def _parts(study: Study) -> Sequence[Part]:
    dimensions = study.pick((64, _AS_LARGE), (128, 512, 2048, _AS_LARGE), (128, 512, 2048, _AS_LARGE))
    return [
        *((_ALL, classes, 0) for classes in _CLASSES),
        *((_ONE, classes, _AS_LARGE) for classes in _CLASSES[:-1]),
        *((_ONE, _CLASSES[-1], r) for r in dimensions),
    ]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    """Choose C on the last sixth of the training samples, learn from all of them, and only then look at the test."""
    name, classes, r = str(part[0]), int(part[1]), int(part[2])
    digits, samples = study.load("mnist"), study.pick(600, 60_000, 60_000)
    X, y = digits.X[:samples] / np.float32(255), digits.y[:samples]
    own, kept = y < classes, samples - samples // 6
    learn, choose = own & (np.arange(samples) < kept), own & (np.arange(samples) >= kept)
    found = {}
    for C in _COSTS[study.pick(1, 0, 0) :]:
        model = _model(study, name, classes, C, r, 0).fit(X[learn], y[learn])
        found[C] = model.score(X[choose], y[choose])
        trained, shown = int(learn.sum()), int(choose.sum())
        row = (name, classes, C, r, 0, _VALIDATION, trained, shown, 0, model.score(X[learn], y[learn]), found[C])
        yield row
    best = max(found, key=found.__getitem__)
    test = digits.y_test < classes
    X_test, y_test = digits.X_test[test] / np.float32(255), digits.y_test[test]
    for seed in range(1 if name == _ALL else study.pick(2, 2, 5)):
        model = _model(study, name, classes, best, r, seed).fit(X[own], y[own])
        stored = pickle.dumps(model)
        restored = pickle.loads(stored)  # what was stored is all that predicting takes
        right, shown = restored.score(X_test, y_test), len(y_test)
        trained = int(own.sum())
        yield name, classes, best, r, seed, _TEST, trained, shown, len(stored), model.score(X[own], y[own]), right


def _model(study: Study, name: str, classes: int, C: float, r: int, seed: int) -> Any:
    if name == _ALL:
        return LinearSVC(C=C, multi_class="crammer_singer", random_state=0, max_iter=100_000)
    random_state = study.seed_of("shi2012.digits", classes, r, seed)
    return OneParameterClassifier(r, C, random_state=random_state, max_iter=5_000)


def _draw(table: Table) -> Figure:
    figure, (left, right) = canvas(columns=2, width=5.6, height=4.2)
    tested = table.where(stage=_TEST)
    ten = tested.where(classes=_CLASSES[-1])
    rows = ten.where(model=_ONE)
    r = np.unique(rows["r"])
    each = [rows.where(r=int(value)) for value in r]
    for accuracy, colour, hollow, shift in (("right", BLUE, False, 1.0), ("train", BLUE, True, 1.06)):
        label = f"one parameter, {'test' if accuracy == 'right' else 'training'} digits"
        spread = [some.spread(accuracy) for some in each]
        measured(left, r * shift, [some.mean(accuracy) for some in each], label, spread, colour, hollow=hollow)
        machine = ten.where(model=_ALL).mean(accuracy)
        label = f"Crammer-Singer, {'test' if accuracy == 'right' else 'training'} digits"
        bound(left, r[[0, -1]] * [1, 1.06], 2 * [machine], label, INK if accuracy == "right" else "0.6")
    finish(
        left, "MNIST in place of TiCC, C chosen on validation digits", "dimensions r", "share of digits right",
        xscale="log", ylim=(0.5, 0.96),
    )  # fmt: skip
    for name, r_shown in ((_ONE, _AS_LARGE), (_ALL, 0)):
        each = [tested.where(model=name, r=r_shown, classes=classes) for classes in _CLASSES]
        label = f"{name}, r = {r_shown:,}" if r_shown else name
        measured(right, _CLASSES, [some.mean("bytes") for some in each], label)
        below = name == _ALL
        for classes, some in zip(_CLASSES, each, strict=True):
            place = (classes, some.mean("bytes"))
            right.annotate(
                f"{some.mean('right'):.3f}", place, (0, -8 if below else 8), textcoords="offset points", fontsize=8,
                ha="center", va="top" if below else "bottom",
            )  # fmt: skip
    finish(
        right, "memory, with the accuracy written beside", "classes", "bytes of the stored model", yscale="log",
        ylim=(10_000, 150_000), xlim=(2, 11.5), legend="lower right",
    )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    tested = table.where(stage=_TEST)
    ten = tested.where(classes=_CLASSES[-1])
    machine = ten.where(model=_ALL)
    each = {int(r): ten.where(model=_ONE, r=int(r)) for r in np.unique(ten.where(model=_ONE)["r"])}
    return [_more_accurate(machine, each), _capacity(machine, each), _rises(machine, each), _memory(tested)]


def _more_accurate(machine: Table, each: dict[int, Table]) -> Finding:
    one = each[_AS_LARGE]
    lead = one.mean("right") - machine.mean("right")
    error = np.sqrt(2) * _error(machine.mean("right"), machine["shown"][0])
    edges = [name for name, rows in ((_ONE, one), (_ALL, machine)) if rows["C"].max() == max(_COSTS)]
    edge = f"; the largest, {max(_COSTS):g}, is chosen for {' and '.join(edges)}: a larger one might be better still"
    beyond = "beyond chance" if abs(lead) > ONE_LIMIT * error else "within what chance can do"
    return Finding(
        claim="The one-parameter method is more accurate than the multiclass support vector machine.",
        printed="higher test accuracy (TiCC)",
        ours=f"{one.mean('right'):.4f} (r = {_AS_LARGE}, nearly as many numbers) for {machine.mean('right'):.4f}, C of "
        f"both chosen from {len(_COSTS)} values on validation digits; {abs(lead):.4f} "
        f"{'higher' if lead > 0 else 'lower'}, {beyond}{edge if edges else ''}",
        holds=None,
        reason=_STAND_IN,
    )


def _capacity(machine: Table, each: dict[int, Table]) -> Finding:
    """Compare gaps between training and test, but not those of models that fit neither."""
    fewer = [rows for r, rows in each.items() if r < _AS_LARGE]
    fits = [rows for rows in fewer if not _underfitted(rows, machine)]
    shown = fits[0] if fits else fewer[-1]
    gaps = [rows.mean("train") - rows.mean("right") for rows in (shown, machine)]
    error = np.sqrt(0.5 / machine["shown"][0])  # two shares of digits, each with a variance below ¼
    underfit = (
        f"{_STAND_IN}; with fewer dimensions the model underfits: it is right for fewer training digits than the "
        "multiclass machine for test digits, and a small gap is no merit of such a model"
    )
    return Finding(
        claim="Fewer dimensions reduce the model's capacity, so that test accuracy is nearer to training accuracy.",
        printed="conjectured",
        ours=f"training {shown.mean('train'):.3f}, test {shown.mean('right'):.3f} at r = {shown['r'][0]:.0f}; training "
        f"{machine.mean('train'):.3f}, test {machine.mean('right'):.3f} for the multiclass machine",
        holds=gaps[1] - gaps[0] > 2 * error if fits else None,
        reason=f"{_STAND_IN}; the difference is not beyond chance" if fits else underfit,
    )


def _underfitted(rows: Table, machine: Table) -> bool:
    """Return whether a model is right for fewer training digits than the multiclass machine is for test digits."""
    return rows.mean("train") < machine.mean("right")


def _rises(machine: Table, each: dict[int, Table]) -> Finding:
    """Compare accuracies of the models that fit; one that underfits shows the fit, and not the margin."""
    means = [rows.mean("right") for rows in each.values()]
    fits = [rows for rows in each.values() if not _underfitted(rows, machine)]
    compared = len(fits) > 1
    rise = fits[-1].mean("right") - fits[0].mean("right") if compared else 0.0
    few = (
        "fewer than two of these models fit: the others are right for fewer training digits than the multiclass "
        "machine for test digits, and an accuracy that rises until a model fits says nothing about margins"
    )
    return Finding(
        claim="With more dimensions more of the margin is kept (Theorem 9), and accuracy rises with it.",
        printed="margin kept up to γ/√(2L); nothing about accuracy",
        ours=", ".join(f"{mean:.3f} at r = {r}" for r, mean in zip(each, means, strict=True)),
        holds=rise > ONE_LIMIT * np.sqrt(2) * _error(fits[0].mean("right"), machine["shown"][0]) if compared else None,
        reason=f"{_STAND_IN}; {'accuracy does not rise beyond chance' if compared else few}",
        beyond=True,
    )


def _memory(tested: Table) -> Finding:
    """Judge where the method is nearly as accurate as the one that it is compared with: else memory is no gain."""
    ones = [tested.where(model=_ONE, r=_AS_LARGE, classes=classes) for classes in _CLASSES]
    machines = [tested.where(model=_ALL, classes=classes) for classes in _CLASSES]
    sizes, several = ([rows.mean("bytes") for rows in some] for some in (ones, machines))
    growth = (max(sizes) - min(sizes)) / (_CLASSES[-1] - _CLASSES[0])
    fits = not any(_underfitted(one, machine) for one, machine in zip(ones, machines, strict=True))
    accuracies = [", ".join(f"{rows.mean('right'):.3f}" for rows in some) for some in (ones, machines)]
    return Finding(
        claim="The memory that the model needs does not depend on the number of classes (apart from a label a class).",
        printed="independent of the number of classes",
        ours=f"r = {_AS_LARGE}: {_listed(sizes)} bytes stored for {', '.join(map(str, _CLASSES))} classes, "
        f"{growth:.1f} more a class, where the multiclass machine has {_listed(several)}; accuracy {accuracies[0]}, of "
        f"the multiclass machine {accuracies[1]}",
        holds=growth <= _NUMBER if fits else None,
        reason="a class takes more than its label" if fits else "at this r the model underfits for some of them",
    )


def _listed(sizes: Sequence[float]) -> str:
    return ", ".join(f"{size:,.0f}" for size in sizes)


def _listed_costs() -> str:
    return ", ".join(f"{C:g}" for C in _COSTS)


def _error(share: float, samples: float) -> float:
    """Return the standard error of an accuracy that was found with so many test samples."""
    return float(np.sqrt(share * (1 - share) / samples))


FIG4 = Item(
    name="shi2012.fig4",
    title="One parameter for all classes, beside the multiclass support vector machine (MNIST in place of TiCC)",
    experiment=Experiment(
        name="shi2012.digits",
        about="Digits of MNIST, which stands in for TiCC: accuracy and size of OneParameterClassifier, with a "
        "projection of its own for every class, and of LIBLINEAR's Crammer-Singer machine. For each of them C is "
        "chosen from the same values on the last sixth of the training digits (stage “validation”); the chosen one "
        "learns from all of them and is tested once (stage “test”).",
        columns=(
            "model",
            "classes",
            "C",
            "r",
            "seed",
            "stage",
            "trained",
            "shown",
            "bytes",
            "train",
            "right",
        ),
        parts=_parts,
        measure=_measure,
        sources=("mnist",),
    ),
    draw=_draw,
    judge=_judge,
    chosen=f"the data, MNIST in place of TiCC; the same {len(_COSTS)} values of C for each contender, "
    f"{_listed_costs()}; the dimensions r",
)
