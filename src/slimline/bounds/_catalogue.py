"""All bounds, by name."""

from __future__ import annotations

from types import MappingProxyType

from slimline._base.checks import one_of
from slimline.bounds._bound import Bound
from slimline.bounds._effective import EFFECTIVE
from slimline.bounds._embeddings import EMBEDDINGS, NORMS
from slimline.bounds._learning import LEARNING
from slimline.bounds._margins import ANGLES, MARGINS
from slimline.bounds._subgaussian import SUBGAUSSIAN
from slimline.errors import InvalidParameterError

_ALL = (*NORMS, *ANGLES, *MARGINS, *SUBGAUSSIAN, *EMBEDDINGS, *LEARNING, *EFFECTIVE)
#: Name to bound: statements that hold. One that is repaired has the statement as printed in `printed`.
BOUNDS = MappingProxyType({bound.name: bound for bound in _ALL})


def get(name: str, version: str = "correct") -> Bound:
    """Return a bound by its name.

    Parameters
    ----------
    name : str
        Document and number, such as "shi2012.6"; `BOUNDS` has all of them.
    version : str
        "correct", or "printed" for the statement as it stands in the document.

    Returns
    -------
    bound : Bound
        The theorem. If the document is right, both versions are the same.

    See Also
    --------
    Bound : What a bound can answer, and the documents behind the names.
    margin_dimension : The dimension for the margin of given data, by exact laws.

    Examples
    --------
    >>> from slimline import bounds
    >>> margin = bounds.get("shi2012.6")
    >>> eps = margin.eps_keeping(0.0, margin=0.3)  # the distortion that leaves a positive margin
    >>> margin.dimension(eps, delta=0.05, points=10_000)
    3605
    >>> margin.exact_dimension(eps, delta=0.05, points=10_000, margin=0.3)
    208
    """
    if name not in BOUNDS:
        raise InvalidParameterError(f"There is no bound {name!r}. Choose from {', '.join(BOUNDS)}.")
    one_of("version", version, ("correct", "printed"))
    bound = BOUNDS[name]
    return bound.printed if version == "printed" and bound.printed is not None else bound
