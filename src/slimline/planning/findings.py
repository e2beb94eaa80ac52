"""What a look at the data tells: their spectrum, how the steps go, what a pass takes, and the margin."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix, Squares, open_matrix
from slimline.data.dense_copy import dense_copy
from slimline.data.stored_rows import has_stored_rows, stored_rows
from slimline.planning.problem import Problem
from slimline.planning.rehearsal import Rehearsal, rehearse, rehearse_direct, rehearse_exact
from slimline.planning.shape import DataShape
from slimline.planning.spectrum import Spectrum, spectrum_of
from slimline.projections import HashEmbedding
from slimline.recovery.task import class_signs
from slimline.recovery.training_data import TrainingData

Floats = NDArray[np.float64]

#: Rows of the sample, columns of its sketch, and non-zeros a feature of that.
SAMPLE, WIDTH, _NONZEROS = 300, 4096, 4
#: Rows that are gone through themselves: at most so many, and bytes, but not fewer than these.
_DIRECT_SAMPLE, _DIRECT_BYTES, _HALF = 1200, 64 << 20, 50


@dataclass(frozen=True)
class Findings:
    """What was found.

    Parameters
    ----------
    spectrum : Spectrum
        Eigenvalues of XXᵀ of the sample.
    sketched, exact : Rehearsal
        The steps with a sketch and with the Gram matrix, on the sample.
    sample : int
        Rows of it.
    direct : Rehearsal or None
        The steps with the rows themselves; None where these cannot be had.
    direct_sample : int
        Rows that these were tried with,
    direct_growth : float
        and by what power of their number they take longer.
    normal_seconds : float or None
        What XᵀA and XXᵀA took; None without data.
    cosines : array or None
        Of the separator of the sample with all rows: times the label for two classes, else one column a class.
    """

    spectrum: Spectrum
    sketched: Rehearsal
    exact: Rehearsal
    sample: int
    direct: Rehearsal | None = None
    direct_sample: int = 0
    direct_growth: float = 1.0
    normal_seconds: float | None = None
    cosines: Floats | None = None


def look_at(matrix: Matrix, codes: NDArray[np.intp] | None, problem: Problem, n_components: int) -> Findings:
    """Look at data: a sketch of a sample of the rows, these rows themselves, and one product with a separator.

    Parameters
    ----------
    matrix : Matrix
        X, as it is trained on.
    codes : array of shape (n_rows,) or None
        Class number of each row; None: not known, and taken at random.
    problem : Problem
        What is to be solved.
    n_components : int
        Columns that the sketch of everything will have.

    Returns
    -------
    findings : Findings
        With the cosines of all rows, if their classes are known.
    """
    rng = np.random.default_rng(problem.seed)
    known = codes is not None
    classes = codes if codes is not None else rng.permutation(np.arange(matrix.shape[0]) % problem.n_classes)
    sample = _sample(classes, problem.n_classes, rng)
    rows = _sketch(matrix.rows(sample), problem.seed)
    found = rehearsed(rows, classes[sample], problem, n_components)
    signs = class_signs(classes[sample], problem.n_classes)
    if has_stored_rows(matrix):
        found = _with_direct(found, matrix, classes, problem, rng)
    factors = np.zeros((matrix.shape[0], problem.n_tasks))
    through_origin = found.exact.dual
    if problem.constant:  # a margin is one through the origin
        through_origin = rehearse_exact(rows, signs, replace(problem, constant=0.0)).dual
    factors[sample] = through_origin.T
    begin = time.perf_counter()
    squares = Squares(*matrix.shape)
    W, F = matrix.normal(factors, squares=squares)
    seconds = (time.perf_counter() - begin) * problem.n_samples / matrix.shape[0]
    if not known:
        return replace(found, normal_seconds=seconds)
    length = np.sqrt(squares.rows)[:, None] * np.linalg.norm(W, axis=0)
    cosines = np.clip(F / np.where(length > 0.0, length, np.inf), -1.0, 1.0)
    if problem.n_classes == 2:
        cosines = cosines[:, 0] * np.where(classes == 1, 1.0, -1.0)
    return replace(found, normal_seconds=seconds, cosines=cosines)


def _with_direct(
    found: Findings, matrix: Matrix, codes: NDArray[np.intp], problem: Problem, rng: np.random.Generator
) -> Findings:
    """Add the steps with the rows themselves: cheap ones, so that more rows are taken; and half of these, too."""
    shape = DataShape.of(matrix)
    most = max(int(_DIRECT_BYTES / (shape.nbytes / shape.shape[0] + 1.0)), _HALF)
    sample = _sample(codes, problem.n_classes, rng, min(most, _DIRECT_SAMPLE))
    rows, size = open_matrix(stored_rows(matrix.rows(sample))), len(sample)
    whole = rehearse_direct(rows, class_signs(codes[sample], problem.n_classes), problem)
    growth = 1.0
    if size < problem.n_samples and size >= 2 * _HALF:
        part = rehearse_direct(
            rows.rows(slice(size // 2)), class_signs(codes[sample[: size // 2]], problem.n_classes), problem
        )
        ratio = whole.growing_seconds / part.growing_seconds
        growth = float(np.clip(np.log2(ratio), 1.0, 1.5))
    return replace(found, direct=whole, direct_sample=size, direct_growth=growth)


def imagine(n_features: int, standardised: bool, problem: Problem, n_components: int) -> Findings:
    """Return what would be found in data of a size that have nothing in common: the hardest case.

    Parameters
    ----------
    n_features : int
        d.
    standardised : bool
        Whether columns will be scaled to deviation 1; else rows are taken to have norm 1.
    problem : Problem
        What is to be solved.
    n_components : int
        Columns that the sketch of everything will have.

    Returns
    -------
    findings : Findings
        Of normal numbers, with labels at random.
    """
    rng = np.random.default_rng(problem.seed)
    sample = min(problem.n_samples, SAMPLE)
    width = min(n_features, WIDTH)
    rows = rng.standard_normal((sample, width)) * np.sqrt((n_features if standardised else 1.0) / width)
    return rehearsed(rows, rng.permutation(np.arange(sample) % problem.n_classes), problem, n_components)


def rehearsed(rows: Floats, codes: NDArray[np.intp], problem: Problem, n_components: int) -> Findings:
    """Return the spectrum of a sample and the two rehearsals on it.

    Parameters
    ----------
    rows : array of shape (n_sample, k)
        A sketch of rows in random order.
    codes : array of shape (n_sample,)
        Class number of each.
    problem : Problem
        What is to be solved.
    n_components : int
        Columns that the sketch of everything will have.

    Returns
    -------
    findings : Findings
        Without times and cosines.
    """
    constant = TrainingData(open_matrix(rows), problem.constant).constant
    spectrum = spectrum_of(rows @ rows.T + constant**2, problem.n_samples)
    signs = class_signs(codes, problem.n_classes)
    sketched = rehearse(rows, signs, spectrum, problem, n_components)
    return Findings(spectrum, sketched, rehearse_exact(rows, signs, problem), len(rows))


def _sample(codes: NDArray[np.intp], n_classes: int, rng: np.random.Generator, most: int = SAMPLE) -> NDArray[np.intp]:
    """Return rows in random order, with at least one of every class."""
    order = rng.permutation(len(codes))
    first = [int(np.flatnonzero(codes[order] == k)[0]) for k in range(n_classes) if (codes == k).any()]
    others = np.setdiff1d(np.arange(len(order)), first)[: max(most - len(first), 0)]
    return np.asarray(order[rng.permutation(np.concatenate([first, others]).astype(np.intp))])


def _sketch(matrix: Matrix, seed: int) -> Floats:
    d = matrix.shape[1]
    if d <= WIDTH:
        return np.asarray(dense_copy(matrix), dtype=np.float64)
    return np.asarray(matrix.sketch(HashEmbedding(d, WIDTH, seed=seed, nnz_per_feature=_NONZEROS)), dtype=np.float64)
