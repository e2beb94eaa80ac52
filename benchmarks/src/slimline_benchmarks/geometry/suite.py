"""The cases of `slimline bench geometry`: margins and balls of every data set, and what a projection does to some."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slimline.errors import InvalidParameterError
from slimline.projections import HashEmbedding
from slimline_benchmarks.case import Contender
from slimline_benchmarks.data_sets import DataSet, Shelf
from slimline_benchmarks.geometry import names, ours, targets
from slimline_benchmarks.geometry.answers import (
    Attained,
    Referee,
    margin_through_origin,
    margin_with_intercept,
    radius_around,
)
from slimline_benchmarks.geometry.data_sets import dense_set, separated_sets, sparse_set
from slimline_benchmarks.geometry.hull_peers import ball_peers, margin_peers
from slimline_benchmarks.geometry.projection_peers import distortion_peers, embedding_peers
from slimline_benchmarks.geometry.sizes import PARTS, GeometrySizes
from slimline_benchmarks.judged import JudgedCase
from slimline_benchmarks.labelled import Labelled
from slimline_benchmarks.record import Target
from slimline_benchmarks.search import Arena, Goal

#: An answer is good enough when it is off by at most this part of the exact number. LIBSVM, which holds its kernel in
#: float32, is not always within 1e-6; ours are asked for what they are asked for everywhere, 1e-8.
TOLERANCE = 1e-5
_SEED = 0


def geometry_cases(
    sizes: GeometrySizes, *, only: Sequence[str] = PARTS, budget: float = 120.0, judged: bool = True
) -> tuple[JudgedCase, ...]:
    """Return the cases of `slimline bench geometry`.

    Parameters
    ----------
    sizes : GeometrySizes
        How large everything is.
    only : sequence of str
        Parts of the suite, from `PARTS`.
    budget : float
        Seconds for the settings of one contender.
    judged : bool
        Whether there are targets; at small sizes they mean nothing.

    Returns
    -------
    cases : tuple of JudgedCase
        By data set, and behind them those of projections.
    """
    for part in only:
        if part not in PARTS:
            raise InvalidParameterError(f"--only {part}: there is no such part. Choose from {', '.join(PARTS)}.")
    build = _Builder(sizes, budget, judged)
    cases: list[JudgedCase] = []
    for data_set in separated_sets(sizes):
        if "margin" in only:
            cases += [build.margin(data_set, intercept) for intercept in (False, True)]
        if "ball" in only:
            cases.append(build.ball(data_set))
    if "embedding" in only:
        cases.append(build.embedding(dense_set("embedded", sizes.embedded)))
    if "distortions" in only:
        dense = dense_set("dense-pairs", (sizes.pairs, sizes.dense[1]))
        sparse = sparse_set("sparse-pairs", (sizes.pairs, sizes.sparse[1]), sizes.per_row)
        cases += [build.distortions(data_set) for data_set in (dense, sparse)]
    return tuple(cases)


class _Builder:
    """Makes cases that share a shelf."""

    def __init__(self, sizes: GeometrySizes, budget: float, judged: bool) -> None:
        self._sizes, self._budget, self._judged = sizes, budget, judged
        self._shelf: Shelf[Labelled] = Shelf()

    def margin(self, data_set: DataSet[Labelled], intercept: bool) -> JudgedCase:
        arena = self._arena()
        mine = ours.beside_gram(names.MARGIN, ours.margin(intercept), arena, estimated_bytes=_gram_bytes(data_set))
        peer = names.SVC if intercept else names.ONE_CLASS
        return self._case(
            data_set,
            f"{data_set.name}-{'intercept' if intercept else 'origin'}",
            f"hard margin {'with an intercept' if intercept else 'through the origin'}",
            arena,
            margin_with_intercept if intercept else margin_through_origin,
            (mine, *margin_peers(data_set, intercept, arena)),
            targets.for_hulls(names.MARGIN, peer),
        )

    def ball(self, data_set: DataSet[Labelled]) -> JudgedCase:
        arena = self._arena()
        mine = ours.beside_gram(names.BALL, ours.ball, arena, estimated_bytes=_gram_bytes(data_set))
        contenders = (mine, *ball_peers(data_set, arena))
        aims = targets.for_hulls(names.BALL, names.FRANK_WOLFE, names.CLARABEL)
        return self._case(data_set, f"{data_set.name}-ball", "smallest ball", arena, radius_around, contenders, aims)

    def embedding(self, data_set: DataSet[Labelled]) -> JudgedCase:
        arena, size = self._arena(), self._sizes.embedded
        projection = HashEmbedding(size[1], self._sizes.components, _SEED)
        mine = ours.beside_gram(names.EMBEDDING, ours.embedding(projection), arena)
        return self._case(
            data_set,
            "embedding",
            f"embedding error of {self._sizes.components:,} components",
            arena,
            None,
            (mine, *embedding_peers(size, projection, arena)),
            targets.for_projections(names.EMBEDDING, names.SVD, names.QR),
        )

    def distortions(self, data_set: DataSet[Labelled]) -> JudgedCase:
        arena, size = self._arena(), data_set.size
        assert size is not None
        projection = HashEmbedding(size[1], self._sizes.components, _SEED)
        mine = ours.beside_gram(names.DISTORTIONS, ours.distortions(projection, size[0]), arena)
        return self._case(
            data_set,
            f"{data_set.name.removesuffix('-pairs')}-distortions",
            f"distortions by {self._sizes.components:,} components, all pairs",
            arena,
            None,
            (mine, *distortion_peers(size, projection, arena)),
            targets.for_projections(names.DISTORTIONS, names.PAIRWISE),
        )

    def _arena(self) -> Arena:
        return Arena(Goal("off", TOLERANCE), self._budget)

    def _case(
        self,
        data_set: DataSet[Labelled],
        name: str,
        title: str,
        arena: Arena,
        attained: Attained | None,
        contenders: tuple[Contender, ...],
        aims: tuple[Target, ...],
    ) -> JudgedCase:
        return JudgedCase(
            name=name,
            title=f"{title}, {data_set.words}",
            make=self._making(data_set, arena, attained),
            contenders=(ours.gram_alone(), *contenders),
            input_bytes=data_set.input_bytes,
            targets=aims if self._judged else (),
            discard=lambda _: arena.judge_ours(),
            arena=arena,
        )

    def _making(self, data_set: DataSet[Labelled], arena: Arena, attained: Attained | None) -> Callable[[], Labelled]:
        def make() -> Labelled:
            points = self._shelf.take(data_set)
            arena.judge = Referee(points, attained, arena.answers)
            return points

        return make


def _gram_bytes(data_set: DataSet[Labelled]) -> float:
    return 10.0 * (data_set.size or (0, 0))[0] ** 2
