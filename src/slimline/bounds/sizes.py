"""What a theorem may ask for beside ε and δ: names, what they mean, and which values make sense."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from slimline.errors import InvalidParameterError


@dataclass(frozen=True)
class Size:
    """A quantity that theorems speak of.

    Parameters
    ----------
    meaning : str
        In words, with its letter.
    least, most : float
        Ends of what makes sense.
    whole : bool
        Whether it counts something.
    open_least : bool
        Whether `least` itself makes no sense.
    """

    meaning: str
    least: float
    most: float = np.inf
    whole: bool = True
    open_least: bool = False


SIZES = {
    "vectors": Size("number of vectors, |Q| or |S|", 1),
    "points": Size("number of points, m", 1),
    "classes": Size("number of classes, L", 2),
    "sparsity": Size("non-zero coordinates of a vector, k", 1),
    "features": Size("number of features, d", 1),
    "rank": Size("rank of X, ρ", 1),
    "n_components": Size("dimensions after the projection, r", 1),
    "margin": Size("normalised margin, γ", 0, 1, whole=False, open_least=True),
    "multiclass_margin": Size("normalised multiclass margin, γ", 0, 2, whole=False, open_least=True),
    "cosine": Size("cosine before the projection, c", -1, 1, whole=False),
    "constant": Size("constant that the statement leaves open, c", 0, whole=False, open_least=True),
}


def real_numbers(owner: str, name: str, value: object) -> npt.NDArray[np.float64]:
    """Return numbers as an array, or say that they are none.

    Parameters
    ----------
    owner : str
        The statement or function that asks for them.
    name : str
        What it calls them.
    value : array-like
        What was given.

    Returns
    -------
    value : array
        In float64.
    """
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iufO":  # "0.1" is no number, nor is True
            raise TypeError
        return given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameterError(
            f"{owner}: {name} must be a number or an array of them; got {value!r:.60}."
        ) from None


def checked_size(owner: str, name: str, value: object) -> npt.NDArray[np.float64]:
    """Return a size as an array, or say what is wrong with it.

    Parameters
    ----------
    owner : str
        The statement that asks for it.
    name : str
        A key of `SIZES`.
    value : array-like
        What was given.

    Returns
    -------
    value : array
        In float64.
    """
    size = SIZES[name]
    given = real_numbers(owner, f"{name} ({size.meaning})", value)
    good = (given > size.least) if size.open_least else (given >= size.least)
    good &= given <= size.most
    good &= np.isfinite(given)
    if size.whole:
        good &= given == np.floor(given)
    if not np.all(good):
        kind = "a whole number" if size.whole else "a number"
        lower = f"above {size.least:g}" if size.open_least else f"at least {size.least:g}"
        upper = "" if size.most == np.inf else f" and at most {size.most:g}"
        wrong = float(given[~good].ravel()[0])
        raise InvalidParameterError(f"{owner}: {name} ({size.meaning}) must be {kind}, {lower}{upper}; got {wrong:g}.")
    return given
