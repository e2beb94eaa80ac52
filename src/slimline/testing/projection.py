"""All checks of a projection in one call."""

from __future__ import annotations

from slimline.testing.adjoint import check_adjoint
from slimline.testing.formats import check_format_invariance
from slimline.testing.invariance import check_block_invariance, check_thread_invariance
from slimline.testing.moments import Factory, draw, require_isometry, require_second_moment
from slimline.testing.round_trip import check_round_trip

#: Features of the small checks: no multiple of anything, and more than one block of every kernel that works in blocks.
_FEATURES = 1237


def check_projection(make: Factory, *, n_components: int = 64, seed: int = 0) -> None:
    """Run every check of this room on the projections that a factory makes.

    Parameters
    ----------
    make : callable
        `make(n_features, n_components, seed)` returns a projection.
    n_components : int
        Number of columns to try, a multiple of what the family asks for; half of it is tried as well.
    seed : int
        Seed of the projections and of the data. The statistical checks use `seed`, `seed + 1`, ….

    Raises
    ------
    AssertionError
        If one of the checks fails, saying which and by how much. A correct projection fails with probability below
        2e-6, all from the two statistical checks.

    See Also
    --------
    check_adjoint, check_block_invariance, check_format_invariance, check_isometry, check_round_trip
    check_second_moment, check_thread_invariance

    Examples
    --------
    >>> from slimline.projections import HashEmbedding
    >>> from slimline.testing import check_projection
    >>> def make(n_features, n_components, seed):
    ...     return HashEmbedding(n_features, n_components, seed, nnz_per_feature=4)
    >>> check_projection(make)
    """
    for shape in ((_FEATURES, n_components), (_FEATURES, n_components // 2), (n_components, n_components)):
        projection = make(*shape, seed)
        check_round_trip(projection)
        check_adjoint(projection, seed=seed)
        check_block_invariance(projection, seed=seed)
        check_format_invariance(projection, seed=seed)
    check_thread_invariance(make(300_007, n_components, seed), seed=seed)
    drawn = draw(make, n_features=48, n_components=n_components // 2, repeats=8000, seed=seed)
    require_isometry(drawn)
    require_second_moment(drawn)
