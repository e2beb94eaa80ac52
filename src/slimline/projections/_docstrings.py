"""Paragraphs that the docstrings of several classes share: written once, shown in full on each class."""

from __future__ import annotations

import inspect
from typing import TypeVar

#: Each paragraph, by the line of a class docstring that it replaces.
_PARAGRAPHS = {
    "Fields of every projection.": """\
n_features : int
    Number of features, d.
n_components : int
    Number of components, r.
seed : int
    64-bit key of the random numbers.""",
    "Parameters of every transformer.": """\
eps : float, default=0.1
    Distortion of squared distances that "auto" allows.
delta : float, default=None
    Failure probability that "auto" allows, by the exact law of the norm under a Gaussian R. None: scikit-learn's
    `johnson_lindenstrauss_min_dim`.
compute_inverse_components : bool, default=False
    Prepare `inverse_transform` in `fit`.
random_state : int, RandomState instance or None, default=None
    Seed. The same int gives the same R on every machine and for every type of data.""",
    "Attributes of every transformer.": """\
n_components_ : int
    Number of components in use.
components_ : array of shape (n_components, n_features)
    Rᵀ, made at each request; sparse for the sparse families.
inverse_components_ : array of shape (n_features, n_components)
    Pseudo-inverse of `components_`, with `compute_inverse_components=True`.
n_features_in_ : int
    Number of features seen in `fit`.
feature_names_in_ : array of shape (n_features,)
    Names of the features, if the data of `fit` have any.""",
}

Class = TypeVar("Class", bound=type)


def with_shared_paragraphs(cls: Class) -> Class:
    """Replace each line `... Name of a paragraph.` in a class docstring by that paragraph."""
    text = inspect.cleandoc(cls.__doc__ or "")
    for name, paragraph in _PARAGRAPHS.items():
        text = text.replace(f"...\n    {name}", paragraph)
    cls.__doc__ = f"{text}\n"
    return cls
