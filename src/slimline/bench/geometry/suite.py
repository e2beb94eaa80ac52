"""The cases of `slimline bench geometry`: margins and balls of every data set, and what a projection does to some."""

from __future__ import annotations

from collections.abc import Sequence

from slimline.bench.geometry import names, ours, targets
from slimline.bench.geometry.answers import Arena, margin_through_origin, margin_with_intercept, radius_around
from slimline.bench.geometry.data_sets import DataSet, Shelf, dense_set, separated_sets, sparse_set
from slimline.bench.geometry.hull_peers import ball_peers, margin_peers
from slimline.bench.geometry.projection_peers import distortion_peers, embedding_peers
from slimline.bench.geometry.run import GeometryCase
from slimline.bench.geometry.sizes import PARTS, GeometrySizes
from slimline.errors import InvalidParameterError
from slimline.projections import HashEmbedding

_SEED = 0


def geometry_cases(
    sizes: GeometrySizes, *, only: Sequence[str] = PARTS, judged: bool = True
) -> tuple[GeometryCase, ...]:
    """Return the cases of `slimline bench geometry`.

    Parameters
    ----------
    sizes : GeometrySizes
        How large everything is.
    only : sequence of str
        Parts of the suite, from `PARTS`.
    judged : bool
        Whether there are targets; at small sizes they mean nothing.

    Returns
    -------
    cases : tuple of GeometryCase
        By data set, and behind them those of projections.
    """
    for part in only:
        if part not in PARTS:
            raise InvalidParameterError(f"--only {part}: there is no such part. Choose from {', '.join(PARTS)}.")
    shelf = Shelf()
    cases: list[GeometryCase] = []
    for data_set in separated_sets(sizes):
        if "margin" in only:
            cases += [_margin(data_set, intercept, shelf, judged) for intercept in (False, True)]
        if "ball" in only:
            cases.append(_ball(data_set, shelf, judged))
    if "embedding" in only:
        cases.append(_embedding(dense_set("embedded", sizes.embedded), sizes, shelf, judged))
    if "distortions" in only:
        dense = dense_set("dense-pairs", (sizes.pairs, sizes.dense[1]))
        sparse = sparse_set("sparse-pairs", (sizes.pairs, sizes.sparse[1]), sizes.per_row)
        cases += [_distortions(data_set, sizes, shelf, judged) for data_set in (dense, sparse)]
    return tuple(cases)


def _margin(data_set: DataSet, intercept: bool, shelf: Shelf, judged: bool) -> GeometryCase:
    arena = Arena(margin_with_intercept if intercept else margin_through_origin)
    mine = ours.answering(names.MARGIN, "ours", ours.margin(intercept), arena, estimated_bytes=_gram_bytes(data_set))
    peer = names.SVC if intercept else names.ONE_CLASS
    return GeometryCase(
        name=f"{data_set.name}-{'intercept' if intercept else 'origin'}",
        title=f"hard margin {'with an intercept' if intercept else 'through the origin'}, {data_set.words}",
        make=lambda: shelf.take(data_set),
        contenders=(ours.gram_alone(), mine, *margin_peers(data_set, intercept, arena)),
        input_bytes=data_set.input_bytes,
        targets=targets.for_hulls(names.MARGIN, peer) if judged else (),
        discard=arena.judge,
        arena=arena,
    )


def _ball(data_set: DataSet, shelf: Shelf, judged: bool) -> GeometryCase:
    arena = Arena(radius_around)
    mine = ours.answering(names.BALL, "ours", ours.ball, arena, estimated_bytes=_gram_bytes(data_set))
    return GeometryCase(
        name=f"{data_set.name}-ball",
        title=f"smallest ball, {data_set.words}",
        make=lambda: shelf.take(data_set),
        contenders=(ours.gram_alone(), mine, *ball_peers(data_set, arena)),
        input_bytes=data_set.input_bytes,
        targets=targets.for_hulls(names.BALL, names.CLARABEL) if judged else (),
        discard=arena.judge,
        arena=arena,
    )


def _embedding(data_set: DataSet, sizes: GeometrySizes, shelf: Shelf, judged: bool) -> GeometryCase:
    arena = Arena(None)
    projection = HashEmbedding(sizes.embedded[1], sizes.components, _SEED)
    mine = ours.answering(names.EMBEDDING, "ours", ours.embedding(projection), arena)
    return GeometryCase(
        name="embedding",
        title=f"embedding error of {sizes.components:,} components, {data_set.words}",
        make=lambda: shelf.take(data_set),
        contenders=(ours.gram_alone(), mine, *embedding_peers(sizes.embedded, projection, arena)),
        input_bytes=data_set.input_bytes,
        targets=targets.for_projections(names.EMBEDDING, names.SVD) if judged else (),
        discard=arena.judge,
        arena=arena,
    )


def _distortions(data_set: DataSet, sizes: GeometrySizes, shelf: Shelf, judged: bool) -> GeometryCase:
    arena = Arena(None)
    assert data_set.size is not None
    n, d = data_set.size
    projection = HashEmbedding(d, sizes.components, _SEED)
    mine = ours.answering(names.DISTORTIONS, "ours", ours.distortions(projection, n), arena)
    return GeometryCase(
        name=f"{data_set.name.removesuffix('-pairs')}-distortions",
        title=f"distortions by {sizes.components:,} components, all pairs, {data_set.words}",
        make=lambda: shelf.take(data_set),
        contenders=(ours.gram_alone(), mine, *distortion_peers(data_set.size, projection, arena)),
        input_bytes=data_set.input_bytes,
        targets=targets.for_projections(names.DISTORTIONS, names.PAIRWISE) if judged else (),
        discard=arena.judge,
        arena=arena,
    )


def _gram_bytes(data_set: DataSet) -> float:
    return 10.0 * (data_set.size or (0, 0))[0] ** 2
