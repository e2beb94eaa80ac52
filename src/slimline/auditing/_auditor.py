"""`audit`: what a projection did to the data."""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from slimline._base.checks import chance, seed_of, share, whole
from slimline._base.text import counted
from slimline.auditing._guarantees import AuditSettings, bracket_checks
from slimline.auditing._measures import (
    Before,
    Draw,
    Labels,
    draws_of,
    family_name,
    known_family,
    measure_original,
    measure_projected,
    room,
)
from slimline.auditing._preservation import (
    ball_kept,
    embedding_kept,
    margins_kept,
    needed_dimension,
    pairs_kept,
    wrong_side,
)
from slimline.auditing._records import Audit
from slimline.auditing._verdict import outcome_of, verdict_of
from slimline.data import Matrix
from slimline.data._arrays import in_memory
from slimline.data._labels import class_labels
from slimline.errors import InvalidParameterError
from slimline.geometry._inputs import matrix_of, projection_of
from slimline.projections import Projection
from slimline.projections._families import frozen_projection

#: Components of a family that is given by its name alone.
_COMPONENTS = 256
#: Rows that are measured unless told, times the other classes: the margins of several classes take their cube in time.
_AUTO_ROWS = 2000
#: Most rows that can be measured: all their pairs are.
_MOST_ROWS = 10_000
#: Most numbers in a sketch: 8 GB.
_MOST_NUMBERS = 1 << 30
#: Rows of a file that take at most so many bytes are copied into memory: each product would read the whole file.
_COPIED_BYTES = 1 << 31

Listener = Callable[[int, int], None]


def audit(
    X: Any,
    y: Any = None,
    *,
    projection: Any = "gaussian",
    n_components: int | None = None,
    repeats: int = 20,
    eps: float = 0.2,
    delta: float = 0.05,
    errors: float = 0.05,
    rows: int | str | None = "auto",
    random_state: Any = 0,
    progress: Listener | None = None,
) -> Audit:
    """Measure what a projection does to margins, angles, distances and the enclosing ball of data, over repeated draws.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path or Matrix
        One row a point.
    y : array-like of shape (n_samples,), optional
        Labels of two classes or more; None: those in the data, or no margins.
    projection : str, projection transformer or Projection
        A name of `make_projection`, or a projection; its own draw is the first one.
    n_components : int, optional
        For a name: number of components (256).
    repeats : int
        Number of independent draws.
    eps : float
        Distortion of the statements that are checked, in (0, 1).
    delta : float
        Failure probability of the theorems, in (0, 1).
    errors : float
        Share of the points that may fall short of the error-allowed margin, in [0, 1).
    rows : int, "auto" or None
        Largest number of rows to measure, drawn at random from every class by its share. "auto": 2,000, or with several
        classes as many as make 2,000 pairs of a row and another class. None: all, up to 10,000.
    random_state : int, RandomState or None
        Seed of the sample of rows and, for a name, of the projection, as `make_projection` takes it.
    progress : callable, optional
        Called with the number of draws that are done and their number in all.

    Returns
    -------
    audit : Audit
        Before and after, beside the guarantees of theorems and the predictions of exact laws, with a verdict in words;
        `slimline.report.audit_figure` draws it.

    See Also
    --------
    plan : The same questions, before anything is projected.
    slimline.geometry.margin : A single measure, with its proof.

    Notes
    -----
    Margins, balls and embedding errors are measured with proved brackets (:mod:`slimline.geometry`). With the embedding
    error of a draw as ε, (1-ε)γ² ≤ γ̃² ≤ (1+ε)γ² for the hard margin and (1-ε)B² ≤ B̃² ≤ (1+ε)B² for the radius of the
    ball are certain ([1]_, Theorems 1 and 2, in the form of `paul2013.1` and `paul2013.2`); the audit checks them draw
    by draw. Margins about the original separator are set against [2]_, Theorems 6 and 8, and against the exact law of a
    cosine. How often a statement held comes with the confidence interval of Clopper and Pearson [3]_.

    References
    ----------
    .. [1] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.
    .. [2] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.
    .. [3] Clopper, C. J.; Pearson, E. S. (1934). "The use of confidence or fiducial limits illustrated in the case of
       the binomial." Biometrika 26(4), 404-413.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import audit
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.standard_normal((100, 2000)) + 3.0 * y[:, None] * rng.standard_normal(2000)
    >>> found = audit(X, y, n_components=500, repeats=5)
    >>> found.outcome, [check.held for check in found.brackets]
    ('kept', [5, 5, 5])
    """
    begin = time.perf_counter()
    repeats, eps, delta = whole("repeats", repeats), chance("eps", eps), chance("delta", delta)
    errors, seed = share("errors", errors, "the points"), _seed(random_state)
    whole_matrix = matrix_of(X).counted()
    labels = _labels(whole_matrix, y)
    drawn = _first(projection, n_components, whole_matrix.shape, seed)
    matrix, labels = _sample(whole_matrix, labels, rows, seed)
    _require_room(matrix.shape[0], drawn.n_components)
    stored = matrix.shape[0] * matrix.shape[1] * matrix.dtype.itemsize
    if (matrix.traits.prefetch or matrix.traits.packed) and stored * (matrix.density or 1.0) <= _COPIED_BYTES:
        matrix = in_memory(matrix)
    before = measure_original(matrix, labels, errors=errors, n_components=drawn.n_components)
    draws: list[Draw] = []
    for draw in measure_projected(before, draws_of(drawn, repeats), eps):
        draws.append(draw)
        if progress is not None:
            progress(len(draws), repeats)
    complete = before.space.complete
    asked = AuditSettings(
        r=drawn.n_components,
        eps=eps,
        delta=delta,
        errors=errors,
        family=known_family(drawn),
        rank=before.space.rank if complete else min(matrix.shape),
        complete=complete,
        features=matrix.shape[1],
        points=matrix.shape[0],
        classes=0 if labels is None else labels.n_classes,
    )
    return _written(whole_matrix, before, draws, asked, whole_matrix.passes, begin)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return whole("random_state", random_state, 0, 2**64 - 1)
    return seed_of(random_state)


