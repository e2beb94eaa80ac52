"""The demonstration, step by step: simulate, sketch, train on the sketch, find the variants again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifier
from sklearn.random_projection import GaussianRandomProjection

from slimline._base.system import available_bytes, run_with_peak
from slimline.data import simulate_genotypes
from slimline.estimators import make_projection
from slimline_benchmarks.walkthrough.people import (
    Floats,
    People,
    know_people,
    lawful_distortion,
    look_back,
    measure_distortion,
    scores,
)
from slimline_benchmarks.walkthrough.records import (
    TOP,
    DemoResult,
    DemoSettings,
    FamilyResult,
    TopVariant,
    WeightsResult,
)

#: Told of each step: what is done next, steps done, steps in all.
Watcher = Callable[[str, float, int], None]

_FAMILIES = {
    "cw": "sparse embedding, s=1",
    "osnap": "sparse embedding, s=4",
    "srht": "Hadamard (SRHT)",
    "very_sparse": "very sparse signs",
    "sign": "random signs",
    "gaussian": "Gaussian",
}
#: The family that the weights stand on.
_CHOSEN = "osnap"
#: A sketch that takes less is made a few times, and the shortest time counts.
_SHORT_SECONDS, _SHORT_REPEATS = 0.3, 3
_STEPS = len(_FAMILIES) + 4


class _Clock:
    """A call that notes its shortest time."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call, self.best = call, float("inf")

    def __call__(self) -> Any:
        begin = time.perf_counter()
        outcome = self.call()
        self.best = min(self.best, time.perf_counter() - begin)
        return outcome


@dataclass(frozen=True)
class _Sketch:
    result: FamilyResult
    projection: Any
    classifier: Any
    Z: Floats
    train_seconds: float


@dataclass(frozen=True)
class _Full:
    W: Floats
    intercept: Floats
    seconds: float
    extra_bytes: int | None


def run_demo(settings: DemoSettings, watch: Watcher | None = None) -> DemoResult:
    """Run the demonstration.

    Parameters
    ----------
    settings : DemoSettings
        Sizes.
    watch : callable, optional
        Told of each step.

    Returns
    -------
    result : DemoResult
        What was measured.
    """
    tell = watch or (lambda step, done, total: None)
    begin = time.perf_counter()
    s = settings
    data = simulate_genotypes(
        s.people,
        s.variants,
        s.populations,
        s.fst,
        s.seed,
        progress=lambda done, n: tell("simulating people", done / n, _STEPS),
    )
    tell("measuring the true distances between all people", 1, _STEPS)
    people = know_people(data)
    sketches: dict[str, _Sketch] = {}
    for step, (family, title) in enumerate(_FAMILIES.items(), start=2):
        tell(f"sketching: {title}", step, _STEPS)
        sketches[family] = _sketch(people, family, title, settings)
    peer = None
    if settings.peer:
        tell("the same with scikit-learn", _STEPS - 2, _STEPS)
        peer = _peer(people, settings)
    tell("training on all variants", _STEPS - 1, _STEPS)
    full = _train_on_everything(people)
    lifted, looked_back, same, top = _find_variants(people, sketches[_CHOSEN], full)
    return DemoResult(
        settings=settings,
        input_bytes=data.X.nbytes,
        pairs=people.distances.size,
        law=lawful_distortion(s.components, people.distances.size),
        families=tuple(sketch.result for sketch in sketches.values()),
        chosen=_FAMILIES[_CHOSEN],
        peer=peer,
        full=_compare(people, "training on everything", full.W, full.intercept, full, full.seconds),
        full_extra_bytes=full.extra_bytes,
        lifted=lifted,
        looked_back=looked_back,
        same_predictions=same,
        tested=len(people.testing[0]),
        top=top,
        seconds=time.perf_counter() - begin,
    )


def _sketch(people: People, family: str, title: str, s: DemoSettings) -> _Sketch:
    X = people.data.X

    projection = make_projection(family, s.components, random_state=s.seed)
    clock = _Clock(lambda: projection.fit_transform(X))
    Z, extra_bytes = run_with_peak(clock)
    if clock.best < _SHORT_SECONDS:
        for _ in range(_SHORT_REPEATS - 1):
            clock()
    begin = time.perf_counter()
    classifier = RidgeClassifier(alpha=people.ridge).fit(Z[: people.n_train], people.training[1])
    train_seconds = time.perf_counter() - begin
    result = FamilyResult(
        family=family,
        title=title,
        seconds=clock.best,
        extra_bytes=extra_bytes,
        stored_bytes=_stored_bytes(projection.projection_, s.variants),
        distortion=measure_distortion(people.distances, Z),
        accuracy=float(classifier.score(Z[people.n_train :], people.testing[1])),
    )
    return _Sketch(result, projection, classifier, Z, train_seconds)


