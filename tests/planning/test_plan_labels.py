"""Labels that a plan finds in the data, and settings that it hands on."""

import numpy as np
import pytest

from slimline import plan
from slimline.data.formats._dense import DenseMatrix
from slimline.errors import DataError


def _matrix(labels):
    rows = np.random.default_rng(0).standard_normal((len(labels), 30))
    return DenseMatrix(rows, labels=labels)


def test_labels_that_are_all_the_same_are_none():
    for labels in ([2] * 12, [2.0] * 11 + [np.nan]):
        found = plan(_matrix(labels))
        assert found.margin is None and found.n_classes == 2
    with pytest.raises(DataError):
        plan(_matrix([2] * 12), [2] * 12)  # said, not found


def test_a_missing_label_is_no_class():
    with pytest.raises(DataError):
        plan(_matrix([1.0, 2.0] * 6 + [np.nan]))


def test_what_is_not_usual_goes_into_the_parameters():
    sizes = {"n_samples": 30, "n_features": 400}
    usual = {"standardize", "fit_intercept", "intercept", "intercept_scaling"}
    assert not usual & plan(**sizes).parameters.keys()
    told = plan(**sizes, standardize=True, intercept="penalised", intercept_scaling=3.0).parameters
    assert {name: told[name] for name in told.keys() & usual} == {
        "standardize": True, "intercept": "penalised", "intercept_scaling": 3.0,
    }  # fmt: skip
    assert plan(**sizes, fit_intercept=False).parameters["fit_intercept"] is False


def test_a_strict_eps_asks_for_more_than_arrays_can_count_and_is_in_the_curves():
    found = plan(n_samples=2000, n_features=10_000, eps=1e-4)
    assert max(row.printed or 0 for row in found.guarantees) > 2**62
    assert all(curve.eps[0] == pytest.approx(1e-4) for curve in found.curves)
    assert max(curve.eps[-1] for curve in plan(n_samples=20, n_features=50, eps=0.97).curves) == pytest.approx(0.97)
