"""What a model file says of the columns beside their weights, so that other data can be aligned with them."""

from __future__ import annotations

from typing import Any

from slimline.data import ColumnStats, Matrix
from slimline.data.column_view import ColumnView
from slimline.data.formats.svmlight import SvmlightMatrix
from slimline.data.row_view import RowView
from slimline.data.standardised import Standardised
from slimline.errors import DataError


def column_facts(model: Any, matrix: Matrix, stats: ColumnStats | None = None) -> dict[str, Any]:
    """Return the means of the columns in training, and where they are on the genome, as `StoredModel` has them.

    Parameters
    ----------
    model : CertifiedClassifier
        Fitted.
    matrix : Matrix
        What it was trained on. The means of a standardised model are known; else they take a pass.
    stats : ColumnStats, optional
        Of its columns, where they are known.

    Returns
    -------
    facts : dict
        `mean`, and for genotypes `chromosome`, `position`, `allele1` and `allele2`; not where they were standardised
        before, since the weights are then none of copies of an allele.
    """
    if matrix.shape[1] != model.n_features_in_:
        raise DataError(
            f"{matrix.name} has {matrix.shape[1]:,} columns, and the model {model.n_features_in_:,}: give the data "
            "that it was trained on."
        )
    mean = next((part for part in (model._fill, model._centre) if part is not None), None)
    if mean is None:
        mean = (matrix.column_stats() if stats is None else stats).mean
    facts: dict[str, Any] = {"mean": mean}
    variants = matrix.variants
    if variants is not None and not _changed(matrix):
        facts |= variants.packed | {"position": variants.position}
    return facts


def source_details(matrix: Matrix) -> dict[str, Any]:
    """Return what has to be known to open other files as this one was opened, for the details of a `StoredModel`.

    Parameters
    ----------
    matrix : Matrix
        What a model was trained on.

    Returns
    -------
    details : dict
        `zero_based` for svmlight files: a file in which the first column is never used would be taken for another.
    """
    while isinstance(matrix, (RowView, ColumnView, Standardised)):
        matrix = matrix._base
    return {"zero_based": matrix.zero_based} if isinstance(matrix, SvmlightMatrix) else {}


def _changed(matrix: Matrix) -> bool:
    if not isinstance(matrix, Standardised):
        return False
    return matrix.affine.centre is not None or matrix.affine.factor is not None
