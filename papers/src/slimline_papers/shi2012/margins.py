"""Classes on parallel hyperplanes, projected: what becomes of their margins."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataDimensionalityWarning

from slimline import GaussianProjection, geometry
from slimline.bounds import get, margin_failure, multiclass_margin_failure
from slimline_papers.item import Experiment, Part
from slimline_papers.printed import printed
from slimline_papers.study import Study

Floats = NDArray[np.float64]

_PRINTED = printed("shi2012", "fig3")
CLASSES = tuple(_PRINTED["classes"])
#: What a promise may fail with.
DELTA = 0.05
#: Distance of two planes; the text does not give it. Points lie about 10 from the foot of their plane.
SPACING = 10.0
#: Dimensions; the text does not give them either.
_DIMENSIONS = tuple(range(10, 101, 10))
#: On to dimensions with which the theorems promise a positive margin: more than the data have.
_BEYOND = (200, 600, 2_000)


def _parts(study: Study) -> Sequence[Part]:
    dimensions = study.pick(_DIMENSIONS[::9], _DIMENSIONS, _DIMENSIONS)
    beyond = study.pick(_BEYOND[-1:], _BEYOND, _BEYOND)
    return [(classes, n) for classes in CLASSES for n in (*dimensions, *beyond)]


def parallel_planes(classes: int, seed: int) -> tuple[Floats, NDArray[np.intp]]:
    """Return points of parallel hyperplanes, the planes lying evenly on both sides of the origin.

    Parameters
    ----------
    classes : int
        Planes.
    seed : int
        Of the normal and of the points.

    Returns
    -------
    X : array of shape (n_samples, d)
        Points, Gaussian within their plane.
    y : array of int
        Number of the plane.
    """
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), _PRINTED["points_per_class"])
    normal = rng.standard_normal(_PRINTED["d"])
    normal /= np.linalg.norm(normal)
    X = rng.standard_normal((len(y), len(normal)))
    heights = SPACING * (y - (classes - 1) / 2)
    return X + np.outer(heights - X @ normal, normal), y


def _margin(X: Floats, y: NDArray[np.intp], normalised: bool) -> float:
    if len(np.unique(y)) == 2:
        return geometry.margin(X, y, normalised=normalised).value
    return geometry.multiclass_margin(X, y, normalised=normalised).value


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    classes, n = int(part[0]), int(part[1])
    X, y = parallel_planes(classes, study.seed_of("shi2012.margins", classes))
    before = {normalised: _margin(X, y, normalised) for normalised in (True, False)}
    theorem, law = promised(X, y, n)
    matrices = study.pick(50, _PRINTED["matrices"], _PRINTED["matrices"])
    for number in range(matrices if n in _DIMENSIONS else study.pick(10, 20, matrices)):
        seed = study.seed_of("shi2012.margins", classes, n, number)
        with warnings.catch_warnings():  # no sketch, but the theorems speak of it
            warnings.simplefilter("ignore", DataDimensionalityWarning)
            Z = GaussianProjection(n, random_state=seed).fit_transform(X)
        for normalised, value in before.items():
            yield classes, n, normalised, value, _margin(Z, y, normalised), theorem, law


def promised(X: Floats, y: NDArray[np.intp], n: int) -> tuple[float, float]:
    """Return the normalised margins that Theorem 6 or 8 and the exact laws of the cosines promise after projection.

    Parameters
    ----------
    X, y : arrays
        Points and their classes, numbered from 0.
    n : int
        Dimensions.

    Returns
    -------
    theorem : float
        By the theorem; minus infinity where n is too small for it.
    law : float
        By a union over the exact laws of the cosines with the best separators, in steps of 0.001.
    """
    classes = len(np.unique(y))
    if classes == 2:
        found = geometry.margin(X, y, normalised=True)
        theorem, sizes = get("shi2012.6"), {"points": len(y)}
        kept = {"margin": found.value}
        separators = np.stack([-found.separator, found.separator])
    else:
        several = geometry.multiclass_margin(X, y)
        theorem, sizes = get("shi2012.8"), {"points": len(y), "classes": classes}
        kept = {"multiclass_margin": several.value}
        separators = several.separators
    eps = theorem.eps(n, DELTA, **sizes)
    lower = -np.inf if np.isnan(eps) else theorem.guarantee(eps, **kept).lower
    cosines = X @ separators.T / np.linalg.norm(X, axis=1)[:, None] / np.linalg.norm(separators, axis=1)

    def failure(margin: float) -> float:
        if classes == 2:
            return margin_failure(cosines[np.arange(len(y)), y], n, margin)
        return multiclass_margin_failure(cosines, y, n, margin)

    steps = np.arange(-1000, 1000) / 1000
    low, high = 0, len(steps)  # the failure probability rises with the margin that is wanted
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if failure(steps[middle]) <= DELTA else (low, middle)
    return float(lower), float(steps[low])


MARGINS = Experiment(
    name="shi2012.margins",
    about="Two and three classes of five points each, on parallel hyperplanes of R¹⁰⁰, projected by Gaussian matrices: "
    "normalised and unnormalised margin before and after, and what is promised of the normalised one.",
    columns=("classes", "n", "normalised", "before", "after", "theorem", "law"),
    parts=_parts,
    measure=_measure,
)
