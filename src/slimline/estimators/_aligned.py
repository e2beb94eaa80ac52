"""Decisions and predictions for data whose features are aligned, and which of the samples were trained on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import sum_error
from slimline.data import Matrix, open_matrix
from slimline.data._arrays import to_dense
from slimline.data._standardised import scale_of
from slimline.data._views import RowView, View
from slimline.data.formats._svmlight import SvmlightMatrix
from slimline.errors import DataError, InvalidParameterError, ModelFileError
from slimline.estimators._alignment import Alignment, ColumnPlaces, align_columns, first_number
from slimline.estimators._covariates import FreeEffects
from slimline.estimators._decisions import (
    AbsentPart,
    Decisions,
    ScoredRows,
    beside_of,
    decisions_of,
    scored_rows,
)
from slimline.estimators._predictions import CertifiedPredictions, predictions_of
from slimline.model_files import StoredModel

#: Bytes of the digest of a name: two of a million names agree by accident with probability 3e-8.
_DIGEST_BYTES = 8
Floats = NDArray[np.float64]
Columns = NDArray[np.intp]
#: Most copies of an allele: what a genotype that is absent can be at most.
_COPIES = 2.0


@dataclass(frozen=True)
class TrainingSamples:
    """The samples that a model was trained on, as row numbers and as digests of their names."""

    #: Fingerprint of the data that they are rows of; empty if it is not known.
    source: str
    #: Which rows of these data they are.
    rows: NDArray[np.int64] | None
    #: Digests of their names, rising. The names themselves are not stored: they may be those of patients.
    names: NDArray[np.uint64] | None

    @classmethod
    def of(cls, matrix: Matrix) -> Self:
        """Return the samples of training data."""
        source, rows = _whole(matrix)
        ids = matrix.sample_ids
        names = None if ids is None else np.unique(_digests(ids))
        return cls(source.fingerprint, rows.astype(np.int64), names)

    @classmethod
    def of_model(cls, stored: StoredModel) -> Self:
        """Return what a model file says of its training samples."""
        return cls(stored.sample_source, stored.sample_rows, stored.sample_names)

    def fields(self) -> dict[str, Any]:
        """Return the fields of `StoredModel` that hold them."""
        return {"sample_source": self.source, "sample_rows": self.rows, "sample_names": self.names}

    def among(self, matrix: Matrix) -> NDArray[np.bool_] | None:
        """Return which rows of some data are among these samples.

        By row number if these are rows of the same data, as the fingerprint tells; else by name. None if neither can
        be compared.
        """
        source, rows = _whole(matrix)
        if self.rows is not None and source.fingerprint == self.source:
            return np.isin(rows, self.rows)
        ids = matrix.sample_ids
        if self.names is None or ids is None:
            return None
        return np.isin(_digests(ids), self.names)


def _whole(matrix: Matrix) -> tuple[Matrix, NDArray[np.intp]]:
    """Return the data behind the views of a matrix, and which rows of them it shows."""
    rows = np.arange(matrix.shape[0])
    while isinstance(matrix, View):
        if isinstance(matrix, RowView):
            rows = matrix.index[rows]
        matrix = matrix.base
    return matrix, rows


def _digests(names: Iterable[str]) -> NDArray[np.uint64]:
    digests = (hashlib.blake2b(str(name).encode(), digest_size=_DIGEST_BYTES).digest() for name in names)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def aligned_decisions(model: Any, X: Any, covariates: Any = None) -> tuple[Decisions, Alignment]:
    """Decide about samples whose features may be in another order, additional or absent, in one pass.

    Features are matched by name, genotypes by variant; if the other allele is counted, copies are counted the other
    way. A feature that is absent, or has other alleles, is imputed with its mean in training; more than a tenth of them
    is an error. If names are not known, features are taken in their order.

    Parameters
    ----------
    model : path, StoredModel, CertifiedClassifier or CertifiedClassifierCV
        A model file, a model that was read from one, or a fitted classifier.
    X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, any)
        Data. Missing values are imputed as in training, if the model was trained with `standardize=True`.
    covariates : array-like or data frame of shape (n_samples, n_covariates), optional
        Those of the samples, if the model was trained with any. Columns of a data frame are matched by name.

    Returns
    -------
    decisions : Decisions
        A label is certified if the exact model gives the same *whatever* an absent genotype is. Nothing is known of the
        range of other features, so no label is certified if one of them is imputed whose weight may not be 0.
    alignment : Alignment
        Numbers of features that were used, swapped, imputed and ignored.

    See Also
    --------
    aligned_predictions : The same for a regression.
    slimline.CertifiedClassifier : Its `decide` is the same for data with the features of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import CertifiedClassifier, open_matrix
    >>> from slimline.estimators import aligned_decisions
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((40, 3)), np.arange(40) % 2
    >>> X[:, 0] += 3.0 * y
    >>> names = ["age", "weight", "pulse"]
    >>> known = open_matrix(X, feature_names=names)
    >>> model = CertifiedClassifier().fit(known, y)
    >>> turned = open_matrix(X[:, ::-1], feature_names=names[::-1])
    >>> decisions, alignment = aligned_decisions(model, turned)
    >>> np.array_equal(decisions.labels, model.predict(known)), alignment.reordered
    (True, True)
    """
    stored = _stored(model)
    if stored.is_regression:
        raise ModelFileError(f"a {stored.kind} decides about no classes: use aligned_predictions.")
    rows, alignment = _aligned_rows(stored, X, covariates)
    return decisions_of(rows, stored.classes), alignment


def aligned_predictions(model: Any, X: Any, covariates: Any = None) -> tuple[CertifiedPredictions, Alignment]:
    """Predict targets of samples whose features may be in another order, additional or absent, in one pass.

    Features are matched as in `aligned_decisions`.

    Parameters
    ----------
    model : path, StoredModel, CertifiedRegressor or CertifiedRegressorCV
        A model file, a model that was read from one, or a fitted regression.
    X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, any)
        Data. Missing values are imputed as in training, if the model was trained with `standardize=True`.
    covariates : array-like or data frame of shape (n_samples, n_covariates), optional
        Those of the samples, if the model was trained with any. Columns of a data frame are matched by name.

    Returns
    -------
    predictions : CertifiedPredictions
        The exact model predicts between the bounds *whatever* an absent genotype is. Nothing is known of the range of
        other features, so the bounds are infinite if one of them is imputed whose weight may not be 0.
    alignment : Alignment
        Numbers of features that were used, swapped, imputed and ignored.

    See Also
    --------
    aligned_decisions : The same for classes.
    slimline.CertifiedRegressor : Its `certified_predictions` are the same for data with the features of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import CertifiedRegressor, open_matrix
    >>> from slimline.estimators import aligned_predictions
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> names = ["height", "weight", "pulse"]
    >>> model = CertifiedRegressor().fit(open_matrix(X, feature_names=names), X[:, 0])
    >>> turned = open_matrix(X[:, ::-1], feature_names=names[::-1])
    >>> predictions, alignment = aligned_predictions(model, turned)
    >>> bool((predictions.lower <= predictions.value).all()), alignment.reordered
    (True, True)
    """
    stored = _stored(model)
    if not stored.is_regression:
        raise ModelFileError(f"a {stored.kind} predicts classes: use aligned_decisions.")
    rows, alignment = _aligned_rows(stored, X, covariates)
    flat = len(stored.weights) == 1 and stored.details.get("table") is not True
    return predictions_of(rows, flat=flat), alignment


def _aligned_rows(stored: StoredModel, X: Any, covariates: Any) -> tuple[ScoredRows, Alignment]:
    """Return the scores of samples, and what became of their features."""
    matrix = X if isinstance(X, Matrix) else open_matrix(X)
    if isinstance(matrix, SvmlightMatrix) and (zero_based := _zero_based(stored)) is not None:
        matrix = matrix.widened(stored.n_features, zero_based)  # the first and last columns may be 0 in every row
    free = FreeEffects.of_fields(stored)
    covariates = _named(free, covariates)
    (free or FreeEffects.none()).given(covariates, matrix.shape[0])  # refused before anything is aligned
    places, alignment = align_columns(stored, matrix)
    weights, absent = stored.weights, None
    if alignment.as_trained:
        if stored.factor is not None:
            matrix = matrix.standardised(stored.centre, scale_of(stored.factor), stored.fill)
        beside = beside_of(free, covariates, matrix)
    else:
        gone, present = np.flatnonzero(places.column < 0), np.flatnonzero(places.column >= 0)
        # the weights follow the order of the data, which therefore need not be copied
        present = present[np.argsort(places.column[present])]
        view = matrix if len(present) == matrix.shape[1] else matrix.columns(places.column[present])
        view = _as_in_training(stored, view, places, present)
        weights = weights[:, np.append(present, stored.n_features)]
        absent = _absent_part(stored, gone) if alignment.filled else None
        values = None
        if free is not None and len(free.features):
            values = _free_features(stored, matrix, places, free.features)
            if absent is not None and (places.column[free.features] < 0).any():
                absent = replace(absent, size=np.inf)  # nothing bounds what it would add
        beside = beside_of(None if free is None else free.of_features(present, gone), covariates, view, values)
        matrix = view
    return scored_rows(matrix, weights, stored.radius, stored.constant, absent, beside), alignment


def _named(free: FreeEffects | None, covariates: Any) -> Any:
    """Return the columns of a data frame that the model was trained with, in its order."""
    if free is None or free.names is None or not hasattr(covariates, "columns"):
        return covariates
    there = [str(name) for name in covariates.columns]
    if missing := [name for name in free.names if there.count(name) != 1]:
        raise InvalidParameterError(
            f"must have one column for each of {', '.join(free.names)}, with which the model was trained; of "
            f"{', '.join(missing)} there is none, or several, among {', '.join(there)}.",
            "covariates",
        )
    if there == list(free.names):
        return covariates
    return covariates[[covariates.columns[there.index(name)] for name in free.names]]


def _stored(model: Any) -> StoredModel:
    if isinstance(model, StoredModel):
        return model
    if isinstance(model, (str, os.PathLike)):
        return StoredModel.read(model)
    from sklearn.utils.validation import check_is_fitted

    from slimline.estimators._persistence import stored_model

    check_is_fitted(model)
    return stored_model(model)


def _zero_based(stored: StoredModel) -> bool | None:
    """Return whether the columns of a model are numbered from 0; None: nothing says so."""
    if stored.feature_names is not None and (first := first_number(stored.feature_names)) in (0, 1):
        return first == 0
    said = stored.details.get("zero_based")  # of a file whose columns were given names
    return said if isinstance(said, bool) else None


def _as_in_training(stored: StoredModel, view: Matrix, places: ColumnPlaces, columns: Columns) -> Matrix:
    """Return the data with copies of the trained allele, centred and scaled as in training."""
    swapped = places.swapped[columns]
    if stored.factor is None and not swapped.any():
        return view
    # 2 - x of which c is taken is x of which 2 - c is taken, with the sign turned
    factor = np.where(swapped, -1.0, 1.0) * (1.0 if stored.factor is None else stored.factor[columns])
    centre = stored.centre
    if centre is None and swapped.any():
        centre = np.zeros(stored.n_features)
    centre, fill = (_other_way(part, columns, swapped) for part in (centre, stored.fill))
    return view.standardised(centre, scale_of(factor), fill)


def _free_features(stored: StoredModel, matrix: Matrix, places: ColumnPlaces, features: Columns) -> Floats:
    """Return the features without a penalty, as copies of the trained allele; their means where they are absent."""
    column, swapped = places.column[features], places.swapped[features]
    there = np.flatnonzero(column >= 0)
    there = there[np.argsort(column[there])]
    values = np.zeros((matrix.shape[0], len(features)))
    if len(there) < len(features):
        values[:] = _means(stored, int((column < 0).sum()))[features]
    fill = _other_way(stored.fill, features[there], swapped[there])
    if len(there):
        read = to_dense(matrix.columns(column[there]).standardised(None, None, fill))
        values[:, there] = np.where(swapped[there], _COPIES - read, read)
    return values


def _other_way(copies: Floats | None, columns: Columns, swapped: NDArray[np.bool_]) -> Floats | None:
    """Return numbers of copies of the allele that the data count."""
    return None if copies is None else np.where(swapped, _COPIES - copies[columns], copies[columns])


def _means(stored: StoredModel, absent: int) -> Floats:
    """Return what stands for columns that are absent."""
    means = next((part for part in (stored.fill, stored.centre, stored.mean) if part is not None), None)
    if means is None:
        raise DataError(
            f"{absent:,} columns of the model are not in the data, and the model file does not say their means in "
            "training: `slimline fit` and save(path, trained_on=...) write them."
        )
    return means


def _absent_part(stored: StoredModel, columns: Columns) -> AbsentPart:
    """Return what columns that are filled add, and what they could have added."""
    means = _means(stored, len(columns))
    zero = (stored.weights[:, columns] == 0) & (stored.interval_centre[:, columns] == 0)
    zero &= stored.interval_radius[:, columns] == 0
    columns = columns[~zero.all(axis=0)]  # the others are surely 0 in the exact model
    weights, mean = stored.weights[:, columns], means[columns]
    centre = np.zeros(len(columns)) if stored.centre is None else stored.centre[columns]
    factor = np.ones(len(columns)) if stored.factor is None else stored.factor[columns]
    values = (mean - centre) * factor
    nothing = np.zeros(len(weights))
    if stored.allele1 is None and len(columns):
        return AbsentPart(weights @ values, nothing, nothing, np.inf)
    # scores are linear in a genotype: it is furthest off at 0 or at 2 copies
    none, most = weights * (-mean * factor), weights * ((_COPIES - mean) * factor)
    lost = sum_error(len(columns)) * (
        np.abs(none).sum(axis=1) + np.abs(most).sum(axis=1) + np.abs(weights * values).sum(axis=1)
    )
    largest = np.max([np.abs(centre * factor), np.abs((_COPIES - centre) * factor), np.abs(values)], axis=0)
    return AbsentPart(
        scores=weights @ values,
        below=np.maximum(-none, -most).sum(axis=1) + lost,
        above=np.maximum(none, most).sum(axis=1) + lost,
        size=float(np.linalg.norm(largest)) * (1.0 + sum_error(len(columns))),
    )
