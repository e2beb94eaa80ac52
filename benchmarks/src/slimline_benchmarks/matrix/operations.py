"""The passes of slimline as contenders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slimline.data import Matrix
from slimline.projections import HashEmbedding, Projection, RandomSign, SubsampledHadamard
from slimline_benchmarks.case import Contender, Work
from slimline_benchmarks.matrix import names
from slimline_benchmarks.matrix.subject import Subject, right_hand_sides

#: Of one core, roughly: only decides whether a product is worth the wait.
_GIGAFLOPS = {"sign": 150.0, "f8": 30.0}

FAMILIES: dict[str, Callable[[int, int], Projection]] = {
    names.CW: lambda d, r: HashEmbedding(d, r, 0),
    names.OSNAP: lambda d, r: HashEmbedding(d, r, 0, nnz_per_feature=4),
    names.SRHT: lambda d, r: SubsampledHadamard(d, r, 0),
    names.SIGN: lambda d, r: RandomSign(d, r, 0),
}
#: Right-hand sides at once.
WIDTHS = (1, 8)


@dataclass(frozen=True)
class State:
    """One of ours, ready to run.

    Parameters
    ----------
    subject : Subject
        What it works on.
    matrix : Matrix
        The view, or what the view will be made of.
    call : callable
        The pass.
    """

    subject: Subject
    matrix: Matrix
    call: Callable[[], Any]


@dataclass(frozen=True)
class Measure:
    """Units of the speed of the passes.

    Parameters
    ----------
    stored_bytes : int
        Bytes of X as it is stored.
    reading, normal_reading : str
        Limits for one pass, and for the pass of `normal`.
    """

    stored_bytes: int
    reading: str
    normal_reading: str

    @property
    def work(self) -> Work:
        """Return the bytes of one pass."""
        return Work(self.stored_bytes / 1e9, "GB/s", per_pass=True)


#: What is done with a matrix, everything else being at hand.
Action = Callable[[Matrix], Any]


def product(operation: str, view: str, k: int, measure: Measure) -> Contender:
    """Return `dot`, `tdot` or `normal` with k right-hand sides.

    Parameters
    ----------
    operation : {"dot", "tdot", "normal"}
        Which.
    view : str
        Raw, standardised, or standardised with the statistics to find.
    k : int
        Right-hand sides.
    measure : Measure
        How its speed is told.

    Returns
    -------
    contender : Contender
        Beside the reading of the same data.
    """
    limit = measure.normal_reading if operation == "normal" else measure.reading

    def prepare(shape: tuple[int, int]) -> Action:
        vectors = right_hand_sides(shape[1 if operation == "dot" else 0], k)
        return lambda matrix: getattr(matrix, operation)(vectors)

    return _contender(operation, view, k, prepare, measure.work, limit)


def statistics(measure: Measure) -> Contender:
    """Return the statistics of all columns."""
    # of the calls as they are: 0 in place of the missing ones would be a number like any other
    return _contender("column_stats", names.RAW, None, lambda _: Matrix.column_stats, measure.work, measure.reading)


def gram(view: str, samples: int, features: int) -> Contender:
    """Return X Xᵀ, beside a product of the same size; one triangle counts, as it is symmetric."""
    flop = float(samples) * samples * features
    work = Work(flop / 1e9, "GFLOP/s")
    seconds = flop / 1e9 / _GIGAFLOPS["f8"]
    return _contender("gram", view, None, lambda _: Matrix.gram, work, names.GEMM_DOUBLE, seconds=seconds)


def sketch(family: str, view: str, components: int, shape: tuple[int, int], measure: Measure) -> Contender:
    """Return the sketch with one family of projections.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    view : str
        Raw, standardised, or standardised with the statistics to find.
    components : int
        Columns of the sketch.
    shape : (int, int)
        Of the data.
    measure : Measure
        How its speed is told.

    Returns
    -------
    contender : Contender
        Beside GEMM where every entry of R counts, else beside the reading of the same data.
    """
    work, limit, seconds = measure.work, measure.reading, 0.0
    if family == names.SIGN:
        gigaflop = 2e-9 * shape[0] * shape[1] * components
        work, limit, seconds = Work(gigaflop, "GFLOP/s"), names.GEMM_SINGLE, gigaflop / _GIGAFLOPS["sign"]

    def prepare(shape: tuple[int, int]) -> Action:
        projection = FAMILIES[family](shape[1], components)
        return lambda matrix: matrix.sketch(projection)

    return _contender(f"{family} sketch", view, None, prepare, work, limit, family=family, seconds=seconds)


def _contender(
    operation: str,
    view: str,
    k: int | None,
    prepare: Callable[[tuple[int, int]], Action],
    work: Work,
    limit: str,
    *,
    family: str = "",
    seconds: float = 0.0,
) -> Contender:
    def setup(subject: Subject) -> State:
        action = prepare(subject.matrix.shape)
        if view == names.FIRST:
            return State(subject, subject.matrix, lambda: action(subject.fresh()))
        matrix = subject.matrix if operation == "column_stats" else subject.view(view)
        return State(subject, matrix, lambda: action(matrix))

    return Contender(
        names.ours(operation, view, k),
        "ours",
        lambda state: state.call(),
        setup=setup,
        estimated_seconds=seconds,
        work=work,
        limit=limit,
        task=names.task(view, k, family),
        passes=lambda state: state.matrix.passes,
    )
