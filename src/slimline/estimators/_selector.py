"""Feature selection by certified weights."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from slimline._base.checks import whole
from slimline.errors import InvalidParameterError
from slimline.estimators._certified_classifier import CertifiedClassifier
from slimline.estimators._validation import NamedFeatures
from slimline.learning import membership

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


def jaccard(a: Mask, b: Mask) -> float:
    """Return |a ∩ b| / |a ∪ b| of two choices."""
    union = int((a | b).sum())
    return 1.0 if union == 0 else float((a & b).sum() / union)


def stability_index(chosen: Mask) -> float:
    """Return the stability of several choices: 1 less the variance of the choices relative to that of chance.

    1 for equal choices, about 0 for random ones (Nogueira, Sechidis and Brown, JMLR 2018, eq. 4); 1 for a single
    choice, and where all features or none were chosen, when nothing can vary.
    """
    m, d = chosen.shape
    mean = float(chosen.sum(axis=1).mean())
    if m < 2 or mean in (0.0, float(d)):
        return 1.0
    frequency = chosen.mean(axis=0)
    variance = float((frequency * (1.0 - frequency)).sum()) / d * m / (m - 1)
    return float(1.0 - variance / (mean / d * (1.0 - mean / d)))


class CertifiedFeatureSelector(NamedFeatures, SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the k features of largest (standardised) weight of a certified linear classifier.

    Parameters
    ----------
    k : int, default=20
        Number of features to keep; all, if there are fewer.
    estimator : CertifiedClassifier, optional
        The classifier whose weights are used; `CertifiedClassifier()` by default.
    repeats : int, default=1
        Number of independent sketches. Above 1, `method="auto"` of the classifier means "sketch"; features are ranked
        by how often they are chosen, and the agreement of the sketches is measured.

    Attributes
    ----------
    ranking_ : array of shape (k,)
        The chosen features, the most often chosen and heaviest first.
    proved_ : array of shape (n_features,), bool
        Features that are certified to be among the k largest of the exact model.
    frequency_ : array of shape (n_features,)
        Share of the sketches that chose the feature.
    jaccard_ : float
        Mean Jaccard index of the choices of two sketches; 1 for one sketch.
    stability_ : float
        Stability index of Nogueira et al. [1]_: 1 for equal choices, about 0 for chance.
    estimators_ : list of CertifiedClassifier
        One for each sketch.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if the data have any.

    See Also
    --------
    CertifiedClassifier : The classifier, whose `top_features` lists weights and intervals.
    slimline.recovery.rank_bounds : The best and worst rank of every feature.

    Notes
    -----
    The certificate gives an interval for every exact weight, hence bounds lowⱼ and highⱼ of its absolute value.
    Feature j is certified to be among the k largest of `|w*|` if at most k - 1 others have highᵢ ≥ lowⱼ. With several
    classes a feature counts by its largest absolute weight. Certificates of all sketches are about the same exact
    model, so a feature is certified if one of them certifies it. Vaswani [2]_ compares the top features of published
    recoveries by the Jaccard index, and asks for a guarantee of this kind.

    References
    ----------
    .. [1] Nogueira, S.; Sechidis, K.; Brown, G. (2018). "On the stability of feature selection algorithms." Journal of
       Machine Learning Research 18(174), 1-54.
    .. [2] Vaswani, S. (2013). "Optimal weight recovery under random projections." University of British Columbia.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import CertifiedFeatureSelector
    >>> X = np.random.default_rng(0).standard_normal((60, 500))
    >>> y = X[:, 3] > 0
    >>> selector = CertifiedFeatureSelector(k=1).fit(X, y)
    >>> selector.get_support(indices=True).tolist(), bool(selector.proved_[3])
    ([3], True)
    """

    def __init__(self, k: int = 20, estimator: Any = None, repeats: int = 1) -> None:
        self.k = k
        self.estimator = estimator
        self.repeats = repeats

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, covariates: Any = None) -> Self:
        """Train the classifier and choose its heaviest features.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Numbers that enter the model beside the features, without a penalty; they are not selected from.

        Returns
        -------
        self : object
            The fitted selector.
        """
        for name in ("k", "repeats"):
            whole(name, getattr(self, name))
        base = CertifiedClassifier() if self.estimator is None else self.estimator
        if not isinstance(base, CertifiedClassifier):
            raise InvalidParameterError(f"must be a CertifiedClassifier; got {base!r:.200}.", "estimator", base)
        seeds = check_random_state(base.random_state)
        self.estimators_ = []
        for _ in range(int(self.repeats)):
            model = clone(base)
            if self.repeats > 1:  # the other routes draw nothing: their choices would agree, and say nothing
                method = "sketch" if model.method == "auto" else model.method
                model.set_params(random_state=int(seeds.randint(2**31 - 1)), method=method)
            self.estimators_.append(model.fit(X, y, sample_weight=sample_weight, covariates=covariates))
        self._choose()
        return self

    def _choose(self) -> None:
        first = self.estimators_[0]
        self.n_features_in_ = d = first.n_features_in_
        self._feature_names = first._feature_names
        k = min(int(self.k), d)
        chosen = np.zeros((len(self.estimators_), d), dtype=bool)
        size = np.zeros(d)
        self.proved_ = np.zeros(d, dtype=bool)
        for row, model in zip(chosen, self.estimators_, strict=True):
            row[model.top_features(k).index] = True
            claim = model.certificate_
            size += np.abs(claim.weights[:, :-1]).max(axis=0) / len(chosen)
            # Proofs are about the one exact model, so what any sketch has proved is true.
            self.proved_ |= membership(claim.interval_centre, claim.interval_radius, k)[0]
        self.frequency_ = chosen.mean(axis=0)
        self.ranking_ = np.lexsort((-size, -self.frequency_))[:k]
        pairs = [jaccard(a, b) for a, b in combinations(chosen, 2)]
        self.jaccard_ = float(np.mean(pairs)) if pairs else 1.0
        self.stability_ = stability_index(chosen)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.ranking_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