def _stored_bytes(projection: Any, d: int) -> int:
    """Return the size of R in float32: of all entries, or of the non-zeros with their column numbers."""
    some = projection.rows(0, min(d, 256), dtype=np.float32)
    if isinstance(some, np.ndarray):
        return 4 * d * int(some.shape[1])
    return round(8 * d * float(some.nnz) / float(some.shape[0]))


def _peer(people: People, s: DemoSettings) -> FamilyResult | None:
    X = people.data.X
    needed = 8 * (X.size + 2 * s.variants * s.components)
    free = available_bytes()
    if free is not None and needed > free:
        return None
    clock = _Clock(lambda: GaussianRandomProjection(s.components, random_state=s.seed).fit_transform(X))
    Z, extra_bytes = run_with_peak(clock)
    classifier = RidgeClassifier(alpha=people.ridge).fit(Z[: people.n_train], people.training[1])
    return FamilyResult(
        family="",
        title="scikit-learn Gaussian",
        seconds=clock.best,
        extra_bytes=extra_bytes,
        stored_bytes=8 * s.variants * s.components,
        distortion=measure_distortion(people.distances, Z),
        accuracy=float(classifier.score(Z[people.n_train :], people.testing[1])),
    )


def _train_on_everything(people: People) -> _Full:
    X, y = people.training
    clock = _Clock(lambda: RidgeClassifier(alpha=people.ridge, copy_X=False).fit(X.astype(np.float32), y))
    classifier, extra_bytes = run_with_peak(clock)
    return _Full(*_by_class(classifier), clock.best, extra_bytes)


def _by_class(classifier: Any) -> tuple[Floats, Floats]:
    """Return weights and intercepts with one row a class, also where scikit-learn keeps one for two classes."""
    W, intercept = np.atleast_2d(classifier.coef_), np.atleast_1d(classifier.intercept_)
    return (W, intercept) if len(W) > 1 else (np.vstack([-W, W]), np.concatenate([-intercept, intercept]))


def _find_variants(
    people: People, sketch: _Sketch, full: _Full
) -> tuple[WeightsResult, WeightsResult, int, tuple[TopVariant, ...]]:
    X, y = people.training
    begin = time.perf_counter()
    V, intercept = _by_class(sketch.classifier)
    lifted = sketch.projection.lift(V)
    lift_seconds = sketch.result.seconds + sketch.train_seconds + time.perf_counter() - begin
    from_sketch = (sketch.Z[people.n_train :] @ V.T + intercept).argmax(axis=1)
    same = int(np.sum(from_sketch == (scores(people.testing[0], lifted) + intercept).argmax(axis=1)))

    # At the optimum w = Xᵀ(y - scores)/penalty. The sketch's scores are nearly right, and so are then the weights.
    begin = time.perf_counter()
    residual = np.where(y[:, None] == np.arange(len(V)), 1.0, -1.0) - (sketch.Z[: people.n_train] @ V.T + intercept)
    residual -= residual.mean(axis=0)
    W = look_back(X, residual / people.ridge)
    back_seconds = sketch.result.seconds + sketch.train_seconds + time.perf_counter() - begin
    mean = np.asarray(X.mean(axis=0, dtype=np.float64))
    centred = np.where(y[:, None] == np.arange(len(V)), 1.0, -1.0).mean(axis=0) - W @ mean
    return (
        _compare(people, "lifted from the sketch", lifted, intercept, full, lift_seconds),
        _compare(people, "after one look back at X", W, centred, full, back_seconds),
        same,
        _top_variants(people, W, full.W),
    )


def _compare(people: People, title: str, W: Floats, intercept: Floats, full: _Full, seconds: float) -> WeightsResult:
    lengths = np.linalg.norm(W, axis=1) * np.linalg.norm(full.W, axis=1)
    X, y = people.testing
    return WeightsResult(
        title=title,
        cosine=float(np.mean(np.sum(W * full.W, axis=1) / lengths)),
        found=int(np.isin(_ranking(W)[:TOP], _ranking(full.W)[:TOP]).sum()),
        accuracy=float(np.mean((scores(X, W) + intercept).argmax(axis=1) == y)),
        seconds=seconds,
    )


def _ranking(W: Floats) -> NDArray[np.intp]:
    """Return the variants from the largest weight on, over all classes."""
    return np.argsort(-np.abs(W).max(axis=0), kind="stable")


def _top_variants(people: People, W: Floats, exact: Floats) -> tuple[TopVariant, ...]:
    place = np.empty(W.shape[1], dtype=np.intp)
    place[_ranking(exact)] = np.arange(1, W.shape[1] + 1)
    frequencies = people.data.frequencies
    return tuple(
        TopVariant(
            variant=int(j),
            weight=float(np.abs(W[:, j]).max()),
            exact_rank=int(place[j]),
            lowest=float(frequencies[:, j].min()),
            highest=float(frequencies[:, j].max()),
        )
        for j in _ranking(W)[:TOP]
    )
