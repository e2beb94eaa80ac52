"""Projection of a fit, measured, and the plan that the fit is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from slimline.data import Matrix
from slimline.estimators import CertifiedClassifier, CertifiedRegressor
from slimline.planning._route import default_components
from slimline.projections import Projection
from slimline.projections._families import frozen_projection

if TYPE_CHECKING:
    from slimline.auditing import Audit
    from slimline.planning import Plan

#: Samples of the audit, times the other classes; and its draws.
_AUDITED, _DRAWS = 400, 3


def audited(
    model: CertifiedClassifier, seen: Matrix, labels: NDArray[Any], seed: int | None, notes: list[str]
) -> Audit | None:
    from slimline.auditing import audit

    used = [Projection.from_json(line) for line in model.projections_]
    projection: Projection | None = used[0] if used else _would_be(model, seen)
    if projection is None:
        notes.append("no projection was used or measured: the data are too small for one.")
        return None
    classes = len(model.classes_)
    rows = max(2 * classes, _AUDITED // (classes - 1))
    return audit(seen, labels, projection=projection, repeats=_DRAWS, rows=rows, random_state=seed or 0)


def _would_be(model: CertifiedClassifier, seen: Matrix) -> Projection | None:
    """Return the projection that a sketch would have been made with; None where it has no fewer columns."""
    components = default_components(seen, float(seen.shape[0]), model.loss)
    if components >= seen.shape[1]:
        return None
    return frozen_projection("auto", seen.shape[1], components, seed=0)


def planned(model: CertifiedClassifier | CertifiedRegressor, matrix: Matrix, C: float, measured: Audit | None) -> Plan:
    """Return the plan of such a fit, from its sizes and the measured margin."""
    from slimline.auditing._measures import NORMALISED
    from slimline.planning import plan

    known = () if measured is None else measured.margins
    margins = [kept.before_lower for kept in known if kept.name == NORMALISED and kept.before_lower > 0.0]
    if isinstance(model, CertifiedClassifier):
        learnt: dict[str, Any] = {"n_classes": len(model.classes_), "task": "classification"}
    else:
        learnt = {"n_targets": len(model.certificate_.weights), "task": "regression"}
        learnt |= {"epsilon": model.epsilon, "quantile": model.quantile}
    return plan(
        n_samples=matrix.shape[0],
        n_features=matrix.shape[1],
        density=matrix.density,
        dtype=matrix.dtype,
        C=C,
        loss=model.loss,
        tol=model.tol,
        fit_intercept=model.fit_intercept,
        intercept=model.intercept,
        n_covariates=0 if model._free is None else model._free.n_covariates,
        standardize=bool(model.standardize),
        margin=margins[0] if margins else None,
        **learnt,
    )
