"""What ours should reach: a time dominated by the Gram matrix, and less than a peer's."""

from __future__ import annotations

from slimline.bench.geometry import names
from slimline.bench.record import Target

#: Time beside that of the Gram matrix alone, and beside that of a peer.
_GRAM, _PEER = 2.0, 1.0


def for_hulls(contender: str, peer: str) -> tuple[Target, ...]:
    """Return the targets of a margin or of a ball.

    Parameters
    ----------
    contender : str
        Which of ours.
    peer : str
        The peer that does the same.

    Returns
    -------
    targets : tuple of Target
        Ratios of times.
    """
    return Target(contender, "ratio", _GRAM, names.GRAM), Target(contender, "ratio", _PEER, peer)


def for_projections(contender: str, peer: str) -> tuple[Target, ...]:
    """Return the target of an embedding error or of distortions.

    Parameters
    ----------
    contender : str
        Which of ours.
    peer : str
        The peer that does the same.

    Returns
    -------
    targets : tuple of Target
        A ratio of times.
    """
    return (Target(contender, "ratio", _PEER, peer),)
