"""A first look at the data, and the cost of a fit that it predicts."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from slimline.bounds._embeddings import FAMILIES
from slimline.data import Matrix, Squares, open_matrix
from slimline.data._arrays import stored_rows, supports_row_access, to_dense
from slimline.learning.training_data import TrainingData
from slimline.planning._memory import fit_bytes
from slimline.planning._pilot import (
    SMALLEST_STEP,
    PilotRun,
    Spectrum,
    run_direct_pilot,
    run_exact_pilot,
    run_pilot,
    spectrum_of,
)
from slimline.planning._problem import Problem, Samples, samples_of
from slimline.planning._records import Cost
from slimline.planning._route import (
    DataShape,
    by_gram,
    direct_seconds,
    exact_seconds,
    gram_seconds,
    has_row_solver,
    loss_of,
    model_seconds,
    pass_seconds,
    sketch_seconds,
    slowness,
    small_seconds,
)
from slimline.projections import HashEmbedding

Floats = NDArray[np.float64]

#: Rows of the sample, columns of its sketch, and non-zeros a feature of that.
SAMPLE, WIDTH, _NONZEROS = 300, 4096, 4
#: Rows that are gone through themselves: at most so many, and bytes, but not fewer than these.
_DIRECT_SAMPLE, _DIRECT_BYTES, _HALF = 1200, 64 << 20, 50
#: Seconds that a fit takes however small the data,
_FIT = 4e-3
#: and what is done with the Gram matrix beside factorising, for each of its elements.
_PAIR = 3e-8


@dataclass(frozen=True)
class Findings:
    """Measurements on a sample of the data."""

    #: Eigenvalues of XXᵀ of the sample.
    spectrum: Spectrum
    #: The steps with a sketch and with the Gram matrix, on the sample.
    sketched: PilotRun
    exact: PilotRun
    #: Rows of it.
    sample: int
    #: The steps with the rows themselves; None where these cannot be had.
    direct: PilotRun | None = None
    #: Rows that these were tried with,
    direct_sample: int = 0
    #: and by what power of their number they take longer.
    direct_growth: float = 1.0
    #: Seconds of XᵀA and XXᵀA; None without data.
    normal_seconds: float | None = None
    #: Of the separator of the sample with all rows: times the label for two classes, else one column a class.
    cosines: Floats | None = None


def probe_data(matrix: Matrix, samples: Samples, problem: Problem, n_components: int) -> Findings:
    """Look at data: a sketch of a sample of the rows, these rows themselves, and one product with a separator."""
    rng = np.random.default_rng(problem.seed)
    sample = _sample(samples.codes, problem.n_classes, rng)
    rows = _sketch(matrix.rows(sample), problem.seed)
    found = pilot_runs(rows, samples.of(sample), problem, n_components)
    if supports_row_access(matrix):
        found = _with_direct(found, matrix, samples, problem, rng)
    factors = np.zeros((matrix.shape[0], problem.n_tasks))
    separator = found.exact.dual
    if problem.n_classes and (problem.constant or problem.n_free):  # a margin is one through the origin
        origin = problem.through_origin()
        separator = run_exact_pilot(rows, samples.of(sample).problems(origin), origin).dual
    factors[sample] = separator.T
    begin = time.perf_counter()
    squares = Squares(*matrix.shape)
    W, F = matrix.normal(factors, squares=squares)
    seconds = (time.perf_counter() - begin) * problem.n_samples / matrix.shape[0]
    if not (problem.n_classes and samples.labelled):
        return replace(found, normal_seconds=seconds)
    length = np.sqrt(squares.rows)[:, None] * np.linalg.norm(W, axis=0)
    cosines = np.clip(F / np.where(length > 0.0, length, np.inf), -1.0, 1.0)
    if problem.n_classes == 2:
        cosines = cosines[:, 0] * np.where(samples.codes == 1, 1.0, -1.0)
    return replace(found, normal_seconds=seconds, cosines=cosines)


def _with_direct(
    found: Findings, matrix: Matrix, samples: Samples, problem: Problem, rng: np.random.Generator
) -> Findings:
    """Add the steps with the rows themselves: cheap ones, so that more rows are taken; and half of these, too."""
    shape = DataShape.of(matrix)
    most = max(int(_DIRECT_BYTES / (shape.nbytes / shape.shape[0] + 1.0)), _HALF)
    sample = _sample(samples.codes, problem.n_classes, rng, min(most, _DIRECT_SAMPLE))
    rows, size = open_matrix(stored_rows(matrix.rows(sample))), len(sample)
    whole = run_direct_pilot(rows, samples.of(sample).problems(problem), problem)
    growth = 1.0
    if size < problem.n_samples and size >= 2 * _HALF:
        half = samples.of(sample[: size // 2])
        part = run_direct_pilot(rows.rows(slice(size // 2)), half.problems(problem), problem)
        ratio = whole.growing_seconds / part.growing_seconds
        growth = float(np.clip(np.log2(ratio), 1.0, 1.5))
    return replace(found, direct=whole, direct_sample=size, direct_growth=growth)


def probe_worst_case(n_features: int, standardised: bool, problem: Problem, n_components: int) -> Findings:
    """Return what would be found in data of a size that have nothing in common: the hardest case."""
    rng = np.random.default_rng(problem.seed)
    sample = min(problem.n_samples, SAMPLE)
    width = min(n_features, WIDTH)
    rows = rng.standard_normal((sample, width)) * np.sqrt((n_features if standardised else 1.0) / width)
    return pilot_runs(rows, samples_of(problem, sample, rng), problem, n_components)


def pilot_runs(rows: Floats, samples: Samples, problem: Problem, n_components: int) -> Findings:
    """Return the spectrum of a sample and the pilot runs on it."""
    constant = TrainingData(open_matrix(rows), problem.constant).constant
    problems = samples.problems(problem)
    spectrum = spectrum_of(rows @ rows.T + constant**2, problem.n_samples, problems[0].covariates)
    sketched = run_pilot(rows, problems, spectrum, problem, n_components)
    return Findings(spectrum, sketched, run_exact_pilot(rows, problems, problem), len(rows))


def _sample(codes: NDArray[np.intp], n_classes: int, rng: np.random.Generator, most: int = SAMPLE) -> NDArray[np.intp]:
    """Return rows in random order, with at least one of every class."""
    order = rng.permutation(len(codes))
    first = [int(np.flatnonzero(codes[order] == k)[0]) for k in range(n_classes) if (codes == k).any()]
    others = np.setdiff1d(np.arange(len(order)), first)[: max(most - len(first), 0)]
    return np.asarray(order[rng.permutation(np.concatenate([first, others]).astype(np.intp))])


def _sketch(matrix: Matrix, seed: int) -> Floats:
    d = matrix.shape[1]
    if d <= WIDTH:
        return np.asarray(to_dense(matrix), dtype=np.float64)
    return np.asarray(matrix.sketch(HashEmbedding(d, WIDTH, seed=seed, nnz_per_feature=_NONZEROS)), dtype=np.float64)


def predict(
    shape: DataShape, problem: Problem, found: Findings, n_components: int, carried: float = 0.0
) -> tuple[Cost, ...]:
    """Return the cost of every projection and route."""
    n, tasks, loss, n_free = float(problem.n_samples), problem.n_tasks, problem.loss, problem.n_free
    slow = slowness()
    model = slow * pass_seconds(shape, n) * tasks**0.5 * shape.normal_passes
    normal = model if found.normal_seconds is None else found.normal_seconds
    # What a pass takes beyond the arithmetic is reading, and every pass has to read.
    read = max(normal - model, 0.0) / shape.normal_passes
    more = max(n / found.sample, 1.0)

    # A factorisation takes the cube of its rows; beside columns without a penalty these are all.
    held_rows = 1.0 if n_free else found.exact.support**3
    exact = found.exact.step_seconds * len(found.exact.errors)
    # Beside covariates, effects of a loss with corners are refitted for ever sharper roundings, row by row.
    power = 1 if loss_of(loss).smoothness is None and n_free > 1 else 2
    if more > 1:
        exact = max(slow * held_rows * exact_seconds(shape, n, tasks, loss, n_free), _grown(exact, more**power))
        exact += slow * _PAIR * n * n
    gram = gram_seconds(shape, n)
    costs = [
        Cost(
            method="gram",
            projection="",
            n_components=0,
            steps=len(found.exact.errors),
            passes=1 + shape.normal_passes * len(found.exact.errors),
            seconds=_FIT + slow * gram + read + normal + exact,
            nbytes=fit_bytes(shape, tasks, "gram", len(found.exact.errors), 0, carried, loss, n_free),
            note="" if isfinite(gram) else "n × n numbers are too many",
        )
    ]
    direct = slow * direct_seconds(shape, n, tasks, loss, n_free)
    often = 1
    if found.direct is not None and isfinite(direct):
        often = found.direct.steps_to(problem.tol)
        longer = max(n / found.direct_sample, 1.0) ** found.direct_growth
        direct = 2.0 * normal / shape.normal_passes + often * _grown(found.direct.step_seconds, longer)
    costs.append(
        Cost(
            method="direct",
            projection="",
            n_components=0,
            steps=often,
            passes=1 + often * shape.normal_passes,
            seconds=_FIT + direct,
            nbytes=fit_bytes(shape, tasks, "direct", often, 0, carried, loss, n_free),
            note="" if isfinite(direct) else _no_rows(loss, n_free),
        )
    )

    steps = found.sketched.steps_to(problem.tol)
    grown = 1 if found.sketched.growth > 1.0 else 0
    square = by_gram(n, n_components)
    small = found.sketched.step_seconds
    if more > 1:
        small = slow * small_seconds(shape, n, tasks, loss, n_components, n_free) * (held_rows if square else 1.0)
        dense = square and (loss_of(loss).costs.all_samples or n_free > 0)
        small = max(small, _grown(found.sketched.step_seconds, more**power if dense else more))
    nbytes = fit_bytes(shape, tasks, "sketch", steps, n_components, carried, loss, n_free)
    too_wide = n_components >= shape.shape[1]
    for family in FAMILIES:
        once = read + slow * (sketch_seconds(shape, n, family, n_components) + model_seconds(n, n_components))
        seconds = _FIT + (1 + grown) * once + steps * (normal + small)
        costs.append(
            Cost(
                method="sketch",
                projection=family,
                n_components=n_components,
                steps=steps,
                passes=1 + grown + steps * shape.normal_passes,
                seconds=inf if too_wide else seconds,
                nbytes=nbytes,
                note="no fewer columns than there are features" if too_wide else "",
            )
        )
    return tuple(costs)


def _no_rows(loss: str, n_free: int) -> str:
    if not has_row_solver(loss, n_free):
        return "rows are not solved to rounding for a loss with corners"
    return "needs sparse rows, or float rows in memory, not standardised"


def _grown(seconds: float, factor: float) -> float:
    """Return the time for more rows than those of the pilot run: what any step takes does not grow."""
    return min(seconds, SMALLEST_STEP) + factor * max(seconds - SMALLEST_STEP, 0.0)
