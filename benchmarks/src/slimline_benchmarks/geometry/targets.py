"""Targets of ours: a time most of which is the Gram matrix's, and less than a peer's."""

from __future__ import annotations

from slimline_benchmarks.record import Target

#: Part of the time that the Gram matrix takes, and time beside that of a peer.
_GRAM, _PEER = 0.5, 1.0


def for_hulls(contender: str, *peers: str) -> tuple[Target, ...]:
    """Return the targets of a margin or of a ball.

    Parameters
    ----------
    contender : str
        Which of ours.
    *peers : str
        Peers that do the same.

    Returns
    -------
    targets : tuple of Target
        A share, and ratios of times.
    """
    return Target(contender, "share", _GRAM), *for_projections(contender, *peers)


def for_projections(contender: str, *peers: str) -> tuple[Target, ...]:
    """Return the targets of an embedding error or of distortions.

    Parameters
    ----------
    contender : str
        Which of ours.
    *peers : str
        Peers that do the same.

    Returns
    -------
    targets : tuple of Target
        Ratios of times.
    """
    return tuple(Target(contender, "ratio", _PEER, peer) for peer in peers)