def _labels(matrix: Matrix, y: Any) -> Labels | None:
    carried = matrix.labels if y is None else y
    if carried is None:
        return None
    if y is None:
        known = carried[carried == carried]
        # such files are common, and mean nothing by it
        if len(np.unique(known)) < 2 or type_of_target(known).startswith("continuous"):
            return None
    names, codes = class_labels(carried, matrix.shape[0])
    return Labels(codes, len(names))


def _first(projection: Any, n_components: int | None, shape: tuple[int, int], seed: int) -> Projection:
    if isinstance(projection, str):
        r = _COMPONENTS if n_components is None else whole("n_components", n_components)
        return frozen_projection(projection, shape[1], r, seed)
    if n_components is not None:
        raise InvalidParameterError("must be left out: the projection has its own.", "n_components", n_components)
    return projection_of(projection, shape)


def _sample(matrix: Matrix, labels: Labels | None, rows: Any, seed: int) -> tuple[Matrix, Labels | None]:
    """Return the rows that are measured, with their classes."""
    n, classes = matrix.shape[0], 1 if labels is None else labels.n_classes
    if rows == "auto":
        rows = max(_AUTO_ROWS // max(classes - 1, 1), 2 * classes)
    most = _MOST_ROWS if rows is None else whole("rows", rows, 1, _MOST_ROWS)
    if rows is None and n > _MOST_ROWS:
        raise InvalidParameterError(
            f"must be at most {_MOST_ROWS:,}, since all pairs of rows are measured; {matrix.name} has {n:,}.", "rows"
        )
    if n <= most:
        return matrix, labels
    if labels is not None and most < labels.n_classes:
        raise InvalidParameterError(
            f"must be at least {labels.n_classes:,}, one for each class; got {most}.", "rows", rows
        )
    chosen = _stratified(None if labels is None else labels.codes, n, most, np.random.default_rng(seed))
    return matrix.rows(chosen), None if labels is None else Labels(labels.codes[chosen], labels.n_classes)


def _require_room(rows: int, components: int) -> None:
    """Refuse a sketch that is larger than memory is likely to be, before any work."""
    if rows * components > _MOST_NUMBERS:
        raise InvalidParameterError(
            f"must be at most {_MOST_NUMBERS // rows:,} for {rows:,} rows, whose sketch would otherwise have more than "
            f"{_MOST_NUMBERS:,} numbers; got {components:,}.",
            "n_components",
            components,
        )


def _stratified(codes: NDArray[np.intp] | None, n: int, count: int, random: np.random.Generator) -> NDArray[np.intp]:
    if codes is None:
        return np.sort(random.choice(n, count, replace=False))
    shares = np.bincount(codes) * (count / n)
    wanted = np.maximum(np.floor(shares), 1.0).astype(np.intp)
    while wanted.sum() > count:  # small classes have one row, and large ones pay for it
        wanted[np.argmax(np.where(wanted > 1, wanted - shares, -np.inf))] -= 1
    while wanted.sum() < count:
        wanted[np.argmax(shares - wanted)] += 1
    parts = [random.choice(np.flatnonzero(codes == code), k, replace=False) for code, k in enumerate(wanted)]
    return np.sort(np.concatenate(parts))


def _written(
    matrix: Matrix, before: Before, draws: list[Draw], asked: AuditSettings, passes: int, begin: float
) -> Audit:
    margins, pairs = margins_kept(before, draws, asked), pairs_kept(draws, asked)
    ball, embedding = ball_kept(before, draws, asked), embedding_kept(draws, asked)
    brackets, wrong = bracket_checks(before, draws), wrong_side(before, draws, asked)
    needed = needed_dimension(before, asked)
    return Audit(
        data=matrix.name,
        n_samples=matrix.shape[0],
        n_features=matrix.shape[1],
        n_classes=asked.classes,
        n_rows=before.matrix.shape[0],
        rank=before.space.rank,
        family=family_name(draws[0].projection),
        n_components=asked.r,
        repeats=len(draws),
        eps=asked.eps,
        delta=asked.delta,
        errors=asked.errors,
        margins=margins,
        ball=ball,
        embedding=embedding,
        pairs=pairs,
        brackets=brackets,
        wrong_side=wrong,
        needed_dimension=needed,
        outcome=outcome_of(margins, pairs, asked.eps),
        verdict=verdict_of(asked, needed, margins, ball, embedding, pairs, brackets, wrong),
        notes=_notes(matrix, before, asked),
        cosines_before=np.zeros(0) if before.labels is None else room(before.cosines, before.labels),
        cosines_after=draws[0].room,
        projections=tuple(draw.projection.to_json() for draw in draws),
        passes=passes,
        seconds=time.perf_counter() - begin,
    )


def _notes(matrix: Matrix, before: Before, asked: AuditSettings) -> tuple[str, ...]:
    said = []
    n = before.matrix.shape[0]
    if n < matrix.shape[0]:
        said.append(
            f"{n:,} of {matrix.shape[0]:,} rows were measured, drawn at random: margins of all rows are no larger."
        )
    if before.contradictions:
        pairs = ", ".join(f"{first} and {second}" for first, second in before.contradictions)
        said.append(f"Equal rows with different labels, counted from 0, such as {pairs}: nothing tells them apart.")
    if asked.family != "gaussian":
        said.append(
            "The exact laws are those of a Gaussian projection; other families come close to them where no few "
            "features make up most of a row."
        )
    if asked.r >= asked.features:
        components, features = counted(asked.r, "component"), counted(asked.features, "feature")
        said.append(f"The projection makes nothing smaller: {components} of {features}.")
    if not asked.complete:
        said.append("The span of the rows is not clear to rounding: embedding errors are lower bounds of it.")
    if asked.classes > 2 and before.stacked is None:
        said.append("The sketches of all classes are too large: no one-parameter margin was measured.")
    return tuple(said)
