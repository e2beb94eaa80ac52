"""Targets of ours, once it is known which peer is the fastest."""

from __future__ import annotations

from slimline_benchmarks.learn import names
from slimline_benchmarks.record import CaseResult, Measurement, Target

#: Hinge and squared hinge: time and memory beside those of the fastest peer that is as exact.
_TIME, _MEMORY = 1 / 5, 1 / 3
#: "auto" may take so much longer than the faster of the two routes.
_AUTO = 1.25
#: Time of a solver beside LinearSVC's on the same small problem, by the number of samples (section G).
_SOLVER = {"hinge": {2000: 0.35, 20_000: 0.03}, "squared_hinge": {2000: 0.20, 20_000: 0.08}}


def learning(case: CaseResult, loss: str) -> tuple[Target, ...]:
    """Return the targets of the certified classifier.

    Parameters
    ----------
    case : CaseResult
        What was measured.
    loss : str
        Of the case.

    Returns
    -------
    targets : tuple of Target
        For `method="auto"`.
    """
    found = []
    fastest = _fastest(case.of_role("peer"))
    if loss == "logistic":
        found.append(Target(names.AUTO, "ratio", 1.0, names.LBFGS))
    elif fastest is not None:
        found.append(Target(names.AUTO, "ratio", _TIME, fastest.contender))
        if fastest.extra_bytes is not None:
            found.append(Target(names.AUTO, "memory", _MEMORY * fastest.extra_bytes))
    return (*found, *_of_routes(case))


def regression(case: CaseResult) -> tuple[Target, ...]:
    """Return the targets of the certified regression.

    Parameters
    ----------
    case : CaseResult
        What was measured.

    Returns
    -------
    targets : tuple of Target
        For `method="auto"`: less time than the fastest peer, and hardly more than the faster route.
    """
    found = []
    if (fastest := _fastest(case.of_role("peer"))) is not None:
        found.append(Target(names.AUTO, "ratio", 1.0, fastest.contender))
    return (*found, *_of_routes(case))


def _of_routes(case: CaseResult) -> tuple[Target, ...]:
    routes = [m for m in case.of_role("ours") if m.contender not in (names.AUTO, names.AUTO_FILE)]
    route = _fastest(routes)
    return () if route is None else (Target(names.AUTO, "ratio", _AUTO, route.contender),)


def solving(case: CaseResult, loss: str, n_samples: int) -> tuple[Target, ...]:
    """Return the target of the faster of our solvers.

    Parameters
    ----------
    case : CaseResult
        What was measured.
    loss : str
        Of the case.
    n_samples : int
        Of the small problem.

    Returns
    -------
    targets : tuple of Target
        None at a size that section G does not name.
    """
    ours, bound = _fastest(case.of_role("ours")), _SOLVER[loss].get(n_samples)
    if ours is None or bound is None:
        return ()
    return (Target(ours.contender, "ratio", bound, names.LINEAR_SVC_DUAL),)


def _fastest(measurements: tuple[Measurement, ...] | list[Measurement]) -> Measurement | None:
    measured = [(m.best, m) for m in measurements if m.best is not None]
    return min(measured, key=lambda pair: pair[0])[1] if measured else None
